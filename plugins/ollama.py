"""Text and embeddings by an Ollama server, once you name a model.

Why it exists: a model on your own machine makes memory read better and find paraphrases
that share no word, and nothing leaves the machine. It is an upgrade, never a need: while
the server is away, slow or wrong, rules and keywords answer.

Settings, in ``[plugins.ollama]`` of your own config.toml:

- ``model``: a language model for jobs; without it none is asked.
- ``embed_model``: an embedding model; without it recall has no vector lane.
- ``host``: where the server is; this machine if not given.
- ``key_env`` or ``keyring``: where the key is, if the server wants one: an environment
  variable, or an entry of the service ``kimi_memory`` in the system's keyring.
- ``timeout_seconds``: longest wait for one answer (120).
- ``query_seconds``: longest wait of a recall for the vector of its question (3).
- ``batch``: texts per embedding request (32).
- ``at_once``: requests at the same time (2); ``per_minute``: most of them in a minute (any).
- ``tries``: how often a request is made while its failure may pass (3).
- ``query_prefix``, ``note_prefix``: instead of what the model is known to want.
- ``embed_weight``: how much its vectors count against those of a small model.
- ``dimensions``: shorter vectors, for models that can give them.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

from kimi_memory import hookimpl
from kimi_memory.domain.addresses import is_local_url
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.errors import ModelError
from kimi_memory.llm.remote import model_server
from kimi_memory.llm.remote.embeddings import unit
from kimi_memory.llm.remote.http import PASSING
from kimi_memory.llm.remote.model_server import ModelServer
from kimi_memory.llm.remote.settings import Choices, find_key
from kimi_memory.nlp.basic.sentences import estimate

LOCAL = "http://127.0.0.1:11434"
OFFICIAL = ".ollama.com"
CONTEXT_STEP = 2048
"""The server reloads a model for another context size, so few sizes are asked for."""
SETTINGS = ("host", *model_server.SETTINGS)
"""What may stand in ``[plugins.ollama]``."""


class Ollama(ModelServer):
    """The models of one server."""

    generate_text = hookimpl(ModelServer.generate_text)
    embed_texts = hookimpl(ModelServer.embed_texts)
    check_health = hookimpl(ModelServer.check_health)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("ollama", settings)
        self._host = choices.text("host", LOCAL)
        super().__init__(choices, f"Ollama at {self._host}", seconds=120, batch=32, at_once=2)
        self._variable, self._entry = choices.text("key_env"), choices.text("keyring")
        self._clients: dict[float, Any] = {}
        self._lock = threading.Lock()

    def _request_reply(self, prompt: Prompt, seconds: float) -> Reply:
        # A quarter more: the estimate is none of a tokenizer, and what does not fit is cut unseen.
        room = estimate(prompt.text) * 5 // 4 + prompt.max_tokens
        parts = self._call_client(
            "chat",
            seconds,
            model=self._model,
            messages=[{"role": "user", "content": prompt.text}],
            format=dict(prompt.schema) or None,
            think=False,
            # In pieces, so that the deadline holds for a server that never stops.
            stream=True,
            options={
                "num_predict": prompt.max_tokens,
                "num_ctx": -(-room // CONTEXT_STEP) * CONTEXT_STEP,
                "temperature": 0,
                "seed": 0,
            },
        )
        last = parts[-1] if parts else None
        if last is None or not last.done:
            raise ModelError(f"Ollama at {self._host} broke off its answer.", passing=True)
        return Reply(
            text="".join(part.message.content or "" for part in parts),
            model=f"ollama:{self._model}",
            tokens_in=last.prompt_eval_count or 0,
            tokens_out=last.eval_count or 0,
            # The client raises nothing when an answer is cut off; only this reason says so.
            cut=last.done_reason == "length",
        )

    def _embed_batch(self, texts: list[str], seconds: float) -> list[list[float]]:
        (answer,) = self._call_client(
            "embed", seconds, model=self._embed_model, input=texts, dimensions=self._dimensions
        )
        try:
            rows = [unit(row) for row in answer.embeddings]
        except ValueError as error:
            raise ModelError(f"Ollama at {self._host} gave a vector without direction.") from error
        if len(rows) != len(texts):
            raise ModelError(f"Ollama at {self._host} gave {len(rows)} vectors for {len(texts)}.")
        return rows

    def _call_client(self, method: str, seconds: float, **arguments: Any) -> list[Any]:
        """Return the pieces of an answer; every way to fail becomes a ModelError."""
        ollama, httpx = _import_libraries()
        deadline = time.monotonic() + seconds
        try:
            answer = getattr(self._get_client(seconds), method)(**arguments)
            return _collect_pieces(answer, deadline) if arguments.get("stream") else [answer]
        except ollama.ResponseError as error:
            passing = error.status_code in PASSING
            raise self._server_error(
                error.error, passing=passing, status=error.status_code
            ) from error
        except httpx.TimeoutException as error:
            raise self._server_error(f"no answer in {seconds:g} s") from error
        except (httpx.ConnectError, ConnectionError) as error:
            raise self._server_error("it cannot be reached") from error
        # The client lets httpx's own errors and those of pydantic and json through.
        except (httpx.HTTPError, OSError, ValueError) as error:
            raise self._server_error(str(error) or type(error).__name__, passing=True) from error

    def _get_client(self, seconds: float) -> Any:
        ollama, httpx = _import_libraries()
        with self._lock:
            if seconds not in self._clients:
                self._clients[seconds] = ollama.Client(
                    host=self._host,
                    timeout=seconds,
                    headers=self._request_headers(),
                    # A proxy from the environment would take requests to 127.0.0.1 as well.
                    trust_env=not is_local_url(self._host),
                    # A server must not send prompts on to another host.
                    follow_redirects=False,
                    # Nobody tells a plugin that it is over: a kept line would be left open.
                    limits=httpx.Limits(max_keepalive_connections=0),
                )
            return self._clients[seconds]

    def _request_headers(self) -> dict[str, str]:
        key = find_key(self._variable, self._entry)
        if key:
            return {"authorization": f"Bearer {key}"}
        official = f".{urlsplit(self._host).hostname or ''}".endswith(OFFICIAL)
        # Without one, the client sends OLLAMA_API_KEY to any host it is pointed at.
        return {} if official or is_local_url(self._host) else {"authorization": "none"}

    def _server_error(self, why: str, *, passing: bool = False, status: int = 0) -> ModelError:
        told = " ".join(why.split())[:300]
        return ModelError(f"Ollama at {self._host}: {told}.", passing=passing, status=status)


def _collect_pieces(pieces: Any, deadline: float) -> list[Any]:
    found = []
    with closing(pieces):  # what is not read to its end holds the line
        for piece in pieces:
            found.append(piece)
            if time.monotonic() > deadline:
                raise TimeoutError("it was still answering at the deadline")
    return found


def _import_libraries() -> tuple[Any, Any]:
    """Return the client and what it raises unwrapped; they take longer to load than a recall."""
    import ollama._client

    # Its own import of httpx; in the package, the name of the module means something else.
    return ollama, sys.modules["ollama._client"].httpx


create = Ollama
"""Makes the plugin from the user's settings."""

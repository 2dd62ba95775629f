"""Embeddings by a local Ollama server, once you name a model.

Why it exists: a model that knows meaning finds paraphrases that share no word. It is
an upgrade, never a need: while the server is away, slow or broken, keywords answer.

Settings, in ``[plugins.ollama_embed]`` of your own config.toml:

- ``model``: name of an embedding model; without it this plugin does nothing.
- ``host``: where the server is; this machine if not given.
- ``timeout_seconds``: longest wait for one batch (20).
- ``query_prefix``, ``note_prefix``: what the model wants before questions and notes.
"""

from __future__ import annotations

import ipaddress
import logging
import math
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kimi_memory import hookimpl
from kimi_memory.errors import UsageError
from kimi_memory.model.engine import Embedding

if TYPE_CHECKING:
    from kimi_memory.model.engine import Purpose

LOCAL = "http://127.0.0.1:11434"
TIMEOUT_SECONDS = 20.0
log = logging.getLogger("kimi_memory.ollama")


def create(settings: Mapping[str, Any]) -> OllamaEmbed:
    """Make the plugin from the user's settings."""
    return OllamaEmbed(settings)


def is_loopback(host: str) -> bool:
    """Whether an address means this machine, which no proxy can reach."""
    name = urlsplit(host if "//" in host else f"//{host}").hostname or ""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class OllamaEmbed:
    """One model on one server.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._model = _text(settings, "model", "")
        self._host = _text(settings, "host", LOCAL)
        self._prefix = {
            "query": _text(settings, "query_prefix", ""),
            "note": _text(settings, "note_prefix", ""),
        }
        self._timeout = _seconds(settings)
        self._client: Any = None
        self._failed = False
        self._lock = threading.Lock()

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: Purpose) -> Embedding | None:
        """Answer for notes and queries while the server does."""
        if not self._model or purpose == "similarity":
            return None
        found = self._ask([self._prefix[purpose] + text for text in texts])
        if found is None:
            return None
        return Embedding(f"ollama:{self._model}", found)

    def _ask(self, texts: list[str]) -> list[list[float]] | None:
        import ollama
        from ollama._client import httpx  # type: ignore[attr-defined]  # raised unwrapped

        try:
            answer = self._connected().embed(model=self._model, input=texts)
            vectors = [_unit(list(row)) for row in answer.embeddings]
        # The client lets httpx's own timeouts and pydantic's ValueErrors through.
        except (ollama.ResponseError, httpx.HTTPError, OSError, ValueError) as error:
            self._fail(str(error) or type(error).__name__)
            return None
        if len(vectors) != len(texts) or len({len(row) for row in vectors}) > 1:
            self._fail(f"{len(vectors)} vectors for {len(texts)} texts")
            return None
        self._failed = False
        return vectors

    def _connected(self) -> Any:
        import ollama

        with self._lock:
            if self._client is None:
                self._client = ollama.Client(
                    host=self._host,
                    timeout=self._timeout,
                    trust_env=not is_loopback(self._host),
                    follow_redirects=False,
                )
            return self._client

    def _fail(self, why: str) -> None:
        level = logging.DEBUG if self._failed else logging.WARNING
        log.log(level, "no embeddings from %s: %s; keywords answer alone", self._host, why)
        self._failed = True


def _unit(row: list[float]) -> list[float]:
    norm = math.sqrt(sum(value * value for value in row))
    if not math.isfinite(norm) or norm == 0:
        raise ValueError("the model answered with a vector that has no direction")
    return [value / norm for value in row]


def _text(settings: Mapping[str, Any], name: str, default: str) -> str:
    value = settings.get(name, default)
    if not isinstance(value, str):
        raise UsageError(f"plugins.ollama_embed.{name} is {value!r}. Give a text.")
    return value


def _seconds(settings: Mapping[str, Any]) -> float:
    value = settings.get("timeout_seconds", TIMEOUT_SECONDS)
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        raise UsageError(
            f"plugins.ollama_embed.timeout_seconds is {value!r}. Give a number above 0."
        )
    return float(value)

"""Text and embeddings by any server that speaks the API of OpenAI.

Why it exists: one interface reaches OpenAI, SiliconFlow, DeepSeek, Moonshot, vLLM, LM Studio
and llama.cpp. What you send there leaves your machine, so it is used only when you name the
server. While it is away or wrong, rules and keywords answer.

Settings, in ``[plugins.openai_compatible]`` of your own config.toml:

- ``base_url``: such as ``https://api.siliconflow.cn/v1``; without it nothing is asked.
- ``model``: a language model for jobs; ``embed_model``: one for the vector lane.
- ``key_env``: the environment variable that holds the key; or ``keyring``: the user name
  of an entry of the service ``kimi_memory`` in the system's keyring.
- ``timeout_seconds`` (60), ``query_seconds`` (3): longest wait, and that of a recall.
- ``batch`` (64), ``at_once`` (4), ``per_minute`` (any), ``tries`` (3): texts per request,
  requests at the same time and in a minute, how often one is made while its failure may pass.
- ``query_prefix``, ``note_prefix``, ``embed_weight``, ``dimensions``: as for ``ollama``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.errors import ModelError
from kimi_memory.llm.remote import model_server
from kimi_memory.llm.remote.embeddings import unit
from kimi_memory.llm.remote.http import Wire
from kimi_memory.llm.remote.model_server import ModelServer
from kimi_memory.llm.remote.settings import Choices, find_key

REFUSALS = {400, 422}
"""What servers answer to a field they do not know."""
SETTINGS = ("base_url", *model_server.SETTINGS)
"""What may stand in ``[plugins.openai_compatible]``."""


class OpenAICompatible(ModelServer):
    """The models of one server."""

    generate_text = hookimpl(ModelServer.generate_text)
    embed_texts = hookimpl(ModelServer.embed_texts)
    check_health = hookimpl(ModelServer.check_health)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("openai_compatible", settings)
        base = choices.text("base_url")
        super().__init__(choices, base)
        key = partial(find_key, choices.text("key_env"), choices.text("keyring"))
        self._wire = Wire(base, key, self._seconds)
        # The server, as two of them may serve different weights under one name.
        self._vector_space = self._wire.base
        self._unknown: set[str] = set()
        """Fields and forms this server has refused."""

    def _request_reply(self, prompt: Prompt, seconds: float) -> Reply:
        # Ends: each refusal takes away a field or a form, and one that explains nothing is raised.
        while True:
            body = self._request_body(prompt)
            try:
                answer = self._wire.post("/chat/completions", body, seconds=seconds)
            except ModelError as error:
                if error.status in REFUSALS and self._learn_unsupported(str(error), body):
                    continue
                raise
            return self._parse_reply(answer)

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        bound = "max_completion_tokens" if "max_tokens" in self._unknown else "max_tokens"
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "user", "content": prompt.text}],
            bound: prompt.max_tokens,
        }
        if "temperature" not in self._unknown:
            # The same session should give the same drafts, as far as a model can.
            body["temperature"] = 0
        if prompt.schema and "json_schema" not in self._unknown:
            named = {"name": "answer", "schema": dict(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif prompt.schema and "json_object" not in self._unknown:
            body["response_format"] = {"type": "json_object"}
        return body

    def _learn_unsupported(self, said: str, body: Mapping[str, Any]) -> bool:
        """Note what the server does not know; False when that explains nothing."""
        form = body.get("response_format", {}).get("type", "")
        # Newer models of OpenAI want the other name and say so in the refusal.
        if "max_completion_tokens" in said and "max_tokens" in body:
            unknown = "max_tokens"
        elif "temperature" in said and "temperature" in body:
            unknown = "temperature"
        else:
            unknown = form
        self._unknown.add(unknown)
        return bool(unknown)

    def _parse_reply(self, answer: Mapping[str, Any]) -> Reply:
        try:
            choice, usage = answer["choices"][0], answer.get("usage") or {}
            text = choice["message"]["content"] or ""
            counts = [int(usage.get(name) or 0) for name in ("prompt_tokens", "completion_tokens")]
            if not isinstance(text, str):
                raise TypeError("content is no text")
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._wire.bad_answer(f"an answer without a text ({error!r})") from error
        cut = choice.get("finish_reason") == "length"
        return Reply(
            text=text,
            # Job files and commits name it, and may be shared: no address of a server there.
            model=f"openai_compatible:{self._model}",
            tokens_in=max(0, counts[0]),
            tokens_out=max(0, counts[1]),
            cut=cut,
        )

    def _embed_batch(self, texts: list[str], seconds: float) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._embed_model, "input": texts}
        # Some servers answer in base64 unless they are asked not to.
        body["encoding_format"] = "float"
        if self._dimensions:
            body["dimensions"] = self._dimensions
        answer = self._wire.post("/embeddings", body, seconds=seconds)
        try:
            # By index: some servers answer out of order.
            rows = {int(one["index"]): unit(one["embedding"]) for one in answer["data"]}
            return [rows[number] for number in range(len(texts))]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._wire.bad_answer(f"vectors that do not fit ({error!r})") from error


create = OpenAICompatible
"""Makes the plugin from the user's settings."""

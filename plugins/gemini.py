"""Text and embeddings by Gemini, over its own API.

Why it exists: the compatible address of Gemini knows less than its own one, which takes a
schema for the answer, turns thinking off and says why it refused. What you send there
leaves your machine, so it is used only when you name a model. While it is away or wrong,
rules and keywords answer.

Settings, in ``[plugins.gemini]`` of your own config.toml:

- ``model``: a language model for jobs, such as ``gemini-2.5-flash``; ``embed_model``: one
  for the vector lane, such as ``gemini-embedding-001``.
- ``key_env``: the environment variable that holds the key; or ``keyring``: the user name
  of an entry of the service ``kimi_memory`` in the system's keyring.
- ``base_url``: another address of the same API.
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

OFFICIAL = "https://generativelanguage.googleapis.com/v1beta"
KEY_HEADER = "x-goog-api-key"
THINKING_TOKENS = 4096
"""Room for the thoughts of a model that cannot be switched off: they count as answer."""
_PARTS = {"thinking": "thinkingConfig", "schema": "responseSchema", "mime": "responseMimeType"}
"""What a refusal names, and the part of the request that it means."""
SETTINGS = ("base_url", *model_server.SETTINGS)
"""What may stand in ``[plugins.gemini]``."""


class Gemini(ModelServer):
    """The models of Gemini."""

    generate_text = hookimpl(ModelServer.generate_text)
    embed_texts = hookimpl(ModelServer.embed_texts)
    check_health = hookimpl(ModelServer.check_health)

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("gemini", settings)
        base = choices.text("base_url", OFFICIAL)
        super().__init__(choices, base)
        # The API itself lists its models as `models/NAME`.
        self._model = self._model.removeprefix("models/")
        self._embed_model = self._embed_model.removeprefix("models/")
        key = partial(find_key, choices.text("key_env"), choices.text("keyring"))
        self._wire = Wire(base, key, self._seconds, header=KEY_HEADER)
        self._unknown: set[str] = set()
        """Parts of a request that the model has refused."""

    def _request_reply(self, prompt: Prompt, seconds: float) -> Reply:
        while True:
            body = self._request_body(prompt)
            try:
                path = f"/models/{self._model}:generateContent"
                return self._parse_reply(self._wire.post(path, body, seconds=seconds))
            except ModelError as error:
                # Each refusal takes one part out of the request, so this ends after a few tries.
                if error.status != 400 or not self._learn_unsupported(str(error), body):
                    raise

    def _request_body(self, prompt: Prompt) -> dict[str, Any]:
        config: dict[str, Any] = {"temperature": 0, "maxOutputTokens": prompt.max_tokens}
        if "thinkingConfig" in self._unknown:
            # A model that must think would spend the whole answer on its thoughts.
            config["maxOutputTokens"] += THINKING_TOKENS
        else:
            config["thinkingConfig"] = {"thinkingBudget": 0}
        if prompt.schema and "responseMimeType" not in self._unknown:
            config["responseMimeType"] = "application/json"
            if "responseSchema" not in self._unknown:
                config["responseSchema"] = _in_capitals(prompt.schema)
        turn = {"role": "user", "parts": [{"text": prompt.text}]}
        return {"contents": [turn], "generationConfig": config}

    def _learn_unsupported(self, said: str, body: Mapping[str, Any]) -> bool:
        """Note what the model does not take; False when that explains nothing."""
        low = said.lower()
        known = (part for word, part in _PARTS.items() if word in low)
        part = next((part for part in known if part in body["generationConfig"]), "")
        if part:
            self._unknown.add(part)
        return bool(part)

    def _parse_reply(self, answer: Mapping[str, Any]) -> Reply:
        try:
            candidates = answer.get("candidates") or []
            if not candidates:
                why = (answer.get("promptFeedback") or {}).get("blockReason", "no reason given")
                raise ModelError(f"{self._wire.base} refused the prompt ({why}).")
            parts = (candidates[0].get("content") or {}).get("parts") or []
            # Thoughts come as parts of the answer; only their mark tells them apart.
            text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
            usage = answer.get("usageMetadata") or {}
            names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
            asked, said, thought = (int(usage.get(name) or 0) for name in names)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._wire.bad_answer(f"an answer without a text ({error!r})") from error
        return Reply(
            text=text,
            model=f"gemini:{self._model}",
            tokens_in=max(0, asked),
            tokens_out=max(0, said + thought),
            cut=candidates[0].get("finishReason") == "MAX_TOKENS",
        )

    def _embed_batch(self, texts: list[str], seconds: float) -> list[list[float]]:
        named: dict[str, Any] = {"model": f"models/{self._embed_model}"}
        if self._dimensions:
            named["outputDimensionality"] = self._dimensions
        requests = [{**named, "content": {"parts": [{"text": text}]}} for text in texts]
        path = f"/models/{self._embed_model}:batchEmbedContents"
        answer = self._wire.post(path, {"requests": requests}, seconds=seconds)
        try:
            rows = [unit(one["values"]) for one in answer["embeddings"]]
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._wire.bad_answer(f"vectors that do not fit ({error!r})") from error
        if len(rows) != len(texts):
            raise self._wire.bad_answer(f"{len(rows)} vectors for {len(texts)} texts")
        return rows


def _in_capitals(schema: Any) -> Any:
    """Return a schema with the names of types as this API spells them: OBJECT, STRING."""
    if isinstance(schema, Mapping):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else _in_capitals(value)
            for key, value in schema.items()
        }
    return [_in_capitals(one) for one in schema] if isinstance(schema, list) else schema


create = Gemini
"""Makes the plugin from the user's settings."""

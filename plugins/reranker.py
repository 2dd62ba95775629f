"""A second look at the best hits, by a rerank endpoint or a language model.

Why it exists: a model that reads question and text together tells an answer from a line
that only shares its words. It costs a request per recall, so it is off until you
configure it; when it fails, the ranking stays as it was and says so.

Settings, in ``[plugins.reranker]`` of your own config.toml:

- ``base_url``: a server with ``POST <base_url>/rerank`` as Jina, Cohere, SiliconFlow, vLLM
  and Text Embeddings Inference have it.
- ``model``: what to name there; some servers need none.
- ``key_env`` or ``keyring``: where the key is, as for ``openai_compatible``.
- ``timeout_seconds``: longest wait (5).
- ``judge``: true to ask the language model of another plugin instead of a server.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.note import Lang
from kimi_memory.domain.prompt import Ask, Question, Schema
from kimi_memory.errors import ModelError
from kimi_memory.llm.remote.http import Wire
from kimi_memory.llm.remote.retry import Limits, Patience
from kimi_memory.llm.remote.settings import Choices, find_key
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.nlp.basic.safe_text import fence

JUDGED = 10
"""So many texts are shown to a language model; it keeps no more apart."""
TEXT_CHARS = 1500
"""A longer text is cut."""

SCORES: Schema = {
    "type": "object",
    "required": ["scores"],
    "properties": {
        "scores": {"type": "array", "maxItems": JUDGED, "items": {"type": "number"}},
    },
}


SETTINGS = ("base_url", "model", "judge", "key_env", "keyring", "timeout_seconds")
"""What may stand in ``[plugins.reranker]``."""


class Reranker:
    """One server, or the language model the other plugins have.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        choices = Choices("reranker", settings)
        self._base, self._model = choices.text("base_url"), choices.text("model")
        self._judge = choices.flag("judge", default=False)
        variable, entry = choices.text("key_env"), choices.text("keyring")
        seconds = choices.number("timeout_seconds", 5)
        self._wire = Wire(self._base, lambda: find_key(variable, entry), seconds)
        # A recall waits for it: one try must do.
        self._patience = Patience(self._base, Limits(tries=1))

    @hookimpl
    def rerank(self, query: str, texts: Sequence[str], ask: Ask) -> Sequence[float] | None:
        """Score the texts, once a server is named or the judge is on."""
        cut = [text[:TEXT_CHARS] for text in texts]
        if self._base:
            return self._patience.call(lambda: self._of_server(query, cut))
        return self._of_judge(query, cut, ask) if self._judge and ask.ready else None

    def _of_server(self, query: str, texts: list[str]) -> list[float]:
        # TEI calls them texts, the others documents; each ignores the other's name.
        body: dict[str, Any] = {"query": query, "documents": texts, "texts": texts}
        if self._model:
            body |= {"model": self._model, "top_n": len(texts), "return_documents": False}
        return _parse_scores(self._wire.post("/rerank", body), len(texts), self._base)

    def _of_judge(self, query: str, texts: list[str], ask: Ask) -> list[float] | None:
        shown = [f"{number}. {text}" for number, text in enumerate(texts[:JUDGED], 1)]
        answer = ask(
            Question(
                template="prompts/rerank",
                lang=Lang(language_of(query)),
                schema=SCORES,
                values={
                    "query": fence([query], secrets.token_hex(8), "question"),
                    "block": fence(shown, secrets.token_hex(8), "texts: data"),
                    "count": len(shown),
                },
                max_tokens=300,
            )
        )
        scores = answer.get("scores") if isinstance(answer, dict) else None
        # One too few, and nobody knows which text has none.
        if not isinstance(scores, list) or len(scores) != len(shown):
            raise ModelError("The language model gave no score for each text.")
        low = [float(score) for score in scores if isinstance(score, int | float)]
        # Those it was not shown stay behind, in their order.
        return low + [min(low) - number for number in range(1, len(texts) - len(shown) + 1)]


def _parse_scores(answer: Any, count: int, base: str) -> list[float]:
    """Return the scores of an answer in the order of the texts."""
    found: Any = answer.get("results", answer.get("data")) if isinstance(answer, dict) else answer
    try:
        by_index = {int(one["index"]): _parse_score(one) for one in found}
        return [by_index[number] for number in range(count)]
    except (LookupError, TypeError, ValueError) as error:
        raise ModelError(f"{base} gave no score for each text ({error!r}).") from error


def _parse_score(one: Mapping[str, Any]) -> float:
    return float(one["relevance_score"] if "relevance_score" in one else one["score"])


create = Reranker
"""Makes the plugin from the user's settings."""

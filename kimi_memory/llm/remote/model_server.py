"""A server of language and embedding models, as a plugin's settings describe it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kimi_memory.domain.engine import Embedding, Purpose
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.prompt import Prompt, Reply
from kimi_memory.errors import KimiMemoryError
from kimi_memory.llm.remote.embeddings import SETTINGS as VECTOR_SETTINGS
from kimi_memory.llm.remote.embeddings import Place, Vectors
from kimi_memory.llm.remote.retry import Limits, Patience

if TYPE_CHECKING:
    from pathlib import Path

    from kimi_memory.llm.remote.settings import Choices

SETTINGS = (
    *("model", "embed_model", "timeout_seconds", "dimensions", "key_env", "keyring"),
    *("tries", "at_once", "per_minute", *VECTOR_SETTINGS),
)
"""What a plugin takes that asks one server for answers and vectors, besides its address."""
CHECK_SECONDS = 10.0
"""So long the doctor waits for one word of a model; a large one may take longer to load."""
# The least that shows a model is loaded: a list of models is answered by a server that cannot run
# one.
PING = Prompt(text="Say: ok", max_tokens=8)


class ModelServer(ABC):
    """Answers and vectors of one server; a plugin adds the two requests.

    Args:
        choices: the plugin's settings.
        server: what the log calls the server; a model without one is not asked.
        seconds: longest wait for an answer, where the settings say nothing.
        batch: texts a request, likewise.
        at_once: requests at the same time, likewise.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(
        self, choices: Choices, server: str, *, seconds: float = 60, batch: int = 64,
        at_once: int = 4,
    ) -> None:  # fmt: skip
        self._plugin = choices.name
        self._model = choices.text("model") if server else ""
        self._embed_model = choices.text("embed_model") if server else ""
        self._seconds = choices.number("timeout_seconds", seconds)
        self._dimensions = choices.whole("dimensions", 1) if "dimensions" in choices else None
        self._vector_space = choices.name
        """Where the embedding model is; vectors of two places do not mix."""
        pace = choices.whole("per_minute", 1) if "per_minute" in choices else 0
        limits = Limits(choices.whole("tries", 3), choices.whole("at_once", at_once), pace)
        place = Place(
            server=server,
            model=self._embed_model,
            limits=limits,
            seconds=self._seconds,
            batch=batch,
        )
        self._texts = Patience(server, limits)
        self._vectors = Vectors(choices, place, self._embed_batch)

    def generate_text(self, prompt: Prompt) -> Reply | None:
        """Answer with the language model, once one is named."""
        if not self._model:
            return None
        return self._texts.call(lambda: self._request_reply(prompt, self._seconds))

    def embed_texts(self, texts: Sequence[str], purpose: Purpose) -> Embedding | None:
        """Answer for notes and questions while the server does."""
        rows = self._vectors.rows(texts, purpose)
        if rows is None:
            return None
        manner = self._vectors.manner
        size = f"/{self._dimensions}" if self._dimensions else ""
        name = f"{self._vector_space}:{self._embed_model}{size}{manner.mark}"
        return Embedding(name, rows, manner.weight)

    def check_health(self, root: Path) -> list[Finding]:
        """Ask each model for one word, so that a dead server shows before it is needed."""
        asks: tuple[tuple[str, Callable[[], object]], ...] = (
            (self._model, lambda: self._request_reply(PING, CHECK_SECONDS)),
            (self._embed_model, lambda: self._embed_batch([PING.text], CHECK_SECONDS)),
        )
        return [self._check_model(model, ask) for model, ask in asks if model]

    def _check_model(self, model: str, ask: Callable[[], object]) -> Finding:
        try:
            ask()
        # A warning and no error: rules do all the work of a model, only not so well.
        except KimiMemoryError as error:
            remedy = f"Start the server, or correct [plugins.{self._plugin}]; rules work meanwhile."
            message = f"{self._plugin}: {model} does not answer: {str(error).rstrip('.')}"
            return Finding("model", Severity.WARNING, message, remedy)
        return Finding("model", Severity.OK, f"{self._plugin}: {model} answers")

    @abstractmethod
    def _request_reply(self, prompt: Prompt, seconds: float) -> Reply:
        """Ask the language model once; ModelError says how it failed."""

    @abstractmethod
    def _embed_batch(self, texts: list[str], seconds: float) -> list[list[float]]:
        """Ask the embedding model for a row a text, of unit norm."""

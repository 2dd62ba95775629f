"""What a language model is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from kimi_memory.domain.note import Lang
from kimi_memory.domain.session import Json
from kimi_memory.lazy_dataclass import dataclass

Schema = Mapping[str, Json]
"""A JSON schema: types, properties, required, items, enum and bounds of lists and texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One request to a model, as the provider sends it."""

    text: str
    schema: Schema = field(default_factory=dict)
    """What the answer must be; empty for free text."""
    max_tokens: int = 1024
    """The answer ends here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said, and what it cost."""

    text: str
    model: str
    """Provider and model, such as ``ollama:qwen3:4b``."""
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False
    """The answer hit its limit of tokens before it ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a plugin wants to know from a model, whichever that is."""

    schema: Schema
    template: str = ""
    """Stem of a packaged prompt, such as ``prompts/distil``; or else give `text`."""
    text: str = ""
    lang: Lang = Lang.EN
    """Language twin of the template."""
    values: Mapping[str, object] = field(default_factory=dict)
    """What the template shows."""
    max_tokens: int = 1024
    # Small models spoil single items of a long list; a whole answer thrown away for one of them is
    # asked for, and paid for, again.
    each: str = ""
    """Member of the answer whose items stand or fall alone: what is wrong with one, or with
    the end of the answer, costs no other. The items that come back may lack anything."""


# None and no exception where a model fails: every caller has rules to go on with, and must not
# forget to catch.
class Ask(Protocol):
    """A line to a model, through the ladder of checks, for the length of a job."""

    @property
    def ready(self) -> bool:
        """Whether a model is configured and the job may still ask."""

    def __call__(self, question: Question) -> Json:
        """Return an answer that fits the schema, or None: then rules decide alone."""

    def tell(self, note: str) -> None:
        """Add a line to the report of the job, such as why an answer was dropped."""

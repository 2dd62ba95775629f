"""Vectors from one server: in batches, patiently, as its model wants to be spoken to.

What known models want before questions and notes, and how much they count, is from the authors'
model cards: nomic-ai/nomic-embed-text-v1.5, BAAI/bge-base-en-v1.5, BAAI/bge-large-zh-v1.5,
BAAI/bge-m3 (wants nothing), intfloat/multilingual-e5-large and its -instruct,
Qwen/Qwen3-Embedding-0.6B, google/embeddinggemma-300m, mixedbread-ai/mxbai-embed-large-v1,
Snowflake/snowflake-arctic-embed-m and -l-v2.0.

A small model finds less than words do: with all-MiniLM a vector-first mix loses twenty
points of recall, a small weight gains. So a model counts 1.0 unless it is known to be large.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from kimi_memory.errors import ModelError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.llm.remote.retry import Limits, Patience
from kimi_memory.llm.remote.settings import Choices
from kimi_memory.nlp.basic.patterns import regex

Row = list[float]
_PASSAGES = "Represent this sentence for searching relevant passages: "
_PASSAGES_ZH = "为这个句子生成表示以用于检索相关文章："
_SEARCH = "Given a web search query, retrieve relevant passages that answer the query"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where vectors come from, and what may be asked of it."""

    server: str
    """What the log calls it."""
    model: str
    """Empty where none is to be asked."""
    limits: Limits
    seconds: float
    """Longest wait for the vectors of notes."""
    batch: int
    """Texts a request, where the settings say nothing."""


SETTINGS = ("query_seconds", "batch", "query_prefix", "note_prefix", "embed_weight")
"""What `Vectors` takes from a plugin's settings."""


class Vectors:
    """What a plugin needs for a vector lane, besides the request itself.

    Args:
        choices: the plugin's settings; those of `SETTINGS` are taken from them.
        place: the server and its model.
        ask: returns a row a text, of unit norm, within so many seconds.

    Raises:
        UsageError: a setting is of the wrong type.
    """

    def __init__(
        self, choices: Choices, place: Place, ask: Callable[[list[str], float], list[Row]]
    ) -> None:
        self._place, self._ask = place, ask
        self._query_seconds = choices.number("query_seconds", 3)
        self._batch = choices.whole("batch", place.batch)
        known = manner_of(place.model)
        # An empty prefix is a choice, and not the same as none given.
        self.manner = Manner(
            choices.text("query_prefix", known.query),
            choices.text("note_prefix", known.note),
            choices.number("embed_weight", known.weight),
        )
        self._notes = Patience(place.server, place.limits)
        # A recall waits for it: one try must do.
        self._lookups = Patience(place.server, replace(place.limits, tries=1))

    def rows(
        self, texts: Sequence[str], purpose: Literal["note", "query", "similarity"]
    ) -> list[Row] | None:
        """Return a row a text; None where the server gives none, or none that fit."""
        # Near duplicates are looked for in every job; n-grams do that without a server.
        if not self._place.model or purpose == "similarity":
            return None
        asking = purpose == "query"
        prefix = self.manner.query if asking else self.manner.note
        seconds = self._query_seconds if asking else self._place.seconds
        patience = self._lookups if asking else self._notes
        asked = [prefix + text for text in texts]
        parts = [asked[at : at + self._batch] for at in range(0, len(asked), self._batch)]
        try:
            found = patience.each(lambda part: self._ask(part, seconds), parts)
        except ModelError:
            # Recall goes on by words alone.
            return None
        rows = [row for part in found for row in part]
        # A server that changes its model meanwhile gives rows of another length.
        return rows if len({len(row) for row in rows}) <= 1 else None


def unit(row: Sequence[float]) -> Row:
    """Return a row scaled to unit norm.

    Raises:
        ValueError: it has no direction.
    """
    norm = math.sqrt(sum(value * value for value in row))
    # Some servers answer an empty or too long text with zeros, which have no direction to compare.
    if not math.isfinite(norm) or norm == 0:
        raise ValueError("a vector has no direction")
    # Once, when a vector is made: the index then needs no more than a product for the cosine.
    return [value / norm for value in row]


@dataclass(frozen=True, slots=True)
class Manner:
    """How one model is to be spoken to."""

    query: str = ""
    """Stands before a question."""
    note: str = ""
    """Stands before a note."""
    weight: float = 1.0
    """How much its lane counts against that of a small model."""

    @property
    def mark(self) -> str:
        """Short hash of the prefixes, so that an index tells whether they changed; often empty."""
        if not self.query and not self.note:
            return ""
        told = f"{self.query}\0{self.note}".encode()
        return f"#{hashlib.sha256(told).hexdigest()[:6]}"


# The first that fits counts: large models stand before the rest of their family.
_KNOWN = tuple(
    (regex(pattern), manner)
    for pattern, manner in (
        (r"nomic-embed", Manner("search_query: ", "search_document: ", 1.5)),
        (r"bge-m3", Manner(weight=2.0)),
        (r"bge-large.{0,40}zh", Manner(_PASSAGES_ZH, weight=1.5)),
        (r"bge-.{0,40}zh", Manner(_PASSAGES_ZH)),
        (r"bge-large", Manner(_PASSAGES, weight=1.5)),
        (r"bge-(?:small|base)", Manner(_PASSAGES)),
        (r"e5-.{0,40}instruct", Manner(f"Instruct: {_SEARCH}\nQuery: ", weight=2.0)),
        (r"\be5-large|-e5-large", Manner("query: ", "passage: ", 1.5)),
        (r"\be5-(?:small|base)|-e5-(?:small|base)", Manner("query: ", "passage: ")),
        (r"qwen3-embedding", Manner(f"Instruct: {_SEARCH}\nQuery:", weight=2.0)),
        (r"embedding-?gemma", Manner("task: search result | query: ", "title: none | text: ", 1.5)),
        (r"mxbai-embed-large", Manner(_PASSAGES, weight=1.5)),
        (r"snowflake-arctic-embed2|snowflake-arctic-embed-.*v2", Manner("query: ", weight=1.5)),
        (r"snowflake-arctic-embed", Manner(_PASSAGES)),
        (r"text-embedding-3-large|gemini-embedding", Manner(weight=2.0)),
        (r"text-embedding", Manner(weight=1.5)),
    )
)


def manner_of(model: str) -> Manner:
    """Return how a model is to be spoken to; without prefixes when it is not known."""
    name = model.lower().replace("_", "-")
    return next((manner for pattern, manner in _KNOWN if pattern.search(name)), Manner())

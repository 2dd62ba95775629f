"""Vectors from one server: in batches, patiently, as its model wants to be spoken to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kimi_memory.errors import ModelError
from kimi_memory.llm.remote.embedding_models import Manner, chosen
from kimi_memory.llm.remote.retry import Limits, Patience
from kimi_memory.llm.remote.settings import Choices

Row = list[float]


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
        self.manner: Manner = chosen(
            place.model,
            choices.text("query_prefix") if "query_prefix" in choices else None,
            choices.text("note_prefix") if "note_prefix" in choices else None,
            choices.number("embed_weight", 1.0) if "embed_weight" in choices else None,
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
    if not math.isfinite(norm) or norm == 0:
        raise ValueError("a vector has no direction")
    return [value / norm for value in row]

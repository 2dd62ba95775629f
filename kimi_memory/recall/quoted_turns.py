"""The turns that cards and events quote, as the heads of their files name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.basic.patterns import regex

if TYPE_CHECKING:
    from kimi_memory.domain.search_types import Unit
    from kimi_memory.index.searcher import Searcher

NOTES = frozenset({"card", "event"})
"""Kinds of units that quote turns."""
# "session:chat-7#3-5 supports …", as the front matter of a note names what it rests on.
_SOURCE = regex(
    r"session:(?P<session>[^\s\"'#]{1,255}+)#(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))? supports\b"
)
_LONGEST_RUN = 50
"""A source of more turns is a whole session, which no note restates."""


def rests_on(searcher: Searcher, unit: Unit) -> tuple[str, ...]:
    """Return the ids of the turns that a card or an event quotes."""
    if unit.kind not in NOTES:
        return ()
    known = searcher.once("quoted turns", dict[str, tuple[str, ...]])
    if unit.id not in known:
        content = b""
        with suppress(OSError, KimiMemoryError):
            content = searcher.files.served(unit.path).content
        known[unit.id] = tuple(_yield_turn_ids(content.decode("utf-8", "replace")))
    return known[unit.id]


def _yield_turn_ids(text: str) -> Iterator[str]:
    for found in _SOURCE.finditer(text):
        first, last = int(found["first"]), int(found["last"] or found["first"])
        if last - first < _LONGEST_RUN:
            yield from (f"session:{found['session']}#{n}" for n in range(first, last + 1))

"""Cards whose own files were edited: what a person wrote there that nothing else proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kimi_memory.domain.change import digest
from kimi_memory.domain.note import Card, Rel
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.jobs.tombstone_gate import LIVE
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

_VERSIONS = 50


@dataclass(frozen=True, slots=True)
class Touch:
    """One card that says something new since its file was edited."""

    path: str
    card: Card
    """As it stands there."""
    line: int
    """Where its value begins; 0 where that is not known."""
    before: Card | None
    """As it was; None where no history tells."""


def touched(store: Store, history: History, shelf: Shelf) -> Iterator[Touch]:
    """Yield the cards that were edited in their own files and say what none of their words prove.

    What came with evidence, as a merge or another machine brings it, is none of them.
    """
    edited = store.journal.edited()
    places = {e.path for e in shelf.entries().values() if e.kind == Card.kind} if edited else set()
    for path, mark in sorted(edited.items()):
        if path not in places:
            continue
        if shelf.survey.waits(path):
            continue
        content = store.read(path)
        card = _parse_card(content, path)
        if card is None or card.status not in LIVE or _is_proven(card):
            continue
        before = _find_earlier_card(history, path, mark) if history.ready() else None
        # A corrected space or letter case says nothing new.
        if before is None or normalise(before.value) != normalise(card.value):
            yield Touch(path, card, _find_line_number(content, card.value), before)


def _find_earlier_card(history: History, path: str, mark: str) -> Card | None:
    """Return a card as it was when its file had the content of a mark."""
    for commit in history.log(limit=_VERSIONS, path=path):
        content = history.content(commit.hash, path)
        if content is not None and digest(content) == mark:
            return _parse_card(content, path)
    return None


def _parse_card(content: bytes, path: str) -> Card | None:
    try:
        note = codec.parse(decode(content, path), path)
    except FormatError:
        return None
    return note if isinstance(note, Card) else None


def _is_proven(card: Card) -> bool:
    """Whether words that the card rests on say what it says."""
    # What speaks against the card cannot prove it.
    against = {source.quote for source in card.sources if source.rel is Rel.CONTRADICTS}
    value = normalise(card.value)
    said = (normalise(quote.text) for quote in card.quotes if quote.hash not in against)
    return any(value in words or words in value for words in said)


def _find_line_number(content: bytes, value: str) -> int:
    first = value.strip().split("\n", 1)[0]
    lines = content.decode("utf-8", "replace").splitlines()
    return next((n for n, line in enumerate(lines, 1) if first and first in line), 0)

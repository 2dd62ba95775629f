"""The note that a person names: by its id, the beginning of one, a key, or a project and a key."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.errors import AmbiguousIdError, FormatError, NotFoundError
from kimi_memory.store.notes.notes import Shelf

_WHOLE_ID = re.compile(r"[a-z]+-[0-9a-hjkmnp-tv-z]{26}")
# Each is read from its file; the rest is named by its id.
_LISTED = 5
# Several stand in one message, so each gets half a line.
_TITLE = 40


def find_note(memory: Memory, what: str) -> str:
    """Return the id of the note that a person names.

    Args:
        memory: an open memory.
        what: an id, the beginning of one, a key, or ``project/key``. Of the cards of a key the
            live ones are meant; where none is live, the others.

    Raises:
        NotFoundError: there is none.
        AmbiguousIdError: it fits several; the message names them with their titles.
    """
    # A whole id needs no look at the other files, of which there may be 100,000.
    if _WHOLE_ID.fullmatch(what):
        return what
    shelf = Shelf(memory.store)
    if what in shelf.entries():
        return what
    cards = find_by_key(shelf, what)
    if cards:
        return _choose_card(what, cards)
    near = sorted(id for id in shelf.entries() if what and id.startswith(what))
    if not near:
        raise NotFoundError("note or key", what)
    if len(near) > 1:
        described = [_describe_entry(shelf, id) for id in near[:_LISTED]]
        raise AmbiguousIdError(what, [*described, *near[_LISTED:]])
    return near[0]


def find_by_key(shelf: Shelf, what: str) -> list[Card]:
    """Return the cards of a key or of ``project/key``: those that are live, else the others."""
    cards = shelf.cards(what)
    project, _, key = what.rpartition("/")
    if not cards and project:
        cards = [card for card in shelf.cards(key) if project in (card.project, card.category)]
    live = [card for card in cards if card.status in LIVE]
    held = [card for card in live if card.status is not Status.CANDIDATE]
    return held or live or cards


def _choose_card(what: str, cards: Sequence[Card]) -> str:
    if len(cards) == 1:
        return cards[0].id
    projects = {card.project for card in cards}
    remedy = "Name one by its id"
    if len(projects) == len(cards) and "/" not in what:
        named = next(card.project for card in cards if card.project)
        remedy = f"Name one by its id, or as {named}/{what}"
    raise AmbiguousIdError(what, [_describe(card) for card in cards], remedy)


def _describe_entry(shelf: Shelf, id: str) -> str:
    try:
        return _describe(shelf.file(shelf.entries()[id].path).note)
    except FormatError:
        # Its id is the best name that a broken note has.
        return id


def _describe(note: Note) -> str:
    """Return the id of a note with what a person knows it by."""
    text = " ".join(str(getattr(note, "title", "") or getattr(note, "name", "")).split())
    title = f" “{text if len(text) <= _TITLE else f'{text[:_TITLE]}…'}”" if text else ""
    project = getattr(note, "project", "")
    return f"{f'{project}: ' if project else ''}{note.id}{title}"

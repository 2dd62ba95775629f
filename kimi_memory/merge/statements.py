"""The statement of a note: the fields that are merged as one, and the version that loses.

Where both sides said something else, the greater statement stays by an order that looks at the
statements alone. The other becomes a variant: a candidate that holds the words and nothing else,
so that it is the same whenever it is made.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import TypeVar

from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, Link, LinkRel, Note, Origin, Status
from kimi_memory.domain.pages import Event
from kimi_memory.domain.tombstone import PURGED

N = TypeVar("N", bound=Note)

WORDS: Mapping[str, tuple[str, ...]] = {
    Card.kind: ("title", *Card.body_fields),
    Event.kind: ("title", *Event.body_fields),
    "proposal": ("title", "target", "section", "text", "reason"),
    "digest": ("title",),
}
"""What is said, by the kind of note."""
REGISTER: Mapping[str, tuple[str, ...]] = {
    Card.kind: ("type", "lang", "trust", "valid_from"),
    Event.kind: ("type", "lang", "at"),
    "proposal": ("lang",),
    "digest": ("lang", "session", "at", "project", "scope"),
}
"""What else goes with it, from the same side."""
VARIANT = "said otherwise in another copy"
"""The reason of the link from a variant to the card that stays."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)
PLACE = ("key", "category", "project", "scope")
"""Where a card belongs."""


def merge_statements(base: N | None, ours: N, theirs: N) -> tuple[N, tuple[Note, ...]]:
    """Return the side whose statement stays, and variants for what would be lost."""
    if _same_words(ours, theirs):
        return _pick_register(base, ours, theirs), ()
    if base is not None and _same_words(base, theirs):
        return ours, ()
    if base is not None and _same_words(base, ours):
        return theirs, ()
    stays, loses = sorted((ours, theirs), key=_rank, reverse=True)
    return stays, () if _is_purged(stays) else _make_variants(base, loses)


def variant_id(note: Note, created: datetime) -> str:
    """Return the id of the variant that keeps the words of a note, whatever else goes with them.

    Args:
        note: which says them.
        created: when the note that stays was made.
    """
    return derived_id(note.kind, created, "variant", note.id, _hash("\0".join(_words(note))))


def is_greater(one: Note, other: Note) -> bool:
    """Whether the first of two statements stays where both are made."""
    return _rank(one) > _rank(other)


def _pick_register(base: N | None, ours: N, theirs: N) -> N:
    if base is not None and _register(theirs) == _register(base):
        return ours
    if base is not None and _register(ours) == _register(base):
        return theirs
    return max(ours, theirs, key=_rank)


def _same_words(one: Note, other: Note) -> bool:
    return _words(one) == _words(other)


def _words(note: Note) -> tuple[str, ...]:
    return tuple(getattr(note, name) for name in WORDS[note.kind])


def _register(note: Note) -> tuple[object, ...]:
    return (_words(note), *(getattr(note, name) for name in REGISTER[note.kind]))


def _rank(note: Note) -> tuple[bool, int, datetime, str]:
    """Order statements by what they say alone; washed words stay washed."""
    trust = note.trust.rank if isinstance(note, Card) else Origin.REMOTE.rank
    since = note.valid_from if isinstance(note, Card) else None
    said = _hash("\0".join(map(str, _register(note))))
    return _is_purged(note), -trust, since or _EARLIEST, said


def _is_purged(note: Note) -> bool:
    return any(PURGED in text for text in _words(note))


def _hash(said: str) -> str:
    # Escapes in front matter can make half of a pair, which plain UTF-8 refuses.
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _make_variants(base: Note | None, loses: Note) -> tuple[Note, ...]:
    """Return the candidate that keeps the words of the losing statement."""
    if not isinstance(loses, Card | Event):
        return ()
    kept = {name: getattr(loses, name) for name in (*WORDS[loses.kind], *REGISTER[loses.kind])}
    origin = base or loses
    kept |= {f.name: getattr(origin, f.name) for f in fields(origin) if f.name in PLACE}
    kept |= {"id": variant_id(loses, origin.created), "status": Status.CANDIDATE}
    # Not the time of the merge: two copies that merge must write the same file.
    kept |= {"created": origin.created, "updated": origin.created}
    variant = type(loses)(**kept)
    if isinstance(variant, Card):
        link = Link(loses.id, LinkRel.CONTRADICTS, 1.0, VARIANT)
        return (replace(variant, links=(link,)),)
    return (variant,)

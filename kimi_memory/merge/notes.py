"""Three-way merge of notes, field by field."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

from kimi_memory.domain.note import Card, Link, Note, Quote, Rel, Source, Status
from kimi_memory.domain.pages import Event, Todo
from kimi_memory.formats.codec import with_fields
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.merge.lines import keep_both
from kimi_memory.merge.statements import PLACE, REGISTER, WORDS, merge_statements
from kimi_memory.merge.three_way import merge_sets, merge_tables, pick

T = TypeVar("T")
N = TypeVar("N", bound=Note)

# What a field holds, only its name tells.
Rule = Callable[[Any, Any, Any], Any]

_STATUS = [
    *(Status.ACTIVE, Status.CANDIDATE, Status.STALE),
    *(Status.CONFLICTED, Status.SUPERSEDED, Status.ARCHIVED),
]
"""Of two changes of a status the later in this list stays; what is archived stays archived."""
_RELATIONS = [Rel.SUPPORTS, Rel.UPDATES, Rel.CONTRADICTS]
_STANDING = ("status", *PLACE, "valid_to", "expires")
"""How a note stands, where it belongs and until when it holds."""
_TEXTS = ("goal", "persona", "who", "mission")
"""Free text in sections of pages, merged by lines."""


@dataclass(frozen=True, slots=True)
class MergedNote:
    """A note of both sides."""

    note: Note
    variants: tuple[Note, ...] = ()
    """Statements that would be lost, as candidates of their own."""


def merge_notes(base: Note | None, ours: Note, theirs: Note) -> MergedNote:
    """Return the note that has the changes of both sides; all are of one kind and id."""
    if ours.kind not in WORDS:
        stays, variants = ours, tuple[Note, ...]()
    else:
        stays, variants = merge_statements(base, ours, theirs)
    whole = {*WORDS.get(ours.kind, ()), *REGISTER.get(ours.kind, ())}
    merged: dict[str, Any] = {}
    for field in (f.name for f in fields(ours) if f.name not in whole):
        old = None if base is None else getattr(base, field)
        one, other = getattr(ours, field), getattr(theirs, field)
        # Nobody changed most of the fields, and most lists are empty.
        if one == other == old and (not one or not isinstance(one, tuple)):
            continue
        merged[field] = _RULES.get(field, _pick_greatest)(old, one, other)
    return MergedNote(with_fields(stays, **merged), variants)


def keep_edit(base: Note, edit: Note) -> Note | None:
    """Return what stays of a note that one side deleted and the other changed.

    The evidence that was there before went with the deletion. What was said, proven or decided
    since stays; None where that is nothing. Weights, tags and links alone are nothing: jobs
    change them by themselves, and would bring back what a person took back.
    """
    if edit.kind == "proposal":  # It was answered.
        return None
    if not isinstance(edit, Card | Event) or not isinstance(base, Card | Event):
        return edit
    gone = {_source_place(source) for source in base.sources}
    heard = {_quote_place(quote) for quote in base.quotes}
    sources = tuple(one for one in edit.sources if _source_place(one) not in gone)
    quotes = tuple(one for one in edit.quotes if _quote_place(one) not in heard)
    if not sources and _decided(edit) == _decided(base):
        return None
    return replace(edit, sources=sources, quotes=quotes)


def standing_as(note: N, base: Note) -> N:
    """Return a note that stands as another version of it: its status, place and end."""
    return replace(note, **{name: getattr(base, name) for name in _STANDING if hasattr(base, name)})


def _decided(note: Note) -> tuple[object, ...]:
    """Return what somebody says of a note besides its evidence."""
    names = (*WORDS[note.kind], *REGISTER[note.kind], *_STANDING)
    return tuple(getattr(note, name, None) for name in names)


def _pick_greatest(base: Any, ours: Any, theirs: Any) -> Any:
    if isinstance(ours, tuple):
        return merge_sets(base or (), ours, theirs)
    return pick(base, ours, theirs, lambda one, other: max(one, other, key=_value_order))


def _value_order(value: object) -> tuple[float, str]:
    if value is None:
        return -1.0, ""
    return (value if isinstance(value, float) else 0.0), str(value)


def _pick_earliest(_: datetime | None, ours: datetime, theirs: datetime) -> datetime:
    return min(ours, theirs)


def _pick_latest(
    _: datetime | None, ours: datetime | None, theirs: datetime | None
) -> datetime | None:
    known = [at for at in (ours, theirs) if at is not None]
    return max(known, default=None)


def _pick_end(
    base: datetime | None, ours: datetime | None, theirs: datetime | None
) -> datetime | None:
    """Return when a note ends; of two changes the earlier end."""
    if theirs in (ours, base):
        return ours
    return theirs if ours == base else min(at for at in (ours, theirs) if at is not None)


def _merge_status(base: Status | None, ours: Status, theirs: Status) -> Status:
    return pick(base, ours, theirs, lambda one, other: max(one, other, key=_STATUS.index))


def _merge_by(
    key: Callable[[T], Hashable], choose: Callable[[T, T], T], *, revive: bool = True
) -> Rule:
    """Return the rule of a list whose items have names of their own."""

    def merge(base: Iterable[T] | None, ours: Iterable[T], theirs: Iterable[T]) -> tuple[T, ...]:
        old, one, other = (
            {key(item): item for item in side} for side in (base or (), ours, theirs)
        )
        return tuple(merge_tables(old, one, other, choose, revive=revive).values())

    return merge


def _source_place(source: Source) -> tuple[str, str]:
    return source.place, source.quote


def _choose_source(one: Source, other: Source) -> Source:
    return max(one, other, key=lambda source: _RELATIONS.index(source.rel))


def _quote_place(quote: Quote) -> tuple[str, int, str]:
    return quote.session, quote.n, quote.hash


def _choose_quote(one: Quote, other: Quote) -> Quote:
    return max(one, other, key=lambda quote: quote.text)


def _link_target(link: Link) -> tuple[str, str]:
    return link.to, str(link.rel)


def _choose_link(one: Link, other: Link) -> Link:
    # A link that a person rejected stays rejected.
    return max(one, other, key=lambda link: (link.weight <= 0, link.weight, link.reason))


def _choose_todo(one: Todo, other: Todo) -> Todo:
    return Todo(max(one.text, other.text), one.done or other.done, one.id)


def _merge_text(base: str | None, ours: str, theirs: str) -> str:
    """Return the text of a section; where both sides changed a place, both versions."""
    old, one, other = ((text or "").split("\n") for text in (base, ours, theirs))
    return "\n".join(keep_both(old, one, other))


_RULES: Mapping[str, Rule] = {
    "created": _pick_earliest,
    "updated": _pick_latest,
    "verified": _pick_latest,
    "valid_to": _pick_end,
    "expires": _pick_end,
    "status": _merge_status,
    # A source and its quote go together, also where the other side only weighs it otherwise.
    "sources": _merge_by(_source_place, _choose_source, revive=False),
    "quotes": _merge_by(_quote_place, _choose_quote, revive=False),
    "links": _merge_by(_link_target, _choose_link),
    "todos": _merge_by(lambda todo: todo.id or todo.text, _choose_todo),
    **dict.fromkeys(_TEXTS, _merge_text),
}
"""Rules of fields by name; of any other field the greatest changed value stays, and of lists
what both sides kept or one added."""

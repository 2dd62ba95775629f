"""Beliefs over time: what a card said at each version, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.domain.past import BeliefChange, BeliefDiff, Cause
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.past.causes import find_causes
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.table import State
from kimi_memory.past.unmet import known_apart, merge_unmet

SIGNS = {
    "learned": "+", "proposed": "+", "taken up": "+", "changed": "~", "surer": "~",
    "less sure": "~", "confirmed": "~", "dated": "~", "settled": "~", "stale": "~",
    "edited": "~", "disputed": "!", "let go": "-", "removed": "-", "forgotten": "x",
}  # fmt: skip
"""How each kind of change is marked in a list."""
_WORDS = frozenset({"learned", "proposed", "taken up", "changed"})
"""The changes by which a belief came to say what it says."""

Sees = Callable[[Note], bool]


def describe_change(old: Note | None, new: Note | None) -> str:
    """Return in a word or two how a note changed; empty where nothing important changed."""
    if old is None or new is None:
        if new is None:
            return "removed" if old is not None else ""
        return "proposed" if new.status == Status.CANDIDATE else "learned"
    if old.status != new.status:
        return _describe_status(old.status, new.status)
    return "changed" if _said(old) != _said(new) else _describe_weight(old, new)


def statement_of(note: Note | None) -> str:
    """Return what a note says, in its own words."""
    if note is None:
        return ""
    return str(getattr(note, "value", "") or getattr(note, "title", "") or note.id)


@dataclass(frozen=True, slots=True)
class BeliefFilter:
    """Which beliefs are compared."""

    keys: tuple[str, ...] = ()
    """Only of these keys and those below them; all if empty."""
    project: str = ""
    sees: Sees = lambda note: True
    """Whether the caller may see a card."""

    def wants(self, card: Card) -> bool:
        """Whether a card is one of them."""
        named = (card.key == key or card.key.startswith(f"{key}.") for key in self.keys)
        right = not self.keys or any(named)
        return right and self.project in ("", card.project) and self.sees(card)


def compare_beliefs(
    reader: PastReader,
    old: Point,
    new: Point | None,
    wanted: BeliefFilter = BeliefFilter(),  # noqa: B008  a frozen value
    *,
    why: bool = False,
) -> BeliefDiff:
    """Return how the cards of two points differ.

    Args:
        reader: of the memory.
        old: the earlier point.
        new: the later point; None for the files now.
        wanted: which cards.
        why: whether to look up which commit made each what it is.
    """
    sides: dict[str, list[Card | None]] = {}
    for path, contents in _pair_files(reader, old, new).items():
        for side, content in enumerate(contents):
            note = reader.read(path, content)
            if isinstance(note, Card) and wanted.wants(note):
                sides.setdefault(note.id, [None, None])[side] = note
    found, gone, forgotten = [], 0, reader.table().forgotten()
    for id, both in sides.items():
        before, after = (one if one is not None and one.status in LIVE else None for one in both)
        if id in forgotten or any(map(reader.is_barred, filter(None, both))):
            # Counted, but not shown: a comparison must not bring back what was forgotten.
            gone += before is not None
            continue
        change = _describe_belief(*both)
        if change:
            found.append(_make_change(change, before, after))
    cards = {id: new for id, (_, new) in sides.items() if new}
    causes = _find_causes(reader, found, cards, (old, new)) if why else {}
    found = [replace(one, cause=causes.get(one.note)) for one in found]
    return BeliefDiff(_list_changes(found, cards), gone, reader.count_cards(new))


def _find_causes(
    reader: PastReader,
    changes: Sequence[BeliefChange],
    cards: Mapping[str, Card],
    span: tuple[Point, Point | None],
) -> dict[str, Cause]:
    """Return what made each belief what it is at the later of two points, by the notes.

    What only proved or weighed it anew since is no cause of what it says.
    """
    old, new = span
    # Where the head does not descend from it, nothing is left out.
    first, last = reader.find_places(old), (reader.find_places(new) or None) if new else None
    owned = {
        one.note: [s for s in reader.table().states_of(one.note) if last is None or s.place in last]
        for one in changes
    }
    notes = iter(reader.notes_of(chain.from_iterable(owned.values())))
    begins = dict[str, State]()
    for one in changes:
        states = owned[one.note]
        seen = [_view_as(one.change, note) for note in islice(notes, len(states))]
        if not states or (new is None and seen[-1] != _view_as(one.change, cards.get(one.note))):
            continue  # What made it so is in no commit yet.
        begin = _find_begin(reader, states, seen, first)
        begins |= {one.note: begin} if begin else {}
    return dict(zip(begins, find_causes(reader, list(begins.values())), strict=True))


def _find_begin(
    reader: PastReader, states: Sequence[State], seen: Sequence[object], before: set[int]
) -> State | None:
    """Return the state since which a note is as it is in the last; None where it was so before."""
    begin = None
    for at in reversed(reader.follow_value(states, seen)):
        if seen[at] != seen[-1] or states[at].place in before:
            break
        begin = states[at]
    return begin


def _view_as(change: str, note: Note | None) -> object:
    """Return what of a note a change of some kind is about."""
    if not isinstance(note, Card):
        return None
    if change in ("surer", "less sure"):
        return note.confidence
    if change == "dated":
        return note.valid_from, note.valid_to
    live = note.status in LIVE
    return (live, _said(note)) if change in _WORDS else (note.status if live else None)


def _pair_files(
    reader: PastReader, old: Point, new: Point | None
) -> dict[str, tuple[bytes | None, bytes | None]]:
    """Return the files in which two points differ, with what copies held that had not met."""
    differing = reader.history.pairs(old.commit, new.commit if new else "")
    found = {one.path: (one.old, one.new) for one in differing}
    before, after = (
        known_apart(reader.store, merge_unmet(reader.history, one)) if one else {}
        for one in (old, new)
    )
    apart = sorted({*before, *after})
    alike = reader.history.contents((old.commit, path) for path in apart if path not in found)
    for path in apart:
        same = alike.get((old.commit, path))
        one, other = found.get(path, (same, same))
        found[path] = before.get(path, one), after.get(path, other)
    return found


def compare_cards(old: Mapping[str, Card], new: Mapping[str, Card]) -> tuple[BeliefChange, ...]:
    """Return how two sets of cards differ, by their ids."""
    found = []
    for id in old.keys() | new.keys():
        both = old.get(id), new.get(id)
        if change := _describe_belief(*both):
            before, after = (one if one and one.status in LIVE else None for one in both)
            found.append(_make_change(change, before, after))
    return _list_changes(found, new)


def _list_changes(found: list[BeliefChange], cards: Mapping[str, Card]) -> tuple[BeliefChange, ...]:
    """Return the changes in the order they are shown, of a card with those it replaced one."""
    joined = _join_replaced(found, cards)
    order = list(SIGNS)
    return tuple(sorted(joined, key=lambda one: (order.index(one.change), one.key, one.note)))


def _join_replaced(
    changes: list[BeliefChange], cards: Mapping[str, Card]
) -> Iterator[BeliefChange]:
    """Yield the changes; a card that took the place of others is one change with them."""
    gone = {one.note: one for one in changes if one.change == "let go"}
    heirs: dict[str, BeliefChange] = {}
    for one in changes:
        if one.change == "learned":
            heirs |= dict.fromkeys(gone.keys() & _replaced_by(one.note, cards), one)
    for one in changes:
        replaced = [gone[id] for id, heir in heirs.items() if heir is one]
        if replaced:
            before = replaced[0]
            yield replace(
                one, change="changed", old="; ".join(dict.fromkeys(old.old for old in replaced)),
                old_confidence=before.old_confidence,
                replaces=tuple(old.note for old in replaced),
            )  # fmt: skip
        elif one.note not in heirs:
            yield one


def _replaced_by(id: str, cards: Mapping[str, Card]) -> set[str]:
    """Return the cards that a card replaced, and those that these had replaced."""
    found, waiting = set[str](), [id]
    while waiting:
        card = cards.get(waiting.pop())
        fresh = set(card.supersedes) - found if card is not None else set()
        found |= fresh
        waiting += fresh
    return found


def _describe_belief(old: Card | None, new: Card | None) -> str:
    """Return what became of a belief; a card that is not live is no belief."""
    before, after = (one is not None and one.status in LIVE for one in (old, new))
    if not before and not after:
        return ""
    if not before:
        return describe_change(None, new) if old is None else "taken up"
    return describe_change(old, new) if after or new is None else "let go"


def _make_change(change: str, old: Card | None, new: Card | None) -> BeliefChange:
    card = new or old
    assert card is not None  # One of them is live.
    return BeliefChange(
        change, card.id, card.key, statement_of(old), statement_of(new),
        old.confidence if old else 0.0, new.confidence if new else 0.0, card.project,
    )  # fmt: skip


def _describe_status(old: Status, new: Status) -> str:
    if new == Status.CONFLICTED:
        return "disputed"
    if new not in LIVE:
        return "let go"
    if new == Status.STALE:
        return "stale"
    if old == Status.CONFLICTED:
        return "settled"
    if old not in LIVE:
        return "taken up"
    return "confirmed" if old == Status.CANDIDATE else "edited"


def _describe_weight(old: Note, new: Note) -> str:
    """Return how sure a card became, or that it holds at another time."""
    if not isinstance(old, Card) or not isinstance(new, Card):
        return ""
    if old.confidence != new.confidence:
        return "surer" if new.confidence > old.confidence else "less sure"
    dated = (old.valid_from, old.valid_to) != (new.valid_from, new.valid_to)
    return "dated" if dated else ""


def _said(note: Note) -> tuple[object, ...]:
    """Return what makes a note say something else."""
    texts = getattr(note, "body_texts", ())
    return getattr(note, "title", ""), texts, getattr(note, "key", "")


@dataclass(frozen=True, slots=True)
class RollbackReport:
    """What a rollback did, or with a dry run would do."""

    point: Point
    job: str = ""
    """Its record, by which it can be undone; empty with a dry run, and where nothing differed."""
    commit: str = ""
    paths: tuple[str, ...] = ()
    """Files that change."""
    beliefs: tuple[BeliefChange, ...] = ()
    left_out: tuple[str, ...] = ()
    """One line for what stays as it is, and why."""

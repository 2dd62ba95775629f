"""Bisecting: the version from which on a note says, or does not say, something."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.domain.past import BlameTurn, Cause
from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.past.beliefs import statement_of
from kimi_memory.past.blame import Blame
from kimi_memory.past.causes import find_causes
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.table import State


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is looked for; one of these."""

    says: str = ""
    """Words that a live note of the key says."""
    not_says: str = ""
    """Words that no live note of the key says."""
    status: str = ""
    below: float | None = None
    """A confidence; a live card is less sure."""

    def holds(self, notes: list[Note]) -> bool:
        """Whether it is so of the notes of a key."""
        live = [one for one in notes if one.status in LIVE]
        if self.status:
            return any(one.status == self.status for one in notes)
        if self.below is not None:
            least = self.below
            return any(isinstance(one, Card) and one.confidence < least for one in live)
        words = normalise(self.says or self.not_says)
        said = any(words in normalise(statement_of(one)) for one in live)
        return said if self.says else not said


@dataclass(frozen=True, slots=True)
class Flip:
    """A version at which what is looked for began to be so, or ceased."""

    begins: bool
    cause: Cause
    note: str
    says: str
    """What the note said from then on."""
    before: str
    """What the notes said until then; empty where there was none."""
    before_version: int
    turns: tuple[BlameTurn, ...] = ()


def find_flips(
    reader: PastReader,
    what: str,
    wrong: Wrong,
    good: Point | None = None,
    bad: Point | None = None,
) -> list[Flip]:
    """Return the versions at which something changed, oldest first.

    Args:
        reader: of the memory.
        what: a key, or the id of a note.
        wrong: what is looked for.
        good: leave out what came before this point.
        bad: leave out what came after it.

    Raises:
        NotFoundError: there never was such a note, or it was forgotten.
        UsageError: it is not said what is looked for.
    """
    given = (wrong.says, wrong.not_says, wrong.status, wrong.below is not None)
    if sum(map(bool, given)) != 1:
        raise UsageError("Say one thing to look for: --says, --not-says, --status or --below.")
    if wrong.status and wrong.status not in tuple(map(str, Status)):
        raise UsageError(f"There is no status {wrong.status!r}. Use {', '.join(map(str, Status))}.")
    upto = (reader.find_places(bad) or None) if bad else None
    after = reader.find_places(good) if good else set[int]()
    states = [one for one in reader.find_states(what) if upto is None or one.place in upto]
    return [
        _make_flip(reader, *found)
        for found in _yield_flips(reader, states, wrong)
        if found[0].place not in after
    ]


def _yield_flips(
    reader: PastReader, states: list[State], wrong: Wrong
) -> Iterator[tuple[State, bool, dict[str, Note]]]:
    """Yield the states at which the answer changed, with what there was before.

    Each is held against the commits that its own followed: what another copy said meanwhile was
    not there before. A merge changes the answer where it is that of no side.
    """
    # What nobody confirmed took the place of nothing.
    waiting = reader.find_waiting(states)
    states = [one for one in states if one not in waiting]
    read = dict(zip(states, reader.notes_of(states), strict=True))
    notes = {one: None if n is None or reader.is_barred(n) else n for one, n in read.items()}
    graph = reader.points.graph()
    for place in dict.fromkeys(one.place for one in states):
        commit = graph.rows[place].commit
        after, *before = (
            _notes_at(states, notes, known)
            for known in (graph.known_to(commit), *map(graph.known_to, graph.parents(commit)))
        )
        now, was = _holds(after, wrong), [_holds(one, wrong) for one in before or [{}]]
        if now not in was:
            changed = [one for one in states if one.place == place]
            yield _choose(changed, notes, wrong if now else None), now, before[0] if before else {}


def _notes_at(
    states: list[State], notes: Mapping[State, Note | None], known: Container[int]
) -> dict[str, Note]:
    """Return the notes that some commits have, by id."""
    found = {one.note: notes[one] for one in states if one.place in known}
    return {id: note for id, note in found.items() if note is not None}


def _holds(notes: dict[str, Note], wrong: Wrong) -> bool:
    return bool(notes) and wrong.holds(list(notes.values()))


def _choose(changed: list[State], notes: Mapping[State, Note | None], wrong: Wrong | None) -> State:
    """Return which of several notes that one commit changed is shown for it."""
    if wrong is not None and wrong.status:
        found = [one for one in changed if (note := notes[one]) and wrong.holds([note])]
        changed = found or changed
    # Else the live one is what it says since.
    live = [one for one in changed if (note := notes[one]) and note.status in LIVE]
    return (live or changed)[-1]


def _make_flip(reader: PastReader, state: State, begins: bool, before: dict[str, Note]) -> Flip:
    [cause], [note] = find_causes(reader, [state]), reader.notes_of([state])
    said = "; ".join(statement_of(one) for one in before.values() if one.status in LIVE)
    turns = Blame(reader).turns_of(note) if note is not None else ()
    return Flip(
        begins, cause, state.note, statement_of(note), said, state.version - 1, tuple(turns)
    )

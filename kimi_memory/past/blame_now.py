"""What became of blamed lines since, and who signed the commits that made them so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kimi_memory.domain.note import LIVE, Card, Note
from kimi_memory.domain.past import BlameLine, Since
from kimi_memory.past.beliefs import Sees
from kimi_memory.past.blame import field_of
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.table import State
from kimi_memory.store.git.signed_commits import find_signers
from kimi_memory.store.git.signers import Signers


def add_now(
    reader: PastReader, found: Iterable[BlameLine], point: Point | None, sees: Sees
) -> Iterator[BlameLine]:
    """Yield lines with what became of the notes they belong to.

    Args:
        reader: of the memory.
        found: what blame returned.
        point: at which they were blamed; None for the last commit.
        sees: whether the caller may see a note.
    """
    graph, table = reader.points.graph(), reader.table()
    there = graph.ancestors(point.commit if point else graph.head)
    for line in found:
        states = table.states_of(line.note) if line.note else []
        then = [one for one in states if one.place in there]
        last = states[-1] if states else None
        if not then or (then[-1] == last and last.status in LIVE):
            yield line
        else:
            now = _find_now(reader, states, states.index(then[-1]), line.field, sees)
            yield replace(line, now=now)


def add_signers(
    reader: PastReader, found: Sequence[BlameLine], signers: Signers
) -> list[BlameLine]:
    """Return lines with the names of who signed the commits that made them so."""
    commits = {one.cause.commit for one in found if one.cause}
    names = find_signers(reader.history.repository(), signers, commits)
    return [replace(one, signer=names.get(one.cause.commit, "") if one.cause else "")
            for one in found]  # fmt: skip


def _find_now(
    reader: PastReader, states: Sequence[State], then: int, field: str, sees: Sees
) -> Since | None:
    """Return how a note changed later; None where it did not, or the caller may not see it."""
    notes = reader.notes_of(states)
    now, was, last = notes[-1], notes[then], states[-1]
    if was is None or reader.is_barred(was) or not sees(was):
        return None
    if not last.blob:
        return Since("removed", reader.on_clocks(last.known))
    # Without a note, its last version waits for a person's word.
    if now is None or reader.is_barred(now) or not sees(now):
        return None
    if now.status not in LIVE:
        at = _begin_run([one.status in LIVE for one in states])
        after = _find_successor(reader, now, states[at], sees)
        told = (after.value, after.id) if after else ("", "")
        return Since(str(now.status), reader.on_clocks(states[at].known), *told)
    name = field or ("value" if isinstance(now, Card) else "title")
    said = [field_of(one, name) if one else None for one in notes]
    if said[-1] == said[then]:
        return None
    at = _begin_run(said)
    return Since("changed", reader.on_clocks(states[at].known), said[-1] or "", now.id)


def _begin_run(values: Sequence[object]) -> int:
    """Return where the last run of equal values begins."""
    at = len(values) - 1
    while at and values[at - 1] == values[-1]:
        at -= 1
    return at


def _find_successor(reader: PastReader, note: Note, ended: State, sees: Sees) -> Card | None:
    """Return the card that came in place of a card, which may be of another key.

    Args:
        reader: of the memory.
        note: the card.
        ended: the state in which it was replaced.
        sees: whether the caller may see a card.
    """
    if not isinstance(note, Card):
        return None
    table = reader.table()
    near = [*table.states_in(ended.commit), *table.states_under(note.key)]
    last = [table.states_of(id)[-1] for id in dict.fromkeys(one.note for one in near)]
    for one in reader.notes_of(state for state in last if state.blob):
        if isinstance(one, Card) and note.id in one.supersedes:
            return one if sees(one) and not reader.is_barred(one) else None
    return None

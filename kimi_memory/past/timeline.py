"""The timeline of a note or a key: every state it had, when it was so, when it was known, why."""

from __future__ import annotations

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.past import Cause, TimelineEntry
from kimi_memory.errors import NotFoundError
from kimi_memory.past.beliefs import Sees, describe_change, statement_of
from kimi_memory.past.causes import find_causes
from kimi_memory.past.points import Point
from kimi_memory.past.reader import PastReader
from kimi_memory.past.table import State

_Seen = tuple[State, Note | None]


def list_states(
    reader: PastReader,
    what: str,
    *,
    since: Point | None = None,
    until: Point | None = None,
    sees: Sees = lambda note: True,
) -> list[TimelineEntry]:
    """Return the states of a note or of all notes of a key, oldest first.

    Args:
        reader: of the memory.
        what: a key, the id of a note, or the beginning of one.
        since: leave out what was known before this point.
        until: leave out what came after it.
        sees: whether the caller may see a state.

    Raises:
        NotFoundError: there never was one that the caller may see, or it was forgotten.
    """
    states = reader.find_states(what)
    wanted = _make_window(reader, since, until)
    graph, earlier = reader.points.graph(), dict[str, list[_Seen]]()
    shown: list[tuple[State, Note | None, _Seen | None]] = []
    for state, note in zip(states, reader.notes_of(states), strict=True):
        seen = earlier.setdefault(state.note, [])
        # What another copy made of it meanwhile was not there before.
        before = next((o for o in reversed(seen) if graph.follows(state.place, o[0].place)), None)
        gone = before is None or before[1] is None
        if (state.blob or gone) if note is None else reader.is_barred(note) or not sees(note):
            continue
        shown.append((state, note, None if gone else before))
        seen.append((state, note))
    if not shown:
        raise NotFoundError("note or key", what)
    # Only now, as the first state in the window is compared with the one before it.
    kept = [one for one in shown if one[0].place in wanted]
    causes = find_causes(reader, [state for state, _, _ in kept])
    entries = (_make_entry(*one, cause) for one, cause in zip(kept, causes, strict=True))
    return [entry for entry in entries if entry.change]


def _make_window(reader: PastReader, since: Point | None, until: Point | None) -> set[int]:
    """Return the places of the commits between two points."""
    graph = reader.points.graph()
    found = set(range(len(graph.rows)))
    if until is not None and until.commit in graph.index:
        found &= reader.find_places(until)
    if since is not None and since.commit in graph.index:
        # The commits at which the window begins belong to it.
        begins = {graph.index[one] for one in (since.commit, *since.unmet)}
        found -= reader.find_places(since) - begins
    return found


def _make_entry(
    state: State, note: Note | None, before: _Seen | None, cause: Cause
) -> TimelineEntry:
    old = before[1] if before else None
    change = describe_change(old, note)
    if not change and before is not None and before[0].path != state.path:
        change = "moved"
    if not change and note is not None and old is not None and note.sources != old.sources:
        change = "evidence"
    card = note if isinstance(note, Card) else None
    return TimelineEntry(
        change, state.note, state.kind, state.key, statement_of(note),
        str(note.status) if note else "removed", state.path, cause,
        card.confidence if card else 0.0, str(card.trust) if card else "",
        card.valid_from if card else None, card.valid_to if card else None,
        tuple(source.place for source in note.sources) if note else (),
    )  # fmt: skip

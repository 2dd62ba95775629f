"""The reader of the past: points, the table, and the notes that commits held."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property

from kimi_memory.domain.note import Note
from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.errors import NotFoundError
from kimi_memory.formats.jsonl import parse_tombstones
from kimi_memory.past.copies import Copies
from kimi_memory.past.note_states import is_barred, read_note
from kimi_memory.past.points import Point, Points
from kimi_memory.past.table import PastFile, PastTable, State
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import tombstone_lines
from kimi_memory.store.reading import OldFile
from kimi_memory.store.store import Store
from kimi_memory.store.wal.records import may_hold_unseen

SHOWN = re.compile(r"\^(?P<id>[0-9A-Za-z][0-9A-Za-z._-]*)[ \t]*$")
"""What a line of a page ends in that shows a card: ``Uses Postgres. ^card-0a1b``."""


class PastReader:
    """Reads the past of one memory."""

    def __init__(self, store: Store, history: History, points: Points, key: bytes) -> None:
        self.store, self.history, self.points, self._key = store, history, points, key
        self._stones = b"", Tombstones(())
        self._table: tuple[object, PastTable] | None = None

    @cached_property
    def _file(self) -> PastFile:
        return PastFile(self.store.root, self._key, self.history)

    @property
    def stones(self) -> Tombstones:
        """What a person asked to forget."""
        content = tombstone_lines(self.store)
        if self._stones[0] != content:
            found = parse_tombstones(content)
            self._stones = content, Tombstones(found, self.store.journal.keyed)
        return self._stones[1]

    def table(self) -> PastTable:
        """Return the table, in step with the history.

        Raises:
            HistoryError: there is no history, or nothing in it.
        """
        graph, content = self.points.graph(), tombstone_lines(self.store)
        mark = hashlib.sha256(content).hexdigest() if content else ""
        if self._table is None or self._table[0] != (graph.head, mark):
            self._table = (graph.head, mark), self._file.load(graph, self.stones, mark)
        return self._table[1]

    def read(self, path: str, content: bytes | None) -> Note | None:
        """Return the note in a file of the past; None where it waited for review or is no note."""
        note = read_note(path, content) if content and path.endswith(".md") else None
        return None if note is None or self.is_unconfirmed(path, content or b"") else note

    def is_unconfirmed(self, path: str, content: bytes) -> bool:
        """Whether this content came from outside and nobody confirmed it."""
        return bool(self.find_unconfirmed([(path, content)]))

    def find_unconfirmed(self, files: Iterable[OldFile], *, gone: bool = False) -> set[OldFile]:
        """Return which of some files came from outside and nobody confirmed them.

        Args:
            files: paths and contents.
            gone: none of them is what lies there now.
        """
        judge = self.store.vetting
        return judge.find_unconfirmed(files, gone=gone) if judge is not None else set()

    def find_unseen(self, path: str, content: bytes) -> frozenset[bytes]:
        """Return the lines of an earlier state of a session that nobody here saw being said."""
        judge = self.store.vetting
        if judge is None or not may_hold_unseen(self.store.journal.last, path):
            return frozenset()
        return frozenset(judge.unseen_lines(path, content))

    def notes_of(self, states: Iterable[State]) -> list[Note | None]:
        """Return the note of each state; None where it was removed or cannot be read."""
        files = self._read_files(list(states))
        waiting = self.find_unconfirmed(set(files))
        return [
            read_note(*one) if one[1] and one[0].endswith(".md") and one not in waiting else None
            for one in files
        ]

    def find_waiting(self, states: Sequence[State]) -> set[State]:
        """Return the states that came from outside and that nobody confirmed."""
        files = self._read_files(states)
        waiting = self.find_unconfirmed({one for one in files if one[1]})
        return {state for state, file in zip(states, files, strict=True) if file in waiting}

    def _read_files(self, states: Sequence[State]) -> list[OldFile]:
        contents = self.history.blobs({one.blob for one in states if one.blob})
        return [(one.path, contents.get(one.blob, b"")) for one in states]

    def is_barred(self, note: Note) -> bool:
        """Whether a person asked to forget what a note says."""
        return is_barred(self.stones, note)

    def is_forgotten(self, note: str) -> bool:
        """Whether a note of this id was forgotten."""
        return self.table().is_forgotten(note)

    def content(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit; None where it is not there."""
        return self.history.contents([(commit, path)]).get((commit, path))

    def path_at(self, what: str, commit: str) -> str:
        """Return where a note lay at a commit; of a key the live one. Empty for none."""
        places = self._ancestors([commit])
        try:
            states = self.find_states(what)
        except NotFoundError:
            return ""
        last = {one.note: one for one in states if one.place in places}
        there = [one for one in last.values() if one.blob]
        live = sorted(there, key=lambda one: one.status in ("superseded", "archived"))
        return live[0].path if live else ""

    def hides(self, text: str, scopes: Collection[str]) -> bool:
        """Whether a line says what a person asked to forget, or shows such a card."""
        shown = SHOWN.search(text)
        gone = shown is not None and self.is_forgotten(shown["id"])
        return gone or self.stones.hides(text, scopes)

    def find_states(self, what: str) -> list[State]:
        """Return the states of the note of an id, or of all notes of a key, oldest first.

        Raises:
            NotFoundError: there never was one, or it was forgotten.
        """
        # Notes without a key have an empty one, and every id begins with nothing.
        table, found = self.table(), list[State]()
        if what.strip():
            found = table.states_of(what) or table.states_under(what)
            near = [] if found else table.ids_beginning(what)
            found = table.states_of(near[0]) if len(near) == 1 else found
        if not found:
            raise NotFoundError("note or key", what)
        return found

    def count_cards(self, point: Point | None) -> int:
        """Return how many cards there are at a point; None for the last commit."""
        head = self.points.graph().head
        places = self.find_places(point) if point else self._ancestors([head])
        return self.table().count_cards(places)

    def find_places(self, point: Point) -> set[int]:
        """Return the numbers of the commits that were known at a point, in whichever copy."""
        return self._ancestors([point.commit, *point.unmet])

    def _ancestors(self, commits: Iterable[str]) -> set[int]:
        graph = self.points.graph()
        return set().union(*(graph.ancestors(one) for one in commits if one in graph.index))

    def follow_value(self, states: Sequence[State], said: Sequence[object]) -> list[int]:
        """Return the states through which a value came; of a merge, those of the side it is from.

        Args:
            states: of a note, oldest first.
            said: the value in each of them.
        """
        graph, at = self.points.graph(), len(states) - 1
        found = [at]
        while at > 0:
            parents = map(graph.index.__getitem__, graph.parents(states[at].commit))
            earlier = [
                next((n for n in reversed(range(at)) if graph.follows(one, states[n].place)), -1)
                for one in parents
            ]
            known = [n for n in earlier if n >= 0]
            same = (n for n in known if said[n] == said[at])
            at = next(same, known[0] if known else -1)
            found += [at] if at >= 0 else []
        return found[::-1]

    def on_clocks(self, seconds: float) -> datetime:
        """Return a moment on the clocks of the person."""
        return datetime.fromtimestamp(seconds, self.points.zone or UTC)


def make_reader(
    store: Store,
    history: History,
    folders: Callable[[], Mapping[str, str]],
    clock: Callable[[], datetime],
    key: bytes,
) -> PastReader:
    """Return a reader of the past of one memory.

    Args:
        store: its files.
        history: its commits.
        folders: returns the folders on this machine that hold it, with their copies.
        clock: what time it is.
        key: of this machine, which signs the table.
    """
    points = Points(history, clock, Copies(store, history, folders))
    return PastReader(store, history, points, key)

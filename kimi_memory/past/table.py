"""The table of the past: which commit changed which note, made from the history.

Derived: it lies under ``.kimi/past``, signed with this machine's key, and is made anew when
it is missing, damaged, or of a history or of tombstones that are others now. It holds ids,
keys, paths and names of commits and blobs. What notes say is read from the history, and
of a note that was forgotten nothing stays but its id.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from kimi_memory.domain.tombstone import Tombstones
from kimi_memory.errors import HistoryError
from kimi_memory.past.commit_graph import CommitGraph
from kimi_memory.past.note_states import is_barred, read_note
from kimi_memory.store.copy import copy_of
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.history import Commit, History
from kimi_memory.store.git.read import Touched
from kimi_memory.store.notes.note_index import Entry, may_be_note, read_entry

PATH = ".kimi/past/past.db"
_FORMAT = "kimi-memory past 1"
_AT_ONCE = 2000
"""So many blobs are held in memory at a time."""
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE commits (
    hash TEXT PRIMARY KEY, place INTEGER NOT NULL, version INTEGER NOT NULL, known REAL NOT NULL,
    parents INTEGER NOT NULL, job TEXT NOT NULL, kind TEXT NOT NULL, model TEXT NOT NULL,
    author TEXT NOT NULL, copy TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE states (
    note TEXT NOT NULL, hash TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    status TEXT NOT NULL, path TEXT NOT NULL, blob TEXT NOT NULL, before TEXT NOT NULL,
    PRIMARY KEY (note, hash)
) WITHOUT ROWID;
CREATE INDEX by_key ON states (key);
CREATE TABLE forgotten (note TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID;
"""


class State(NamedTuple):
    """A note as one commit made it."""

    note: str
    kind: str
    key: str
    status: str
    path: str
    blob: str
    """Empty where the commit removed the note."""
    before: str
    """The blob it had before; empty where it was not there."""
    commit: str
    place: int
    """Where the commit stands in the graph."""
    version: int
    known: float
    """When the commit was known, in seconds."""
    merged: int
    job: str
    job_kind: str
    model: str
    author: str
    copy: str


_STATES = """
SELECT note, states.kind, key, status, path, blob, before, hash, place, version, known, parents > 1,
    job, commits.kind, model, author, copy
FROM states JOIN commits USING (hash)
"""


_LIVE = """
SELECT note, place, blob != '' AND status NOT IN ('superseded', 'archived')
FROM states JOIN commits USING (hash) WHERE states.kind = 'card' ORDER BY place
"""


class CommitRow(NamedTuple):
    """What the table knows of a commit."""

    hash: str
    version: int
    known: float
    merged: int
    job: str
    kind: str
    model: str
    author: str
    copy: str


class PastTable:
    """The states of all notes, in step with one graph of commits."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def states_of(self, note: str) -> list[State]:
        """Return the states of a note, oldest first."""
        return self._select("WHERE note = ? ORDER BY place", note)

    def states_under(self, key: str) -> list[State]:
        """Return the states of all notes that ever had a key, or one below it, oldest first."""
        notes = "SELECT note FROM states WHERE key = ? OR key GLOB ?"
        # GLOB and not LIKE, which takes an underscore for any character and ignores case.
        below = "".join(f"[{c}]" if c in "*?[" else c for c in key)
        return self._select(f"WHERE note IN ({notes}) ORDER BY place", key, f"{below}.*")

    def states_in(self, commit: str) -> list[State]:
        """Return the states that a commit made."""
        return self._select("WHERE hash = ? ORDER BY note", commit)

    def commit(self, name: str) -> CommitRow | None:
        """Return what is known of a commit."""
        query = "SELECT hash, version, known, parents > 1, job, kind, model, author, copy"
        row = self._db.execute(f"{query} FROM commits WHERE hash = ?", (name,)).fetchone()
        return CommitRow(*row) if row else None

    def ids_beginning(self, id: str) -> list[str]:
        """Return the ids of notes that begin so."""
        rows = self._db.execute(
            "SELECT DISTINCT note FROM states WHERE substr(note, 1, ?) = ?", (len(id), id)
        )
        return sorted(row[0] for row in rows)

    def forgotten(self) -> frozenset[str]:
        """Return the ids of all notes that were forgotten."""
        return frozenset(row[0] for row in self._db.execute("SELECT note FROM forgotten"))

    def is_forgotten(self, note: str) -> bool:
        """Whether a note was forgotten."""
        found = self._db.execute("SELECT 1 FROM forgotten WHERE note = ?", (note,))
        return found.fetchone() is not None

    def count_cards(self, places: set[int]) -> int:
        """Return how many live cards there are after some commits, given by their places."""
        rows = self._db.execute(_LIVE)
        # Rows come in the order of commits, so the last state of each note is the one that counts.
        return sum({note: live for note, place, live in rows if place in places}.values())

    def _select(self, where: str, *values: str) -> list[State]:
        return [State(*row) for row in self._db.execute(f"{_STATES} {where}", values)]


class PastFile:
    """The table on disk."""

    def __init__(self, root: Path, key: bytes, history: History) -> None:
        self._path, self._key, self._history = root / PATH, key, history

    def load(self, graph: CommitGraph, stones: Tombstones, mark: str) -> PastTable:
        """Return the table in step with a graph; what is missing is added and kept.

        Args:
            graph: of all commits.
            stones: what was forgotten.
            mark: another one for other tombstones.
        """
        db = self._read()
        if db is None or not _is_of(db, graph, mark):
            db = _make_empty()
        if _meta(db, "head") != graph.head:
            _Filling(db, self._history, graph, stones).run()
            db.execute("INSERT OR REPLACE INTO meta VALUES ('head', ?)", (graph.head,))
            db.execute("INSERT OR REPLACE INTO meta VALUES ('stones', ?)", (mark,))
            db.commit()
            self._write(db)
        return PastTable(db)

    def _read(self) -> sqlite3.Connection | None:
        """Return what is on disk; None where it is missing, damaged or not of this machine."""
        try:
            mark, _, body = self._path.read_bytes().partition(b"\n")
        except OSError:
            return None
        if not hmac.compare_digest(mark, self._sign(body)):
            return None
        db = sqlite3.connect(":memory:", check_same_thread=False)
        # In memory: a file that SQLite changes in place could not be signed as a whole.
        db.deserialize(body)
        return db

    def _write(self, db: sqlite3.Connection) -> None:
        body = db.serialize()
        try:
            put(self._path, self._sign(body) + b"\n" + body)
        except (HistoryError, OSError):
            return  # The next process makes it again.

    def _sign(self, body: bytes) -> bytes:
        return hmac.new(self._key, b"past\0" + body, hashlib.sha256).hexdigest().encode()


def _make_empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", check_same_thread=False)
    db.executescript(_SCHEMA)
    db.execute("INSERT INTO meta VALUES ('format', ?)", (_FORMAT,))
    return db


def _meta(db: sqlite3.Connection, name: str) -> str:
    found = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(found[0]) if found else ""


def _is_of(db: sqlite3.Connection, graph: CommitGraph, mark: str) -> bool:
    """Whether a table can go on: its last commit is in the graph, and nothing new was forgotten."""
    same = _meta(db, "format") == _FORMAT and _meta(db, "stones") == mark
    return same and _meta(db, "head") in graph.index


class _Filling:
    """Brings a table in step with a graph."""

    def __init__(
        self, db: sqlite3.Connection, history: History, graph: CommitGraph, stones: Tombstones
    ) -> None:
        self._db, self._history, self._graph, self._stones = db, history, graph, stones

    def run(self) -> None:
        """Add the commits that are not in it, and number all of them anew."""
        old = _meta(self._db, "head")
        new = [one for one in reversed(self._history.since(old)) if one.hash in self._graph.index]
        touched = [
            one
            for one in self._history.touched(commit.hash for commit in new)
            if may_be_note(one.path)
        ]
        self._number_commits(new)
        entries = self._read_entries(touched)
        notes = self._add_states(touched, entries)
        if self._stones:
            self._drop_forgotten(notes)

    def _number_commits(self, new: Sequence[Commit]) -> None:
        graph, rows = self._graph, []
        for commit in new:
            place, said = graph.index[commit.hash], commit.trailers
            parents = len(graph.rows[place].parents)
            about = (said.get("Job", ""), said.get("Kind", ""), said.get("Model", ""))
            copy = copy_of(commit) or ""
            numbers = (place, graph.versions[place], graph.known[place], parents)
            rows.append((commit.hash, *numbers, *about, commit.author, copy))
        self._db.executemany("INSERT INTO commits VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        # Commits of another copy may stand between ours, and correct a clock.
        self._db.executemany(
            "UPDATE commits SET place = ?, known = ? WHERE hash = ?",
            ((place, graph.known[place], row.commit) for place, row in enumerate(graph.rows)),
        )

    def _read_entries(self, touched: Iterable[Touched]) -> dict[tuple[str, str], Entry]:
        """Return what the heads of all blobs say, by path and blob."""
        wanted: dict[str, list[str]] = {}
        for one in touched:
            for blob in filter(None, (one.blob, one.before)):
                wanted.setdefault(blob, []).append(one.path)
        found = {}
        for blobs in _in_batches(wanted):
            for blob, content in self._history.blobs(blobs).items():
                for path in dict.fromkeys(wanted[blob]):
                    entry = read_entry(path, content)
                    if entry is not None:
                        found[path, blob] = entry
        return found

    def _add_states(
        self, touched: Iterable[Touched], entries: dict[tuple[str, str], Entry]
    ) -> set[str]:
        """Add a state for each note a commit changed; a moved note is one that has a new path."""
        states: dict[tuple[str, str], list[str]] = {}
        for one in touched:
            new, old = entries.get((one.path, one.blob)), entries.get((one.path, one.before))
            if old is not None:
                # Gone, unless another path of the same commit shows where it went.
                known = states.setdefault((old.id, one.commit), [*_head(old), "", ""])
                known[-1] = one.before
            if new is not None:
                before = states.get((new.id, one.commit), [""])[-1]
                states[new.id, one.commit] = [*_head(new), one.blob, before]
        self._db.executemany(
            "INSERT OR REPLACE INTO states VALUES (?,?,?,?,?,?,?,?)",
            ((*name, *rest) for name, rest in states.items()),
        )
        return {note for note, _ in states}

    def _drop_forgotten(self, notes: Iterable[str]) -> None:
        """Take out what a tombstone bars: forgetting archives a note, so others are not read."""
        archived = {
            row[0] for row in self._db.execute("SELECT note FROM states WHERE status = 'archived'")
        }
        for note in sorted(archived.intersection(notes)):
            rows = self._db.execute(
                "SELECT kind, path, blob FROM states WHERE note = ? AND blob != ''", (note,)
            ).fetchall()
            contents = self._history.blobs(blob for _, _, blob in rows)
            read = (read_note(path, contents[blob]) for _, path, blob in rows)
            if any(one is not None and is_barred(self._stones, one) for one in read):
                self._db.execute("DELETE FROM states WHERE note = ?", (note,))
                self._db.execute(
                    "INSERT OR REPLACE INTO forgotten VALUES (?, ?)", (note, rows[0][0])
                )


def _head(entry: Entry) -> list[str]:
    return [entry.kind, entry.key, entry.status, entry.path]


def _in_batches(names: Iterable[str]) -> Iterator[list[str]]:
    rest = iter(names)
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch

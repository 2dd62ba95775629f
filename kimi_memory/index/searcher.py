"""A view of the memory to search in: the disk index and the overlay as one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.files import Files
from kimi_memory.index.table import Table
from kimi_memory.index.units import Split, guard
from kimi_memory.index.words import Words
from kimi_memory.model.engine import KeywordIndex, VectorIndex
from kimi_memory.model.record import unseal
from kimi_memory.model.records import turn_of
from kimi_memory.model.turn import Turn
from kimi_memory.model.unit import Unit

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")
Postings = Callable[[str], tuple[Ints, Floats]]

PAUSE_SECONDS = 6 * 3600
"""A longer pause between two turns ends a sitting."""
CACHED_PAGES = 1000
"""Pages kept in memory in units between queries."""
CACHE_BYTES = 64 * 1024 * 1024
"""Bound of the postings kept in memory between queries."""


class Cache:
    """Postings by word, least recently used out first."""

    def __init__(self, read: Postings, limit: int = CACHE_BYTES) -> None:
        self._read, self._limit, self._size = read, limit, 0
        self._kept: OrderedDict[str, tuple[Ints, Floats]] = OrderedDict()

    def __call__(self, word: str) -> tuple[Ints, Floats]:
        """Return the postings of a word."""
        found = self._kept.get(word)
        if found is None:
            found = self._kept[word] = self._read(word)
            self._size += _weight(found)
        self._kept.move_to_end(word)
        while self._size > self._limit and len(self._kept) > 1:
            self._size -= _weight(self._kept.popitem(last=False)[1])
        return found


def _weight(found: tuple[Ints, Floats]) -> int:
    return found[0].nbytes + found[1].nbytes + 200


def on_rows(index: KeywordIndex, table: Table) -> Postings:
    """Return the postings of a keyword index by row of the table, not of the engine."""
    keys = np.asarray(table.keys, dtype=np.int64)
    found = index.keys()
    places = np.searchsorted(keys, found)
    places[(places >= len(keys)) | (found < 0)] = 0
    known = (found >= 0) & (len(keys) > 0)
    known[known] = keys[places[known]] == found[known]
    rows = np.where(known, places, -1)

    def read(word: str) -> tuple[Ints, Floats]:
        engine, counts = index.postings(word)
        at = rows[engine]
        order = np.argsort(at, kind="stable")
        order = order[at[order] >= 0]
        return at[order], counts[order]

    return read


@dataclass(frozen=True, slots=True)
class Part:
    """A table with its postings, and which of its files still stand."""

    table: Table
    postings: Postings
    dead: frozenset[str] = frozenset()
    """Paths whose rows do not count any more."""
    vocabulary: Sequence[str] = ()
    """Every word, where that is known without asking an engine."""


def _alive(part: Part) -> Bools:
    """Return which rows of a part count."""
    alive = np.ones(len(part.table), dtype=bool)
    for file in part.table.files if part.dead else ():
        alive[file.first : file.first + file.rows] = file.path not in part.dead
    return alive


class Lane:
    """The vector lane: which model made it, opened when a query first has a vector."""

    def __init__(self, open: Callable[[], VectorIndex | None], model: str, name: str) -> None:
        self._open, self.model, self._name = open, model, name
        self._index: VectorIndex | None = None
        self._tried = False

    def search(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` (key, cosine) pairs; none where another engine serves."""
        if not self._tried:
            self._tried, found = True, self._open()
            self._index = found if found is not None and found.name == self._name else None
        return self._index.search(vector, limit) if self._index is not None else []

    def close(self) -> None:
        """Release the files of the index."""
        if self._index is not None:
            self._index.close()


@dataclass(slots=True)
class Searcher:
    """Rows of all parts one after the other, with what scoring needs of each.

    The state of the index never shows: the same files give the same numbers,
    however their rows are spread over disk and memory.
    """

    parts: Sequence[Part]
    words: Words
    files: Files
    split: Split
    lane: Lane | None = None
    notes: tuple[str, ...] = ()
    alive: Bools = field(init=False)
    lengths: Floats = field(init=False)
    """Number of words."""
    file: Ints = field(init=False)
    """Ordinal of the file a row is in; rows of a file stand together in order."""
    sitting: Ints = field(init=False)
    """Ordinal of the sitting a turn was said in, -1 for what is no turn."""
    sittings: int = field(init=False)
    _offsets: list[int] = field(init=False)
    _paths: list[str] = field(init=False)
    _columns: dict[str, Sequence[Any]] = field(init=False, default_factory=dict)
    _made: dict[str, Any] = field(init=False, default_factory=dict)
    _pages: dict[str, dict[str, Unit]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._offsets = list(np.cumsum([0, *(len(part.table) for part in self.parts)]))
        files = [file for part in self.parts for file in part.table.files if file.rows]
        counts = [file.rows for file in files]
        self._paths = [file.path for file in files]
        self.file = np.repeat(np.arange(len(files)), counts)
        self.alive = np.concatenate([np.empty(0, dtype=bool), *map(_alive, self.parts)])
        self.lengths = np.concatenate(
            [np.empty(0), *(np.asarray(part.table.lengths, dtype=float) for part in self.parts)]
        )
        turns = np.asarray([bool(session) for session in self.column("session")], dtype=bool)
        self.sitting = self._sittings(turns)
        self.sittings = int(self.sitting.max(initial=-1)) + 1

    def _sittings(self, turns: Bools) -> Ints:
        """Cut sessions at long pauses.

        A session is what a program calls one; a channel that runs for months is many
        conversations, and only those share a subject.
        """
        at = np.asarray([at or 0.0 for at in self.column("at")])
        new = np.ones(len(at), dtype=bool)
        new[1:] = (self.file[1:] != self.file[:-1]) | (np.abs(np.diff(at)) > PAUSE_SECONDS)
        return np.where(turns, np.cumsum(new & turns) - 1, -1)

    def __len__(self) -> int:
        return len(self.lengths)

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the living rows that hold `word`, and how often each does."""
        found = [part.postings(word) for part in self.parts]
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0)
        rows = np.concatenate(
            [at + offset for (at, _), offset in zip(found, self._offsets, strict=False)]
        )
        counts = np.concatenate([counts for _, counts in found])
        alive = self.alive[rows]
        return rows[alive], counts[alive]

    def vocabulary(self) -> list[str]:
        """Return the words of the overlay, sorted."""
        return sorted({word for part in self.parts for word in part.vocabulary})

    def column(self, name: str) -> Sequence[Any]:
        """Return a field of all rows, dead ones too."""
        if name not in self._columns:
            self._columns[name] = [v for part in self.parts for v in part.table.columns[name]]
        return self._columns[name]

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what depends on the rows alone, made when it is first asked for."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def living(self) -> list[int]:
        """Return the rows that count."""
        return [int(row) for row in np.flatnonzero(self.alive)]

    def path(self, row: int) -> str:
        """Return the file a row is in."""
        return self._paths[int(self.file[row])]

    def vectors(self, vector: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` living rows nearest to a vector, with their cosines."""
        if self.lane is None or not self.parts:
            return []
        keys = np.asarray(self.parts[0].table.keys, dtype=np.int64)
        found = []
        for key, cosine in self.lane.search(vector, limit):
            row = int(np.searchsorted(keys, key))
            if row < len(keys) and keys[row] == key and self.alive[row]:
                found.append((row, cosine))
        return found

    def units(self, rows: Iterable[int]) -> dict[int, Unit]:
        """Return rows as units, their text read from the files.

        A row whose file changed under us is left out.
        """
        by_path: dict[str, list[int]] = {}
        for row in rows:
            by_path.setdefault(self.path(row), []).append(row)
        found: dict[int, Unit] = {}
        for path, wanted in by_path.items():
            with suppress(OSError, KimiMemoryError):
                read = self._turns if path.endswith(".jsonl") else self._page
                found.update(read(path, wanted))
        return found

    def _turns(self, path: str, rows: list[int]) -> dict[int, Unit]:
        lines, found = self.files.read(path).splitlines(), {}
        for row in rows:
            first = self._value("first", row)
            turn = _turn(lines[first - 1]) if first <= len(lines) else None
            if turn is not None and turn.n == self._value("n", row):
                found[row] = self._unit(row, path, turn.text)
        return found

    def _page(self, path: str, rows: list[int]) -> dict[int, Unit]:
        known = self._pages.get(path)
        if known is None:
            units, _ = guard(path, self.files.read(path), self.split)
            known = {unit.id: unit for unit in units}
            if len(self._pages) >= CACHED_PAGES:
                self._pages.clear()
            self._pages[path] = known
        ids = {row: self._value("id", row) for row in rows}
        return {row: known[id] for row, id in ids.items() if id in known}

    def _value(self, name: str, row: int) -> Any:
        part, at = self._place(row)
        return part.table.columns[name][at]

    def _unit(self, row: int, path: str, text: str) -> Unit:
        part, at = self._place(row)
        return part.table.unit(at, path, text)

    def _place(self, row: int) -> tuple[Part, int]:
        number = int(np.searchsorted(self._offsets, row, side="right")) - 1
        return self.parts[number], row - self._offsets[number]


def _turn(line: bytes) -> Turn | None:
    try:
        return turn_of(unseal(line))
    except (ValueError, RecursionError):
        return None

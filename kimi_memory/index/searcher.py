"""A view of the memory to search in: the disk index and the overlay as one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import wraps
from heapq import merge
from itertools import accumulate, groupby
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kimi_memory.domain.engine import KeywordIndex, VectorIndex
from kimi_memory.domain.search_types import Unit
from kimi_memory.errors import KimiMemoryError
from kimi_memory.index.columns import Joined, Layout, Rows
from kimi_memory.index.files import Files
from kimi_memory.index.held import Cache, Held, Postings
from kimi_memory.index.units import Split, Words, served_units
from kimi_memory.store.files.disk import state_of

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
T = TypeVar("T")
VIEWS = 8
"""So many views for those who may not see all are kept, with what was made for each."""


def on_rows(index: KeywordIndex, keys: Ints) -> Postings:
    """Return the postings of a keyword index by row of the table, not of the engine."""
    found = index.keys()
    places = np.searchsorted(keys, found)
    # Any place that exists: these are left out by `known` below.
    places[(places >= len(keys)) | (found < 0)] = 0
    known = (found >= 0) & (len(keys) > 0)
    known[known] = keys[places[known]] == found[known]
    rows = np.where(known, places, -1)
    plain = bool(known.all()) and bool((rows == np.arange(len(rows))).all())

    def read(word: str) -> tuple[Ints, Floats]:
        engine, counts = index.postings(word)
        # The usual case, an index without gaps: rows are the engine's own numbers.
        if plain:
            return engine, counts
        at = rows[engine]
        if len(at) and at.min() < 0:
            at, counts = at[at >= 0], counts[at >= 0]
        if (at[1:] > at[:-1]).all():
            return at, counts
        order = np.argsort(at, kind="stable")
        return at[order], counts[order]

    return read


class Part(NamedTuple):
    """A table with its postings, and which of its files still stand."""

    layout: Layout
    postings: Postings
    dead: frozenset[str] = frozenset()
    """Paths whose rows do not count any more."""
    words: Callable[[str], Iterable[str]] = lambda begin: ()
    """Returns the words that begin so, ascending; those of dead files may be among them."""

    @property
    def table(self) -> Rows:
        """What is known of each row."""
        return self.layout.table


class Lane:
    """The vector lane: which model made it, opened when a query first has a vector."""

    def __init__(self, open: Callable[[], VectorIndex | None], model: str, name: str) -> None:
        self._open, self.model, self._name = open, model, name
        self._index: VectorIndex | None = None
        self._tried = False

    def search(
        self, vector: Sequence[float], limit: int, among: Ints | None
    ) -> list[tuple[int, float]]:
        """Return up to `limit` (key, cosine) pairs; none where another engine serves."""
        if not self._tried:
            self._tried, found = True, self._open()
            # Another plugin than the one that wrote the files would misread them.
            self._index = found if found is not None and found.name == self._name else None
        return self._index.search(vector, limit, among) if self._index is not None else []

    def close(self) -> None:
        """Release the files of the index."""
        if self._index is not None:
            self._index.close()


class Searcher:
    """Rows of all parts one after the other, with what scoring needs of each.

    The state of the index never shows: the same files give the same numbers,
    however their rows are spread over disk and memory.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        words: Words,
        files: Files,
        split: Split,
        *,
        lane: Lane | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.parts, self.words, self.files, self.split = parts, words, files, split
        self.lane, self.notes = lane, notes
        self.hidden: frozenset[str] = frozenset()
        """Ids of turns and notes that are not shown, besides those that tombstones name."""
        layouts = [part.layout for part in parts]
        # Parts number their rows, files and sittings from 0; here each goes on where the last
        # ended.
        self._offsets = _start_offsets(len(layout.file) for layout in layouts)
        self._files = _start_offsets(len(layout.counts) for layout in layouts)
        sittings = _start_offsets(layout.sittings for layout in layouts)
        self.file: Ints = _join_arrays([x.file for x in layouts], self._files)
        """Ordinal of the file a row is in; rows of a file stand together in order."""
        self.lengths: Floats = _join_arrays([x.lengths for x in layouts], [0] * len(layouts))
        """Number of words."""
        self.sitting: Ints = _join_arrays([x.sitting for x in layouts], sittings)
        """Ordinal of the sitting a turn was said in, -1 for what is no turn."""
        found = [part.layout.alive(part.dead) for part in parts]
        self.alive: Bools = np.concatenate([np.empty(0, dtype=bool), *found])
        """The rows that count."""
        self.whole = bool(self.alive.all())
        """Whether every row is alive."""
        self.sittings = self._count_sittings()
        """How many sittings there are, 0 where no turn is alive."""
        self._columns: dict[str, Joined] = {}
        self._made: dict[str, Any] = {}
        self._views: dict[Hashable, Searcher] = {}

    def __len__(self) -> int:
        return len(self.lengths)

    def forget(self) -> None:
        """Drop every posting that is kept, as if nothing had been asked."""
        for part in self.parts:
            if isinstance(part.postings, Cache):
                part.postings.forget()
        for name in ("impacts", "weights"):
            self._made.pop(name, None)

    def postings(self, word: str) -> tuple[Ints, Floats]:
        """Return the living rows that hold `word`, and how often each does."""
        rows, counts = np.empty(0, dtype=np.int64), np.empty(0)
        for part, offset in zip(self.parts, self._offsets, strict=False):
            at, found = part.postings(word)
            if len(at):
                at = at + offset if offset else at
                rows = np.concatenate([rows, at]) if len(rows) else at
                counts = np.concatenate([counts, found]) if len(counts) else found
        if self.whole:
            return rows, counts
        alive = self.alive[rows]
        return rows[alive], counts[alive]

    def counts(self, word: str, rows: Ints) -> Floats:
        """Return how often each of some living rows holds `word`.

        Args:
            word: as `postings` takes it.
            rows: ascending.
        """
        found = np.zeros(len(rows))
        for part, first in zip(self.parts, self._offsets, strict=False):
            start, stop = np.searchsorted(rows, [first, first + len(part.layout.file)])
            if start < stop:
                read = part.postings
                held = read.held(word) if isinstance(read, Cache) else Held.from_rows(*read(word))
                found[start:stop] = held.at(rows[start:stop] - first)
        return found

    def impacts(self, word: str, weigh: Callable[[Ints, Floats], Floats]) -> Floats:
        """Return what a word adds to each of its rows, kept between queries.

        Args:
            word: as `postings` takes it.
            weigh: makes it of the word's postings; always the same for one searcher.
        """
        made = self.once("impacts", lambda: Cache(lambda one: self._weigh_postings(one, weigh)))
        return made(word)[1]

    def _weigh_postings(
        self, word: str, weigh: Callable[[Ints, Floats], Floats]
    ) -> tuple[Ints, Floats]:
        return np.empty(0, dtype=np.int64), weigh(*self.postings(word))

    def vocabulary(self, begin: str = "") -> Iterator[str]:
        """Yield the words that begin so, ascending; some may stand in dead files alone."""
        found = merge(*(part.words(begin) for part in self.parts))
        return (word for word, _ in groupby(found))

    def column(self, name: str) -> Joined:
        """Return a field of all rows, dead ones too."""
        if name not in self._columns:
            self._columns[name] = Joined([part.table.column(name) for part in self.parts])
        return self._columns[name]

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what depends on the rows alone, made when it is first asked for."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def view(self, name: Hashable, rows: Callable[[], Bools]) -> Searcher:
        """Return a view in which no other rows count, in nothing that is asked of it.

        Args:
            name: another one for other rows; the last few views are kept.
            rows: returns them as a mask.
        """
        if name not in self._views:
            alive = self.alive & rows()
            if len(self._views) >= VIEWS:
                # The oldest one: a dictionary keeps the order in which its keys came.
                del self._views[next(iter(self._views))]
            self._views[name] = (
                # For an owner nothing has to be made.
                self if (alive == self.alive).all() else self._restricted_view(alive)
            )
        return self._views[name]

    def _restricted_view(self, alive: Bools) -> Searcher:
        made = copy(self)
        made.alive, made.whole = alive, False
        made._made, made._views = {}, {}
        made.sittings = made._count_sittings()
        return made

    def _count_sittings(self) -> int:
        living = self.sitting if self.whole else self.sitting[self.alive]
        return int(self.sitting.max()) + 1 if len(living) and living.max() >= 0 else 0

    def living(self) -> list[int]:
        """Return the rows that count."""
        return [int(row) for row in np.flatnonzero(self.alive)]

    def find_starts(self) -> Mapping[str, float]:
        """Return when the first turn of each session was said, by the path of the session."""
        rows = np.flatnonzero(self.alive & self.column("kind").among(("turn",)))
        first = rows[np.unique(self.file[rows], return_index=True)[1]]
        at = np.nan_to_num(self.column("at").numbers()[first])
        return dict(zip(map(self.path, first.tolist()), at.tolist(), strict=True))

    def path(self, row: int) -> str:
        """Return the file a row is in."""
        file = self.file.item(row)
        number = bisect_right(self._files, file) - 1
        return self.parts[number].table.path(file - self._files[number])

    def rows_of(self, path: str) -> Ints:
        """Return the living rows of a file."""
        tables = zip(self._files, (part.table for part in self.parts), strict=False)
        found = ((first, table.number(path)) for first, table in tables)
        files = [first + number for first, number in found if number >= 0]
        return np.flatnonzero(np.isin(self.file, files) & self.alive)

    def bare(self) -> list[str]:
        """Return the files that no search returns, because other files hold the same text."""
        found = list[str]()
        for part in self.parts:
            gone = set(part.table.gone(part.dead))
            empty = np.flatnonzero(part.layout.counts == 0).tolist()
            found += [part.table.path(number) for number in empty if number not in gone]
        return found

    def text(self, row: int) -> str:
        """Return the text of a row as it was when it was read."""
        number = bisect_right(self._offsets, row) - 1
        return self.parts[number].table.text(row - self._offsets[number])

    def vectors(
        self, vector: Sequence[float], limit: int, allowed: Bools | None = None
    ) -> tuple[Ints, Floats]:
        """Return up to `limit` living rows nearest to a vector, best first, and their cosines."""
        if self.lane is None or not self.parts:
            return np.empty(0, dtype=np.int64), np.empty(0)
        keys = self.parts[0].layout.keys
        wanted = self.alive if allowed is None else self.alive & allowed
        standing = wanted[: len(keys)]
        # None searches all, which an engine does far faster than with a list of keys.
        among = None if standing.all() else keys[standing]
        pairs = self.lane.search(vector, limit, among)
        found = np.asarray([key for key, _ in pairs], dtype=np.int64)
        rows = np.searchsorted(keys, found)
        known = rows < len(keys)
        # An engine may still hold the keys of rows that are gone.
        known[known] = keys[rows[known]] == found[known]
        return rows[known], np.asarray([near for _, near in pairs])[known]

    def units(self, rows: Iterable[int], *, sure: bool = True) -> dict[int, Unit]:
        """Return rows as units.

        A row whose file changed since it was read is left out, or read anew where that
        leaves it what it was.

        Args:
            rows: which ones.
            sure: whether every file is asked; who shows but a few of many asks `moved` of those.
        """
        wanted = list(rows)
        moved = self.moved(wanted) if sure else frozenset()
        found, anew = {}, dict[str, list[int]]()
        for row in wanted:
            # A page that a person edits this minute must not be shown as it was.
            if moved and self.file.item(row) in moved:
                anew.setdefault(self.path(row), []).append(row)
            else:
                found[row] = self._read_unit(row)
        for path, changed in anew.items():
            found |= self._reread_rows(path, changed)
        return found

    def moved(self, rows: Iterable[int]) -> frozenset[int]:
        """Return the files of rows that are not as they were when these were read."""
        files = set(map(self.file.item, rows))
        return frozenset(file for file in files if not self._is_unchanged(file))

    def _is_unchanged(self, file: int) -> bool:
        number = bisect_right(self._files, file) - 1
        table, at = self.parts[number].table, file - self._files[number]
        return table.state(at) == state_of(self.files.root, table.path(at))

    def _read_unit(self, row: int) -> Unit:
        number = bisect_right(self._offsets, row) - 1
        table, at = self.parts[number].table, row - self._offsets[number]
        path = table.path(self.file.item(row) - self._files[number])
        return table.unit(at, path, table.text(at))

    def _reread_rows(self, path: str, rows: list[int]) -> dict[int, Unit]:
        """Return rows of a file that changed which still stand there by their id."""
        try:
            units, _ = served_units(path, self.files.served(path), self.split)
        except (OSError, KimiMemoryError):
            # It changed or went since it was indexed: what is not there any more is not shown.
            return {}
        known, ids = {unit.id: unit for unit in units}, self.column("id")
        return {row: known[ids[row]] for row in rows if ids[row] in known}


def once_a_view(make: Callable[[Searcher], T]) -> Callable[[Searcher], T]:
    """Have what a function makes of the rows of a view made once, when it is first asked for."""

    @wraps(make)
    def kept(searcher: Searcher) -> T:
        return searcher.once(f"{make.__module__}.{make.__name__}", lambda: make(searcher))

    return kept


def _start_offsets(sizes: Iterable[int]) -> list[int]:
    return list(accumulate(sizes, initial=0))


def _join_arrays(arrays: Sequence[NDArray[Any]], shifts: Sequence[int]) -> NDArray[Any]:
    """Join arrays, each raised by a number; what is negative stays as it is."""
    raised = [
        np.where(array < 0, array, array + shift) if shift else array
        for array, shift in zip(arrays, shifts, strict=False)
        if len(array)
    ]
    return np.concatenate(raised) if len(raised) > 1 else raised[0] if raised else np.empty(0, int)

"""Rows of units and their columns, how they are laid out, and the best of them by score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, pairwise
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from kimi_memory.domain.search_types import Unit
from kimi_memory.store.files.disk import Stat

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Types, speakers and days repeat; ids do not, and would be held twice.
FEW = 4096
"""Up to so many different values are kept once they were read."""
Ints = NDArray[np.int64]

# Longer than a lunch, shorter than a night.
PAUSE_SECONDS = 6 * 3600
"""A longer pause between two turns ends a sitting."""
# The best of a block is found at the speed of memory; few blocks are then looked at closely.
BLOCK = 64


class FileRow(NamedTuple):
    """One file and the rows its units take."""

    path: str
    stat: Stat
    digest: str
    """SHA-256 of the content the rows were read from."""
    first: int
    rows: int
    why: str = ""
    """What is wrong with a file that could not be parsed; it has no rows."""


class Rows(Protocol):
    """A table that can be read, whether it lies in memory or on disk."""

    def __len__(self) -> int: ...

    def column(self, name: str) -> Column:
        """Return a field of all rows."""

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""

    def text(self, row: int) -> str:
        """Return the text of a row."""

    def path(self, file: int) -> str:
        """Return the path of a file by its ordinal."""

    def number(self, path: str) -> int:
        """Return the ordinal of a file by its path, -1 where there is none."""

    def state(self, file: int) -> tuple[int, int, int]:
        """Return size, time and inode a file had when it was read."""

    def counts(self) -> Ints:
        """Return the number of rows of each file, gone ones too."""

    def words(self) -> Ints:
        """Return the number of words of each row."""

    def places(self) -> Ints:
        """Return the key of each row in the engines, ascending."""

    def gone(self, paths: Collection[str]) -> list[int]:
        """Return the ordinals of files that do not count, these paths among them."""


class Column(Sequence[Any], ABC):
    """Values by row, read on demand."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.all())

    @overload
    def __getitem__(self, at: int) -> Any: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...
    def __getitem__(self, at: int | slice) -> Any:
        """Return the value of a row, or of several."""
        return self.all()[at] if isinstance(at, slice) else self.value(int(at))

    @abstractmethod
    def value(self, row: int) -> Any:
        """Return the value of one row."""

    @abstractmethod
    def all(self) -> list[Any]:
        """Return the values of all rows."""

    @abstractmethod
    def among(self, wanted: Collection[Any]) -> Bools:
        """Return which rows hold one of these values."""

    def tally(self, rows: Bools) -> dict[Any, int]:
        """Return how many of some rows hold each value, the most frequent first."""
        return _by_count(Counter(compress(self.all(), rows)))

    def numbers(self) -> Floats:
        """Return the values as numbers, NaN where there is none."""
        return np.asarray(
            [np.nan if value is None else float(value) for value in self.all()], dtype=np.float64
        )


class Blob(Sequence[str]):
    """Texts one after the other, each decoded when it is asked for."""

    def __init__(self, content: memoryview, offsets: NDArray[Any]) -> None:
        self._content, self._offsets = content, offsets

    def __len__(self) -> int:
        return max(0, len(self._offsets) - 1)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        """Return one text, or several."""
        if isinstance(at, slice):
            return list(self)[at]
        start, end = self._offsets.item(at), self._offsets.item(at + 1)
        # Broken text is stored as it is, and must come back the same.
        return str(self._content[start:end], "utf-8", "surrogatepass")

    def find(self, text: str) -> int:
        """Return where a text stands, -1 where it does not."""
        # Searched as bytes: to decode thousands of texts for one would take far longer.
        raw, wanted = bytes(self._content), text.encode("utf-8", "surrogatepass")
        start = raw.find(wanted) if wanted else -1
        while start >= 0:
            at = int(np.searchsorted(self._offsets, start))
            if self._offsets[at : at + 2].tolist() == [start, start + len(wanted)]:
                return at
            # Found across the border of two texts, or inside of a longer one.
            start = raw.find(wanted, start + 1)
        return -1

    def __iter__(self) -> Iterator[str]:
        raw, bounds = bytes(self._content), pairwise(self._offsets.tolist())
        whole = raw.decode("utf-8", "surrogatepass")
        # All of it is ASCII, so places of bytes are places of characters.
        if len(whole) == len(raw):
            return iter([whole[start:end] for start, end in bounds])
        return iter([raw[start:end].decode("utf-8", "surrogatepass") for start, end in bounds])


class Coded(Column):
    """A code a row, and what each code stands for."""

    def __init__(
        self, codes: NDArray[Any], values: Sequence[str], read: Callable[[str], Any] | None = None
    ) -> None:
        self.codes, self.values, self._read = codes, values, read
        """What the codes stand for, as it is stored."""
        self._seen: dict[int, Any] | None = {} if len(values) <= FEW else None

    @classmethod
    def from_values(cls, values: Sequence[str], read: Callable[[str], Any] | None = None) -> Coded:
        """Give a code to each value of a list."""
        known: dict[str, int] = {}
        codes = [known.setdefault(value, len(known)) for value in values]
        return cls(np.asarray(codes, dtype=np.int32), list(known), read)

    def __len__(self) -> int:
        return len(self.codes)

    def value(self, row: int) -> Any:
        """Return the value of one row."""
        code = self.codes.item(row)
        if self._seen is None:
            return self._decode_value(code)
        if code not in self._seen:
            self._seen[code] = self._decode_value(code)
        return self._seen[code]

    def _decode_value(self, code: int) -> Any:
        found = self.values[code]
        return found if self._read is None else self._read(found)

    def all(self) -> list[Any]:
        """Return the values of all rows."""
        values = self._decode_values()
        return [values[code] for code in self.codes.tolist()]

    def among(self, wanted: Collection[Any]) -> Bools:
        """Return which rows hold one of these values."""
        return self.where(lambda value: value in wanted)

    def where(self, holds: Callable[[Any], bool]) -> Bools:
        """Return the rows whose value passes a test; each value is tested once."""
        values = self._decode_values()
        found = np.fromiter((holds(value) for value in values), dtype=bool, count=len(values))
        kept: Bools = found[self.codes] if len(found) else np.zeros(len(self.codes), dtype=bool)
        return kept

    def tally(self, rows: Bools) -> dict[Any, int]:
        """Return how many of some rows hold each value, the most frequent first."""
        counts = np.bincount(self.codes[rows], minlength=len(self.values))
        held = np.flatnonzero(counts).tolist()
        return _by_count({self._decode_value(code): int(counts[code]) for code in held})

    def _decode_values(self) -> list[Any]:
        return list(self.values) if self._read is None else [*map(self._read, self.values)]


class Numbers(Column):
    """Numbers by row; with `missing`, NaN stands for None."""

    def __init__(self, array: NDArray[Any], *, missing: bool = False) -> None:
        self._array, self._missing = array, missing

    def __len__(self) -> int:
        return len(self._array)

    def value(self, row: int) -> Any:
        """Return the value of one row."""
        found = self._array.item(row)
        return None if self._missing and found != found else found  # noqa: PLR0124  NaN alone

    def all(self) -> list[Any]:
        """Return the values of all rows."""
        found = self._array.tolist()
        return [None if v != v else v for v in found] if self._missing else found  # noqa: PLR0124  NaN alone

    def among(self, wanted: Collection[Any]) -> Bools:
        """Return which rows hold one of these values."""
        return np.asarray([value in wanted for value in self.all()], dtype=bool)

    def numbers(self) -> Floats:
        """Return the values as numbers, NaN where there is none."""
        return self._array.astype(np.float64, copy=False)


class Joined(Column):
    """Columns of several tables, one after the other."""

    def __init__(self, parts: Sequence[Column]) -> None:
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def value(self, row: int) -> Any:
        """Return the value of one row."""
        number = bisect_right(self._ends, row)
        return self._parts[number].value(row - (self._ends[number - 1] if number else 0))

    def all(self) -> list[Any]:
        """Return the values of all rows."""
        return list(chain.from_iterable(part.all() for part in self._parts))

    def among(self, wanted: Collection[Any]) -> Bools:
        """Return which rows hold one of these values."""
        return np.concatenate(
            [np.empty(0, dtype=bool), *(part.among(wanted) for part in self._parts)]
        )

    def tally(self, rows: Bools) -> dict[Any, int]:
        """Return how many of some rows hold each value, the most frequent first."""
        found, first = Counter[Any](), 0
        for part, end in zip(self._parts, self._ends, strict=True):
            found.update(part.tally(rows[first:end]))
            first = end
        return _by_count(found)

    def where(self, holds: Callable[[Any], bool]) -> Bools:
        """Return the rows whose text passes a test."""
        found = [part.where(holds) for part in self._parts if isinstance(part, Coded | Joined)]
        return np.concatenate([np.empty(0, dtype=bool), *found])

    def numbers(self) -> Floats:
        """Return the values as numbers, NaN where there is none."""
        return np.concatenate([np.empty(0), *(part.numbers() for part in self._parts)])


def _by_count(found: Mapping[Any, int]) -> dict[Any, int]:
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], str(pair[0]))))


class Layout(NamedTuple):
    """What scoring needs of the rows of a table; made once for a table that stays."""

    table: Rows
    counts: Ints
    """Number of rows of each file."""
    file: Ints
    """Ordinal of the file a row is in."""
    lengths: Floats
    """Number of words."""
    sitting: Ints
    """Ordinal of the sitting a turn was said in, -1 for what is no turn."""
    sittings: int
    keys: Ints
    """Key of each row in the engines, ascending."""

    @classmethod
    def from_table(cls, table: Rows) -> Layout:
        """Lay out a table."""
        counts = table.counts()
        file = np.repeat(np.arange(len(counts)), counts)
        lengths = table.words().astype(np.float64)
        keys = table.places()
        turns = ~table.column("session").among({""}) if len(table) else np.empty(0, dtype=bool)
        sitting = np.full(len(table), -1, dtype=np.int64)
        if turns.any():
            sitting = _number_sittings(table.column("at").numbers(), file, turns)
        return cls(table, counts, file, lengths, sitting, int(sitting.max(initial=-1)) + 1, keys)

    def alive(self, dead: Collection[str]) -> Bools:
        """Return which rows count when these paths do not."""
        kept = np.ones(len(self.counts), dtype=bool)
        kept[self.table.gone(dead)] = False
        return np.repeat(kept, self.counts)


def _number_sittings(at: Floats, file: Ints, turns: Bools) -> Ints:
    """Cut sessions at long pauses.

    A session is what a program calls one; a channel that runs for months is many
    conversations, and only those share a subject.
    """
    known = np.nan_to_num(at, nan=0.0)
    new = np.ones(len(known), dtype=bool)
    new[1:] = (file[1:] != file[:-1]) | (np.abs(np.diff(known)) > PAUSE_SECONDS)
    return np.where(turns, np.cumsum(new & turns) - 1, -1)


def best(scores: Floats, room: int) -> Ints:
    """Return the rows of the `room` best scores above zero, ascending, all that tie with the last.

    The maxima of blocks bound the last of the best from below; most blocks stay below it.
    """
    whole = len(scores) // BLOCK
    if whole <= room:
        return _keep_best_rows(scores, np.flatnonzero(scores > 0), room)
    maxima = scores[: whole * BLOCK].reshape(whole, BLOCK).max(axis=1)
    # At least so many rows reach this: one in each of the best blocks.
    floor = max(float(np.partition(maxima, -room)[-room]), np.nextafter(0.0, 1.0))
    blocks = np.flatnonzero(maxima >= floor)
    rows = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    rows = np.concatenate([rows, np.arange(whole * BLOCK, len(scores))])
    return _keep_best_rows(scores, rows[scores[rows] >= floor], room)


def _keep_best_rows(scores: Floats, rows: Ints, room: int) -> Ints:
    if len(rows) <= room:
        return rows
    found = scores[rows]
    kept: Ints = rows[found >= np.partition(found, -room)[-room]]
    return kept

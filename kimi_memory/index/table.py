"""The table of units: what recall knows of each row without opening its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kimi_memory.domain.search_types import Unit
from kimi_memory.index.columns import Blob, Coded, Column, FileRow, Numbers
from kimi_memory.index.segment import Arrays, dump, put_coded, put_texts
from kimi_memory.store.files.disk import Stat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# Kept apart: texts are large, and all rows of a file share its path.
_LEFT_OUT = {"text", "path"}
COLUMNS = tuple(f.name for f in fields(Unit) if f.name not in _LEFT_OUT)
_DEFAULTS: dict[str, Any] = {
    f.name: f.default for f in fields(Unit) if f.name in COLUMNS and f.default is not MISSING
}
TIMES = ("at", "valid_from", "valid_to", "since")
_FIELDS_OF = attrgetter(*COLUMNS)
_TIME_PLACES = tuple(map(COLUMNS.index, TIMES))
NUMBERS = {"first": "<i8", "last": "<i8"} | {
    name: "<f8" if isinstance(value, float) else "<i8"
    for name, value in _DEFAULTS.items()
    if isinstance(value, int | float)
}
LISTS = frozenset(name for name, value in _DEFAULTS.items() if isinstance(value, tuple))
FORMED = LISTS.union(TIMES)
"""Fields that a column holds in another form than a unit."""
UNITS_KEPT = 2048
"""So many units of a segment are kept once they were made: the same ones come up again."""
# Written anew by every update beside it, a larger one would make each of them slow.
SETTLED_ROWS = 5000
"""A segment of so many rows is not merged with smaller ones that come after it."""


class Table:
    """Columns of units that grow, file by file; the rows of a file stand together.

    Moments stand in them as seconds since 1970.
    """

    def __init__(self, next_key: int = 0) -> None:
        self.files: list[FileRow] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self.texts: list[str] = []
        self.lengths: list[int] = []
        """Number of words of each row."""
        self.keys: list[int] = []
        """Ascending; the key of each row in the engines."""
        self.next_key = next_key
        """Larger than every key that was ever given."""

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, file: FileRow, units: Sequence[Unit], words: Sequence[int]) -> None:
        """Append the units of a file and their numbers of words under fresh keys."""
        self.files.append(file._replace(first=len(self)))
        self._append_units(units, words)

    def extend(self, stat: Stat, digest: str, units: Sequence[Unit], words: Sequence[int]) -> None:
        """Append units to the last file, which is now in this state."""
        last = self.files[-1]
        self.files[-1] = last._replace(stat=stat, digest=digest, rows=last.rows + len(units))
        self._append_units(units, words)

    def copy(self) -> Table:
        """Return a table of the same rows that grows by itself."""
        made = Table(self.next_key)
        made.files, made.texts = list(self.files), list(self.texts)
        made.columns = {name: list(column) for name, column in self.columns.items()}
        made.lengths, made.keys = list(self.lengths), list(self.keys)
        return made

    def _append_units(self, units: Sequence[Unit], words: Sequence[int]) -> None:
        columns = list(self.columns.values())
        for unit in units:
            values = list(_FIELDS_OF(unit))
            for place in _TIME_PLACES:
                if (moment := values[place]) is not None:
                    values[place] = moment.timestamp()
            for column, value in zip(columns, values, strict=True):
                column.append(value)
        self.texts.extend(unit.text for unit in units)
        self.lengths.extend(words)
        self.keys.extend(range(self.next_key, self.next_key + len(units)))
        self.next_key += len(units)

    def column(self, name: str) -> Column:
        """Return a field of all rows."""
        return _make_column(name, self.columns[name])

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""
        values = {name: _decode_field(name, column[row]) for name, column in self.columns.items()}
        return Unit(path=path, text=text, **values)

    def text(self, row: int) -> str:
        """Return the text of a row."""
        return self.texts[row]

    def path(self, file: int) -> str:
        """Return the path of a file by its ordinal."""
        return self.files[file].path

    def number(self, path: str) -> int:
        """Return the ordinal of a file by its path, -1 where there is none."""
        return next(iter(self.gone((path,))), -1)

    def state(self, file: int) -> tuple[int, int, int]:
        """Return size, time and inode a file had when it was read."""
        return self.files[file].stat

    def counts(self) -> Ints:
        """Return the number of rows of each file."""
        return np.asarray([file.rows for file in self.files], dtype=np.int64)

    def words(self) -> Ints:
        """Return the number of words of each row."""
        return np.asarray(self.lengths, dtype=np.int64)

    def places(self) -> Ints:
        """Return the key of each row in the engines, ascending."""
        return np.asarray(self.keys, dtype=np.int64)

    def gone(self, paths: Collection[str]) -> list[int]:
        """Return the ordinals of these paths."""
        return [number for number, file in enumerate(self.files) if file.path in paths]

    def dump(self) -> bytes:
        """Return the table as a segment file; columns of nothing but defaults are left out."""
        arrays: dict[str, NDArray[Any]] = {
            "keys": np.asarray(self.keys, dtype="<i8"),
            "lengths": np.asarray(self.lengths, dtype="<i4"),
            "rows": np.asarray([file.rows for file in self.files], dtype="<i4"),
            # Unsigned: the inodes of some file systems need all 64 bits.
            "stat": np.asarray([file.stat for file in self.files], dtype="<u8").reshape(-1),
        }
        put_texts(arrays, "text", self.texts)
        for name in ("path", "digest", "why"):
            put_texts(arrays, name, [getattr(file, name) for file in self.files])
        for name, values in self.columns.items():
            # Turns use a third of the fields, cards the rest.
            if name in _DEFAULTS and all(value == _DEFAULTS[name] for value in values):
                continue
            column = _make_column(name, values)
            if isinstance(column, Coded):
                put_coded(arrays, name, column)
            else:
                kind = NUMBERS.get(name, "<f8")
                arrays[name] = column.numbers().astype(kind)
        return dump({"next_key": self.next_key, "count": len(self)}, arrays)


class Segment:
    """A table on disk, mapped into memory."""

    def __init__(self, arrays: Arrays, path: Path | None = None) -> None:
        self._arrays, self.source = arrays, path
        self._columns: dict[str, Column] = {}
        self._units: dict[int, Unit] = {}
        self.next_key: int = arrays.values["next_key"]
        self._count: int = arrays.values["count"]

    def __len__(self) -> int:
        return self._count

    @cached_property
    def keys(self) -> Ints:
        """The key of each row in the engines, ascending."""
        return self._arrays.array("keys")

    @cached_property
    def paths(self) -> Blob:
        """The path of each file."""
        return self._arrays.texts("path")

    def counts(self) -> Ints:
        """Return the number of rows of each file."""
        return self._arrays.array("rows").astype("i8")

    def words(self) -> Ints:
        """Return the number of words of each row."""
        return self._arrays.array("lengths").astype("i8")

    def stats(self) -> list[tuple[int, int, int]]:
        """Return size, time and inode of each file."""
        sizes, times, inodes = self._stat_numbers.reshape(-1, 3).T.tolist()
        return list(zip(sizes, times, inodes, strict=True))

    def file(self, number: int) -> FileRow:
        """Return a file by its ordinal; its first row is counted from this segment's."""
        first, after = self._first_rows[number : number + 2].tolist()
        digest, why = self._arrays.texts("digest"), self._arrays.texts("why")
        path = self.paths[number]
        return FileRow(path, self.state(number), digest[number], first, after - first, why[number])

    @cached_property
    def _first_rows(self) -> Ints:
        return np.cumsum([0, *self.counts().tolist()])

    def faults(self) -> list[int]:
        """Return the ordinals of files that could not be parsed."""
        return [int(n) for n in np.flatnonzero(np.diff(self._arrays.array("why.at")))]

    def column(self, name: str) -> Column:
        """Return a field of all rows."""
        if name not in self._columns:
            self._columns[name] = self._make_column(name)
        return self._columns[name]

    def _make_column(self, name: str) -> Column:
        read = _load_list if name in LISTS else None
        if self._arrays.has(f"{name}.code"):
            return Coded(self._arrays.array(f"{name}.code"), self._arrays.texts(name), read)
        if self._arrays.has(name):
            return Numbers(self._arrays.array(name), missing=name in TIMES)
        default = _DEFAULTS[name]
        if name in NUMBERS or name in TIMES:
            value = float("nan") if default is None else default
            return Numbers(np.full(len(self), value), missing=name in TIMES)
        text = _dump_list(default) if name in LISTS else default
        return Coded(np.zeros(len(self), dtype=np.uint8), [text], read)

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""
        found = self._units.get(row)
        if found is None:
            common, readers = self._field_readers
            values = {name: read(row) for name, read in readers}
            found = Unit(path=path, text=text, **common, **values)
            if len(self._units) >= UNITS_KEPT:
                # All at once: to know which was used last would cost more at each reading than
                # making some anew.
                self._units.clear()
            self._units[row] = found
        return found

    def text(self, row: int) -> str:
        """Return the text of a row."""
        return self.texts[row]

    def state(self, file: int) -> tuple[int, int, int]:
        """Return size, time and inode a file had when it was read."""
        size, ctime_ns, inode = self._stat_numbers[3 * file : 3 * file + 3].tolist()
        return size, ctime_ns, inode

    @cached_property
    def _stat_numbers(self) -> Ints:
        return self._arrays.array("stat")

    def release(self) -> None:
        """Give back the memory of what was read of the file."""
        self._arrays.release()

    @cached_property
    def texts(self) -> Sequence[str]:
        """The texts of all rows."""
        return self._arrays.texts("text")

    @cached_property
    def _field_readers(self) -> tuple[dict[str, Any], list[tuple[str, Callable[[int], Any]]]]:
        """What all rows have in common, and what reads the fields in which they differ.

        Columns of nothing but defaults are in neither.
        """
        has, common, readers = self._arrays.has, dict[str, Any](), []
        for name in COLUMNS:
            if has(name) or has(f"{name}.code"):
                column = self.column(name)
                if isinstance(column, Coded) and len(column.values) == 1 and len(self):
                    common[name] = _decode_field(name, column.value(0))
                else:
                    readers.append((name, _make_reader(name, column)))
        return common, readers


def merged(segments: Sequence[Segment], dead: Collection[int]) -> Table:
    """Return the rows of several segments as one table, without dead files.

    Args:
        segments: in their order.
        dead: ordinals of files, counted through all segments.
    """
    table, number = Table(), 0
    for segment in segments:
        columns = {name: segment.column(name).all() for name in COLUMNS}
        keys, lengths, row = segment.keys.tolist(), segment.words().tolist(), 0
        texts = list(segment.texts)
        for at in range(len(segment.paths)):
            file = segment.file(at)
            span = slice(row, row + file.rows)
            row += file.rows
            if number not in dead:
                table.files.append(file._replace(first=len(table)))
                for name, column in columns.items():
                    table.columns[name].extend(column[span])
                table.texts.extend(texts[span])
                table.lengths.extend(lengths[span])
                table.keys.extend(keys[span])
            number += 1
        # Keys are never given twice: an engine may still hold the old ones.
        table.next_key = segment.next_key
    return table


def _make_column(name: str, values: Sequence[Any]) -> Column:
    if name in TIMES:
        found = [np.nan if value is None else value for value in values]
        return Numbers(np.asarray(found, dtype=np.float64), missing=True)
    if name in NUMBERS:
        return Numbers(np.asarray(values, dtype=np.dtype(NUMBERS[name]).newbyteorder("=")))
    if name in LISTS:
        return Coded.from_values([_dump_list(value) for value in values], _load_list)
    return Coded.from_values(values)


def _dump_list(values: Sequence[str]) -> str:
    return json.dumps(list(values))


def _load_list(stored: str) -> tuple[str, ...]:
    return tuple(json.loads(stored))


def _make_reader(name: str, column: Column) -> Callable[[int], Any]:
    """Return what reads a field of one row as units have it."""
    return (lambda row: _decode_field(name, column.value(row))) if name in FORMED else column.value


def _decode_field(name: str, value: Any) -> Any:
    if name in TIMES:
        return None if value is None else datetime.fromtimestamp(value, UTC)
    return tuple(value) if name in LISTS else value

"""The table of units: what recall knows of each row without opening its file."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

from kimi_memory.index.files import Stat
from kimi_memory.model.unit import Unit

_LEFT_OUT = {"text", "path"}
COLUMNS = tuple(f.name for f in fields(Unit) if f.name not in _LEFT_OUT)
_DEFAULTS: dict[str, Any] = {
    f.name: f.default for f in fields(Unit) if f.name in COLUMNS and f.default is not MISSING
}
_TIMES = ("at", "valid_to")


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


@dataclass(slots=True)
class Table:
    """Columns of units, file by file; the rows of a file stand together.

    Moments stand in them as seconds since 1970.
    """

    files: list[FileRow] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    lengths: list[int] = field(default_factory=list)
    """Number of words of each row."""
    keys: list[int] = field(default_factory=list)
    """Ascending; the key of each row in the engines."""
    next_key: int = 0
    """Larger than every key that was ever given."""

    def __len__(self) -> int:
        return len(self.keys)

    def add(self, file: FileRow, units: Sequence[Unit], words: Sequence[int]) -> None:
        """Append the units of a file and their numbers of words under fresh keys."""
        self.files.append(file)
        for name, column in self.columns.items():
            column.extend([_stored(name, getattr(unit, name)) for unit in units])
        self.lengths.extend(words)
        self.keys.extend(range(self.next_key, self.next_key + len(units)))
        self.next_key += len(units)

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""
        values = {name: _field(name, column[row]) for name, column in self.columns.items()}
        return Unit(path=path, text=text, **values)

    def without(self, paths: Collection[str]) -> Table:
        """Return the table without the rows of these files, the others in the same order."""
        table = Table(next_key=self.next_key)
        for file in self.files:
            if file.path not in paths:
                span = slice(file.first, file.first + file.rows)
                table.files.append(file._replace(first=len(table)))
                for name, column in table.columns.items():
                    column.extend(self.columns[name][span])
                table.lengths.extend(self.lengths[span])
                table.keys.extend(self.keys[span])
        return table

    def dump(self) -> bytes:
        """Return the table as JSON; columns that hold only defaults are left out."""
        columns = {
            name: column
            for name, column in self.columns.items()
            if name not in _DEFAULTS or any(value != _DEFAULTS[name] for value in column)
        }
        whole = {
            "files": [list(column) for column in zip(*map(_flat, self.files), strict=True)],
            "columns": columns,
            "lengths": self.lengths,
            "keys": self.keys,
            "next_key": self.next_key,
        }
        return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def load(content: bytes) -> Table:
    """Read a table that was dumped."""
    whole = json.loads(content)
    count = len(whole["keys"])
    columns = {
        name: whole["columns"][name] if name in whole["columns"] else [_DEFAULTS[name]] * count
        for name in COLUMNS
    }
    return Table(
        _files(whole["files"]), columns, whole["lengths"], whole["keys"], whole["next_key"]
    )


def _flat(file: FileRow) -> tuple[Any, ...]:
    return (file.path, *file.stat, *file[2:])


def _files(columns: Sequence[list[Any]]) -> list[FileRow]:
    """Return the rows of files whose columns these are; there are many, at every start."""
    if not columns:
        return []
    path, size, mtime_ns, inode, *rest = columns
    stats = map(Stat._make, zip(size, mtime_ns, inode, strict=True))
    return list(map(FileRow._make, zip(path, stats, *rest, strict=True)))


def _stored(name: str, value: Any) -> Any:
    """Return a field as columns hold it: moments as seconds since 1970."""
    return value.timestamp() if name in _TIMES and value is not None else value


def _field(name: str, value: Any) -> Any:
    if name in _TIMES:
        return None if value is None else datetime.fromtimestamp(value, UTC)
    return tuple(value) if name == "tags" else value

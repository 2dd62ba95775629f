"""What a scout saw: the state of many files as arrays, until somebody asks for one."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kimi_memory.index.files import Stat, is_odd, is_searchable
from kimi_memory.index.walker import COLUMNS, Told

if TYPE_CHECKING:
    from kimi_memory.index.stored import Stored

Ints = NDArray[np.int64]


class Seen(MutableMapping[str, Stat]):
    """The searchable files of a folder and their state.

    Args:
        pages: the paths of pages as one text, a zero byte after each.
        sessions: those of sessions.
        numbers: of shape (files, 4): size, modification time in ns, inode, and the number of
            the file in a table or -1.
        table: the folder of that table, if there was one.
    """

    def __init__(self, pages: str, sessions: str, numbers: Ints, table: str = "") -> None:
        self._pages, self._sessions, self._table = pages, _parted(sessions), table
        self._numbers, self._ordinals = numbers[:, :3], numbers[:, 3]
        self._later: dict[str, Stat] = {}
        self._gone: set[str] = set()

    @classmethod
    def of(cls, pages: Told, sessions: Told, table: str = "") -> Seen:
        """Return the searchable ones of the files a walker found beside a table."""
        numbers = np.asarray(pages[1] + sessions[1], dtype=np.int64).reshape(-1, COLUMNS)
        made = cls(pages[0], sessions[0], numbers, table)
        odd = _parted(pages[0]) if is_odd(pages[0]) else []
        made._gone.update(path for path in [*odd, *made._sessions] if not is_searchable(path))
        return made

    def __getitem__(self, path: str) -> Stat:
        if path in self._gone:
            raise KeyError(path)
        if path in self._later:
            return self._later[path]
        return Stat(*self._numbers[self._rows[path]].tolist())

    def __setitem__(self, path: str, stat: Stat) -> None:
        self._gone.discard(path)
        self._later[path] = stat

    def __delitem__(self, path: str) -> None:
        _ = self[path]
        self._gone.add(path)
        self._later.pop(path, None)

    def __iter__(self) -> Iterator[str]:
        first = (path for path in self._paths if path not in self._later)
        return (path for path in chain(first, self._later) if path not in self._gone)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def sessions(self) -> list[str]:
        """The paths of sessions."""
        later = (path for path in self._later if path.endswith(".jsonl"))
        both = dict.fromkeys(chain(self._sessions, later))
        return [path for path in both if path not in self._gone]

    def differing(self, table: Stored) -> set[str]:
        """Return the paths whose state is not that in a table, or that stand on one side alone."""
        others = self._others(table)
        both = np.flatnonzero(others >= 0)
        same = (self._numbers[both] == table.states[others[both]]).all(axis=1)
        changed = np.ones(len(others), dtype=bool)
        changed[both[same]] = False
        absent = set[str]()
        if len(both) < len(table.numbers):
            missing = np.setdiff1d(table.numbers, others[both], assume_unique=True)
            absent = {table.path(number) for number in missing.tolist()}
        found = {self._paths[row] for row in np.flatnonzero(changed).tolist()}
        found = (found | absent | self._later.keys()) - self._gone
        held = (path for path in self._gone & self._rows.keys() if others[self._rows[path]] >= 0)
        return found | (absent & self._gone) | set(held) if self._gone else found

    def _others(self, table: Stored) -> Ints:
        """Return the number of each file in a table, -1 where it has none."""
        if self._table and self._table == table.source:
            return self._ordinals
        told = map(table.ordinals.get, self._paths, repeat(-1))
        return np.fromiter(told, np.int64, len(self._paths))

    @cached_property
    def _paths(self) -> list[str]:
        return [*_parted(self._pages), *self._sessions]

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self._paths, range(len(self._paths)), strict=True))


def _parted(paths: str) -> list[str]:
    """Return the paths of a text that has a zero byte after each."""
    return paths.split("\0")[:-1]

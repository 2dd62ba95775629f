"""What a scout saw: the state of many files as arrays, until somebody asks for one."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from functools import cached_property
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from kimi_memory.index.files import Stat, is_odd, is_searchable

Ints = NDArray[np.int64]


class Seen(MutableMapping[str, Stat]):
    """The searchable files of a folder and their state.

    Args:
        paths: of all files, sessions last.
        pages: how many of them are no sessions.
        numbers: of shape (files, 3): size, modification time in ns, inode.
    """

    def __init__(self, paths: list[str], pages: int, numbers: Ints) -> None:
        self._paths, self._pages, self._numbers = paths, pages, numbers
        self._later: dict[str, Stat] = {}

    @classmethod
    def of(cls, paths: list[str], pages: int, numbers: bytes) -> Seen:
        """Return the searchable ones of the files a walker found."""
        made = cls(paths, pages, np.frombuffer(numbers, dtype=np.int64).reshape(-1, 3))
        whole = "\0".join(paths[:pages])
        for path in paths if is_odd(whole) else paths[pages:]:
            if not is_searchable(path):
                del made[path]
        return made

    def __getitem__(self, path: str) -> Stat:
        if path in self._later:
            return self._later[path]
        return Stat(*self._numbers[self._rows[path]].tolist())

    def __setitem__(self, path: str, stat: Stat) -> None:
        self._rows.pop(path, None)
        self._later[path] = stat

    def __delitem__(self, path: str) -> None:
        if self._later.pop(path, None) is None:
            del self._rows[path]

    def __iter__(self) -> Iterator[str]:
        yield from self._rows
        yield from self._later

    def __len__(self) -> int:
        return len(self._rows) + len(self._later)

    @property
    def sessions(self) -> list[str]:
        """The paths of sessions."""
        mine = (path for path in self._paths[self._pages :] if path in self._rows)
        return [*mine, *(path for path in self._later if path.endswith(".jsonl"))]

    def differing(self, paths: Sequence[str], numbers: Ints) -> set[str]:
        """Return the paths whose state differs, or that stand on one side alone.

        Args:
            paths: of other files, each once.
            numbers: their state, of shape (paths, 3).
        """
        rows = np.fromiter(map(self._rows.get, paths, repeat(-1)), np.int64, len(paths))
        here = np.flatnonzero(rows >= 0)
        same = here[(self._numbers[rows[here]] == numbers[here]).all(axis=1)]
        changed = np.ones(len(paths), dtype=bool)
        changed[same] = False
        missing = np.ones(len(self._paths), dtype=bool)
        missing[rows[here]] = False
        found = {paths[number] for number in np.flatnonzero(changed).tolist()}
        found.update(self._later)
        alone = (self._paths[row] for row in np.flatnonzero(missing).tolist())
        return found | {path for path in alone if path in self._rows}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self._paths, range(len(self._paths)), strict=True))

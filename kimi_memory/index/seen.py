"""What a scout saw: the state of many files as arrays, until somebody asks for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cached_property
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from kimi_memory.index.files import Stat, is_odd, is_searchable
from kimi_memory.index.walker import Kind

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
        self._gone: set[str] = set()

    @classmethod
    def of(cls, pages: Kind, sessions: Kind) -> Seen:
        """Return the searchable ones of the files a walker found."""
        numbers = np.asarray(pages[1] + sessions[1], dtype=np.int64).reshape(-1, 3)
        made = cls(pages[0] + sessions[0], len(pages[0]), numbers)
        odd = pages[0] if is_odd("\0".join(pages[0])) else []
        made._gone.update(path for path in [*odd, *sessions[0]] if not is_searchable(path))
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
        both = dict.fromkeys(chain(self._paths[self._pages :], later))
        return [path for path in both if path not in self._gone]

    def differing(self, ordinals: Mapping[str, int], states: Ints) -> set[str]:
        """Return the paths whose state differs, or that stand on one side alone.

        Args:
            ordinals: of other files.
            states: theirs by ordinal, of shape (files, 3).
        """
        count = len(self._paths)
        others = np.fromiter(map(ordinals.get, self._paths, repeat(-1)), np.int64, count)
        both = np.flatnonzero(others >= 0)
        same = both[(self._numbers[both] == states[others[both]]).all(axis=1)]
        changed = np.ones(count, dtype=bool)
        changed[same] = False
        found = {self._paths[row] for row in np.flatnonzero(changed).tolist()}
        if len(both) < len(ordinals):
            found |= ordinals.keys() - set(self._paths)
        found = (found | self._later.keys()) - self._gone
        return found | {path for path in self._gone if path in ordinals}

    @cached_property
    def _rows(self) -> dict[str, int]:
        return dict(zip(self._paths, range(len(self._paths)), strict=True))

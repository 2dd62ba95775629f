"""Reading: what a store gives of its files, as they stand or as they are served."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache

from kimi_memory.domain.note import Origin, least_trusted
from kimi_memory.errors import NotFoundError, UnsafePathError, WaitingError
from kimi_memory.formats.checksum import seal, unseal
from kimi_memory.formats.frontmatter import decode
from kimi_memory.store.files.disk import refusal
from kimi_memory.store.files.merge_marks import has_marks
from kimi_memory.store.files.tree import Tree
from kimi_memory.store.standing import Judge, Served, is_judged, recorded_standing
from kimi_memory.store.wal.entries import Entry
from kimi_memory.store.wal.journal import Journal


class Reading:
    """The half of a store that changes nothing.

    Args:
        tree: the folder.
        journal: tells who wrote what.
    """

    read_only: str
    """Why nothing can be written; empty when writing is possible."""

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self.root, self.read_only = tree.root, ""
        self._tree, self._disk, self.journal = tree, tree.disk, journal
        self._vets: Callable[[], Judge] | None = None

    def read(self, path: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            NotFoundError: there is none.
            UnsafePathError: the path leaves the folder, or is no plain file of it.
        """
        try:
            return self._tree.read(path)
        except FileNotFoundError as error:
            raise NotFoundError("file", path) from error
        except OSError as error:
            raise refusal(path, error) from error

    def vet(self, vetting: Callable[[], Judge]) -> None:
        """Judge from now on what comes from outside; before, all of it counts.

        Args:
            vetting: returns what judges; it is asked when something comes.
        """
        self._vets = cache(vetting)

    @property
    def vetting(self) -> Judge | None:
        """What judges files from outside; None where all of them count."""
        return self._vets() if self._vets is not None else None

    def served(self, path: str) -> Served:
        """Return a file as agents and jobs get it, see `kimi_memory.store.trust.vetting`.

        Raises:
            NotFoundError: there is none.
        """
        content = self.read(path)
        if self._vets is None or not is_judged(path):
            return Served(content)
        known = recorded_standing(self.journal.last(path), content)
        if known is not None and known.cap is None and not has_marks(path, content):
            return Served(content)
        return self._vets().served(path)

    def text(self, path: str) -> str:
        """Return the text of a file as anybody may be shown it.

        A card that waits for a person's word says that it is a candidate, and the turns of a
        session that came from elsewhere say so.

        Raises:
            NotFoundError: there is none.
            FormatError: it is not text, or a page that waits and could not say so.
        """
        served = self.served(path)
        if served.cap is None or served.candidate:
            return decode(served.content, path)
        if path.endswith(".jsonl"):
            return decode(b"".join(_capped_lines(served.content, served.cap)), path)
        raise WaitingError(path, served.why)

    def exists(self, path: str) -> bool:
        """Whether there is a plain file at a path."""
        try:
            with self._tree.place(path) as place:
                self._disk.close(self._tree.open_file(place, os.O_RDONLY, path))
        except (FileNotFoundError, UnsafePathError):
            return False
        except OSError as error:
            raise refusal(path, error) from error
        return True

    def size(self, path: str) -> int:
        """Return the size of a file in bytes, 0 where there is none."""
        try:
            place = self._tree.spot(path)
            return self._disk.stat(place.name, place.folder).st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise refusal(path, error) from error

    def files(self, under: str = "") -> list[str]:
        """Return the sorted paths of all files of truth in a folder and below."""
        return sorted(path for path, _ in self._tree.walk(under.strip("/")))

    def strays(self) -> list[str]:
        """Return sorted paths that are left alone: links, devices, names that are not safe."""
        return self._tree.strays()

    def _judge_entry(self, entry: Entry, content: bytes, look: os.stat_result) -> Entry:
        return entry if self._vets is None else self._vets().entry(entry, content, look)


def _capped_lines(content: bytes, cap: Origin) -> Iterator[bytes]:
    """Yield the lines of a session file, each turn trusted no more than that."""
    for line in content.splitlines(keepends=True):
        try:
            record = unseal(line)
            origin = Origin(str(record["origin"]))
        except (KeyError, ValueError):  # No turn, or a damaged one.
            yield line
        else:
            yield seal({**record, "origin": str(least_trusted([origin, cap]))})

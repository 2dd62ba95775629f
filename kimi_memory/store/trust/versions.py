"""Earlier versions of files, by what they hold; what git gave is kept beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from kimi_memory.domain.job import digest
from kimi_memory.domain.session import Json
from kimi_memory.errors import HistoryError, KimiMemoryError
from kimi_memory.formats.jsonl import has_marks
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.tree import list_paths
from kimi_memory.store.reading import WAITS
from kimi_memory.store.wal.records import EXTERNAL, is_mark

if TYPE_CHECKING:
    from kimi_memory.store.git.history import History
    from kimi_memory.store.store import Store
    from kimi_memory.store.wal.journal import Extent, Journal

NONE = "none"
"""The content mark of no version: nothing that lay there counted."""
FOLDER = f"{PRIVATE}/cache/vetted"


class Versions:
    """Finds versions of the files of one store."""

    def __init__(self, store: Store, history: Callable[[], History]) -> None:
        self._store, self._history = store, history
        self._sound: dict[tuple[str, str], bytes] = {}
        self._begun: tuple[str, set[str]] = "", set()

    def of_mark(self, path: str, mark: str) -> bytes | None:
        """Return the version of a file that has a content mark; None where it is not kept.

        Args:
            path: the file.
            mark: SHA-256 of its bytes; empty for the version that lay there when the
                journal was begun.
        """
        if mark == NONE:
            return None
        try:
            if not mark:
                return self._read_begun(path)
            return self._read_cached(mark) or self._find_committed(self._history(), path, mark)
        except HistoryError:
            # Without a history no earlier version is known; the file then waits as a whole.
            return None

    def keep(self, mark: str, content: bytes) -> None:
        """Keep a content of the disk that is about to be replaced, if it is the one of a mark."""
        if digest(content) == mark:
            self._cache_version(mark, content)

    def without_marks(self, path: str) -> bytes:
        """Return the newest committed version without marks of a merge; empty if there is none."""
        history = self._history()
        try:
            head = history.head()
            if not head:
                return b""
            if (path, head) not in self._sound:
                found = (one for one in _yield_contents(history, path) if not has_marks(path, one))
                self._sound[path, head] = next(found, b"")
            return self._sound[path, head]
        except HistoryError:
            # Nothing counts where git cannot say what was there.
            return b""

    def _read_begun(self, path: str) -> bytes | None:
        """Return what lay at a path when the journal was begun."""
        history = self._history()
        commit = history.head_at(self._store.journal.born() / 1e9)
        # Asked at each reading of a file that came since; most were not there, and git takes three
        # processes to say so.
        if commit != self._begun[0]:
            self._begun = commit, list_paths(history.repository(), commit)
        return history.content(commit, path) if path in self._begun[1] else None

    def _read_cached(self, mark: str) -> bytes | None:
        try:
            content = self._store.read(f"{FOLDER}/{mark}")
        except KimiMemoryError:
            # Only a cache: git is asked instead.
            return None
        return content if digest(content) == mark else None

    def _find_committed(self, history: History, path: str, mark: str) -> bytes | None:
        for content in _yield_contents(history, path):
            if digest(content) == mark:
                # To ask git for every version of a file takes a process; this is asked at each
                # reading.
                self._cache_version(mark, content)
                return content
        return None

    def _cache_version(self, mark: str, content: bytes) -> None:
        try:
            self._store.view(f"{FOLDER}/{mark}", content)
        except KimiMemoryError:
            return  # Without it, git is asked again.


def _yield_contents(history: History, path: str) -> Iterator[bytes]:
    """Yield what the commits made of a file, newest first."""
    blobs = dict.fromkeys(version.blob for version in history.versions(path))
    contents = history.blobs(blobs)
    yield from (contents[blob] for blob in blobs if blob in contents)


class Marks:
    """What the journal says of contents, by their marks; read on where it was read before."""

    def __init__(self) -> None:
        self.places: dict[str, str] = {}
        """Where each one that counted lay last."""
        self.latest: dict[str, str] = {}
        """The last one that was put at each path, and not merely put back there."""
        self.waits = set[str]()
        self._seen = set[tuple[str, str]]()
        self._extent: Extent = ("", 0)

    def updated(self, journal: Journal) -> Marks:
        """Return the marks as they are now; others where the journal is another one."""
        extent = journal.extent()
        found = self if self._extent <= extent else Marks()
        # A large copy is journaled in hundreds of steps: to begin anew at each takes minutes.
        if found._extent != extent:
            found._learn(journal.records(after=found._extent))
            found._extent = extent
        return found

    def _learn(self, records: Iterable[Mapping[str, Json]]) -> None:
        for one in records:
            path, after = str(one.get("path")), str(one.get("after"))
            if is_mark(after):
                continue
            if one.get("origin") in WAITS:
                self.waits.add(after)
                continue
            self.places[after] = path
            # Git, or a person, went back to an earlier state: what was written since is not
            # replaced.
            back = one.get("actor") == EXTERNAL and (not after or (path, after) in self._seen)
            self._seen.add((path, after))
            if not back:
                self.latest[path] = after

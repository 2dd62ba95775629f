"""Reading: what a store gives of its files, as they stand or as they are served and judged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from kimi_memory.domain.job import Change, digest
from kimi_memory.domain.note import Origin, least_trusted
from kimi_memory.errors import NotFoundError, UnsafePathError, WaitingError
from kimi_memory.formats.frontmatter import decode
from kimi_memory.formats.jsonl import has_marks, seal, unseal
from kimi_memory.store.files.disk import refusal
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.files.tree import Tree
from kimi_memory.store.git.head import State, brought_nothing, read_state
from kimi_memory.store.wal.folder_scan import FolderScan
from kimi_memory.store.wal.journal import Journal
from kimi_memory.store.wal.records import (
    EXTERNAL,
    Entry,
    Provenance,
    Record,
    is_mark,
    mark_of,
    may_hold_unseen,
)

WHY = "a merge left its marks in it"
SETTINGS = "memory.toml"
_READABLE = "episodic/sessions/"
"""Pages beside sessions, for people: nothing is taken from them."""
WAITS = {f"{EXTERNAL}:{cap}": cap for cap in (Origin.AGENT, Origin.REMOTE)}
"""What the journal names as the origin of what waits, and the most that is trusted."""

T = TypeVar("T")

OldFile = tuple[str, bytes]
"""A path, and what lay there at some time."""


def marks_in(path: str, content: bytes) -> str:
    """Return why a file is not used, where a merge left its marks in it; empty elsewhere."""
    return WHY if has_marks(path, content) else ""


class Standing(NamedTuple):
    """What the content of a file counts for."""

    cap: Origin | None = None
    """The most it is trusted; None for what does not wait for anybody."""
    why: str = ""
    vetted: str = ""
    """The content mark of the last version that did not wait."""
    passing: bool = False
    """Whether it may be judged otherwise in a moment."""


class Served(NamedTuple):
    """A file as agents and jobs get it."""

    content: bytes
    cap: Origin | None = None
    """The most it is trusted; None for a version that nobody has to confirm."""
    why: str = ""
    """Why it is another version than the one on disk, or only a candidate."""
    passing: bool = False
    """Whether it may be served otherwise in a moment."""
    candidate: bool = False
    """Whether it says of itself that it is a candidate, as a card does."""
    unseen: frozenset[bytes] = frozenset()
    """Of a session, the lines of turns that nobody here saw being said."""

    @property
    def usable(self) -> bytes:
        """What a job may take for a note: nothing of a file that waits and is no card."""
        return b"" if self.cap is not None and not self.candidate else self.content


class Waiting(NamedTuple):
    """A file that waits for a person's word."""

    path: str
    standing: Standing
    content: bytes
    at: datetime
    """When it was written."""


class Recorded(NamedTuple):
    """A file as it was read, with what the journal says of it."""

    content: bytes
    last: Record | None


class Judge(Protocol):
    """What judges files that came from outside."""

    def served(self, path: str, read: Recorded | None = None) -> Served:
        """Return a file as agents and jobs get it; it is read where that was not done yet."""

    def standing(self, path: str, content: bytes) -> Standing:
        """Return what the content of a file counts for."""

    def came(self, path: str) -> bool:
        """Whether what stands in a file came from outside."""

    def unseen_lines(self, path: str, earlier: bytes = b"") -> Sequence[bytes]:
        """Return the lines of a session file, or an earlier state, that nobody here saw said."""

    def entry(self, entry: Entry, content: bytes, look: os.stat_result) -> Entry:
        """Return a journal entry with the judgement of what it records."""

    def merged(
        self,
        changes: Iterable[Change],
        caps: Mapping[str, Origin] | None = None,
        strict: Collection[str] = (),
    ) -> dict[str, Provenance]:
        """Return the paths whose new content waits, as a merge brings it, and where it is from."""

    def waiting(self, path: str) -> Waiting | None:
        """Return a file that waits for a person's word; None for one that does not."""

    def turned_away(self, file: Waiting) -> bytes | None:
        """Return what stays of a waiting file that a person turns away; None for nothing."""

    def version(self, path: str, mark: str) -> bytes | None:
        """Return an earlier content of a file by its mark; None where it is not kept."""

    def find_unconfirmed(self, files: Iterable[OldFile], *, gone: bool = False) -> set[OldFile]:
        """Return which of some earlier files came from outside and nobody confirmed them.

        Args:
            files: paths and contents.
            gone: none of them is what lies there now.
        """


def is_judged(path: str) -> bool:
    """Whether agents or jobs read a file for what it says."""
    if path.endswith(".md"):
        return not path.startswith(_READABLE)
    return path.endswith(".jsonl") or path == SETTINGS


def is_of(content: bytes, mark: str) -> bool:
    """Whether a content has a content mark."""
    return (mark_of(content) if is_mark(mark) else digest(content)) == mark


def recorded_standing(last: Record | None, content: bytes) -> Standing | None:
    """Return what a file counts for by its last record; None where that is of another content."""
    if last is None or not is_of(content, last.mark):
        return None
    cap = WAITS.get(last.origin)
    return Standing(cap, last.why, last.vetted) if cap else Standing()


class Companions:
    """One object of each class, shared by all who look at one store for as long as it is open."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._found: dict[type, Any] = {}

    def find(self, kind: type[T], make: Callable[[], T]) -> T:
        """Return the one object of a class.

        Args:
            kind: the class.
            make: makes it where there is none yet.
        """
        with self._guard:
            if kind not in self._found:
                self._found[kind] = make()
            found: T = self._found[kind]
            return found


class Reading:
    """The half of a store that changes nothing."""

    read_only: str
    """Why nothing can be written; empty when writing is possible."""
    moved: str
    """Where the memory lives now; empty for here."""

    def __init__(self, tree: Tree, journal: Journal) -> None:
        self.root, self.read_only, self.moved = tree.root, "", ""
        self._tree, self._disk, self.journal = tree, tree.disk, journal
        self._vets: Callable[[], Judge] | None = None
        self.companions = Companions()
        self._quiet: State = ()

    def set_moved(self, place: str) -> None:
        """Take no writes in this process, as the memory lives elsewhere; take them if empty."""
        self.moved, self.read_only = place, f"it moved to {place}" if place else ""

    @cached_property
    def folder_scan(self) -> FolderScan:
        """How all files look, for those who compare that with what they know."""
        return FolderScan(self._tree, self.journal)

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
        # It needs the history, which is not made before something comes from outside.
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
        try:
            content = self.read(path)
        except (NotFoundError, UnsafePathError):
            if path == TOMBSTONES and self._vets is not None and self._may_have_lost_files():
                return self._vets().served(path)
            raise
        if self._vets is None or not is_judged(path):
            return Served(content)
        # The quick way: what we wrote ourselves is known from the journal, without any judging.
        last = self.journal.last(path)
        known = recorded_standing(last, content)
        sound = known is not None and known.cap is None and not has_marks(path, content)
        if sound and not may_hold_unseen(self.journal.last, path):
            return Served(content)
        return self._vets().served(path, Recorded(content, last))

    def _may_have_lost_files(self) -> bool:
        """Whether commits of elsewhere may have taken files away."""
        folder = self.root / ".git"
        state = read_state(folder)
        # Each question asks twice. What brought nothing since the chain began brings nothing later.
        if state == self._quiet:
            return False
        quiet = brought_nothing(folder, self.journal.born() / 1e9)
        # A worktree, which keeps its log elsewhere, looks like a folder without history.
        if quiet and any(map(any, state)):
            self._quiet = state
        return not quiet

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
                # Opened, as a look at the name would take a link or a device for a file.
                self._disk.close(self._tree.open_file(place, os.O_RDONLY, path))
        except (FileNotFoundError, UnsafePathError):
            return False
        except OSError as error:
            raise refusal(path, error) from error
        return True

    def size(self, path: str) -> int:
        """Return the size of a file in bytes, 0 where there is none."""
        return self.extent(path)[0]

    def extent(self, path: str) -> tuple[int, int]:
        """Return the size of a file in bytes and its inode, zeros where there is none."""
        try:
            place = self._tree.spot(path)
            found = self._disk.stat(place.name, place.folder)
            return found.st_size, found.st_ino
        except FileNotFoundError:
            return 0, 0
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

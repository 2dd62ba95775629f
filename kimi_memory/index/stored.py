"""The table on disk: generations of the index, segments in order, which of their files are gone.

A generation is never changed once it is current. An update links the files of the
old one into a new folder, writes there, signs, and flips ``CURRENT``.

A file that changed leaves its rows where they are until its segment is merged: what
changes with a note is a small segment and the list of the dead, whatever the size.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kimi_memory.domain.search_types import Unit
from kimi_memory.errors import IndexDamagedError
from kimi_memory.index import manifest as manifests
from kimi_memory.index.columns import Column, FileRow, Joined
from kimi_memory.index.files import CURRENT, DEAD, TABLE
from kimi_memory.index.manifest import Manifest
from kimi_memory.index.segment import dump, open_arrays
from kimi_memory.index.table import SETTLED_ROWS, Segment, Table, merged
from kimi_memory.store.files.disk import UNKNOWN, Stat, settled_stat, state_of

WORDS = "words"
VECTORS = "vectors"
SYNONYMS = "synonyms.json"
"""What words stand for each other, in the words of the splitter: the same for any memory."""
_NAME = re.compile(r"g(\d{6,})-[0-9a-f]{8}")
# Each further try means that another process published in between.
_TRIES = 5


class Generation(NamedTuple):
    """A checked generation: its folder and manifest."""

    folder: Path
    manifest: Manifest

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.folder.name


class Shelf:
    """The folder ``.kimi/index`` and the generations in it.

    Args:
        folder: where generations lie; made on the first write.
        key: the machine's own secret, which signs manifests.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self.folder = folder
        self._key = key
        self._named = (UNKNOWN, "")

    def current_name(self) -> str:
        """Return the name of the current generation, empty when there is none.

        Every question asks for it, so the file is read when it is not what it was.
        """
        state = state_of(self.folder, CURRENT)
        if state is None or state != self._named[0]:
            known = UNKNOWN if state is None else settled_stat(state, time.time_ns())
            self._named = (known, self._read_name())
        return self._named[1]

    def _read_name(self) -> str:
        try:
            name = (self.folder / CURRENT).read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            # No index was published yet.
            return ""
        return name if _NAME.fullmatch(name) else ""

    def open(self) -> Generation | None:
        """Return the current generation after checking it, or None when there is none.

        Raises:
            IndexDamagedError: it is there, but not as we wrote it.
        """
        for _ in range(_TRIES):
            name = self.current_name()
            if not name:
                return None
            try:
                return Generation(self.folder / name, self._check_manifest(name))
            except IndexDamagedError:
                # Another process may have replaced and removed it while we looked.
                # Still current, and bad: it is damaged. Otherwise the next try finds the one after
                # it.
                if self.current_name() == name:
                    raise
        return None

    def start(self, old: Generation | None) -> Path:
        """Make the folder of a new generation, with the files of `old` linked into it."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = (
            max([self._generation_number(path) for path in self._list_generations()], default=0) + 1
        )
        folder = self.folder / f"g{number:06d}-{secrets.token_hex(4)}"
        for part in (folder, folder / WORDS, folder / VECTORS, folder / TABLE):
            # An index repeats every word of the memory.
            part.mkdir(mode=0o700)
        if old is not None:
            for name in old.manifest.files:
                _link_or_copy(old.folder / name, folder / name)
        return folder

    def unfinished(self, *, scratch: bool) -> Generation | None:
        """Return what a build that was cut short had come to, None when nothing of use.

        Args:
            scratch: only a build from nothing counts.
        """
        current = self._generation_number(self.folder / (self.current_name() or "none"))
        for path in sorted(self._list_generations(), key=self._generation_number, reverse=True):
            if self._generation_number(path) > current and (path / manifests.NAME).is_file():
                # A build that was killed may have left half of a generation.
                with suppress(IndexDamagedError):
                    found = self._check_manifest(path.name)
                    if found.partial and found.scratch >= scratch:
                        return Generation(path, found)
        return None

    def checkpoint(self, folder: Path, made: Manifest, old: Generation | None) -> Generation:
        """Sign what a folder holds so far, so that the build can go on from it."""
        linked = (old.folder, _unchanging_files(old.manifest.files)) if old else ()
        complete = made._replace(partial=True, files=manifests.measure(folder, *linked))
        (folder / manifests.NAME).write_bytes(manifests.sign(complete, self._key))
        return Generation(folder, complete)

    def publish(self, folder: Path, made: Manifest, old: Generation | None) -> Generation:
        """Sign a finished folder, make it durable and current, and remove older ones."""
        before = self.current_name()
        linked = (old.folder, _unchanging_files(old.manifest.files)) if old else ()
        complete = made._replace(partial=False, files=manifests.measure(folder, *linked))
        # A checkpoint's manifest may stand there.
        (folder / manifests.NAME).write_bytes(manifests.sign(complete, self._key))
        # Everything durable before the name that points to it: after a power cut it must not
        # dangle.
        for path in (*folder.rglob("*"), folder):
            _fsync_path(path)
        self._set_current(folder.name)
        # The one before stays: another process may be reading it.
        for path in self._list_generations():
            if path.name not in {folder.name, before}:
                shutil.rmtree(path, ignore_errors=True)
        return Generation(folder, complete)

    def abandon(self, folder: Path) -> None:
        """Remove a folder that will not be published, unless a build can go on from it."""
        # A damaged one is of no use to a later build either.
        with suppress(IndexDamagedError):
            if self._check_manifest(folder.name).partial:
                return
        shutil.rmtree(folder, ignore_errors=True)

    def drop(self) -> None:
        """Remove the whole index."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _check_manifest(self, name: str) -> Manifest:
        try:
            return manifests.check(self.folder / name, self._key)
        except OSError as error:
            raise IndexDamagedError(f"{name} cannot be read: {error}.") from error

    def _set_current(self, name: str) -> None:
        temporary = self.folder / f"{CURRENT}.{secrets.token_hex(4)}"
        temporary.write_text(name + "\n", encoding="ascii")
        _fsync_path(temporary)
        # In one step: a reader sees the old name or the new one.
        temporary.replace(self.folder / CURRENT)
        _fsync_path(self.folder)

    def _list_generations(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]
        except FileNotFoundError:
            # No index was ever built here.
            return []

    def _generation_number(self, path: Path) -> int:
        found = _NAME.fullmatch(path.name)
        return int(found[1]) if found else 0


def _unchanging_files(files: manifests.Files) -> manifests.Files:
    """Return the files that are written once: within one folder others change in place."""
    # Their hash must be taken anew, even where they are still links to the old ones.
    changing = (f"{VECTORS}/", f"{TABLE}/{DEAD}")
    return {name: known for name, known in files.items() if not name.startswith(changing)}


def _link_or_copy(old: Path, new: Path) -> None:
    """Bring a file into a new generation: a segment by link, as it never changes."""
    new.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Vector engines save in place, which through a link would ruin the old generation.
    if old.parent.name == VECTORS:
        shutil.copyfile(old, new)
        return
    try:
        os.link(old, new)
    except OSError:
        # Some file systems have no hard links.
        shutil.copyfile(old, new)


def _fsync_path(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


Ints = NDArray[np.int64]
RELEASED = 64
"""So many units are read before the memory of the files is given back."""
FEW = 64
"""From so many questions for a file by its path on, all paths are listed."""
THINNED = 3
"""One dead file in so many, and the table is written anew without the dead."""


class Stored:
    """A table of segments, read on demand."""

    def __init__(
        self, segments: Sequence[Segment] = (), dead: Collection[int] = (), source: str = ""
    ) -> None:
        self.segments, self.dead = list(segments), frozenset(dead)
        self.source = source
        """The folder it was opened from, if any."""
        self._rows = list(accumulate((len(one) for one in self.segments), initial=0))
        self._first = list(accumulate((len(one.paths) for one in self.segments), initial=0))
        self._columns: dict[str, Column] = {}
        self._told = self._asked = 0

    @classmethod
    def open(cls, folder: Path) -> Stored:
        """Open the segments of a folder."""
        segments = [Segment(open_arrays(path), path) for path in sorted(_segment_files(folder))]
        dead = open_arrays(folder / DEAD).array("files").tolist() if segments else ()
        return cls(segments, dead, str(folder))

    def __len__(self) -> int:
        return self._rows[-1]

    @property
    def next_key(self) -> int:
        """Larger than every key that was ever given."""
        return self.segments[-1].next_key if self.segments else 0

    @cached_property
    def keys(self) -> list[int]:
        """The key of each row in the engines, ascending, those of dead files too."""
        return [int(key) for key in self.places().tolist()]

    def places(self) -> Ints:
        """Return the keys as an array."""
        return np.concatenate(
            [np.empty(0, dtype=np.int64), *(segment.keys for segment in self.segments)]
        )

    def counts(self) -> Ints:
        """Return the number of rows of each file, dead ones too."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(s.counts() for s in self.segments)])

    def words(self) -> Ints:
        """Return the number of words of each row."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(s.words() for s in self.segments)])

    def column(self, name: str) -> Column:
        """Return a field of all rows, those of dead files too."""
        if name not in self._columns:
            self._columns[name] = Joined([segment.column(name) for segment in self.segments])
        return self._columns[name]

    def unit(self, row: int, path: str, text: str) -> Unit:
        """Return a row as a unit."""
        self._told += 1
        if self._told > RELEASED:
            self.release()
        number = bisect_right(self._rows, row) - 1
        return self.segments[number].unit(row - self._rows[number], path, text)

    def release(self) -> None:
        """Give back the memory of what was read of the files.

        Who reads a page of a mapped file gets its neighbours too, so that some reading
        here and there soon holds all of it.
        """
        self._told = 0
        for segment in self.segments:
            segment.release()

    def text(self, row: int) -> str:
        """Return the text of a row."""
        number = bisect_right(self._rows, row) - 1
        return self.segments[number].text(row - self._rows[number])

    def state(self, file: int) -> tuple[int, int, int]:
        """Return size, time and inode a file had when it was read."""
        number = bisect_right(self._first, file) - 1
        return self.segments[number].state(file - self._first[number])

    def path(self, file: int) -> str:
        """Return the path of a file by its ordinal."""
        number = bisect_right(self._first, file) - 1
        return self.segments[number].paths[file - self._first[number]]

    def stats(self) -> dict[str, Stat]:
        """Return how each living file looked by path; all are read anew at each call."""
        paths = [path for segment in self.segments for path in segment.paths]
        stats = [stat for segment in self.segments for stat in segment.stats()]
        if not self.dead:
            return dict(zip(paths, stats, strict=True))
        both = enumerate(zip(paths, stats, strict=True))
        return dict(pair for number, pair in both if number not in self.dead)

    @cached_property
    def ordinals(self) -> dict[str, int]:
        """The ordinal of each living file by path."""
        paths = chain.from_iterable(segment.paths for segment in self.segments)
        if not self.dead:
            return dict(zip(paths, range(self._first[-1]), strict=True))
        return {path: number for number, path in enumerate(paths) if number not in self.dead}

    def number(self, path: str) -> int:
        """Return the ordinal of a living file, -1 where there is none.

        Few are looked for in the text of all paths: to list these takes longer.
        """
        self._asked += 1
        if self._asked > FEW or "ordinals" in vars(self):
            return self.ordinals.get(path, -1)
        for first, segment in zip(self._first, self.segments, strict=False):
            at = segment.paths.find(path)
            if at >= 0 and first + at not in self.dead:
                return first + at
        return -1

    def count_files(self) -> int:
        """Return the number of living files."""
        return self._first[-1] - len(self.dead)

    def gone(self, paths: Collection[str]) -> list[int]:
        """Return the ordinals of dead files and of these paths."""
        return [*self.dead, *(number for number in map(self.number, paths) if number >= 0)]

    def size(self, path: str) -> int:
        """Return how many rows a path has, 0 for a file that is not there."""
        number = self.number(path)
        return self._file_row(number).rows if number >= 0 else 0

    def file(self, path: str) -> FileRow:
        """Return a living file by its path; KeyError for one that is not there."""
        number = self.number(path)
        if number < 0:
            raise KeyError(path)
        return self._file_row(number)

    def digest(self, path: str) -> str:
        """Return what a path hashed to when it was read, empty for a file that is not there."""
        number = self.number(path)
        return self._file_row(number).digest if number >= 0 else ""

    @property
    def files(self) -> Iterator[FileRow]:
        """The living files in order."""
        ordinals = range(self._first[-1])
        return (self._file_row(number) for number in ordinals if number not in self.dead)

    def spans(self) -> Iterator[tuple[str, int, int]]:
        """Yield path, first row and number of rows of each living file, in order."""
        number = row = 0
        for segment in self.segments:
            for path, rows in zip(segment.paths, segment.counts().tolist(), strict=True):
                if number not in self.dead:
                    yield path, row, rows
                number, row = number + 1, row + rows

    def faults(self) -> Iterator[FileRow]:
        """Yield the living files that could not be parsed."""
        for first, segment in zip(self._first, self.segments, strict=False):
            for at in segment.faults():
                if first + at not in self.dead:
                    yield self._file_row(first + at)

    def living(self) -> int:
        """Return the number of rows that count."""
        counts = self.counts()
        return len(self) - int(counts[list(self.dead)].sum())

    def _file_row(self, ordinal: int) -> FileRow:
        number = bisect_right(self._first, ordinal) - 1
        found = self.segments[number].file(ordinal - self._first[number])
        return found._replace(first=found.first + self._rows[number])

    def grow(self, folder: Path, table: Table, gone: Collection[str]) -> None:
        """Write what follows this table into a folder that holds links to its segments."""
        dead = set(self.gone(gone))
        files = self._first[-1]
        start = (
            0 if dead and len(dead) * THINNED > files else self._first_merged_segment(len(table))
        )
        before = self._first[start]
        rest = self.segments[start:]
        if rest:
            older = merged(rest, {number - before for number in dead if number >= before})
            dead = {number for number in dead if number < before}
            table = _join_tables(older, table)
            for segment in rest:
                if segment.source is not None:
                    (folder / segment.source.name).unlink()
        if len(table.files) or start == 0:
            last = max((int(path.name) for path in _segment_files(folder)), default=0)
            # Above every number in use, so that segments keep their order by name.
            last = max(last, *(int(s.source.name) for s in self.segments if s.source), 0)
            (folder / f"{last + 1:06d}").write_bytes(table.dump())
        listed = np.asarray(sorted(dead), dtype="<i8")
        # A link into the generation before; written through it, that one would change.
        (folder / DEAD).unlink(missing_ok=True)
        (folder / DEAD).write_bytes(dump({}, {"files": listed}))

    def _first_merged_segment(self, fresh: int) -> int:
        """Return the first segment that is merged with fresh rows: sizes at least double."""
        start, size = len(self.segments), fresh
        # As in a log-structured merge: each row is written anew a few times in all, not at every
        # update.
        while start and len(self.segments[start - 1]) < min(2 * size + 1, SETTLED_ROWS):
            start -= 1
            size += len(self.segments[start])
        return start


def _segment_files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name != DEAD]


def _join_tables(older: Table, fresh: Table) -> Table:
    shift = len(older)
    older.files += [file._replace(first=file.first + shift) for file in fresh.files]
    for name, column in older.columns.items():
        column.extend(fresh.columns[name])
    older.texts += fresh.texts
    older.lengths += fresh.lengths
    older.keys += fresh.keys
    older.next_key = max(older.next_key, fresh.next_key)
    return older

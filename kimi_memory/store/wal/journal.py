"""The journal: who changed which file when, as a chain nobody edits unseen.

One sealed record per change in ``.kimi/journal/YYYY-MM-DD.jsonl``. Each carries the
hash of the line before it and an HMAC under a key that does not lie in the memory.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import takewhile

from kimi_memory.domain.job import Actor
from kimi_memory.domain.session import Json
from kimi_memory.formats.jsonl import encode, is_whole, seal_bytes
from kimi_memory.store.files.locks import Locks, boot_id
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Place, Tree
from kimi_memory.store.wal.records import (
    EXTERNAL,
    Contents,
    Cursor,
    Entry,
    LastRecords,
    Reach,
    Record,
    append_whole,
    hash_of,
    inherited,
    misfits,
    number_of,
    of_another_key,
    parsed,
    repair_tail,
    whole_lines,
)

FOLDER = f"{PRIVATE}/journal"
_TICK_NS = 3_000_000_000
"""Longer than the coarsest clock of a file system needs to go on."""
_LINE_BYTES = 4096
"""More than the record takes that a journal begins with."""
Extent = tuple[str, int]
"""Last segment and its size: as long as they are the same, nothing was journaled."""


class Journal:
    """The journal of one memory, shared by all its processes."""

    def __init__(self, tree: Tree, locks: Locks, key: bytes, clock: Callable[[], datetime]) -> None:
        self._tree, self._locks, self._clock = tree, locks, clock
        self._signer = hmac.new(key, digestmod=hashlib.sha256)
        self._guard = threading.Lock()
        self._head = Cursor()
        self._read = Cursor()
        self._contents = Contents()
        self._last, self._listed = "", (0, 0)
        self._file = (0, -1)
        self._tail = LastRecords()
        self._born = 0, 0, 0

    def start(self) -> None:
        """Cut a torn tail off into lost+found; begin a chain where there is none."""
        with self._lock_journal(), self._tree.folder(FOLDER, make=True) as folder:
            self._find_head(folder)

    def close(self) -> None:
        """Close the segment that is written to."""
        file, self._file = self._file, (0, -1)
        if file[1] >= 0:
            self._tree.disk.close(file[1])

    def add(
        self, entries: Sequence[Entry], actor: Actor, *, txn: str = "", sync: bool = True
    ) -> None:
        """Write records for some changes in one piece."""
        if not entries:
            return
        entries = inherited(entries, self.last)
        with self._lock_journal():
            folder = self._tree.kept(FOLDER)
            seq, last = self._find_head(folder)
            records = []
            for entry in entries:
                seq += 1
                records.append(self._make_record(entry, actor, txn, (seq, last)))
                last = hash_of(records[-1])
            self._write_records(folder, records, (seq, last), sync=sync)

    def head(self, *, sync: bool = False) -> tuple[int, str]:
        """Return number and hash of the last record, which `sync` makes durable before."""
        with self._lock_journal(), self._tree.folder(FOLDER, make=True) as folder:
            found = self._find_head(folder)
            if sync:
                self._tree.disk.fdatasync(self._open_segment(Place(folder, self._head.segment)))
            return found

    def extent(self) -> Extent:
        """Return how far the journal goes, without waiting for anybody who writes to it."""
        try:
            with self._tree.folder(FOLDER) as folder:
                names = self._segments_in(folder)
                size = self._tree.disk.stat(names[-1], folder).st_size if names else 0
                return names[-1] if names else "", size
        except FileNotFoundError:
            return "", 0

    def known(self) -> Mapping[str, str]:
        """Return the content mark each journaled path has now, empty for deleted ones."""
        with self._guard:
            self._catch_up()
            return dict(self._contents.marks)

    def mark_of(self, path: str) -> str | None:
        """Return the content mark a path has now; None if it was never journaled."""
        with self._guard:
            self._catch_up()
            return self._contents.marks.get(path)

    def last(self, path: str) -> Record | None:
        """Return the last record of a path; no more of the journal is read than that takes."""
        with self._guard:
            return self._tail.find(path, self._list_segments(), self._lines_beyond)

    def edited(self) -> Mapping[str, str]:
        """Return the paths whose present content is an edit from outside, with the mark before."""
        with self._guard:
            self._catch_up()
            return self._contents.edited()

    def paths_of(self, txn: str) -> set[str]:
        """Return the paths that a transaction was journaled for, empty if it was not."""
        found = (record for record in self.records() if record.get("txn") == txn)
        return {str(record.get("of") or record.get("path")) for record in found}

    def born(self) -> int:
        """Return when the chain began, in nanoseconds of the system clock."""
        try:
            with self._tree.folder(FOLDER) as folder:
                names = self._segments_in(folder)
                look = self._tree.disk.stat(names[0], folder)
        except (FileNotFoundError, IndexError):
            return 0
        inode, size, _ = self._born
        # Segments only grow: the first record stays what it was.
        if inode != look.st_ino or look.st_size < size:
            first = parsed(self._read_first_line(names[0])) or {}
            born = int(str(first.get("after"))) if first.get("op") == "genesis" else 0
            self._born = look.st_ino, look.st_size, born
        return self._born[2]

    def records(self, after: Extent = ("", 0)) -> Iterator[dict[str, Json]]:
        """Yield all records that can be read, oldest first; or those after an extent."""
        first, size = after
        for segment in self._list_segments():
            if segment < first:
                continue
            lines = self._read_lines(segment, size if segment == first else 0)
            yield from filter(None, map(parsed, lines))

    def since(self, seq: int) -> list[dict[str, Json]]:
        """Return the records after a number, oldest first; older segments stay unread."""
        newer = takewhile(lambda one: number_of(one, seq + 1) > seq, self.newest_first())
        return list(newer)[::-1]

    def newest_first(self, naming: bytes = b"") -> Iterator[dict[str, Json]]:
        """Yield the records whose line holds some bytes; a segment is read when it is due."""
        for segment in reversed(self._list_segments()):
            lines = (line for line in reversed(self._read_lines(segment)) if naming in line)
            yield from filter(None, map(parsed, lines))

    def verify(self, checkpoints: Iterable[tuple[int, str]] = ()) -> list[str]:
        """Return what is wrong with the chain; an empty list when nothing is.

        Args:
            checkpoints: earlier heads, kept where the journal's editor could not reach
                them; they show that the end of the chain was cut off.
        """
        problems: list[str] = []
        foreign, total, last, seq = 0, 0, "", 0
        missing = set(checkpoints)
        for where, line in self._placed_lines():
            total += 1
            record = parsed(line)
            if record is None or not is_whole(line):
                problems.append(f"{where}: the line is not whole")
            if record is not None:
                problems += misfits(record, where, seq + 1, last)
                foreign += not self.is_ours(record)
            seq, last = number_of(record, seq + 1), hash_of(line)
            missing.discard((seq, last))
        problems += of_another_key(foreign, total)
        if missing:
            shown = f"record {min(missing)[0]} of a checkpoint"
            problems.append(f"{shown} is missing or altered, of {len(missing)} checkpoints")
        return problems

    def is_ours(self, record: Mapping[str, Json]) -> bool:
        """Whether a record was written with this machine's key."""
        body = {name: value for name, value in record.items() if name not in {"mac", "sum"}}
        return hmac.compare_digest(self._compute_mac(encode(body)), str(record.get("mac")).encode())

    def sign(self, body: bytes) -> bytes:
        """Return the mark this machine's key gives to what is derived from the files."""
        return self._compute_mac(b"derived\0" + body)

    def keyed(self, text: str) -> str:
        """Return the HMAC of words, which a copy of the folder is not enough to try words on.

        The key lies outside of every memory.
        """
        return self.sign(b"keyed\0" + text.encode("utf-8", "surrogatepass")).decode()

    def _compute_mac(self, body: bytes) -> bytes:
        signer = self._signer.copy()
        signer.update(body)
        return signer.hexdigest().encode()

    def _make_record(self, entry: Entry, actor: Actor, txn: str, at: tuple[int, str]) -> bytes:
        body: dict[str, Json] = {
            "seq": at[0],
            "at": self._clock().isoformat(),
            "mono": time.monotonic_ns(),
            "boot": boot_id(),
            "actor": actor.name,
            "origin": entry.origin or _actor_origin(actor),
            "session": actor.session,
            "job": actor.job,
            "op": entry.op,
            "path": entry.path,
            "before": entry.before,
            "after": entry.after,
            "txn": txn,
            "prev": at[1],
        }
        more = {"was": entry.was, "undo": entry.undo, "of": entry.of}
        more |= {"why": entry.why, "vetted": entry.vetted, "sub": actor.sub, "run": actor.run}
        body |= {name: value for name, value in more.items() if value}
        signed = encode(body)
        return seal_bytes(b'%b,"mac":"%b"}' % (signed[:-1], self._compute_mac(signed)))

    def _lock_journal(self) -> AbstractContextManager[None]:
        return self._locks.hold("journal", op="journal")

    def _find_head(self, folder: int) -> tuple[int, str]:
        """Return number and hash of the last record, after mending a torn tail."""
        segment = self._last_segment(folder)
        if not segment:
            self._head = Cursor()
            born = Entry("genesis", "", after=str(time.time_ns()))
            line = self._make_record(born, Actor(name="store"), "", (1, ""))
            self._write_records(folder, [line], (1, hash_of(line)), sync=True)
            return 1, hash_of(line)
        head, place = self._head, Place(folder, segment)
        found = self._tree.disk.stat(place.name, place.folder)
        now = (place.name, found.st_ino, found.st_size)
        if now != (head.segment, head.inode, head.offset):
            self._head = self._read_head(place)
        return self._head.seq, self._head.last

    def _last_segment(self, folder: int) -> str:
        """Return the name of the segment that is written to, empty where there is none."""
        looked = time.time_ns()
        found = os.fstat(folder)
        now = found.st_ino, found.st_mtime_ns
        if now != self._listed:
            names = self._segments_in(folder)
            self._last = names[-1] if names else ""
            # What was made in the same tick of the clock would not show in the time.
            self._listed = now if looked - found.st_mtime_ns > _TICK_NS else (0, 0)
        return self._last

    def _read_head(self, place: Place) -> Cursor:
        stamp = f"{self._clock():%Y%m%dT%H%M%SZ}"
        fd = self._tree.open_file(place, os.O_RDWR | os.O_APPEND, place.name)
        try:
            size, line = repair_tail(self._tree, fd, f"journal-{place.name}", stamp)
            inode = os.fstat(fd).st_ino
        finally:
            self._tree.disk.close(fd)
        seq, last = number_of(parsed(line), 0), hash_of(line)
        if not line:
            seq, last = self._end_before(place.name)
        return Cursor(place.name, inode, size, seq, last)

    def _end_before(self, segment: str) -> tuple[int, str]:
        """Return the head as of the segments before one that holds nothing whole."""
        seq, last = 0, ""
        for other in self._list_segments():
            for line in self._read_lines(other) if other < segment else ():
                seq, last = number_of(parsed(line), seq + 1), hash_of(line)
        return seq, last

    def _write_records(
        self, folder: int, lines: Sequence[bytes], end: tuple[int, str], *, sync: bool
    ) -> None:
        disk = self._tree.disk
        # A clock that was set back must not open a segment before the last one.
        segment = max(f"{self._clock().date()}.jsonl", self._head.segment)
        fd = self._open_segment(Place(folder, segment))
        found = os.fstat(fd)
        append_whole(disk, fd, b"".join(lines), found.st_size, sync=sync)
        if segment != self._head.segment:
            disk.fsync(folder)
        size = found.st_size + sum(map(len, lines))
        self._head = Cursor(segment, found.st_ino, size, *end)

    def _open_segment(self, place: Place) -> int:
        """Return a descriptor of a segment, which stays open for the next record.

        The head was just found, so its file is the one that is at its path now.
        """
        head, (inode, fd) = self._head, self._file
        # A backup may have given the open file a second name since.
        if (place.name, inode) != (head.segment, head.inode) or os.fstat(fd).st_nlink > 1:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            fd = self._tree.open_file(place, flags, place.name)
            self.close()
            self._file = os.fstat(fd).st_ino, fd
        return fd

    def _list_segments(self) -> list[str]:
        try:
            with self._tree.folder(FOLDER) as folder:
                return self._segments_in(folder)
        except FileNotFoundError:
            return []

    def _segments_in(self, folder: int) -> list[str]:
        names = self._tree.disk.names(folder)
        return sorted(name for name in names if name.endswith(".jsonl"))

    def _read_lines(self, segment: str, offset: int = 0) -> list[bytes]:
        return whole_lines(self._tree.read(f"{FOLDER}/{segment}")[offset:])

    def _lines_beyond(self, segment: str, known: Reach) -> tuple[Reach, bool, list[bytes]]:
        """Return how far a segment goes, whether it goes on from there, and the lines since."""
        with self._tree.place(f"{FOLDER}/{segment}") as place:
            found = self._tree.disk.stat(place.name, place.folder)
            if Reach(found.st_ino, found.st_size) == known:
                return known, True, []
            fd = self._tree.open_file(place, os.O_RDONLY, place.name)
            try:
                found = os.fstat(fd)
                goes_on = found.st_ino == known.inode and found.st_size >= known.end
                start = known.end if goes_on else 0
                content = self._tree.disk.read_at(fd, found.st_size - start, start)
            finally:
                self._tree.disk.close(fd)
        lines = whole_lines(content)
        return Reach(found.st_ino, start + sum(map(len, lines))), goes_on, lines

    def _read_first_line(self, segment: str) -> bytes:
        # Asked at every start; the segment of a day on which files were copied in is large.
        with self._tree.place(f"{FOLDER}/{segment}") as place:
            fd = self._tree.open_file(place, os.O_RDONLY, place.name)
            try:
                return self._tree.disk.read_at(fd, _LINE_BYTES, 0).partition(b"\n")[0]
            finally:
                self._tree.disk.close(fd)

    def _placed_lines(self) -> Iterator[tuple[str, bytes]]:
        for segment in self._list_segments():
            content = self._tree.read(f"{FOLDER}/{segment}")
            for number, line in enumerate(content.splitlines(keepends=True), 1):
                yield f"{segment}:{number}", line

    def _catch_up(self) -> None:
        """Read what was added to the journal since the last time."""
        segments = self._list_segments()
        if self._read.segment and not self._goes_on():
            self._read, self._contents = Cursor(), Contents()
        for segment in segments:
            if segment >= self._read.segment:
                self._catch_up_in(segment)

    def _goes_on(self) -> bool:
        """Whether what was read of the last segment is still what it begins with."""
        try:
            with self._tree.place(f"{FOLDER}/{self._read.segment}") as place:
                found = self._tree.disk.stat(place.name, place.folder)
        except FileNotFoundError:
            return False
        return found.st_ino == self._read.inode and found.st_size >= self._read.offset

    def _catch_up_in(self, segment: str) -> None:
        offset = self._read.offset if segment == self._read.segment else 0
        reach, _, lines = self._lines_beyond(segment, Reach(self._read.inode, offset))
        for line in lines:
            self._contents.learn(parsed(line) or {})
        self._read = Cursor(segment, *reach)


def _actor_origin(actor: Actor) -> str:
    return EXTERNAL if actor.name == EXTERNAL else str(actor.origin)

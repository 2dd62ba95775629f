"""Records of the journal and of other files that only grow: their chain, their tail, the last ones.

A tail may be torn. The mark of a grown file is ``<sum of its last line>@<size>``: it changes with
every append and costs one short read, however long the file is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kimi_memory.domain.session import Json
from kimi_memory.errors import StoreError
from kimi_memory.formats.jsonl import is_whole, sum_of
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Place, Tree


def whole_lines(content: bytes) -> list[bytes]:
    """Return the lines of a journal that are not torn, with their newlines."""
    # The last line may be in the middle of being written by another process.
    return content[: content.rfind(b"\n") + 1].splitlines(keepends=True)


def hash_of(line: bytes) -> str:
    """Return what the next record names as the one before it; empty for no line."""
    return hashlib.sha256(line).hexdigest() if line else ""


def parsed(line: bytes) -> dict[str, Json] | None:
    """Return the record a line holds, None where it holds none."""
    try:
        record = json.loads(line)
    except ValueError:
        # A crash tears the last line; the reader of the chain decides what that means.
        return None
    return record if isinstance(record, dict) else None


def number_of(record: Mapping[str, Json] | None, otherwise: int) -> int:
    """Return the number of a record, or what it must be where it has none."""
    seq = (record or {}).get("seq")
    return seq if isinstance(seq, int) else otherwise


def misfits(record: Mapping[str, Json], where: str, seq: int, last: str) -> list[str]:
    """Say where a record does not fit the chain, as messages."""
    problems = []
    if record.get("seq") != seq:
        problems.append(f"{where}: record {record.get('seq')} stands where {seq} is due")
    if record.get("prev") != last:
        problems.append(f"{where}: the record does not follow the line before it")
    return problems


def of_another_key(count: int, total: int) -> list[str]:
    """Say how many of all records another key signed, as messages."""
    if count and count == total:
        return ["every record was written with another key: the journal is a foreign chain"]
    return [f"{count} records were not written with this memory's key"] if count else []


EXTERNAL = "external"
"""Actor and origin of a change to a file that the store did not write."""


class Cursor(NamedTuple):
    """How far the journal was read: a segment, and the bytes of it."""

    segment: str = ""
    inode: int = 0
    offset: int = 0
    seq: int = 0
    last: str = ""
    """Hash of the last line read."""


@dataclass(slots=True)
class Contents:
    """The content of each path after the records that were learned."""

    marks: dict[str, str] = field(default_factory=dict)
    """The content mark, empty for what is gone."""
    _edits: dict[str, dict[str, str]] = field(default_factory=dict)

    def edited(self) -> Mapping[str, str]:
        """Return the paths whose content is an edit from outside, with the mark before."""
        here = ((path, made.get(self.marks[path])) for path, made in self._edits.items())
        return {path: before for path, before in here if before}

    def learn(self, record: Mapping[str, Json]) -> None:
        """Learn what one record says."""
        path, was = str(record.get("path", "")), str(record.get("was", ""))
        if was:
            self.marks[was] = ""
        if path:
            before, after = str(record.get("before", "")), str(record.get("after", ""))
            self.marks[path] = after
            if record.get("op") == "edited":
                made = self._edits.setdefault(path, {})
                # Of edits upon edits the first says what was there before.
                made[after] = made.get(before, before)


class Record(NamedTuple):
    """What the journal says of a file as it was written last."""

    mark: str
    """Of its content; empty where it is gone."""
    actor: str
    origin: str
    op: str
    before: str = ""
    why: str = ""
    """Why the content waits for a person's word."""
    vetted: str = ""
    """The mark of the last version that did not wait, where this one does."""
    base: str = ""
    """Of a session that grew: the mark of what the first record of its segment was added to."""
    gap: bool = False
    """Whether a session may have grown past the store: no record vouches for all of it."""


class Reach(NamedTuple):
    """How far a segment was read."""

    inode: int = 0
    end: int = 0


_Lines = Callable[[str, Reach], tuple[Reach, bool, list[bytes]]]


class LastRecords:
    """Knows the segments it has read, newest first; only the newest one grows."""

    def __init__(self) -> None:
        self._days: dict[str, tuple[Reach, dict[str, Record]]] = {}
        self._whole: set[str] = set()
        """Segments that were read since a newer one was begun."""

    def find(self, path: str, segments: Sequence[str], lines: _Lines) -> Record | None:
        """Return the last record of a path, None where no segment has one.

        Args:
            path: the file.
            segments: the names of all segments, oldest first.
            lines: returns how far a segment goes now, whether it is the one that was read
                before, and its lines, of that one only those beyond.
        """
        last, base = None, ""
        # From the newest: most files that are asked for changed lately.
        for segment in reversed(segments):
            found = self._read_segment(segment, lines, newest=segment == segments[-1]).get(path)
            if found is None:
                continue
            if last is not None and (found.gap or found.mark != base):
                return last._replace(gap=True)
            last, base = last or found, found.base
            if last.gap or not base:
                break
        return last

    def _read_segment(self, segment: str, lines: _Lines, *, newest: bool) -> dict[str, Record]:
        if segment in self._whole and not newest:
            return self._days[segment][1]
        reach, last = self._days.get(segment, (Reach(), {}))
        reach, goes_on, added = lines(segment, reach)
        last = last if goes_on else {}
        for line in added:
            _apply_record(parsed(line) or {}, last)
        self._days[segment] = reach, last
        if not newest:
            self._whole.add(segment)
        return last


def _apply_record(record: Mapping[str, Json], last: dict[str, Record]) -> None:
    was, path = str(record.get("was", "")), str(record.get("path", ""))
    if was:
        gone = last.get(was)
        last[was] = Record("", "", "", "move", gap=gone is not None and gone.gap)
    if path:
        before, found = last.get(path), record_of(record)
        # An append of ours does not vouch for what stood there before: what grew from it waits too.
        grown = found.op == "append" and before and before.origin.startswith(f"{EXTERNAL}:")
        if before is not None and grown:
            found = found._replace(origin=before.origin, why=before.why, vetted=before.vetted)
        last[path] = _follow_growth(found, before) if is_session(path) else found


def is_session(path: str) -> bool:
    """Whether a path is that of a session's file."""
    return path.endswith(".jsonl") and path.rpartition("/")[2].startswith("session_")


def may_hold_unseen(last: Callable[[str], Record | None], path: str) -> bool:
    """Whether a session file may hold turns that no write of ours brought; nearly always not.

    Args:
        last: returns the last record of a path.
        path: the file, as its last record has it.
    """
    if not is_session(path):
        return False
    found = last(path)
    if found is None or found.gap:
        return True
    # Archived, its turns came from the file of the open session.
    before = last(f"short-term/{path.rpartition('/')[2]}")
    return before is not None and before.gap


def _follow_growth(found: Record, before: Record | None) -> Record:
    """Return a record that says whether its session grew by our records alone."""
    added = found.op == "append"
    if before is None:
        return found._replace(base=found.before if added else "", gap=found.actor == EXTERNAL)
    skips = added and found.before != before.mark
    gap = before.gap or found.actor == EXTERNAL or skips
    return found._replace(base=before.base, gap=gap)


def record_of(record: Mapping[str, Json]) -> Record:
    """Return what a line of the journal says of its path."""
    names = ("after", "actor", "origin", "op", "before", "why", "vetted")
    mark, actor, origin, op, *rest = (str(record.get(name, "")) for name in names)
    return Record(mark, actor, origin, op, rest[0], rest[1], rest[2])


class Entry(NamedTuple):
    """One change to be journaled: content marks before and after, empty for absent."""

    op: str
    path: str
    before: str = ""
    after: str = ""
    was: str = ""
    """The path it had, for a move."""
    undo: str = ""
    """Name of the file in the undo area that holds the bytes before."""
    of: str = ""
    """The path whose other version a conflict copy is."""
    origin: str = ""
    """Where the content comes from, when not from the actor."""
    why: str = ""
    """Why the content waits for a person's word."""
    vetted: str = ""
    """The content mark of the last version that did not wait."""


class Provenance(NamedTuple):
    """Where the content of a change comes from, and why it waits for a person's word."""

    origin: str
    why: str
    vetted: str = ""
    """The content mark of the last version that did not wait."""


def inherited(entries: Sequence[Entry], last: Callable[[str], Record | None]) -> Sequence[Entry]:
    """Return entries in which what only goes to another place goes on waiting, if it did.

    Args:
        entries: the changes of one transaction.
        last: returns the last record of a path.
    """
    # A file that is deleted here and made there with the same bytes was moved.
    gone = {entry.before: entry.path for entry in entries if entry.op == "delete"}
    come = [entry for entry in entries if entry.was or entry.after in gone]
    if not come:
        return entries
    found = {entry: last(entry.was or gone[entry.after]) for entry in come}
    waits = {e: r for e, r in found.items() if r and r.origin.startswith(f"{EXTERNAL}:")}
    return [
        e
        if (r := waits.get(e)) is None
        else e._replace(origin=r.origin, why=r.why, vetted=r.vetted)
        for e in entries
    ]


LOST = f"{PRIVATE}/lost+found"
# A turn's last line mostly ends within one block of a disk.
_BLOCK = 4096


def check_lines(lines: Sequence[bytes]) -> bytes:
    """Return lines in one piece; StoreError unless each ends in its only newline."""
    for line in lines:
        if not line or line.find(b"\n") != len(line) - 1:
            raise StoreError("An appended line ends in a newline and holds no other.")
    return b"".join(lines)


def mark(line: bytes, size: int) -> str:
    """Return the mark of a file of that size which ends in that line; empty for no line."""
    if not line:
        return ""
    return f"{sum_of(line) or hashlib.sha256(line).hexdigest()[:12]}@{size}"


def is_mark(text: str) -> bool:
    """Whether a content mark is that of a grown file rather than a hash of all bytes."""
    return "@" in text


def mark_of(content: bytes) -> str:
    """Return the mark of a whole file's bytes."""
    body = content[:-1]
    return mark(content[body.rfind(b"\n") + 1 :], len(content))


def last_line(disk: Disk, fd: int, size: int) -> bytes:
    """Return the last line, torn or not: the bytes after the last newline but one."""
    span = _BLOCK
    while True:
        start = max(0, size - span)
        block = disk.read_at(fd, size - start, start)
        cut = block.rfind(b"\n", 0, max(0, len(block) - 1))
        if cut >= 0 or start == 0:
            return block[cut + 1 :]
        # A line is short nearly always; a long one is found in a few steps.
        span *= 8


def is_torn(line: bytes, path: str) -> bool:
    """Whether the last line of a file is the rest of a write that did not finish.

    Only lines of JSON can be distinguished; a person may leave a page without a newline.
    """
    if not line or not path.endswith(".jsonl") or is_whole(line.rstrip(b"\n") + b"\n"):
        return False
    try:
        json.loads(line)
    except ValueError:
        # Half a line, as a crash leaves it.
        return True
    return False


def sound_end(disk: Disk, fd: int, path: str) -> tuple[int, bytes] | None:
    """Return size and last line of a file, or None where `mend` has something to do."""
    size = os.fstat(fd).st_size
    line = last_line(disk, fd, size)
    if (line and not line.endswith(b"\n")) or is_torn(line, path):
        return None
    return size, line


def repair_tail(tree: Tree, fd: int, path: str, stamp: str) -> tuple[int, bytes]:
    """Cut a torn last line off into lost+found, or end a whole one; return size and last line.

    The bytes are in lost+found before they are cut.
    """
    found = sound_end(tree.disk, fd, path)
    if found is not None:
        return found
    disk = tree.disk
    size = os.fstat(fd).st_size
    line = last_line(disk, fd, size)
    while is_torn(line, path):
        keep_lost(tree, line, path, stamp)
        size -= len(line)
        disk.truncate(fd, size)
        line = last_line(disk, fd, size)
    if line and not line.endswith(b"\n"):
        append_whole(disk, fd, b"\n", size, sync=False)
        line, size = line + b"\n", size + 1
    return size, line


def keep_lost(tree: Tree, content: bytes, path: str, stamp: str) -> str:
    """Put bytes that fit nowhere into lost+found; return the name of the file."""
    base = path.rpartition("/")[2][:120]
    mark = hashlib.sha256(content).hexdigest()[:12]
    name = f"{stamp}.{mark}.{base}"
    with tree.folder(LOST, make=True) as folder:
        try:
            tree.write(Place(folder, name), content)
            tree.disk.fsync(folder)
        except FileExistsError:
            pass  # the same bytes at the same moment: an earlier cut that did not finish
    return name


def append_whole(disk: Disk, fd: int, content: bytes, size: int, *, sync: bool = True) -> None:
    """Append, in one system call if it takes all; what failed half-way is cut off again.

    Raises:
        OSError: nothing was appended.
    """
    try:
        # In one call: with O_APPEND the system lets no other process write in between.
        disk.write(fd, content)
        if sync:
            disk.fdatasync(fd)
    except OSError:
        cut_back(disk, fd, size)
        raise


def cut_back(disk: Disk, fd: int, size: int) -> None:
    """Cut a file back to the size it had before something was refused."""
    try:
        if os.fstat(fd).st_size > size:
            disk.truncate(fd, size)
    except OSError:
        return  # the torn line stays; the next append cuts it off

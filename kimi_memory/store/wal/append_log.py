"""The tail of a file that only grows: whole lines, torn lines, and its mark.

The mark of a grown file is ``<sum of its last line>@<size>``: it changes with every
append and costs one short read, however long the file is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence

from kimi_memory.errors import StoreError
from kimi_memory.formats.jsonl import is_whole, sum_of
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.files.tree import Place, Tree

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

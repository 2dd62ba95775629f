"""Look at every page and session below a folder: ``python walker.py FOLDER APART…``.

A program of its own that needs nothing but the standard library, so that it is half done
before who started it has loaded an index; `kimi_memory.index.scout` sends it and reads what
it writes: how many pages and sessions there are and how long their paths, then the paths,
then size, modification time in ns and inode of each.
"""

from __future__ import annotations

import os
import sys
from array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORM = "q"
"""How all numbers are written: 64 bits, in this machine's order."""

NUMBERS = 24
"""Bytes of the numbers of one file."""
MANY = 32
"""So many folders are shared by two processes."""

Kind = tuple[list[str], "array[int]"]
"""Paths, and three numbers of each."""


def listed(
    root: str,
    apart: tuple[str, ...] = (),
    folders: Sequence[str] = ("",),
    share: Callable[[Sequence[str]], None] | None = None,
) -> tuple[Kind, Kind]:
    """Return pages and sessions.

    Args:
        root: the folder.
        apart: beginnings of folders in which no page counts; each ends with a slash.
        folders: where to look, and in all that is below.
        share: told once of folders that somebody else looks at, where there are many.
    """
    pages: Kind = [], array(FORM)
    sessions: Kind = [], array(FORM)
    pending = list(folders)
    while pending:
        if len(pending) >= MANY and share is not None:
            share(pending[1::2])
            share, pending = None, pending[::2]
        folder = pending.pop()
        try:
            # From its folder, the state of a file costs half of what it costs from its path.
            fd = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue
        try:
            kinds = (None if folder.startswith(apart) else pages, sessions)
            pending += _taken(fd, folder, *kinds)
        finally:
            os.close(fd)
    return pages, sessions


def written(pages: Kind, sessions: Kind, halves: int = 1) -> bytes:
    """Return what there is as bytes, and in how many halves all of it is told."""
    paths = os.fsencode("\0".join([*pages[0], *sessions[0]]))
    head = array(FORM, [len(pages[0]), len(sessions[0]), len(paths), halves])
    return head.tobytes() + paths + pages[1].tobytes() + sessions[1].tobytes()


def read(content: bytes) -> tuple[Kind, Kind, int]:
    """Return what was written.

    Raises:
        ValueError: it was cut short.
    """
    head = array(FORM)
    start = 4 * head.itemsize
    head.frombytes(content[:start])
    if len(head) != 4 or len(content) != start + head[2] + NUMBERS * (head[0] + head[1]):
        raise ValueError("cut short")
    pages, sessions, size, halves = head
    end = start + size
    paths = os.fsdecode(content[start:end]).split("\0") if size else []
    numbers = array(FORM)
    numbers.frombytes(content[end:])
    of_pages = paths[:pages], numbers[: 3 * pages]
    return of_pages, (paths[pages : pages + sessions], numbers[3 * pages :]), halves


def _taken(fd: int, folder: str, pages: Kind | None, sessions: Kind) -> list[str]:
    """Add the files of a folder to their kinds; return the folders in it."""
    folders = []
    with os.scandir(fd) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            kind = pages if name.endswith(".md") else sessions
            if not entry.is_file(follow_symlinks=False):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{folder}{name}/")
            elif kind is pages or name.endswith(".jsonl"):
                if kind is None:
                    continue
                try:
                    seen = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # It went while we looked.
                kind[0].append(folder + name)
                kind[1].extend((seen.st_size, seen.st_mtime_ns, seen.st_ino))
    return folders


def main(root: str, apart: tuple[str, ...]) -> None:
    """Write what there is to the descriptor 1, and to 2 what a second process finds of it."""
    others = []

    def share(folders: Sequence[str]) -> None:
        others.append(os.fork())
        if not others[0]:
            os.close(1)
            _say(2, written(*listed(root, apart, folders)))
            os._exit(0)

    pages, sessions = listed(root, apart, share=share)
    _say(1, written(pages, sessions, 1 + len(others)))
    os.close(2)
    for other in others:
        os.waitpid(other, 0)


def _say(fd: int, content: bytes) -> None:
    """Write all of it, and no more is to come."""
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(content)


if __name__ == "__main__":
    main(sys.argv[1], tuple(sys.argv[2:]))

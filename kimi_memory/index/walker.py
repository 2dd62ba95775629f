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

FORM = "q"
"""How all numbers are written: 64 bits, in this machine's order."""

Kind = tuple[list[str], "array[int]"]
"""Paths, and three numbers of each."""


def listed(root: str, apart: tuple[str, ...] = ()) -> tuple[Kind, Kind]:
    """Return pages and sessions.

    Args:
        root: the folder.
        apart: beginnings of folders in which no page counts; each ends with a slash.
    """
    pages: Kind = [], array(FORM)
    sessions: Kind = [], array(FORM)
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            # From its folder, the state of a file costs half of what it costs from its path.
            fd = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            kinds = (None if folder.startswith(apart) else pages, sessions)
            pending += _taken(fd, folder, *kinds)
        finally:
            os.close(fd)
    return pages, sessions


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


def main() -> None:
    """Write what there is to standard output."""
    found = listed(sys.argv[1], tuple(sys.argv[2:]))
    paths = os.fsencode("\0".join(path for kind, _ in found for path in kind))
    head = array(FORM, [*(len(kind) for kind, _ in found), len(paths)])
    numbers = b"".join(each.tobytes() for _, each in found)
    sys.stdout.buffer.write(head.tobytes() + paths + numbers)


if __name__ == "__main__":
    main()

"""Look at every page and session below a folder: ``python walker.py FOLDER TABLE APART…``.

A program of its own that needs nothing but the standard library, so that it is half done
before who started it has loaded an index; `kimi_memory.index.scout` sends it and reads what
it writes: how many pages and sessions there are and how long their paths, then the paths,
then size, modification time in ns and inode of each, and its number in the table of an index.
"""

from __future__ import annotations

import os
import sys
from array import array
from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

FORM = "q"
"""How all numbers are written: 64 bits, in this machine's order."""

COLUMNS = 4
"""Numbers of one file: size, modification time, inode, and its number in a table or -1."""
MAGIC = b"kimi-memory table 1\n"
"""What each segment of a table begins with; `kimi_memory.index.segment` writes them."""
DEAD = "dead"
"""The file beside the segments that says which of their files are gone."""
MANY = 32
"""So many folders are shared by two processes."""

Kind = tuple[list[str], "array[int]"]
"""Paths, and `COLUMNS` numbers of each."""
Told = tuple[str, "array[int]"]
"""The same with all paths in one text, a zero byte after each."""


def listed(
    root: str,
    ordinals: Mapping[str, int],
    apart: tuple[str, ...] = (),
    folders: Sequence[str] = ("",),
    share: Callable[[Sequence[str]], None] | None = None,
) -> tuple[Kind, Kind]:
    """Return pages and sessions.

    Args:
        root: the folder.
        ordinals: the numbers of files in a table.
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
            pending += _taken(fd, folder, ordinals, *kinds)
        finally:
            os.close(fd)
    return pages, sessions


def written(pages: Kind, sessions: Kind, halves: int = 1) -> bytes:
    """Return what there is as bytes, and in how many halves all of it is told."""
    paths = os.fsencode("".join([f"{path}\0" for path in [*pages[0], *sessions[0]]]))
    head = array(FORM, [len(pages[0]), len(sessions[0]), len(paths), halves])
    return head.tobytes() + paths + pages[1].tobytes() + sessions[1].tobytes()


def read(content: bytes) -> tuple[Told, Told, int]:
    """Return what was written of pages and of sessions, and in how many halves all is told.

    Raises:
        ValueError: it was cut short.
    """
    head = array(FORM)
    start = 4 * head.itemsize
    head.frombytes(content[:start])
    if len(head) != 4:
        raise ValueError("cut short")
    pages, sessions, size, halves = head
    end = start + size
    if len(content) != end + COLUMNS * head.itemsize * (pages + sessions):
        raise ValueError("cut short")
    paths = os.fsdecode(content[start:end])
    # Each path ends with a zero byte; those of sessions are few.
    last = paths.rsplit("\0", sessions + 1)[-sessions - 1 : -1]
    cut = len(paths) - sum(map(len, last)) - len(last)
    numbers = array(FORM, content[end:])
    of_pages = paths[:cut], numbers[: COLUMNS * pages]
    return of_pages, (paths[cut:], numbers[COLUMNS * pages :]), halves


def numbered(table: str) -> dict[str, int]:
    """Return the number of each living file of a table, counted over its segments in order.

    Raises:
        OSError, ValueError, LookupError: it cannot be read.
    """
    found: dict[str, int] = {}
    # Without pathlib, which takes as long to load as the table.
    (raw,) = read_arrays(f"{table}/{DEAD}", "files")
    gone, first = set(integers(raw)), 0
    for name in sorted(set(os.listdir(table)) - {DEAD}):  # noqa: PTH208  see above
        raw, ends = read_arrays(f"{table}/{name}", "path.blob", "path.at")
        bounds = integers(ends)
        whole = raw.decode("utf-8", "surrogatepass")
        if len(whole) == len(raw):
            paths = [whole[start:end] for start, end in pairwise(bounds)]
        else:
            parts = (raw[start:end] for start, end in pairwise(bounds))
            paths = [part.decode("utf-8", "surrogatepass") for part in parts]
        living = enumerate(paths, first)
        found.update((path, number) for number, path in living if number not in gone)
        first += len(paths)
    return found


def read_arrays(path: str, *names: str) -> Iterator[bytes]:
    """Yield arrays of a segment as they lie in it.

    Raises:
        OSError, ValueError, LookupError: it cannot be read.
    """
    import json

    with open(path, "rb") as file:  # noqa: PTH123  see above
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(path)
        header = file.read(int.from_bytes(file.read(8), "little"))
        base, places = file.tell(), json.loads(header)["arrays"]
        for name in names:
            kind, at, count = places[name]
            file.seek(base + at)
            yield file.read(count * int(kind[2:]))


def integers(raw: bytes, form: str = FORM) -> array[int]:
    """Return numbers of a file, in which the smallest byte comes first."""
    found = array(form, raw)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _taken(
    fd: int, folder: str, ordinals: Mapping[str, int], pages: Kind | None, sessions: Kind
) -> list[str]:
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
                kind[0].append(path := folder + name)
                number = ordinals.get(path, -1)
                kind[1].extend((seen.st_size, seen.st_ctime_ns, seen.st_ino, number))
    return folders


def main(root: str, table: str, apart: tuple[str, ...]) -> None:
    """Write what there is to the descriptor 1, and to 2 what a second process finds of it."""
    others = []
    ordinals = numbered(table) if table else {}

    def share(folders: Sequence[str]) -> None:
        others.append(os.fork())
        if not others[0]:
            os.close(1)
            _say(2, written(*listed(root, ordinals, apart, folders)))
            os._exit(0)

    pages, sessions = listed(root, ordinals, apart, share=share)
    _say(1, written(pages, sessions, 1 + len(others)))
    os.close(2)
    for other in others:
        os.waitpid(other, 0)


def _say(fd: int, content: bytes) -> None:
    """Write all of it, and no more is to come."""
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(content)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], tuple(sys.argv[3:]))

"""Where the note of an id lies, by the table on disk, without a look at all files.

Who asks for one note waits neither for numpy and the engines nor for the state of 100,000
files: the arrays that answer are read as they lie in the segments. What the table holds may
be out of date, so the caller reads the file and sees whether it is that note.
"""

from __future__ import annotations

import json
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from kimi_memory.errors import IndexDamagedError
from kimi_memory.index.files import DEAD, INDEX, MAGIC, TABLE
from kimi_memory.index.stored import Shelf

_FORMS = {1: "B", 2: "H", 4: "i"}
"""The form of a code by its size: a segment has the narrowest that holds all."""


def locate(root: Path, key: bytes, id: str) -> list[str]:
    """Return the sorted paths at which the index of a memory has the note of an id.

    Args:
        root: the memory folder.
        key: this machine's own secret; an index that it did not sign says nothing.
        id: a whole one.
    """
    try:
        generation = Shelf(root / INDEX, key).open()
        return sorted(_yield_paths(generation.folder / TABLE, id)) if generation else []
    except (IndexDamagedError, OSError, ValueError, LookupError):
        # A guess that saves a scan: without it all notes are looked through.
        return []


def _yield_paths(table: Path, id: str) -> Iterator[str]:
    """Yield the paths of living files with a unit of an id."""
    gone = set(_parse_integers(next(_read_arrays(table / DEAD, "files"))))
    wanted, first = id.encode("utf-8", "surrogatepass"), 0
    for path in sorted(one for one in table.iterdir() if one.name != DEAD):
        counts, ids, ends = _read_arrays(path, "rows", "id.blob", "id.at")
        starts = list(accumulate(_parse_integers(counts, "i"), initial=0))
        code = _find_text(ids, _parse_integers(ends), wanted)
        if code >= 0:
            codes, paths, bounds = _read_arrays(path, "id.code", "path.blob", "path.at")
            at = _parse_integers(bounds)
            for number in _files_with_code(
                _parse_integers(codes, _FORMS[len(codes) // starts[-1]]), code, starts
            ):
                if first + number not in gone:
                    yield paths[at[number] : at[number + 1]].decode("utf-8", "surrogatepass")
        first += len(starts) - 1


def _read_arrays(path: Path, *names: str) -> Iterator[bytes]:
    """Yield arrays of a segment as they lie in it.

    Raises:
        OSError, ValueError, LookupError: it cannot be read.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError(path)
        header = file.read(int.from_bytes(file.read(8), "little"))
        base, places = file.tell(), json.loads(header)["arrays"]
        for name in names:
            kind, at, count = places[name]
            file.seek(base + at)
            yield file.read(count * int(kind[2:]))


def _parse_integers(raw: bytes, form: str = "q") -> array[int]:
    """Return numbers of a file, in which the smallest byte comes first."""
    found = array(form, raw)
    if sys.byteorder == "big":  # pragma: no cover  no such machine is at hand
        found.byteswap()
    return found


def _find_text(texts: bytes, ends: array[int], wanted: bytes) -> int:
    """Return which of the texts is the wanted one, -1 where none is."""
    start = texts.find(wanted) if wanted else -1
    while start >= 0:
        at = bisect_left(ends, start)
        if ends[at : at + 2].tolist() == [start, start + len(wanted)]:
            return at
        start = texts.find(wanted, start + 1)
    return -1


def _files_with_code(codes: array[int], code: int, starts: list[int]) -> set[int]:
    """Return the files with a row of a code; the rows of a file begin at its start."""
    return {bisect_right(starts, row) - 1 for row, one in enumerate(codes) if one == code}

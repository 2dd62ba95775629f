"""A segment file: named arrays behind a header, mapped into memory when read."""

from __future__ import annotations

import json
import mmap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kimi_memory.index.columns import Blob, Coded
from kimi_memory.index.files import MAGIC

# Arrays of 8-byte numbers begin where a processor can read them as they lie.
_ALIGNED = 8
_SMALL, _MIDDLE = 1 << 8, 1 << 16


class Arrays:
    """Arrays of one file by name, and a few values beside them."""

    def __init__(self, content: memoryview, release: Callable[[], None] = lambda: None) -> None:
        self.release = release
        """Gives back the memory of what was read; it is read again when it is needed."""
        start = len(MAGIC) + 8
        size = int.from_bytes(content[len(MAGIC) : start], "little")
        header = json.loads(bytes(content[start : start + size]))
        self.values: dict[str, Any] = header["values"]
        self._places: dict[str, tuple[str, int, int]] = header["arrays"]
        self._content, self._base = content, start + size

    def array(self, name: str) -> NDArray[Any]:
        """Return an array as it lies in the file."""
        kind, at, count = self._places[name]
        return np.frombuffer(self._content, dtype=kind, count=count, offset=self._base + at)

    def texts(self, name: str) -> Blob:
        """Return texts that were put in by `put_texts`."""
        _, at, count = self._places[f"{name}.blob"]
        content = self._content[self._base + at : self._base + at + count]
        return Blob(content, self.array(f"{name}.at"))

    def has(self, name: str) -> bool:
        """Whether an array of this name is there."""
        return name in self._places


def open_arrays(path: Path) -> Arrays:
    """Map a segment file; its pages are read when they are needed."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return Arrays(memoryview(mapped), lambda: mapped.madvise(mmap.MADV_DONTNEED))


def put_texts(arrays: dict[str, NDArray[Any]], name: str, texts: list[str]) -> None:
    """Add texts to the arrays of a file to be."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    arrays[f"{name}.blob"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    arrays[f"{name}.at"] = ends


def put_coded(arrays: dict[str, NDArray[Any]], name: str, column: Coded) -> None:
    """Add a coded column in the narrowest codes that hold it."""
    values = list(column.values)
    kind = "<u1" if len(values) <= _SMALL else "<u2" if len(values) <= _MIDDLE else "<i4"
    arrays[f"{name}.code"] = column.codes.astype(kind)
    put_texts(arrays, name, values)


def dump(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the bytes of a segment file."""
    places, parts, at = {}, [], 0
    for name, array in arrays.items():
        raw = array.tobytes()
        places[name] = (array.dtype.str, at, len(array))
        padded = raw + bytes(-len(raw) % _ALIGNED)
        parts.append(padded)
        at += len(padded)
    header = json.dumps({"values": dict(values), "arrays": places}).encode()
    # Blanks at the end of JSON are harmless, and bring the first array to its place.
    header += b" " * (-(len(MAGIC) + 8 + len(header)) % _ALIGNED)
    return b"".join([MAGIC, len(header).to_bytes(8, "little"), header, *parts])

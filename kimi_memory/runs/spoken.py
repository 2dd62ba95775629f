"""What an agent wrote, as turns: lines of JSON, and the text around them.

A line ``{"role": "assistant", "text": "…"}`` is a turn, ``{"usage": {"tokens_in": 7}}`` is counted.
Other lines are the agent's words as well: what stands together is one turn. Where a turn begins and
ends depends on the bytes alone, so that a file that is read again gives the same turns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROLES = ("assistant", "tool")
"""Whose words an agent can report; a user speaks for themselves."""
LONGEST_LINE = 1024 * 1024
LONGEST_TEXT = 65536
"""Of text that stands together so much becomes a turn; the rest stays in the log."""
_CHUNK = 65536


class Spoken(NamedTuple):
    """A turn of an agent."""

    offset: int
    """Where it begins in the output: the name by which it is stored once."""
    role: str
    text: str
    speaker: str = ""


class Counted(NamedTuple):
    """What an agent says it used."""

    offset: int
    values: dict[str, Any]


class OutputReader:
    """Reads the output of an agent while it grows."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = path, 0
        self._line, self._line_at, self._line_size = bytearray(), 0, 0
        self._text, self._text_at, self._text_size = bytearray(), 0, 0

    def read(self, *, ended: bool = False) -> Iterator[Spoken | Counted]:
        """Yield what came since the last time.

        Args:
            ended: nothing more will come: what is unfinished is whole.
        """
        with self._path.open("rb") as file:
            file.seek(self._read)
            while chunk := file.read(_CHUNK):
                self._read += len(chunk)
                yield from self._take_chunk(chunk)
        if ended:
            if self._line_size:
                yield from self._take_line()
            yield from self._end_text()

    def _take_chunk(self, chunk: bytes) -> Iterator[Spoken | Counted]:
        for part in chunk.splitlines(keepends=True) if b"\n" in chunk else [chunk]:
            self._line_size += len(part)
            self._line += part[: max(0, LONGEST_LINE - len(self._line))]
            if part.endswith(b"\n"):
                yield from self._take_line()

    def _take_line(self) -> Iterator[Spoken | Counted]:
        line, at, size = bytes(self._line), self._line_at, self._line_size
        self._line.clear()
        self._line_at, self._line_size = at + size, 0
        found = _parse_line(line, at) if size <= LONGEST_LINE else None
        if found is not None:
            yield from self._end_text()
            yield found
            return
        if not self._text_size:
            self._text_at = at
        self._text_size += size
        self._text += line[: max(0, LONGEST_TEXT - len(self._text))]

    def _end_text(self) -> Iterator[Spoken]:
        text, size = bytes(self._text), self._text_size
        self._text.clear()
        self._text_size = 0
        said = text.decode("utf-8", "ignore" if size > len(text) else "replace").strip()
        if said:
            rest = size - len(text)
            more = f"\n[{rest:,} bytes more in the log of the run]" if rest else ""
            yield Spoken(self._text_at, "assistant", said.replace("\0", "\ufffd") + more)


def _parse_line(line: bytes, at: int) -> Spoken | Counted | None:
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("usage"), dict) and "role" not in value:
        return Counted(at, value["usage"])
    role, text = value.get("role"), value.get("text")
    if role not in ROLES or not isinstance(text, str):
        return None
    speaker = value.get("speaker", "")
    return Spoken(
        at, role, text.replace("\0", "\ufffd"), speaker if isinstance(speaker, str) else ""
    )

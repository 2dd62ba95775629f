"""The words of an answer, picked out of the bytes that pass by; whatever they are, they pass."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kimi_memory.proxy.chat import MOST_CHARS

Heard = Callable[[Mapping[str, Any]], Iterator[str]]

MOST_BYTES = 32 * 1024 * 1024
"""More than this of an answer without an end of line is not held."""
_STREAMS = ("text/event-stream", "application/x-ndjson", "application/jsonl")


class Reply:
    """Listens to one answer.

    Args:
        heard: yields the words of a JSON object of the dialect.
        kind: the content type of the answer.
        encoding: its content encoding; what is neither plain nor gzip is not understood.
    """

    def __init__(self, heard: Heard, kind: str, encoding: str = "") -> None:
        self._heard, self._streams = heard, kind.partition(";")[0].strip() in _STREAMS
        self._deaf = encoding not in ("", "identity", "gzip", "deflate")
        # 47: a window of 15 bits, and 32 more for gzip or zlib, whichever comes.
        self._unzip = zlib.decompressobj(47) if encoding in ("gzip", "deflate") else None
        self._rest = b""
        self._words: list[str] = []
        self._length = 0
        self.id = ""
        """The id under which a server keeps the answer, where it does."""

    def feed(self, chunk: bytes) -> None:
        """Listen to more of it."""
        if self._deaf:
            return
        try:
            self._rest += self._unzip.decompress(chunk) if self._unzip else chunk
        except zlib.error:
            self._deaf = True
        if self._streams:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._parse_line(line)
        self._deaf = self._deaf or len(self._rest) > MOST_BYTES

    def text(self) -> str:
        """Return all that was said so far."""
        rest, self._rest = self._rest, b""
        if not self._deaf:
            self._parse_line(rest)
        return "".join(self._words).strip()

    def _parse_line(self, line: bytes) -> None:
        said = line.strip().removeprefix(b"data:").strip()
        if not said.startswith(b"{"):
            return
        try:
            told = json.loads(said)
        except (ValueError, RecursionError):
            return
        for words in self._heard(told):
            # An endless answer passes on, but is not gathered here.
            self._words.append(words[: MOST_CHARS - self._length])
            self._length += len(self._words[-1])
        kept = told.get("response", told)
        if isinstance(kept, dict) and kept.get("object") == "response":
            self.id = str(kept.get("id", ""))

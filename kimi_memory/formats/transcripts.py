"""Transcripts of other programs: what their readers have in common."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, BinaryIO

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Turn
from kimi_memory.nlp.basic.safe_text import printable_line
from kimi_memory.nlp.dates.timestamps import EPOCH, find_moment

log = logging.getLogger(__name__)

SPEAKERS = {"user": (Role.USER, Origin.HUMAN), "assistant": (Role.ASSISTANT, Origin.AGENT)}
"""Who speaks in a chat, and whose words these are."""


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a line; None for any other line."""
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        # Programs leave torn lines when they are killed; readers count them and go on.
        return None
    return found if isinstance(found, dict) else None


def text_member(table: object, name: str) -> str:
    """Return a member of an object that is a text; empty for anything else."""
    found = table.get(name) if isinstance(table, dict) else None
    return found if isinstance(found, str) else ""


def join_texts(parts: Iterable[str]) -> str:
    """Return the parts of a message as one text, without blank ones."""
    return "\n\n".join(text for part in parts if (text := part.strip()))


def folder_name(path: str) -> str:
    """Return the name of a folder; a file written on Windows may be read elsewhere."""
    return PurePath(path.replace("\\", "/")).name


def hash_text(text: str) -> str:
    """Return the digits by which a text is known again."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def name_by_words(stem: str, first: Turn) -> str:
    """Return the id of a session that has none: a file that has grown is still the same one."""
    return f"{stem}-{words_mark(first)}"


def words_mark(first: Turn) -> str:
    """Return what of its first turn stands in such an id."""
    return hash_text(f"{first.role}{first.text}")[:8]


def file_date(file: TranscriptFile, stream: BinaryIO) -> datetime:
    """Return the date in the file's name, else its own, else the epoch."""
    named = find_moment(PurePath(file.name).name)
    if named is not None:
        return named
    try:
        # The day a file was written is near its conversation; the day it is taken in may be years
        # later.
        return datetime.fromtimestamp(os.fstat(stream.fileno()).st_mtime, UTC)
    except (io.UnsupportedOperation, OSError):
        return EPOCH


class TurnRefs:
    """Names turns by their words and how often they were said, stable as a file grows."""

    def __init__(self) -> None:
        self._repeats = Counter[str]()

    def make_ref(self, *seed: str) -> str:
        """Return the name of the next turn of such words."""
        digest = hash_text("\0".join(seed))
        self._repeats[digest] += 1
        return f"{digest}.{self._repeats[digest]}"


class ObjectLines:
    """The JSON objects in the lines of a file, with their numbers; others are counted."""

    def __init__(self, file: TranscriptFile) -> None:
        self._file, self.name = file, PurePath(file.name).name
        self.broken, self.first_broken = 0, 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        with self._file.open() as stream:
            for number, raw in enumerate(stream, 1):
                line = parse_object(raw)
                if line is not None:
                    yield number, line
                elif raw.strip():
                    self.skip(number)
        if self.broken:
            what = "%s: %d lines skipped, the first is line %d"
            log.warning(what, printable_line(self.name), self.broken, self.first_broken)

    def skip(self, number: int) -> None:
        """Count a line that is not what it should be."""
        self.broken, self.first_broken = self.broken + 1, self.first_broken or number

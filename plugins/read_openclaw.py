"""Sessions of OpenClaw, from its JSONL transcripts.

Why it exists: OpenClaw and the agents it is built on keep a session as a header
line and a tree of entries. A *spoken turn* is a ``message`` entry of role ``user`` or
``assistant`` with non-blank ``text`` blocks (or string content) that is neither a
heartbeat nor a silent reply (`_MACHINE`, `_SILENT`), nor the copy of the answer before
it that the delivery writes under the model ``delivery-mirror``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.formats.transcripts import (
    SPEAKERS,
    ObjectLines,
    folder_name,
    join_texts,
    parse_object,
    text_member,
)
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.timestamps import EPOCH, find_moment, moment

_SILENT = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
_FINAL = regex(r"</?final>")
"""What the program has models write around an answer."""
_MACHINE = ("Read HEARTBEAT.md if it exists", "A new session was started via /new or /reset")


@hookimpl
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Read an OpenClaw transcript; None for any other file."""
    header = parse_object(file.head.lstrip().partition(b"\n")[0])
    if header is None or header.get("type") != "session" or not text_member(header, "id"):
        return None
    # A type and an id alone could be of any program.
    return _read_sessions(file, header) if "cwd" in header or "timestamp" in header else None


@dataclass(slots=True)
class _Growing:
    """The session while its entries are read."""

    at: datetime
    turns: list[Turn] = field(default_factory=list)

    def add_entry(self, entry: dict[str, Any], message: dict[str, Any]) -> None:
        self.at = moment(entry.get("timestamp")) or moment(message.get("timestamp")) or self.at
        role, text = text_member(message, "role"), _spoken_text(message)
        if role not in SPEAKERS or not text or self._is_copy(message, text):
            return
        (kind, origin), ref = SPEAKERS[role], text_member(entry, "id")
        self.turns.append(Turn(len(self.turns) + 1, self.at, kind, text, origin=origin, ref=ref))

    def _is_copy(self, message: dict[str, Any], text: str) -> bool:
        is_mirror = message.get("model") == "delivery-mirror"
        return is_mirror and bool(self.turns) and self.turns[-1].text == text


def _read_sessions(file: TranscriptFile, header: dict[str, Any]) -> Iterator[Transcript]:
    lines = ObjectLines(file)
    started = moment(header.get("timestamp")) or find_moment(lines.name)
    growing = _Growing(started or EPOCH)
    for _, entry in lines:
        if entry.get("type") == "message" and isinstance(entry.get("message"), dict):
            growing.add_entry(entry, entry["message"])
    if growing.turns:
        session = Session(
            text_member(header, "id"),
            started or growing.turns[0].at,
            agent=_agent_name(file.name),
            project=folder_name(text_member(header, "cwd")),
            host="openclaw",
        )
        yield Transcript(session, tuple(growing.turns))


def _agent_name(name: str) -> str:
    """Return the agent that a path ``agents/<agent>/sessions/<id>.jsonl`` names."""
    parts = PurePath(name.replace("\\", "/")).parts
    under = parts[-4:] if len(parts) >= 4 else ()
    return under[1] if under and under[0] == "agents" and under[2] == "sessions" else "openclaw"


def _spoken_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    said = (block for block in blocks if text_member(block, "type") == "text")
    text = _FINAL.sub("", join_texts(text_member(block, "text") for block in said)).strip()
    return "" if text in _SILENT or text.startswith(_MACHINE) else text

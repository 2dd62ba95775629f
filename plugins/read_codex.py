"""Sessions of the Codex command line, from its rollout JSONL files.

Why it exists: a rollout holds what the host sent to the model, three times over. A
*spoken turn* is a ``response_item`` line whose payload is a ``message`` of role
``user`` or ``assistant`` with text parts left after those the host wrote (`_MACHINE`).
Files of the first versions have the payload as the line itself. Where a file has no
such message at all, its ``event_msg`` lines ``user_message`` and ``agent_message``
are the turns instead; never both. The rollout of a sub-agent has none.
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
from kimi_memory.errors import TranscriptError
from kimi_memory.formats.transcripts import (
    SPEAKERS,
    ObjectLines,
    folder_name,
    join_texts,
    parse_object,
    text_member,
)
from kimi_memory.nlp.dates.timestamps import EPOCH, find_moment, moment

_EVENTS = {"user_message": "user", "agent_message": "assistant"}
_PARTS = ("input_text", "output_text", "text")
_LINES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_ITEMS = ("message", "reasoning", "function_call", "function_call_output")
_MACHINE = (
    "<environment_context>",
    "<user_instructions>",
    "<user_action>",
    "<user_shell_command>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions for ",
)


@hookimpl
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Read a Codex rollout; None for any other file."""
    return _read_sessions(file) if _is_rollout_file(file) else None


@dataclass(slots=True)
class _Rollout:
    """A rollout while its lines are read."""

    id: str
    at: datetime
    cwd: str = ""
    started: datetime | None = None
    named: bool = False
    is_child: bool = False
    items: list[Turn] = field(default_factory=list)
    events: list[Turn] = field(default_factory=list)

    def read_header(self, meta: dict[str, Any]) -> None:
        """Take the first header; a forked rollout repeats those of its ancestors."""
        if self.named:
            return
        self.named = True
        self.id = text_member(meta, "id") or self.id
        self.cwd = text_member(meta, "cwd")
        self.started = moment(meta.get("timestamp"))
        self.at = self.started or self.at
        self.is_child = isinstance(meta.get("source"), dict) and "subagent" in meta["source"]

    def done(self) -> Iterator[Transcript]:
        # Both say the same words: taken together every turn would stand twice.
        turns = self.items or self.events
        # A sub-agent talks with its parent; no person speaks there.
        if not turns or self.is_child:
            return
        session = Session(
            self.id,
            self.started or turns[0].at,
            agent="codex",
            project=folder_name(self.cwd),
            host="codex",
        )
        yield Transcript(session, tuple(turns))


def _is_rollout_file(file: TranscriptFile) -> bool:
    first = file.head.lstrip().partition(b"\n")
    if not first[1]:
        # The header, which holds the instructions, is longer than what is read to recognise a
        # file.
        return first[0].startswith(b"{") and b'"session_meta"' in first[0]
    lines = [parse_object(raw) for raw in file.head.split(b"\n")[:20]]
    known = [line for line in lines if line is not None]
    if any(
        text_member(line, "type") in _LINES and isinstance(line.get("payload"), dict)
        for line in known
    ):
        return True
    is_rollout = PurePath(file.name).name.startswith("rollout-")
    return is_rollout and any(text_member(line, "type") in _ITEMS for line in known)


def _read_sessions(file: TranscriptFile) -> Iterator[Transcript]:
    lines = ObjectLines(file)
    rollout, whole = _Rollout(PurePath(lines.name).stem, find_moment(lines.name) or EPOCH), False
    for number, line in lines:
        whole = True
        _process_line(line, number, rollout)
    if lines.broken and not whole:
        why = "no line of this Codex rollout is whole"
        raise TranscriptError(lines.name, lines.first_broken, why)
    yield from rollout.done()


def _process_line(line: dict[str, Any], number: int, rollout: _Rollout) -> None:
    rollout.at = moment(line.get("timestamp")) or rollout.at
    payload = line.get("payload")
    match line.get("type"), payload:
        case "session_meta", dict():
            rollout.read_header(payload)
        case "response_item", dict():
            _add_item(payload, number, rollout)
        case "event_msg", dict():
            _add_event(payload, number, rollout)
        case "message", None:
            _add_item(line, number, rollout)
        case None, None if "id" in line and "instructions" in line:
            rollout.read_header(line)


def _add_item(item: dict[str, Any], number: int, rollout: _Rollout) -> None:
    role, content = text_member(item, "role"), item.get("content")
    if item.get("type") != "message" or role not in SPEAKERS or not isinstance(content, list):
        return
    # A rollout is only appended to, so the number of a line stays what it is.
    ref = text_member(item, "id") or f"line-{number}"
    _add_turn(rollout.items, role, [_part_text(part) for part in content], (rollout.at, ref))


def _add_event(event: dict[str, Any], number: int, rollout: _Rollout) -> None:
    role = _EVENTS.get(text_member(event, "type"))
    if role is not None:
        _add_turn(
            rollout.events, role, [text_member(event, "message")], (rollout.at, f"line-{number}")
        )


def _part_text(part: object) -> str:
    return text_member(part, "text") if text_member(part, "type") in _PARTS else ""


def _add_turn(turns: list[Turn], name: str, parts: list[str], mark: tuple[datetime, str]) -> None:
    text = join_texts(part for part in parts if not part.lstrip().startswith(_MACHINE))
    if text:
        role, origin = SPEAKERS[name]
        at, ref = mark
        turns.append(Turn(len(turns) + 1, at, role, text, origin=origin, ref=ref))

"""Session files: our own JSONL, and the session JSON that memory designs agree on.

Why it exists: a memory can be fed with the sessions of another one, and with files of
programs that write ``{"id", "timestamp", "channel", "agent", "turns": [{"role",
"content", "timestamp", "tool_calls"}], "metadata"}`` or the view ``{"session_id",
"timestamp", "context", "current_task", "temp_vars"}``. A *spoken turn* is a ``turn``
record of our JSONL, or a user or assistant entry of the JSON with non-blank text. A view
with numbered entries is the end of a session of ours and is left to the JSONL beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import FormatError, TranscriptError
from kimi_memory.formats.jsonl import read_transcript_lines
from kimi_memory.formats.transcripts import (
    SPEAKERS,
    TurnRefs,
    join_texts,
    parse_object,
    text_member,
)
from kimi_memory.nlp.dates.timestamps import EPOCH, find_moment, moment

_OURS = SPEAKERS | {"tool": (Role.TOOL, Origin.TOOL), "system": (Role.SYSTEM, Origin.TOOL)}
_EXPORTED = "kimi_memory/session/1"
"""The format that ``export sessions`` writes: what tools said there was a turn, too."""
_IDS = ("id", "session_id")
_LISTS = ("turns", "context")
_TURNS = (b'"turns"', b'"context"')
_CUT_IDS = (b'"id"', b'"session_id"')


@hookimpl
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Read session JSONL of a memory, or session JSON; None for any other file."""
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(b"{"):
        return None
    first = parse_object(head.partition(b"\n")[0])
    # By content and not by name: people rename what they export.
    if first is not None and first.get("kind") == "session" and "started" in first:
        return _read_jsonl_session(file)
    whole = first if first is not None and "kind" not in first else parse_object(head)
    fits = _is_session(whole) if whole is not None else _looks_cut(head, file.head)
    return _read_json_session(file) if fits else None


def _is_session(value: Mapping[str, Any]) -> bool:
    return _find_entries(value) is not None and any(isinstance(value.get(id), str) for id in _IDS)


def _looks_cut(head: bytes, whole: bytes) -> bool:
    """Whether a head too short for the JSON of its file opens a session."""
    has_members = any(id in head for id in _CUT_IDS) and any(name in head for name in _TURNS)
    # Only where the file goes on behind the head; a short one that does not parse is broken, and
    # named by no reader.
    return len(whole) >= 65536 and has_members and b'"role"' in head


def _find_entries(value: Mapping[str, Any]) -> list[Any] | None:
    for name in _LISTS:
        found = value.get(name)
        if isinstance(found, list) and all(
            isinstance(e, dict) and isinstance(e.get("role"), str) for e in found
        ):
            return found
    return None


def _read_jsonl_session(file: TranscriptFile) -> Iterator[Transcript]:
    with file.open() as stream:
        try:
            transcript = read_transcript_lines(stream, file.name)
        except FormatError as error:
            raise TranscriptError(file.name, error.line, error.why) from error
    if transcript.turns:
        yield transcript


def _read_json_session(file: TranscriptFile) -> Iterator[Transcript]:
    with file.open() as stream:
        try:
            value = json.loads(stream.read().decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            raise TranscriptError(file.name, line, "the JSON is broken") from error
    entries = (_find_entries(value) or []) if isinstance(value, dict) else []
    # Numbered entries are the view that we write beside a session of ours: the JSONL is the whole.
    if not entries or "n" in entries[0]:
        return
    dated = moment(value.get("timestamp")) or find_moment(PurePath(file.name).name)
    roles = _OURS if value.get("format") == _EXPORTED else SPEAKERS
    turns = tuple(_yield_turns(entries, dated or EPOCH, roles))
    if turns:
        session = _make_session(value, turns[0].at)
        names = ("current_task", "temp_vars", "metadata")
        found = (value.get(name) for name in names)
        task, variables, metadata = (one if isinstance(one, dict) else {} for one in found)
        yield Transcript(session, turns, task, variables, metadata=metadata)


def _make_session(value: Mapping[str, Any], started: datetime) -> Session:
    id = next(value[name] for name in _IDS if isinstance(value.get(name), str))
    texts = {
        name: value[name]
        for name in ("agent", "user", "project", "channel", "title", "area")
        if isinstance(value.get(name), str)
    }
    return Session(id, started, host="session", **texts)


def _yield_turns(
    entries: list[Any], at: datetime, roles: Mapping[str, tuple[Role, Origin]]
) -> Iterator[Turn]:
    number, refs = 0, TurnRefs()
    calls: list[Any] = []
    for entry in entries:
        at = moment(entry.get("timestamp", entry.get("at"))) or at
        text, role = _entry_text(entry), entry["role"]
        if role == "assistant":
            calls += _tool_calls(entry)
        if role not in roles or not text:
            continue
        # Only spoken turns are counted: here, too, turn 5 is the one after turn 4.
        number += 1
        made = refs.make_ref(role, text)
        kind, origin = roles[role]
        id = entry.get("id", entry.get("ref"))
        ref = id if isinstance(id, str) and id else made
        turn = Turn(number, at, kind, text, speaker=_speaker_name(entry), origin=origin, ref=ref)
        turn = replace(turn, origin=_turn_origin(entry, origin))
        # An assistant that only calls tools says nothing: its next words come of these calls.
        yield replace(turn, tool_calls=tuple(calls)) if role == "assistant" else turn
        calls = [] if role == "assistant" else calls


def _turn_origin(entry: Mapping[str, Any], origin: Origin) -> Origin:
    """Return whose words a turn is; what the file says may only lower the trust in it."""
    claimed = entry.get("origin")
    if claimed not in tuple(Origin):
        return origin
    # A file that says "human" of its turns must not gain a person's trust by it.
    return max(origin, Origin(claimed), key=lambda one: one.rank)


def _tool_calls(entry: Mapping[str, Any]) -> list[Any]:
    found = entry.get("tool_calls")
    return found if isinstance(found, list) else []


def _speaker_name(entry: Mapping[str, Any]) -> str:
    name = entry.get("speaker", entry.get("name"))
    return name if isinstance(name, str) else ""


def _entry_text(entry: Mapping[str, Any]) -> str:
    content = entry.get("content", entry.get("text"))
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    said = (part for part in parts if isinstance(part, dict) and part.get("type", "text") == "text")
    return join_texts(text_member(part, "text") for part in said)

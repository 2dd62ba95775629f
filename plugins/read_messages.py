"""Conversations as lists of chat messages, the common coin of chat APIs.

Why it exists: exports and datasets of many programs hold ``{"role", "content"}``
objects. Understood are a JSON array of them, an object with ``messages`` (or
``conversations`` of ``{"from", "value"}``), an array of such objects, and JSONL of
either. In JSONL a line ``{"session": id, "project", "agent", "started"}`` begins a
session of its own. A *spoken turn* is a message of a user or assistant role with non-blank
text: string content, or the text parts of a list (some programs call it ``value`` or
``text``). Its ``name``, ``speaker``, ``sender`` or ``author`` says who speaks, where that is
no role. Files that name no session get an id from their name and their first turn, so that
a grown file stays the same session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePath
from typing import Any

from kimi_memory import hookimpl
from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import TranscriptError
from kimi_memory.formats.transcripts import (
    TurnRefs,
    file_date,
    join_texts,
    name_by_words,
    text_member,
)
from kimi_memory.nlp.dates.timestamps import moment

_USER, _AGENT = (Role.USER, Origin.HUMAN), (Role.ASSISTANT, Origin.AGENT)
_ROLES = {
    "user": _USER,
    "human": _USER,
    "assistant": _AGENT,
    "ai": _AGENT,
    "bot": _AGENT,
    "gpt": _AGENT,
    "model": _AGENT,
}
# They show that a file is a chat, but nobody speaks in them.
_OTHERS = frozenset({"system", "developer", "tool", "function"})
_LISTS = ("messages", "conversations", "conversation")
# Every program has its own name for it; the most telling ones first.
_TIMES = ("timestamp", "started", "created_at", "create_time", "created", "time", "date")
_IDS = ("session", "session_id", "conversation_id", "thread_id", "uuid", "id")
_TEXTS = ("content", "value", "text")
_SPEAKERS = ("name", "speaker", "sender", "author")
_PARTS = ("text", "input_text", "output_text")
_CUT_LIST = (b'"messages"', b'"conversations"', b'"role"')


@hookimpl
def read_transcript(file: TranscriptFile) -> Iterable[Transcript] | None:
    """Read lists of chat messages; None for any other file."""
    head = file.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] == b"[":
        return _read_document(file) if _opens_list(head) else None
    if head[:1] != b"{":
        return None
    first = _parse_json(head.partition(b"\n")[0])
    if isinstance(first, dict):
        known = _is_message(first) or _is_header(first) or _message_list(first) is not None
        return _read_lines(file) if known else None
    return _read_document(file) if _opens_object(head) else None


@dataclass(slots=True)
class _Growing:
    """A conversation while its messages are read."""

    at: datetime
    turns: list[Turn] = field(default_factory=list)
    refs: TurnRefs = field(default_factory=TurnRefs)
    calls: list[Any] = field(default_factory=list)
    """Calls of tools since the agent last said something: its next words come of them."""

    def add_message(self, message: Mapping[str, Any]) -> None:
        self.at = _first_moment(message) or self.at
        role, text = _message_role(message), _message_text(message)
        kind, origin = _ROLES.get(role, (None, Origin.TOOL))
        if kind is Role.ASSISTANT:
            self.calls += _tool_calls(message)
        if kind is None or not text:
            return
        calls, self.calls = (self.calls, []) if kind is Role.ASSISTANT else ([], self.calls)
        # By its id, else by its words and how often they were said.
        ref = text_member(message, "id") or self.refs.make_ref(role, text)
        speaker, n = _find_speaker(message), len(self.turns) + 1
        turn = Turn(n, self.at, kind, text, speaker=speaker, origin=origin, ref=ref)
        self.turns.append(replace(turn, tool_calls=tuple(calls)))


def _opens_list(head: bytes) -> bool:
    """Whether an array begins with a message, or an object that holds messages."""
    rest = head[1:].lstrip()
    try:
        first, _ = json.JSONDecoder().raw_decode(rest.decode("utf-8", "ignore"))
    except (ValueError, RecursionError):
        # The first object is longer than what is read of a file to recognise it.
        return rest[:1] == b"{" and any(mark in rest for mark in _CUT_LIST)
    return isinstance(first, dict) and (_is_message(first) or _message_list(first) is not None)


def _opens_object(head: bytes) -> bool:
    """Whether an object spread over lines, or cut off by the head, holds messages."""
    whole = _parse_json(head)
    if isinstance(whole, dict):
        return _message_list(whole) is not None
    return any(mark in head for mark in _CUT_LIST[:2])


def _parse_json(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        # The file belongs to another reader, or the line was torn.
        return None


def _message_role(message: Mapping[str, Any]) -> str:
    role = message.get("role", message.get("from"))
    return role.lower() if isinstance(role, str) else ""


def _find_speaker(message: Mapping[str, Any]) -> str:
    """Return the name of who speaks; some programs write the role in its place."""
    names = (text_member(message, member) for member in _SPEAKERS)
    return next((one for one in names if one and one.lower() not in _ROLES), "")


def _is_message(value: object) -> bool:
    return (
        isinstance(value, dict)
        and (_message_role(value) in _ROLES or _message_role(value) in _OTHERS)
        and not set(_TEXTS).isdisjoint(value)
        and "turns" not in value
    )


def _is_header(value: Mapping[str, Any]) -> bool:
    """Whether a line of JSONL begins a session."""
    named = isinstance(value.get("session"), str) and bool(value["session"])
    # Lines of other formats name a session, too, but have one of these.
    return named and not {"role", "from", "kind", "type"} & set(value)


def _message_list(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the list of messages an object holds, or None."""
    for key in _LISTS:
        found = value.get(key)
        if isinstance(found, list) and (not found or any(_is_message(one) for one in found)):
            return found
    return None


def _message_text(message: Mapping[str, Any]) -> str:
    content = next((message[name] for name in _TEXTS if name in message), None)
    if isinstance(content, str):
        return content.strip()
    parts = content if isinstance(content, list) else []
    return join_texts(part if isinstance(part, str) else _part_text(part) for part in parts)


def _part_text(part: object) -> str:
    return text_member(part, "text") if text_member(part, "type") in _PARTS else ""


def _first_moment(value: Mapping[str, Any]) -> datetime | None:
    return next((at for key in _TIMES if (at := moment(value.get(key)))), None)


def _read_document(file: TranscriptFile) -> Iterator[Transcript]:
    """Read a file that is one JSON value."""
    with file.open() as stream:
        date = file_date(file, stream)
        try:
            value = json.loads(stream.read().decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            raise TranscriptError(file.name, line, "the JSON is broken") from error
    # A list is one conversation of messages, or a list of conversations: its first item tells.
    if isinstance(value, dict) or all(_is_message(one) for one in value[:1]):
        yield from _read_conversation(value, file.name, date)
        return
    for one in value:
        if isinstance(one, dict):
            yield from _read_conversation(one, file.name, date)


def _read_lines(file: TranscriptFile) -> Iterator[Transcript]:
    """Read JSONL: messages of one conversation, or one conversation a line."""
    with file.open() as stream:
        date = file_date(file, stream)
        growing, header = _Growing(date), dict[str, Any]()
        for number, raw in enumerate(stream, 1):
            line = _parse_json(raw.removeprefix(b"\xef\xbb\xbf"))
            if not isinstance(line, dict):
                if raw.strip():
                    raise TranscriptError(file.name, number, "the line is not a JSON object")
            elif _message_list(line) is not None:
                yield from _read_conversation(line, file.name, date)
            elif _is_header(line):
                yield from _finish_session(growing, header, file.name)
                growing, header = _Growing(_first_moment(line) or date), line
            else:
                growing.add_message(line)
    yield from _finish_session(growing, header, file.name)


def _read_conversation(value: object, name: str, date: datetime) -> Iterator[Transcript]:
    top = value if isinstance(value, dict) else {}
    messages = _message_list(top) if top else value
    growing = _Growing(_first_moment(top) or date)
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict):
            growing.add_message(message)
    yield from _finish_session(growing, top, name)


def _finish_session(growing: _Growing, top: Mapping[str, Any], name: str) -> Iterator[Transcript]:
    if not growing.turns:
        return
    first = growing.turns[0]
    given = next((top[key] for key in _IDS if isinstance(top.get(key), str) and top[key]), "")
    session = Session(
        given or name_by_words(PurePath(name).stem, first),
        _first_moment(top) or first.at,
        agent=_header_text(top, "agent"),
        user=_header_text(top, "user"),
        project=_header_text(top, "project"),
        host="messages",
        title=_header_text(top, "title"),
    )
    found = top.get("metadata")
    metadata = found if isinstance(found, dict) else {}
    yield Transcript(session, tuple(growing.turns), metadata=metadata)


def _tool_calls(message: Mapping[str, Any]) -> list[Any]:
    found = message.get("tool_calls")
    return found if isinstance(found, list) else []


def _header_text(top: Mapping[str, Any], member: str) -> str:
    return text_member(top, member).strip()[:120]

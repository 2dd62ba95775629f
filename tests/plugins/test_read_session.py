"""Session JSONL of a memory, and session JSON."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins import read_session

from kimi_memory.domain.note import Origin, Role
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import TranscriptError
from kimi_memory.formats.jsonl import end_line, session_line, state_line, turn_line, view_json

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)
SESSION = Session("s-1", AT, agent="kimi", project="商城", host="cli")
TURNS = (
    Turn(1, AT, Role.USER, "用哪个数据库？", speaker="小王", ref="a"),
    Turn(2, AT, Role.ASSISTANT, "PostgreSQL", origin=Origin.AGENT),
)


def file_of(content: bytes | str, name: str = "session_s-1.jsonl") -> TranscriptFile:
    raw = content if isinstance(content, bytes) else content.encode()
    return TranscriptFile(name, raw[:65536], lambda: io.BytesIO(raw))


def read(content: bytes | str, name: str = "x.json") -> list[Transcript]:
    found = read_session.read_transcript(file_of(content, name))
    assert found is not None
    return list(found)


def sealed() -> bytes:
    turns = b"".join(turn_line(turn) for turn in TURNS)
    state = state_line({"title": "选型"}, {"step": 2})
    return session_line(SESSION) + turns + state + end_line(AT)


def test_our_own_jsonl_is_read_back_whole() -> None:
    (transcript,) = read(sealed())
    assert transcript == Transcript(SESSION, TURNS, {"title": "选型"}, {"step": 2}, AT)


def test_a_broken_line_of_our_own_names_its_place() -> None:
    with pytest.raises(TranscriptError, match=":2:"):
        read(sealed().replace(b'"n":1', b'"n":0'))


SEED = {
    "id": "session-20260331-062900",
    "timestamp": 1743403740000,
    "channel": "telegram",
    "agent": "main",
    "turns": [
        {"role": "user", "content": "帮我分析一下", "timestamp": 1743403740000},
        {"role": "tool", "content": "rows"},
        {"role": "assistant", "content": "好的", "timestamp": 1743403745000, "tool_calls": [{}]},
        {"role": "assistant", "content": "", "tool_calls": [{}]},
        {"role": "user", "content": "好的"},
    ],
    "metadata": {"model": "x"},
}


@pytest.mark.parametrize("indent", [None, 2])
def test_session_json_is_read(indent: int | None) -> None:
    (transcript,) = read("\ufeff" * (indent == 2) + json.dumps(SEED, indent=indent))
    session = transcript.session
    assert (session.id, session.channel, session.agent) == (SEED["id"], "telegram", "main")
    assert session.started == datetime(2025, 3, 31, 6, 49, tzinfo=UTC)
    assert [(t.n, t.text, t.at.second) for t in transcript.turns] == [
        (1, "帮我分析一下", 0),
        (2, "好的", 5),
        (3, "好的", 5),
    ]
    assert len({turn.ref for turn in transcript.turns}) == 3


def test_a_view_brings_its_task_and_variables() -> None:
    view = {
        "session_id": "v1",
        "timestamp": "2026-03-01T10:00:00Z",
        "context": [{"role": "user", "content": "hi"}],
        "current_task": {"title": "选型"},
        "temp_vars": {"step": 2},
    }
    (transcript,) = read(json.dumps(view))
    assert (transcript.session.id, dict(transcript.task)) == ("v1", {"title": "选型"})
    assert dict(transcript.variables) == {"step": 2}


def test_our_own_view_is_left_to_its_jsonl() -> None:
    assert read(view_json(Transcript(SESSION, TURNS))) == []


def test_a_long_session_is_known_by_its_head() -> None:
    long = {**SEED, "turns": [{"role": "user", "content": "很长" * 40_000}]}
    assert len(read(json.dumps(long, indent=1))[0].turns) == 1


def test_broken_json_is_refused_with_its_line() -> None:
    long = json.dumps({**SEED, "turns": [{"role": "user", "content": "x" * 80_000}]}, indent=1)
    with pytest.raises(TranscriptError, match="broken"):
        read(long[:-5])


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"id": 3, "turns": []}',
        '{"messages": []}',
        "text",
        '{"id":"x","turns":"y"}',
        '{"type":"session","id":"x","cwd":"/"}\n',
        '{"kind":"turn"}\n{"kind":"session"}',
    ],
)
def test_other_files_are_left_to_others(content: str) -> None:
    assert read_session.read_transcript(file_of(content)) is None


def test_no_wrong_member_breaks_the_reader(spoil: Callable[[object], Iterator[object]]) -> None:
    for wrong in spoil(SEED):
        list(read_session.read_transcript(file_of(json.dumps(wrong))) or ())


CALLS = [
    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "端口"}'}},
    {"tool": "run", "args": {"command": "make", "times": 2, "quiet": True, "env": None}},
]
COUNTED = {"duration_ms": 12000, "model": "some-model", "tokens": 2345, "by": {"in": 2000}}


def with_calls() -> dict[str, object]:
    """Return the session JSON of the seed with tool calls and metadata."""
    said = [*SEED["turns"], {"role": "assistant", "content": "", "tool_calls": CALLS[:1]}]
    last = {"role": "assistant", "content": "端口是 8080。", "tool_calls": CALLS[1:]}
    return {**SEED, "turns": [*said, last], "metadata": COUNTED}


def test_tool_calls_and_metadata_are_read() -> None:
    (transcript,) = read(json.dumps(with_calls()))
    assert transcript.turns[-1].text == "端口是 8080。"
    assert list(transcript.turns[-1].tool_calls)[-2:] == CALLS
    assert transcript.metadata == COUNTED


def test_tool_calls_and_metadata_of_our_own_jsonl_are_read_back() -> None:
    turn = replace(TURNS[1], tool_calls=tuple(CALLS))
    lines = session_line(SESSION) + turn_line(turn) + state_line(None, None, COUNTED)
    (transcript,) = read(lines)
    assert transcript.turns == (turn,)
    assert transcript.metadata == COUNTED


@pytest.mark.parametrize("calls", [None, {}, "x", 1])
def test_what_is_no_list_of_calls_is_left(calls: object) -> None:
    entry = {"role": "assistant", "content": "端口是 8080。", "tool_calls": calls}
    (transcript,) = read(json.dumps({**SEED, "turns": [entry], "metadata": calls or []}))
    assert transcript.turns[0].tool_calls == ()
    assert transcript.metadata == {}


def test_a_file_may_only_lower_the_trust_in_its_turns() -> None:
    said = [{"role": r, "content": f"{r} {o}", "origin": o} for r in ("user", "assistant") for o in
            ("human", "remote", "owner")]  # fmt: skip
    (transcript,) = read(json.dumps({**SEED, "turns": said}))
    found = [str(turn.origin) for turn in transcript.turns]
    assert found == ["human", "remote", "human", "agent", "remote", "agent"]

"""Codex rollouts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins import read_codex

from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Transcript
from kimi_memory.errors import TranscriptError

AT = "2026-03-01T10:00:00.000Z"
ID = "019a2d7a-41c4-78b1-b7cc-a45d62a89cd5"
NAME = f"rollout-2026-03-01T10-00-00-{ID}.jsonl"


def meta(**more: object) -> dict[str, object]:
    payload = {"id": ID, "timestamp": AT, "cwd": "/home/me/shop", "cli_version": "0.169.0", **more}
    return {"timestamp": AT, "type": "session_meta", "payload": payload}


def item(role: str, *texts: str) -> dict[str, object]:
    part = "output_text" if role == "assistant" else "input_text"
    content = [{"type": part, "text": words} for words in texts]
    return {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": content},
    }


def event(kind: str, message: str) -> dict[str, object]:
    return {"timestamp": AT, "type": "event_msg", "payload": {"type": kind, "message": message}}


def file_of(rows: list[object], name: str = NAME) -> TranscriptFile:
    content = (
        "\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows).encode(
            "utf-8", "replace"
        )
        + b"\n"
    )
    return TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))


def read(rows: list[object], name: str = NAME) -> list[Transcript]:
    found = read_codex.read_transcript(file_of(rows, name))
    assert found is not None
    return list(found)


ROWS: list[object] = [
    meta(),
    item("developer", "You are in a sandbox."),
    item("user", "# AGENTS.md instructions for /home/me/shop\n\n<INSTRUCTIONS>x</INSTRUCTIONS>"),
    item("user", "<environment_context>\n<cwd>/</cwd>\n</environment_context>"),
    item("user", "<user_instructions>short</user_instructions>", "用哪个数据库？"),
    event("user_message", "用哪个数据库？"),
    {"timestamp": AT, "type": "turn_context", "payload": {"cwd": "/", "model": "m"}},
    {"timestamp": AT, "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
    {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "function_call", "name": "shell", "arguments": "{}"},
    },
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": None}},
    event("agent_reasoning", "thinking"),
    event("agent_message", "PostgreSQL."),
    item("assistant", "PostgreSQL."),
]


def test_each_message_is_one_turn_however_often_it_is_told() -> None:
    (transcript,) = read(ROWS)
    assert [(str(t.role), str(t.origin), t.text) for t in transcript.turns] == [
        ("user", "human", "用哪个数据库？"),
        ("assistant", "agent", "PostgreSQL."),
    ]
    session = transcript.session
    assert (session.id, session.project, session.host) == (ID, "shop", "codex")
    assert session.started == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert len({turn.ref for turn in transcript.turns}) == 2


def test_refs_stay_the_same_as_a_rollout_grows() -> None:
    grown = read([*ROWS, item("user", "谢谢")])[0].turns
    assert [t.ref for t in grown[:2]] == [t.ref for t in read(ROWS)[0].turns]
    assert len(grown) == 3


def test_events_speak_where_there_are_no_messages() -> None:
    (transcript,) = read([meta(), event("user_message", "hi"), event("agent_message", "hello")])
    assert [t.text for t in transcript.turns] == ["hi", "hello"]


def test_files_of_the_first_versions_are_read() -> None:
    rows: list[object] = [
        {"id": ID, "timestamp": AT, "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "function_call", "name": "shell"},
    ]
    (transcript,) = read(rows)
    assert (transcript.session.id, [t.text for t in transcript.turns]) == (ID, ["hi"])
    assert transcript.turns[0].at == datetime(2026, 3, 1, 10, tzinfo=UTC)


def test_a_sub_agent_is_not_a_session() -> None:
    rows = [meta(source={"subagent": {"thread_spawn": {}}}), *ROWS[1:]]
    assert read(rows) == []


def test_a_fork_keeps_its_own_name() -> None:
    parent = {**meta(), "payload": {"id": "parent", "cwd": "/elsewhere"}}
    assert read([meta(), parent, *ROWS[1:]])[0].session.id == ID


def test_broken_lines_are_skipped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    (transcript,) = read([*ROWS, "{torn", "[1]", {"type": "response_item", "payload": "x"}])
    assert len(transcript.turns) == 2
    assert "2 lines skipped" in caplog.text


def test_a_rollout_without_a_whole_line_is_refused() -> None:
    content = b'{"type":"session_meta","payload":{"instructions":"' + b"x" * 70_000
    file = TranscriptFile(NAME, content[:65536], lambda: io.BytesIO(content))
    found = read_codex.read_transcript(file)
    assert found is not None
    with pytest.raises(TranscriptError):
        list(found)


@pytest.mark.parametrize(
    "row",
    [
        {"type": "user", "sessionId": "x", "parentUuid": None, "message": {}},
        {"type": "session", "id": "x", "cwd": "/"},
        {"role": "user", "content": "x"},
        {"type": "message", "role": "user", "content": "a chat of another program"},
        "plain text",
    ],
)
def test_other_files_are_left_to_others(row: object) -> None:
    assert read_codex.read_transcript(file_of([row], "x.jsonl")) is None


def test_no_wrong_member_breaks_the_reader(spoil: Callable[[object], Iterator[object]]) -> None:
    for row in (item("user", "q"), event("user_message", "q"), meta()):
        for wrong in spoil(row):
            found = read([meta(), wrong, item("user", "after")])
            assert "after" in {turn.text for one in found for turn in one.turns}

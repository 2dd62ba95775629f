"""OpenClaw transcripts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from kimi_memory.plugins import read_openclaw

from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Transcript

HEADER = {
    "type": "session",
    "version": 3,
    "id": "abc-1",
    "timestamp": "2026-03-01T10:00:00Z",
    "cwd": "/home/me/shop",
}


def entry(id: str, role: str, content: object, **more: object) -> dict[str, object]:
    return {
        "type": "message",
        "id": id,
        "parentId": None,
        "timestamp": "2026-03-01T10:00:05Z",
        "message": {"role": role, "content": content, **more},
    }


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def file_of(rows: list[object], name: str = "abc-1.jsonl") -> TranscriptFile:
    content = "\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows).encode(
        "utf-8", "replace"
    )
    return TranscriptFile(name, content[:65536], lambda: io.BytesIO(content))


def read(rows: list[object], name: str = "abc-1.jsonl") -> list[Transcript]:
    found = read_openclaw.read_transcript(file_of(rows, name))
    assert found is not None
    return list(found)


def test_user_and_assistant_text_become_turns(caplog: pytest.LogCaptureFixture) -> None:
    thinking = {"type": "thinking", "thinking": "hm"}
    rows: list[object] = [
        HEADER,
        {"type": "model_change", "id": "m", "provider": "x"},
        entry("1", "user", text("用哪个数据库？")),
        entry(
            "2", "assistant", [thinking, *text("PostgreSQL。"), {"type": "toolCall", "name": "x"}]
        ),
        entry("3", "toolResult", text("rows: 3")),
        entry("4", "assistant", [thinking]),
        entry("5", "assistant", text("NO_REPLY")),
        entry("6", "user", text("Read HEARTBEAT.md if it exists. Follow it strictly.")),
        entry("7", "assistant", text("HEARTBEAT_OK")),
        entry("8", "user", "plain string"),
        {"type": "custom_message", "id": "c", "content": "injected"},
        {"type": "compaction", "id": "k", "summary": "what came before"},
        "{torn",
    ]
    (transcript,) = read(rows)
    assert [(t.n, str(t.role), str(t.origin), t.text, t.ref) for t in transcript.turns] == [
        (1, "user", "human", "用哪个数据库？", "1"),
        (2, "assistant", "agent", "PostgreSQL。", "2"),
        (3, "user", "human", "plain string", "8"),
    ]
    session = transcript.session
    assert (session.id, session.project, session.host) == ("abc-1", "shop", "openclaw")
    assert session.started == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert "1 lines skipped" in caplog.text


def test_the_copy_a_delivery_writes_is_not_said_twice() -> None:
    mirror = entry("2", "assistant", text("好的"), model="delivery-mirror", provider="openclaw")
    alone = entry("3", "assistant", text("另一条"), model="delivery-mirror", provider="openclaw")
    (transcript,) = read([HEADER, entry("1", "assistant", text("好的")), mirror, alone])
    assert [t.ref for t in transcript.turns] == ["1", "3"]


def test_what_stands_around_an_answer_is_no_part_of_it() -> None:
    (transcript,) = read([HEADER, entry("1", "assistant", text("<final>\n好的。</final>"))])
    assert transcript.turns[0].text == "好的。"


def test_the_agent_is_the_one_whose_folder_it_is() -> None:
    rows: list[object] = [HEADER, entry("1", "user", text("hi"))]
    assert read(rows, "/h/.openclaw/agents/desk/sessions/a.jsonl")[0].session.agent == "desk"
    assert read(rows)[0].session.agent == "openclaw"


def test_a_session_in_which_nobody_spoke_is_none() -> None:
    assert read([HEADER]) == []


@pytest.mark.parametrize(
    "row",
    [
        {"type": "session"},
        {"type": "session", "id": "x"},
        {"kind": "session", "id": "x"},
        "text",
        [],
    ],
)
def test_other_files_are_left_to_others(row: object) -> None:
    assert read_openclaw.read_transcript(file_of([row])) is None


def test_no_wrong_member_breaks_the_reader(spoil: Callable[[object], Iterator[object]]) -> None:
    for wrong in spoil(entry("1", "user", text("q"), model="delivery-mirror")):
        (transcript,) = read([HEADER, wrong, entry("2", "user", "after")])
        assert transcript.turns[-1].text == "after"
    for wrong in spoil(HEADER):
        list(read_openclaw.read_transcript(file_of([wrong, entry("2", "user", "q")])) or ())

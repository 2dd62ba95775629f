"""Lists of chat messages."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kimi_memory.plugins import read_messages

from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.domain.session import Transcript
from kimi_memory.errors import TranscriptError
from kimi_memory.nlp.dates.timestamps import EPOCH

SAID = [
    {"role": "system", "content": "You are kind."},
    {"role": "user", "content": "用哪个数据库？", "name": "小王"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    {"role": "tool", "content": "3 rows"},
    {"role": "assistant", "content": [{"type": "text", "text": "PostgreSQL"}, {"type": "image"}]},
    {"role": "user", "content": "ok"},
    {"role": "user", "content": "ok"},
]
TEXTS = ["用哪个数据库？", "PostgreSQL", "ok", "ok"]


def file_of(content: str | bytes, name: str = "chat.json") -> TranscriptFile:
    raw = content if isinstance(content, bytes) else content.encode()
    return TranscriptFile(name, raw[:65536], lambda: io.BytesIO(raw))


def read(content: str | bytes, name: str = "chat.json") -> list[Transcript]:
    found = read_messages.read_transcript(file_of(content, name))
    assert found is not None
    return list(found)


FORMS = {
    "array": json.dumps(SAID),
    "array over lines": json.dumps(SAID, indent=2),
    "object": json.dumps({"messages": SAID}),
    "object over lines": json.dumps({"model": "x", "messages": SAID}, indent=1),
    "object in a list": json.dumps([{"messages": SAID}]),
    "jsonl": "\n".join(json.dumps(one) for one in SAID),
    "jsonl with a mark": "\ufeff" + "\n".join(json.dumps(one) for one in SAID) + "\n\n",
    "conversations in jsonl": json.dumps({"messages": SAID}) + "\n",
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
def test_every_form_of_a_list_gives_the_same_turns(content: str) -> None:
    (transcript,) = read(content)
    assert [turn.text for turn in transcript.turns] == TEXTS
    assert [turn.n for turn in transcript.turns] == [1, 2, 3, 4]
    assert [str(turn.origin) for turn in transcript.turns] == ["human", "agent", "human", "human"]
    assert transcript.turns[0].speaker == "小王"
    assert transcript.turns[0].at == EPOCH
    assert len({turn.ref for turn in transcript.turns}) == 4


def test_calls_of_tools_and_what_the_program_counted_are_kept() -> None:
    call = {"id": "call-1", "type": "function", "function": {"name": "read_file"}}
    said = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call-1", "content": "port = 8080"},
        {"role": "assistant", "content": "It is 8080.", "tool_calls": "none"},
    ]
    [chat] = read(json.dumps({"messages": said, "metadata": {"model": "k2", "tokens": 42}}))
    assert [turn.text for turn in chat.turns] == ["Which port?", "It is 8080."]
    assert [turn.tool_calls for turn in chat.turns] == [(), (call,)]
    assert chat.metadata == {"model": "k2", "tokens": 42}


def test_the_form_with_from_and_value_is_read() -> None:
    rows = [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]
    (transcript,) = read(json.dumps([{"id": "conv-7", "conversations": rows}]))
    assert transcript.session.id == "conv-7"
    assert [str(turn.role) for turn in transcript.turns] == ["user", "assistant"]


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_the_form_with_text_is_read(ending: str) -> None:
    rows = [{"role": "user", "text": "hi"}, {"role": "assistant", "text": "hello"}]
    content = json.dumps(rows) if ending == "json" else "\n".join(map(json.dumps, rows))
    (transcript,) = read(content, f"chat.{ending}")
    assert [turn.text for turn in transcript.turns] == ["hi", "hello"]


def test_times_are_taken_and_inherited() -> None:
    rows = [
        {"role": "user", "content": "a", "timestamp": 1743403740},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c", "created_at": "2026-03-01T18:00:00+08:00"},
    ]
    (transcript,) = read(json.dumps(rows), "2020-01-01.json")
    first = datetime(2025, 3, 31, 6, 49, tzinfo=UTC)
    later = datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert [t.at for t in transcript.turns] == [first, first, later]


def test_without_times_the_name_or_the_file_gives_the_date(tmp_path: Path) -> None:
    (named,) = read(FORMS["array"], "2026-03-01.json")
    assert named.turns[0].at == datetime(2026, 3, 1, tzinfo=UTC)
    path = tmp_path / "chat.json"
    path.write_text(FORMS["array"])
    file = TranscriptFile("chat.json", path.read_bytes(), lambda: path.open("rb"))
    (dated,) = read_messages.read_transcript(file) or ()
    assert dated.turns[0].at.timestamp() == pytest.approx(path.stat().st_mtime)


def test_a_grown_file_is_the_same_session_with_the_same_turns() -> None:
    short, long = read(FORMS["array"])[0], read(json.dumps([*SAID, SAID[1]]))[0]
    assert short.session.id == long.session.id
    assert [t.ref for t in short.turns] == [t.ref for t in long.turns[:4]]
    other = read(json.dumps([{"role": "user", "content": "别的"}]))[0]
    assert other.session.id != short.session.id


def test_several_conversations_are_several_sessions() -> None:
    rows = [json.dumps({"messages": [{"role": "user", "content": f"第{n}个"}]}) for n in range(3)]
    for content in ("\n".join(rows), f"[{','.join(rows)}]"):
        assert len({t.session.id for t in read(content)}) == 3


def test_a_list_longer_than_the_head_is_known_by_it() -> None:
    rows = [{"role": "user", "content": "很长" * 50_000}, {"role": "assistant", "content": "ok"}]
    for value in (rows, {"messages": rows}):
        (transcript,) = read(json.dumps(value))
        assert len(transcript.turns) == 2


@pytest.mark.parametrize("content", [FORMS["array"][:-2], FORMS["jsonl"] + "\n{torn"])
def test_broken_json_is_refused(content: str) -> None:
    with pytest.raises(TranscriptError):
        read(content)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "[1]", "{}", "text", '{"a": 1}', '[{"name": "x"}]',
     '{"role": "admin", "content": 1}',
     '{"messages": "none"}', '{"type":"message","message":{"role":"user","content":"x"}}',
     '{"role": "user"'],
)  # fmt: skip
def test_other_files_are_left_to_others(content: str) -> None:
    assert read_messages.read_transcript(file_of(content)) is None


def test_no_wrong_member_breaks_the_reader(spoil: Callable[[object], Iterator[object]]) -> None:
    for wrong in spoil({"title": "x", "id": "y", "messages": SAID[:5]}):
        list(read_messages.read_transcript(file_of(json.dumps(wrong))) or ())
    for wrong in spoil(SAID[:5]):
        list(read_messages.read_transcript(file_of(json.dumps(wrong))) or ())


@pytest.mark.parametrize("member", ["name", "speaker", "sender", "author"])
def test_a_message_names_who_speaks(member: str) -> None:
    (talk,) = read(json.dumps([{"role": "user", "content": "The boat is mine.", member: "Ines"}]))
    assert talk.turns[0].speaker == "Ines"


@pytest.mark.parametrize("author", [{"role": "user"}, "user", "Human"])
def test_an_author_that_is_no_name_is_left_out(author: object) -> None:
    (talk,) = read(json.dumps([{"role": "user", "content": "Mine, too.", "author": author}]))
    assert talk.turns[0].speaker == ""

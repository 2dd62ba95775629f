"""Records of sessions and tombstones keep what they hold and forgive what they can."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.errors import FormatError
from kimi_memory.formats import jsonl
from kimi_memory.formats.jsonl import is_whole, seal, unseal, view_json
from tests.formats.strategies import examples, tombstones, transcripts, turns

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)
SESSION = Session("01j", AT, agent="kimi")
TURN = Turn(1, AT, Role.USER, "我决定用 PostgreSQL", speaker="小李")


def lines_of(transcript):
    """Return the lines of a session's file."""
    lines = [jsonl.session_line(transcript.session)]
    lines += [jsonl.turn_line(turn) for turn in transcript.turns]
    lines.append(jsonl.state_line(transcript.task, transcript.variables, transcript.metadata))
    return [*lines, jsonl.end_line(transcript.ended)] if transcript.ended else lines


@examples(60)
@given(turns())
def test_a_turn_is_read_as_it_was_written(turn):
    line = jsonl.turn_line(turn)
    assert is_whole(line)
    assert line.count(b"\n") == 1
    assert jsonl.turn_of(unseal(line)) == turn


@examples(40)
@given(transcripts())
def test_a_transcript_is_read_as_it_was_written(transcript):
    assert jsonl.read_transcript_lines(lines_of(transcript), "x.jsonl") == transcript


@examples(40)
@given(transcripts(), st.data())
def test_a_torn_last_line_is_ignored_at_any_byte(transcript, data):
    lines = lines_of(transcript)
    whole = b"".join(lines)
    cut = data.draw(st.integers(len(lines[0]), len(whole)))
    kept = whole[:cut].splitlines(keepends=True)
    read = jsonl.read_transcript_lines(kept, "x.jsonl")
    done = sum(1 for line in kept if is_whole(line + b"\n" * (not line.endswith(b"\n"))))
    assert len(read.turns) == min(max(done - 1, 0), len(transcript.turns))


@examples(40)
@given(tombstones())
def test_a_tombstone_is_read_as_it_was_written(stone):
    assert jsonl.tombstone_of(unseal(jsonl.tombstone_line(stone))) == stone


def test_a_turn_is_a_readable_line():
    line = jsonl.turn_line(TURN).decode()
    assert line.startswith(
        '{"kind":"turn","n":1,"at":"2026-02-27T09:10:00Z","role":"user","speaker":"小李",'
        '"text":"我决定用 PostgreSQL","origin":"human","importance":0.5,"sum":"'
    )


def test_unknown_kinds_and_members_are_skipped():
    lines = [
        jsonl.session_line(SESSION),
        b"\n",
        seal({"kind": "mood", "value": 1}),
        seal({"kind": "turn", "n": 1, "at": "2026-02-27T17:10:00+08:00", "role": "user", "new": 1}),
    ]
    read = jsonl.read_transcript_lines(iter(lines), "x.jsonl")
    assert read == Transcript(SESSION, (Turn(1, AT, Role.USER, ""),))


def test_later_states_replace_earlier_ones_and_none_keeps_them():
    lines = [
        jsonl.session_line(SESSION),
        jsonl.state_line({"goal": "a"}, {"x": 1}),
        jsonl.state_line(None, {"y": 2}),
    ]
    read = jsonl.read_transcript_lines(lines, "x.jsonl")
    assert (read.task, read.variables) == ({"goal": "a"}, {"y": 2})


BROKEN = {
    "not json": (b"{torn\n", "not a line of JSON"),
    "not an object": (b"[1]\n", "not a line of JSON"),
    "not utf-8": ('{"kind":"turn","text":"记忆"}\n'.encode("gbk"), "not a line of JSON"),
    "deep": (b"[" * 200_000 + b"\n", "not a line of JSON"),
    "huge number": (b'{"n":' + b"9" * 5000 + b"}\n", "not a line of JSON"),
    "no number": (seal({"kind": "turn", "at": "2026-02-27T09:10:00Z", "role": "user"}), "'n'"),
    "number as text": (seal({"kind": "turn", "n": "1"}), "'n'"),
    "zero": (seal({"kind": "turn", "n": 0}), "'n'"),
    "no moment": (seal({"kind": "turn", "n": 1, "role": "user"}), "'at'"),
    "bad moment": (seal({"kind": "turn", "n": 1, "at": "now", "role": "user"}), "date and time"),
    "bad role": (seal({"kind": "turn", "n": 1, "at": "2026-02-27", "role": "king"}), "king"),
    "bad text": (
        seal({"kind": "turn", "n": 1, "at": "2026-02-27", "role": "user", "text": 5}),
        "'text'",
    ),
    "bad tags": (seal({"kind": "turn", "tags": "a"}), "'tags'"),
    "bad importance": (
        seal({"kind": "turn", "n": 1, "at": "2026-02-27", "role": "user", "importance": "x"}),
        "'importance'",
    ),
    "bad state": (seal({"kind": "state", "task": []}), "'task'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_in_the_middle_is_refused(name):
    line, why = BROKEN[name]
    lines = [jsonl.session_line(SESSION), line, jsonl.turn_line(TURN)]
    with pytest.raises(FormatError, match=r"^s\.jsonl:2: ") as caught:
        jsonl.read_transcript_lines(lines, "s.jsonl")
    assert why in str(caught.value)
    assert "history" in caught.value.remedy


def test_a_second_session_in_a_file_ends_the_first():
    other = jsonl.session_line(replace(SESSION, title="another"))
    lines = [jsonl.session_line(SESSION), jsonl.turn_line(TURN), other, b"torn\n", b"{}\n"]
    assert jsonl.read_transcript_lines(lines, "s.jsonl") == Transcript(SESSION, (TURN,))


@pytest.mark.parametrize("lines", [[], [b"{torn"], [b"\n"]])
def test_a_file_without_a_session_is_refused(lines):
    with pytest.raises(FormatError, match=r"s\.jsonl:1: "):
        jsonl.read_transcript_lines(lines, "s.jsonl")


def test_a_session_must_come_first():
    with pytest.raises(FormatError, match="first record should be the session"):
        jsonl.read_transcript_lines([jsonl.turn_line(TURN)], "s.jsonl")


@examples(60)
@given(st.lists(st.binary(max_size=40) | st.just(jsonl.turn_line(TURN)), max_size=4))
def test_any_lines_parse_or_are_refused(lines):
    try:
        jsonl.read_transcript_lines([jsonl.session_line(SESSION), *lines], "s.jsonl")
    except FormatError as error:
        assert error.line >= 2


def test_the_chain_depends_on_every_line_before():
    first, second = jsonl.turn_line(TURN), jsonl.end_line(AT)
    one = jsonl.context_of("", first)
    assert len(one) == 12
    assert jsonl.context_of(one, second) != jsonl.context_of("", second)
    assert jsonl.context_of("", first) == one


def test_the_view_has_the_last_ten_turns_and_the_state():
    said = tuple(Turn(n, AT, Role.USER, f"第 {n} 句") for n in range(1, 13))
    view = view_json(Transcript(SESSION, said, {"目标": "写"}, {"x": 1}))
    assert "第 12 句".encode() in view
    found = json.loads(view)
    assert [turn["n"] for turn in found["context"]] == list(range(3, 13))
    assert list(found) == ["session_id", "timestamp", "context", "current_task", "temp_vars"]
    assert found["current_task"] == {"目标": "写"}


def test_paths_follow_the_session():
    late = datetime(2026, 3, 1, 1, 0, tzinfo=UTC).astimezone()
    session = Session("../../x", late)
    assert jsonl.archive_path(session).startswith("episodic/sessions/2026-03/session_x-")
    assert ".." not in jsonl.archive_path(session)


def test_a_line_a_person_edited_is_still_read():
    line = jsonl.turn_line(TURN).replace(b"PostgreSQL", b"MySQL")
    assert not is_whole(line)
    read = jsonl.read_transcript_lines([jsonl.session_line(SESSION), line], "x.jsonl")
    assert read.turns[0].text == "我决定用 MySQL"


def test_half_a_character_is_replaced():
    line = b'{"kind":"turn","n":1,"at":"2026-02-27","role":"user","text":"a\\ud800b"}\n'
    assert jsonl.turn_of(unseal(line)).text == "a\ufffdb"


@pytest.mark.parametrize("line", [b"[" * 200_000, b'{"a":' * 200_000, b"[1]", b"", b"{"])
def test_what_is_no_record_is_a_value_error(line):
    with pytest.raises(ValueError):
        unseal(line)

"""What readers of other programs' transcripts have in common."""

from __future__ import annotations

import io
import logging
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.formats.transcripts import (
    ObjectLines,
    TurnRefs,
    file_date,
    folder_name,
    join_texts,
    parse_object,
    text_member,
)
from kimi_memory.nlp.dates.timestamps import EPOCH


def file(content: bytes, name: str = "chats/a.jsonl") -> TranscriptFile:
    return TranscriptFile(name, content, lambda: io.BytesIO(content))


@pytest.mark.parametrize(
    ("line", "found"),
    [(b'{"a": 1}', {"a": 1}), (b"[1]", None), (b"{", None), (b"[" * 100_000, None), (b"", None)],
    ids=["object", "list", "cut off", "nested without end", "empty"],
)
def test_only_an_object_is_read(line: bytes, found: object) -> None:
    assert parse_object(line) == found


@pytest.mark.parametrize(
    ("table", "text"),
    [({"a": "茶"}, "茶"), ({"a": 1}, ""), ({}, ""), (["a"], ""), (None, "")],
)
def test_a_member_that_is_no_text_is_empty(table: object, text: str) -> None:
    assert text_member(table, "a") == text


def test_blank_parts_leave_no_gap() -> None:
    assert join_texts([" 一 ", "", "\n", "two"]) == "一\n\ntwo"


@pytest.mark.parametrize("path", ["C:\\work\\tea", "/home/ann/tea", "tea"])
def test_a_folder_of_any_system_has_a_name(path: str) -> None:
    assert folder_name(path) == "tea"


def test_objects_come_with_their_lines_and_others_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    lines = ObjectLines(file(b'{"n": 1}\n\nbroken\n{"n": 2}\n{"n": 3}\n'))
    read = []
    with caplog.at_level(logging.WARNING):
        for number, line in lines:
            if line["n"] == 3:
                lines.skip(number)
            else:
                read.append((number, line["n"]))
    assert read == [(1, 1), (4, 2)]
    assert (lines.name, lines.broken, lines.first_broken) == ("a.jsonl", 2, 3)
    assert "a.jsonl: 2 lines skipped, the first is line 3" in caplog.text


def test_the_name_of_a_file_begins_no_record_of_a_log(caplog: pytest.LogCaptureFixture) -> None:
    named = file(b"{}\nbroken\n", "a\n✓ all is well\x1b[31m.jsonl")
    assert len(list(ObjectLines(named))) == 1
    [record] = caplog.records
    assert record.getMessage().startswith("a\\n✓ all is well\\x1b[31m.jsonl: 1 lines skipped")


def test_a_whole_file_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    assert [number for number, _ in ObjectLines(file(b"{}\n\n{}"))] == [1, 3]
    assert not caplog.records


def test_the_same_words_have_another_name_each_time() -> None:
    refs = TurnRefs()
    first, again = refs.make_ref("user", "好"), refs.make_ref("user", "好")
    assert (first.partition(".")[0], again.partition(".")[2]) == (again.partition(".")[0], "2")
    assert refs.make_ref("assistant", "好").partition(".")[0] != first.partition(".")[0]
    assert TurnRefs().make_ref("user", "好") == first


def test_a_file_is_dated_by_its_name_before_its_own_date(tmp_path: Path) -> None:
    path = tmp_path / "chat.md"
    path.write_bytes(b"x")
    os.utime(path, (86400, 86400))
    with path.open("rb") as stream:
        named = TranscriptFile("2026-02-27.md", b"x", lambda: stream)
        assert file_date(named, stream) == datetime(2026, 2, 27, tzinfo=UTC)
        plain = TranscriptFile("chat.md", b"x", lambda: stream)
        assert file_date(plain, stream) == datetime(1970, 1, 2, tzinfo=UTC)
    assert file_date(file(b"x", "chat.md"), io.BytesIO(b"x")) == EPOCH

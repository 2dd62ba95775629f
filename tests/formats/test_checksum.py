"""Sealed records: a line proves that it is whole."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats import jsonl
from kimi_memory.formats.checksum import is_whole, unseal

AT = datetime(2026, 2, 27, 9, 10, tzinfo=UTC)
SESSION = Session("01j", AT, agent="kimi")
TURN = Turn(1, AT, Role.USER, "我决定用 PostgreSQL", speaker="小李")


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

"""Files in which git joined sessions line by line."""

from dataclasses import replace
from datetime import UTC, datetime

from kimi_memory.domain.note import Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.joined_sessions import is_joined, parts_of
from kimi_memory.formats.jsonl import read_transcript_lines, session_line, turn_line

AT = datetime(2026, 2, 27, 9, tzinfo=UTC)
ONE = Session("s", AT, host="cli")
OTHER = replace(ONE, started=AT.replace(hour=10))


def turn(text: str) -> bytes:
    return turn_line(Turn(1, AT, Role.USER, text))


def test_one_session_is_one_part():
    lines = [session_line(ONE), turn('she said "kind":"session" aloud')]
    assert parts_of(lines) == [(1, lines, None)]
    assert not is_joined(b"".join(lines))


def test_each_further_session_is_named_after_its_own_first_line():
    lines = [session_line(ONE), turn("茶"), session_line(OTHER), turn("coffee"), turn("milk")]
    first, second = parts_of(lines)
    assert is_joined(b"".join(lines))
    assert (first.first, first.lines, second.first) == (1, lines[:2], 3)
    read = read_transcript_lines(second.lines, "s.jsonl")
    assert [one.text for one in read.turns] == ["coffee", "milk"]
    assert read.session == second.session
    assert read.session.id.startswith("s-")
    assert replace(read.session, id="s") == OTHER
    swapped = parts_of([*lines[:2], *lines[2:4]])
    assert swapped[1].session == second.session, "what follows does not change the name"


def test_a_torn_header_begins_nothing():
    lines = [session_line(ONE), b'{"kind":"session","id":\n', b'{"kind":"session","id":"x"}\n']
    assert len(parts_of(lines)) == 1
    assert not is_joined(b"".join(lines))

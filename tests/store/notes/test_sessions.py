"""Session files that are being made, and those that are damaged."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Create, Update
from kimi_memory.domain.session import Session
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.formats.jsonl import session_line
from kimi_memory.operations.doctor import verify
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.sessions import split_changes, split_session
from tests.conftest import Clock
from tests.formats.test_jsonl_line_merges import ONE, OTHER, turn

PATH = "short-term/session_new.jsonl"


def begin(memory: Memory, clock: Clock, size: int) -> Path:
    """Write the first bytes of a session, as a process does that was stopped there."""
    place = memory.root / PATH
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(session_line(Session("new", clock()))[:size])
    return place


@pytest.mark.parametrize("size", [0, 1, 40])
def test_a_session_whose_first_line_is_being_written_is_not_there_yet(
    memory: Memory, clock: Clock, size: int
) -> None:
    place = begin(memory, clock, size)
    assert list(sessions.places(memory.store)) == []
    with pytest.raises(NotFoundError):
        sessions.find(memory.store, "new")
    assert memory.distil_waiting() == []
    place.write_bytes(session_line(Session("new", clock())))
    assert [one.id for one in sessions.places(memory.store)] == ["new"]
    assert memory.distil_waiting() == []


@pytest.mark.parametrize("ago", [3600.0, -3600.0])
def test_a_session_that_stays_without_its_first_line_is_damaged(
    memory: Memory, clock: Clock, ago: float
) -> None:
    place = begin(memory, clock, 40)
    os.utime(place, (time.time() - ago,) * 2)
    assert [one.id for one in sessions.places(memory.store)] == ["new"]
    with pytest.raises(FormatError, match="not a line of JSON"):
        sessions.read(memory.store, PATH)
    [report] = memory.distil_waiting()
    assert "not a line of JSON" in report.failed


def test_a_session_that_was_emptied_is_damaged_at_once(memory: Memory) -> None:
    memory.session("said").turn("user", "Berths are free.")
    (memory.root / "short-term/session_said.jsonl").write_bytes(b"")
    assert [one.id for one in sessions.places(memory.store)] == ["said"]
    assert any("session_said" in finding.path for finding in verify(memory))


def test_an_archived_session_is_never_being_made(memory: Memory) -> None:
    place = memory.root / "episodic/sessions/2026-02/session_old.jsonl"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"")
    assert [one.id for one in sessions.places(memory.store)] == ["old"]
    assert not sessions.is_begun(memory.store, "short-term/session_none.jsonl")


def test_an_empty_file_that_a_killed_process_left_stops_nothing(memory: Memory) -> None:
    memory.session("whole").turn("user", "The lamp of the stairs is broken.")
    place = memory.root / "short-term" / "session_left.jsonl"
    place.write_bytes(b"")
    hour = place.stat().st_mtime - 3600
    os.utime(place, (hour, hour))
    assert [one.id for one in sessions.places(memory.store)] == ["whole"]
    assert not any(report.failed for report in memory.distil_waiting())
    handle = memory.session("left")
    handle.turn("user", "And the one of the cellar.")
    assert [
        turn.text for turn in sessions.read(memory.store, "short-term/session_left.jsonl").turns
    ] == ["And the one of the cellar."]


JOINED_PATH = "short-term/session_s.jsonl"
JOINED = b"".join([session_line(ONE), turn("tea"), session_line(OTHER), turn("coffee")])


def test_no_line_is_lost(store, actor):
    store.apply([Create(JOINED_PATH, JOINED)], actor)
    split_session(store, JOINED_PATH, actor)
    first, second = store.files("short-term")
    assert {first, second} > {JOINED_PATH}
    assert store.read(JOINED_PATH) == b"".join([session_line(ONE), turn("tea")])
    [other] = {first, second} - {JOINED_PATH}
    assert store.read(other).splitlines(True)[1:] == [turn("coffee")]
    split_session(store, JOINED_PATH, actor)
    assert len(store.files("short-term")) == 2


def test_what_another_copy_split_already_is_not_made_twice(store, actor):
    [_, made], _ = split_changes(store, JOINED_PATH, JOINED)
    store.apply([made], actor)
    [kept], _ = split_changes(store, JOINED_PATH, JOINED)
    assert isinstance(kept, Update)
    third = JOINED + session_line(replace(ONE, title="third"))
    assert len(split_changes(store, JOINED_PATH, third)[0]) == 2

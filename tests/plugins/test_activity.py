"""The activity log: it tells what was done and keeps words to itself."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from kimi_memory.plugins.activity import LogFile, create

from kimi_memory import Memory, Opening
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host


@pytest.fixture
def opening(opening: Opening) -> Opening:
    """An opening whose user switched the log on."""
    return replace(opening, host=Host({"activity": {}}, entry_points=False))


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="kimi_memory.activity")
    return caplog


def test_hook_memory_opened(logged, memory: Memory, opening: Opening) -> None:
    with Memory.open(memory.root, opening):
        assert f"opened {memory.root}" in logged.messages


def test_hook_session_ended(logged, memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", "hello there")
    session.end()
    assert "session s ended with 1 turns" in logged.messages


def test_hook_changes_applied(logged, memory: Memory) -> None:
    report = memory.remember("我住在成都")
    assert any(message.startswith(f"{report.id} wrote") for message in logged.messages)


def test_hook_recalled(logged, memory: Memory) -> None:
    memory.session("s").turn("user", "the train leaves at nine")
    memory.recall("when does the train leave")
    [message] = [m for m in logged.messages if m.startswith("recall of")]
    assert message == "recall of 25 characters had 1 hits"


def test_a_named_file_tells_what_was_done(memory: Memory, opening: Opening, tmp_path: Path) -> None:
    path = tmp_path / "log/activity.log"
    host = Host({"activity": {"file": str(path)}}, entry_points=False)
    with Memory.open(memory.root, opening.__class__(home=opening.home, host=host)) as other:
        other.remember("我住在成都")
        other.recall("sesame")
    lines = path.read_text("utf-8").splitlines()
    assert lines[0].split(" ", 2)[2].startswith("opened ")
    assert any("wrote" in line for line in lines)
    assert not any("sesame" in line or "成都" in line for line in lines)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_full_file_is_renamed_and_the_oldest_goes(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    log = LogFile(path, 100, 2)
    for n in range(50):
        log.write(f"line {n:02d} of the log\n")
    assert {one.name for one in tmp_path.iterdir()} <= {"a.log", "a.log.1", "a.log.2"}
    assert any("line 49" in one.read_text("utf-8") for one in tmp_path.iterdir())
    assert all(one.stat().st_size < 130 for one in tmp_path.iterdir())


def test_no_line_is_lost_to_many_writers(tmp_path: Path) -> None:
    log = LogFile(tmp_path / "a.log", 400, 1000)

    def write(who: int) -> None:
        for n in range(50):
            log.write(f"{who} {n}\n")

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [line for one in tmp_path.iterdir() for line in one.read_text("utf-8").splitlines()]
    assert sorted(found) == sorted(f"{who} {n}" for who in range(4) for n in range(50))


def test_a_log_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    LogFile(tmp_path / "file/a.log", 100, 1).write("line\n")
    with pytest.raises(UsageError, match=r"plugins\.activity\.kilobytes"):
        create({"kilobytes": "many"})


def test_the_settings_say_when_a_file_is_full_and_how_many_stay(
    tmp_path: Path, opening: Opening
) -> None:
    place = tmp_path / "log" / "activity.log"
    settings = {"activity": {"file": str(place), "kilobytes": 1, "files": 2}}
    host = Host(settings, entry_points=False)
    with Memory.create(tmp_path / "m", opening=replace(opening, host=host)) as memory:
        for n in range(60):
            memory.recall(f"question {n}")
    kept = sorted(place.parent.iterdir())
    assert [path.name for path in kept] == ["activity.log", "activity.log.1", "activity.log.2"]
    assert all(path.stat().st_size < 1024 + 200 for path in kept)
    assert b"question" not in b"".join(path.read_bytes() for path in kept)


def test_without_its_table_nothing_is_logged_and_no_log_is_loaded(
    memory: Memory, opening: Opening, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="kimi_memory.activity")
    silent = Host(entry_points=False)
    with Memory.open(memory.root, replace(opening, host=silent)) as other:
        caplog.clear()
        other.recall("when does the train leave")
    assert not caplog.messages
    assert not silent.offers("recalled")

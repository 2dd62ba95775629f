"""The spool: events left for later."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kimi_memory.agent_hooks import spool


def note(n: int) -> dict:
    said = {"session_id": "记忆", "prompt": "words of a conversation"}
    return {"n": n, "payload": said}


def test_no_word_of_a_conversation_is_left(tmp_path: Path) -> None:
    spool.put(str(tmp_path), note(1))
    ((path, left),) = spool.take_events(str(tmp_path))
    assert left["payload"]["session_id"] == "记忆"
    assert "words" not in Path(path).read_text(encoding="utf-8")


def test_events_come_out_whole_and_in_order(tmp_path: Path) -> None:
    for n in range(5):
        spool.put(str(tmp_path), note(n))
    assert [event["n"] for _, event in spool.take_events(str(tmp_path))] == list(range(5))


def test_what_was_dealt_with_is_dropped(tmp_path: Path) -> None:
    spool.put(str(tmp_path), note(1))
    ((path, _),) = spool.take_events(str(tmp_path))
    spool.drop(path)
    spool.drop(path)
    assert spool.take_events(str(tmp_path)) == []


def test_no_spool_holds_nothing(tmp_path: Path) -> None:
    assert spool.take_events(str(tmp_path / "nowhere")) == []


def test_damaged_files_are_removed_and_half_written_ones_ignored(tmp_path: Path) -> None:
    spool.put(str(tmp_path), note(1))
    folder = tmp_path / spool.FOLDER
    (folder / "0.json").write_bytes(b'{"n":')
    (folder / "1.json").write_bytes(b"[]")
    (folder / "3.json").write_bytes(b'{"payload":"text"}')
    (folder / "2.part").write_bytes(b'{"n":2}')
    assert [event["n"] for _, event in spool.take_events(str(tmp_path))] == [1]
    assert not (folder / "0.json").exists()
    assert (folder / "2.part").exists()


def test_many_hooks_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: spool.put(str(tmp_path), note(n)), range(200)))
    assert sorted(event["n"] for _, event in spool.take_events(str(tmp_path))) == list(range(200))


def test_only_its_owner_reads_the_spool(tmp_path: Path) -> None:
    spool.put(str(tmp_path), note(1))
    ((path, _),) = spool.take_events(str(tmp_path))
    assert Path(path).stat().st_mode & 0o077 == 0
    assert (tmp_path / spool.FOLDER).stat().st_mode & 0o077 == 0


def test_an_age_is_told_by_the_name_or_endless(tmp_path: Path) -> None:
    spool.put(str(tmp_path), note(1))
    ((path, _),) = spool.take_events(str(tmp_path))
    assert 0 <= spool.age(path) < 60
    late = f"{time.time_ns() + 10**12:020d}-1.json"
    assert {spool.age(name) for name in (late, "x.json", "-1.json")} == {float("inf")}

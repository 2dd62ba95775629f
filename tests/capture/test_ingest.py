"""Ingest: every session once, only new turns of a grown one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.capture.ingest import from_bytes, open_file
from kimi_memory.errors import TranscriptError
from kimi_memory.store.notes import sessions


def chat(*texts: str) -> bytes:
    roles = ("user", "assistant")
    return json.dumps(
        {
            "id": "chat-1",
            "messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)],
        },
        ensure_ascii=False,
    ).encode()


def take(memory: Memory, content: bytes, name: str = "chat.json") -> list[tuple[str, int, int]]:
    reports = memory.ingest([from_bytes(name, content)])
    return [(report.session, report.spoken, report.stored) for report in reports]


def stored(memory: Memory, id: str) -> list[str]:
    place = sessions.find(memory.store, id)
    return [turn.text for turn in sessions.read(memory.store, place.path).turns]


def test_a_second_ingest_changes_nothing(memory: Memory) -> None:
    content = chat("你好", "你好，有什么事？", "记下这件事")
    [(id, spoken, new)] = take(memory, content)
    assert (spoken, new) == (3, 3)
    before = {path: memory.store.read(path) for path in memory.store.files()}
    assert take(memory, content) == [("", 3, 0)]
    assert {path: memory.store.read(path) for path in memory.store.files()} == before
    assert stored(memory, id) == ["你好", "你好，有什么事？", "记下这件事"]


def test_a_grown_session_gives_only_its_new_turns(memory: Memory) -> None:
    [(id, _, _)] = take(memory, chat("one", "two"))
    assert take(memory, chat("one", "two", "three")) == [(id, 3, 1)]
    assert stored(memory, id) == ["one", "two", "three"]


def test_new_turns_of_an_ended_session_continue_it(memory: Memory) -> None:
    [(id, _, _)] = take(memory, chat("one", "two"))
    memory.end(id)
    [(more, _, new)] = take(memory, chat("one", "two", "three"))
    assert (more, new) == (f"{id}.2", 1)
    assert stored(memory, more) == ["three"]
    assert take(memory, chat("one", "two", "three")) == [("", 3, 0)]


def test_the_same_words_twice_are_two_turns(memory: Memory) -> None:
    [(_, spoken, new)] = take(memory, chat("ok", "fine", "ok", "fine"))
    assert (spoken, new) == (4, 4)
    assert take(memory, chat("ok", "fine", "ok", "fine")) == [("", 4, 0)]


def test_a_secret_is_masked_and_still_known_again(memory: Memory) -> None:
    content = chat("my password is hunter2-Zx9!", "noted")
    [(id, _, _)] = take(memory, content)
    assert not any("hunter2" in text for text in stored(memory, id))
    assert take(memory, content) == [("", 2, 0)]


def test_an_unknown_format_is_an_error_that_names_the_file(memory: Memory) -> None:
    with pytest.raises(TranscriptError, match=r"x\.bin:1: no reader"):
        take(memory, b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "x.bin")


def test_a_file_is_opened_from_its_start_each_time(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(b"x" * 100_000)
    file = open_file(path)
    assert len(file.head) == 65536
    for _ in range(2):
        with file.open() as stream:
            assert len(stream.read()) == 100_000

"""Ingest: every session once, only new turns of a grown one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.capture.ingest import find_files, from_bytes, open_file
from kimi_memory.cli import run
from kimi_memory.errors import TranscriptError, UsageError
from kimi_memory.store.notes import sessions
from tests.cli.conftest import folder  # noqa: F401  a fixture


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


def test_what_a_turn_had_tools_do_is_stored_with_it(memory: Memory) -> None:
    call = {"id": "call-1", "type": "function", "function": {"name": "read_file"}}
    rows = [
        {"role": "user", "content": "Which oven?"},
        {"role": "assistant", "content": "The left one.", "tool_calls": [call]},
    ]
    ((id, _, _),) = take(memory, json.dumps({"id": "chat-2", "messages": rows}).encode())
    place = sessions.find(memory.store, id)
    kept = [turn.tool_calls for turn in sessions.read(memory.store, place.path).turns]
    assert kept == [(), (call,)]


def test_a_hostile_session_id_becomes_a_plain_name(memory: Memory) -> None:
    rows = [{"role": "user", "content": "The oven is cold."}]
    content = json.dumps({"id": "../../etc/passwd", "messages": rows}).encode()
    ((id, _, count),) = take(memory, content)
    assert count == 1
    assert "/" not in id
    assert ".." not in id


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


def test_a_bare_secret_after_a_question_is_masked_and_known_again(memory: Memory) -> None:
    value = "hunter2-" + "Zx9!kk"
    content = chat("记一下", "密码是多少？", value, "Thanks, noted.")
    [(id, _, new)] = take(memory, content)
    assert new == 4
    assert not any(value in text for text in stored(memory, id))
    assert take(memory, content) == [("", 4, 0)]
    grown = chat("记一下", "密码是多少？", value, "Thanks, noted.", "more")
    assert take(memory, grown) == [(id, 5, 1)]


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


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")


def found(root: Path) -> tuple[list[str], list[str]]:
    """Return the files found, and the first word said of each that was passed over."""
    skipped: list[str] = []
    files = [path.relative_to(root).as_posix() for path in find_files([root], skipped)]
    return files, sorted(line.replace(f"{root}/", "").partition(": ")[0] for line in skipped)


def test_folders_give_their_files_without_hidden_ones(tmp_path: Path) -> None:
    lay(tmp_path, "b.json", "a.md", ".hidden.md", "sub/c.jsonl", ".git/config")
    assert found(tmp_path) == (["a.md", "b.json", "sub/c.jsonl"], [])


def test_transcripts_in_a_folder_of_a_known_program_are_found(tmp_path: Path) -> None:
    lay(tmp_path, "shop/.specstory/history/a.md", "shop/.specstory/.what/b.md", "c.md")
    files, skipped = found(tmp_path)
    assert files == ["c.md", "shop/.specstory/history/a.md"]
    assert skipped == ["shop/.specstory/.what"]


def test_another_hidden_folder_is_named_and_read_when_it_is_named(tmp_path: Path) -> None:
    lay(tmp_path, ".mine/deep/a.md", ".git/b.md")
    assert found(tmp_path) == ([], [".mine"])
    assert found(tmp_path / ".mine") == (["deep/a.md"], [])


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    lay(tmp_path, "out/secret.md", "in/own.md", "in/sub/deep.md")
    (tmp_path / "in/file.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/folder").symlink_to(tmp_path / "out")
    (tmp_path / "in/round").symlink_to(tmp_path / "in")
    (tmp_path / "in/gone.md").symlink_to(tmp_path / "nowhere")
    files, skipped = found(tmp_path / "in")
    assert files == ["own.md", "sub/deep.md"]
    assert skipped == ["file.md", "folder", "gone.md", "round"]
    named = [path.name for path in find_files([tmp_path / "in/file.md"])]
    assert named == ["file.md"]


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        list(find_files([tmp_path / "nowhere"]))


def test_what_was_passed_over_is_said(folder: Path, tmp_path: Path, capsys) -> None:  # noqa: F811  the fixture
    lay(tmp_path, "project/.mine/a.md")
    (tmp_path / "project/link.md").symlink_to("/etc/hostname")
    assert run(["ingest", str(tmp_path / "project")]) == 0
    said = capsys.readouterr().err
    assert ".mine: a hidden folder; name it" in said and "link.md: a link" in said
    run(["ingest", "--json", str(tmp_path / "project")])
    told = json.loads(capsys.readouterr().out)
    assert (len(told["skipped"]), told["sessions"]) == (2, [])

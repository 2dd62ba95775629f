"""Stores: which files are read, how they are decoded, and what is passed over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from kimi_memory.operations import foreign_stores
from kimi_memory.operations.foreign_stores import Skipped, Stored, read_store


@pytest.fixture(scope="module")
def host() -> Host:
    return Host(entry_points=False)


def read(root: Path, host: Host, system: str = "") -> tuple[dict[str, Stored], list[str]]:
    skipped = Skipped()
    return {s.path: s for s in read_store(root, host, skipped, system)}, skipped.lines


def test_links_loops_and_pipes_are_not_followed(tmp_path: Path, host: Host) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "n.md").write_text("- a statement", encoding="utf-8")
    (tmp_path / "a" / "round").symlink_to(tmp_path)
    (tmp_path / "away.md").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.md")
    found, skipped = read(tmp_path, host)
    assert list(found) == ["a/n.md"]
    assert sorted(skipped) == [
        "a/round: a link",
        "away.md: a link or no plain file",
        "pipe.md: a link or no plain file",
    ]


def test_hidden_and_other_files_are_passed_over(tmp_path: Path, host: Host) -> None:
    (tmp_path / ".git").mkdir()
    for name in (".git/x.md", ".hidden.md", "photo.png", "n.md"):
        (tmp_path / name).write_text("- a statement", encoding="utf-8")
    found, skipped = read(tmp_path, host)
    assert (list(found), skipped) == (["n.md"], [])


@pytest.mark.parametrize(
    ("content", "text", "problem"),
    [
        ("- 我喜欢茶\r\n- two\r".encode(), "- 我喜欢茶\n- two\n", ""),
        ("\ufeff- 茶好喝".encode(), "- 茶好喝", ""),
        ("- 我喜欢茶".encode("gb18030"), "- 我喜欢茶", "not UTF-8; read as gb18030"),
        ("- 我喜欢茶".encode("utf-16"), "- 我喜欢茶", "not UTF-8; read as utf-16"),
    ],
    ids=["crlf", "mark", "gbk", "utf-16"],
)
def test_encodings_are_told(
    tmp_path: Path, host: Host, content: bytes, text: str, problem: str
) -> None:
    (tmp_path / "n.md").write_bytes(content)
    found, _ = read(tmp_path, host)
    assert (found["n.md"].text, found["n.md"].problem) == (text, problem)
    assert found["n.md"].memos[0].text == text.splitlines()[0][2:]


def test_binary_and_huge_files_are_named(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.md").write_bytes(b"\0\1\2")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(foreign_stores.LARGEST + 1)
    _, skipped = read(tmp_path, host)
    assert skipped == ["b.md: not text", "huge.md: larger than 64 MiB"]


def test_a_file_is_a_store_of_its_own(tmp_path: Path, host: Host) -> None:
    file = tmp_path / "n.md"
    file.write_text("- a statement", encoding="utf-8")
    assert list(read(file, host)[0]) == ["n.md"]
    with pytest.raises(UsageError, match="does not exist"):
        read(tmp_path / "none", host)


def test_what_a_reader_refuses_is_told(tmp_path: Path, host: Host) -> None:
    (tmp_path / "m.json").write_text('[{"memory": "x",', encoding="utf-8")
    note = "---\nid: card-1\nkind: card\ntype: nonsense\n---\n"
    (tmp_path / "card.md").write_text(note, encoding="utf-8")
    found, _ = read(tmp_path, host)
    assert found["m.json"].problem.startswith("1: not JSON")
    assert found["card.md"].problem.startswith("line ")
    assert found["m.json"].memos == found["card.md"].memos == ()


def test_one_system_may_be_named(tmp_path: Path, host: Host) -> None:
    (tmp_path / "n.md").write_text("see [[x]] there", encoding="utf-8")
    assert read(tmp_path, host, "markdown")[0]["n.md"].memos[0].system == "markdown"
    assert read(tmp_path, host)[0]["n.md"].memos[0].system == "memex"


def test_a_file_nobody_may_read_is_named(
    tmp_path: Path, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "n.md").write_text("x", encoding="utf-8")

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert read(tmp_path, host)[1] == ["n.md: Permission denied"]

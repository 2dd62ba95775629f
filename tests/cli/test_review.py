"""``review``: from the command line."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer
from tests.cli.test_forget import remembered

LINE = "- db.pool：二十个连接\n"


@pytest.fixture
def waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    """A memory with one line that a person wrote and nobody confirmed."""
    folder = remembered(tmp_path, monkeypatch)
    page = folder / "MEMORY.md"
    page.write_text(page.read_text(encoding="utf-8") + LINE, encoding="utf-8")
    capsys.readouterr()
    [report] = answer(capsys, "review", "pages")
    assert [op["op"] for op in report["operations"]] == ["ADD"]
    return folder


def test_what_waits_is_listed_and_accepted(waiting: Path, capsys) -> None:
    [found] = answer(capsys, "review")
    assert (found["title"], found["text"]) == ("db.pool", "二十个连接")
    assert "+confidence: 1.0" in found["diff"]
    assert run(["review"]) == 0
    said = capsys.readouterr().out
    assert found["id"] in said and "review accept 1" in said
    [report] = answer(capsys, "review", "accept", found["id"][:-2])
    page = (waiting / "MEMORY.md").read_text(encoding="utf-8")
    assert re.search(r"- 二十个连接（\d{4}-\d\d-\d\d，1\.00）", page)
    assert answer(capsys, "review") == []
    assert answer(capsys, "undo", report["id"])["id"] == report["id"]
    assert len(answer(capsys, "review", "list", found["id"])) == 1
    assert answer(capsys, "review", "list", "card-none") == []


@pytest.mark.parametrize("way", ["text", "stdin", "file"])
def test_it_is_accepted_in_other_words(
    waiting: Path, capsys, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str
) -> None:
    [found] = answer(capsys, "review")
    file = tmp_path / "words.txt"
    file.write_text("\ufeff三十个连接\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("三十个连接\n"))
    more = {
        "text": ["--text", "三十个连接"],
        "stdin": ["--text", "-"],
        "file": ["--file", str(file)],
    }
    answer(capsys, "review", "edit", found["id"], *more[way])
    assert "- 三十个连接（" in (waiting / "MEMORY.md").read_text(encoding="utf-8")


def test_it_is_rejected_and_does_not_return(waiting: Path, capsys) -> None:
    [found] = answer(capsys, "review")
    answer(capsys, "review", "reject", found["id"], "--why", "too many")
    assert "too many" in (waiting / "mid-term/tombstones.jsonl").read_text(encoding="utf-8")
    page = waiting / "MEMORY.md"
    page.write_text(page.read_text(encoding="utf-8") + LINE, encoding="utf-8")
    [report] = answer(capsys, "review", "pages")
    assert "on purpose" in report["left_out"][0]
    assert "db.pool" not in page.read_text(encoding="utf-8")
    assert run(["review"]) == 0
    assert "Nothing waits" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["accept"],
        ["edit", "card-1"],
        ["edit", "card-1", "card-2", "--text", "x"],
        ["accept", "card-1", "--text", "x"],
        ["edit", "card-1", "--file", "nowhere.txt"],
    ],
)
def test_what_is_missing_is_said(waiting: Path, capsys, words: list[str]) -> None:
    assert run(["review", *words]) == 2
    assert capsys.readouterr().err.startswith("kimi-memory: ")


def test_on_a_terminal_it_goes_one_by_one(
    waiting: Path, shown_by: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = shown_by("review", keys="?a")
    assert "1/1 db.pool" in shown
    assert "二十个连接" in shown
    assert "updated:" not in shown
    assert "✓ accept  review-" in shown
    assert "1 of 1 answered." in shown
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "没有等您过目的东西" in shown_by("review")


def test_numbers_of_the_list_name_what_waits(waiting: Path, capsys) -> None:
    assert run(["review"]) == 0
    capsys.readouterr()
    [report] = answer(capsys, "review", "accept", "#1")
    assert report["kind"] == "review"
    assert answer(capsys, "review") == []


def test_words_that_changed_since_they_were_listed_are_not_accepted(waiting: Path, capsys) -> None:
    [found] = answer(capsys, "review")
    card = waiting / found["path"]
    assert run(["review", "list"]) == 0
    before = card.read_text(encoding="utf-8")
    card.write_text(before.replace("二十个连接", "六十个连接"), encoding="utf-8")
    for name in ("1", found["id"], found["id"][:-2]):
        assert run(["review", "accept", name]) == 2
        assert "changed since it was shown. Read it again" in capsys.readouterr().err
    card.write_text(before, encoding="utf-8")
    assert run(["review", "accept", "1"]) == 0

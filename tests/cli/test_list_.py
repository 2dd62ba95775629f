"""``list``: what is held, page by page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.cli.shared import count_columns
from tests.cli.answers import answer


@pytest.fixture
def held(folder: Path, capsys) -> Path:
    database = "我们决定用 SQLite 当数据库，因为断网也要能看。"
    for said in (database, "The train to Oslo leaves at nine.", "The staging port is 6543."):
        answer(capsys, "remember", said)
    return folder


def test_all_is_listed_with_how_much_there_is(held: Path, capsys) -> None:
    assert run(["list"]) == 0
    said = capsys.readouterr().out
    assert "SQLite" in said
    assert "Oslo" in said
    assert said.endswith("3 in all.\n")


@pytest.mark.parametrize("word", ["held", "ls", "browse"])
def test_other_words_for_it_do_the_same(held: Path, capsys, word: str) -> None:
    assert run(["list"]) == 0
    listed = capsys.readouterr().out
    assert run([word]) == 0
    assert capsys.readouterr().out == listed


def test_words_and_filters_choose(held: Path, capsys) -> None:
    assert run(["list", "oslo"]) == 0
    said = capsys.readouterr().out
    assert "Oslo" in said
    assert "SQLite" not in said
    assert run(["list", "数据库"]) == 0
    assert "SQLite" in capsys.readouterr().out
    assert run(["list", "type:decision", "--counts"]) == 0
    said = capsys.readouterr().out
    assert "1 in all." in said
    assert "type     " in said
    assert run(["list", "--kind", "turn", "no such word anywhere"]) == 0
    assert "No note matches these filters" in capsys.readouterr().out


def test_the_list_of_a_terminal_goes_on_where_it_ended(held: Path, capsys) -> None:
    whole = answer(capsys, "list", "--sort", "key")["units"]
    assert run(["list", "--limit", "2", "--sort", "key"]) == 0
    assert "The next page: the same command with --more" in capsys.readouterr().out
    assert run(["list", "--limit", "2", "--sort", "key", "--more"]) == 0
    said = capsys.readouterr().out
    assert whole[2]["key"] in said
    assert whole[1]["key"] not in said
    assert run(["list", "--limit", "2", "--more"]) == 2
    assert "is at its end" in capsys.readouterr().err


def test_pages_joined_are_the_whole(held: Path, capsys) -> None:
    first = answer(capsys, "list", "--limit", "2", "--sort", "key")
    assert (len(first["units"]), first["total"]) == (2, 3)
    rest = answer(capsys, "list", "--limit", "2", "--sort", "key", "--after", first["next"])
    assert rest["next"] == ""
    whole = answer(capsys, "list", "--sort", "key")
    assert first["units"] + rest["units"] == whole["units"]


def test_a_line_of_the_list_is_named_by_its_number(held: Path, capsys) -> None:
    assert run(["list", "--sort", "key"]) == 0
    capsys.readouterr()
    listed = answer(capsys, "list", "--sort", "key")["units"]
    run(["list", "--sort", "key"])
    capsys.readouterr()
    assert run(["get", "2"]) == 0
    assert listed[1]["id"] in capsys.readouterr().out


def test_what_was_replaced_is_listed_with_all_alone(held: Path, capsys) -> None:
    [unit] = answer(capsys, "list", "oslo")["units"]
    answer(capsys, "forget", unit["id"])
    assert run(["list"]) == 0
    assert "2 in all." in capsys.readouterr().out
    assert run(["list", "--all"]) == 0
    said = capsys.readouterr().out
    assert "archived" in said
    assert "3 in all." in said


def test_the_past_is_listed(held: Path, capsys) -> None:
    [report] = answer(capsys, "remember", "The production port is 7654.")
    answer(capsys, "remember", "The ferry to Bergen leaves at ten.")
    assert answer(capsys, "list")["total"] == 5
    assert answer(capsys, "list", "--as-of", report["id"])["total"] == 4


def test_on_a_terminal_no_line_is_wider_than_it(held: Path, shown_by: Callable[..., str]) -> None:
    lines = shown_by("list").splitlines()
    assert len(lines) == 4
    assert max(map(count_columns, lines)) <= 80
    assert "…" in lines[0] + lines[1] + lines[2]


def test_an_order_or_a_page_that_is_none_is_one_line(held: Path, capsys) -> None:
    for words in (["--sort", "nwest"], ["--limit", "0"], ["--after", "x"], ["--kind", "cards"]):
        assert run(["list", *words]) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("kimi-memory: ")

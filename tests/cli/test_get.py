"""``get``: notes by id, lines by citation."""

from __future__ import annotations

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer

PAGE = "# 茶\n\nGreen tea.\nBlack tea.\n乌龙茶。\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["notes/tea.md#L3"], "Green tea."),
        (["notes/tea.md#L3-L4"], "Green tea.\nBlack tea."),
        (["notes/tea.md#L4-L9"], "Black tea.\n乌龙茶。"),
        (["notes/tea.md#L3-L4", "--from", "5"], "乌龙茶。"),
        (["notes/tea.md", "--from", "3", "--lines", "1"], "Green tea."),
        (["notes/tea.md#L0"], "# 茶"),
        (["notes/tea.md"], PAGE.rstrip("\n")),
    ],
    ids=str,
)
def test_a_citation_shows_its_lines(folder, capsys, words: list[str], text: str) -> None:
    (folder / "notes").mkdir()
    (folder / "notes/tea.md").write_text(PAGE, encoding="utf-8")
    assert answer(capsys, "get", *words)["text"] == text


def test_every_citation_of_recall_can_be_read(folder, capsys) -> None:
    run(["remember", "我们决定用 SQLite 当数据库。", "--key", "db.choice"])
    capsys.readouterr()
    hits = answer(capsys, "recall", "SQLite")["hits"]
    assert len(hits) == 2
    for hit in hits:
        assert "SQLite" in answer(capsys, "get", hit["citation"])["text"]


def test_a_turn_is_shown_by_the_id_that_recall_and_turn_print(folder, capsys) -> None:
    run(["session", "turn", "s1", "We meet in Oslo."])
    run(["session", "turn", "s1", "我们在奥斯陆见面。"])
    ref = capsys.readouterr().out.splitlines()[-1]
    assert ref == "session:s1#2"
    shown = answer(capsys, "get", ref)
    assert (shown["path"], shown["from"]) == ("short-term/session_s1.jsonl", 3)
    assert "我们在奥斯陆见面" in shown["text"]
    run(["session", "end", "s1"])
    capsys.readouterr()
    shown = answer(capsys, "get", ref)
    assert shown["path"].startswith("episodic/")
    assert shown["text"].count("\n") == 0
    assert "We meet in Oslo" not in shown["text"]


@pytest.mark.parametrize("ref", ["session:s1#9", "session:s#1", "session:no#1", "session:../x#1"])
def test_a_turn_that_is_not_there_is_named(folder, capsys, ref: str) -> None:
    run(["session", "turn", "s1", "We meet in Oslo."])
    assert run(["get", ref]) == 11
    assert f"No note or file '{ref}'" in capsys.readouterr().err

"""``get``: notes by id, lines by citation."""

from __future__ import annotations

import pytest

from kimi_memory.cli import run
from tests.cli.test_cli import answer, folder  # noqa: F401  a fixture

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
def test_a_citation_shows_its_lines(folder, capsys, words: list[str], text: str) -> None:  # noqa: F811  the fixture
    (folder / "notes").mkdir()
    (folder / "notes/tea.md").write_text(PAGE, encoding="utf-8")
    assert answer(capsys, "get", *words)["text"] == text


def test_every_citation_of_recall_can_be_read(folder, capsys) -> None:  # noqa: F811  the fixture
    run(["remember", "我们决定用 SQLite 当数据库。", "--key", "db.choice"])
    capsys.readouterr()
    hits = answer(capsys, "recall", "SQLite")["hits"]
    assert len(hits) == 2
    for hit in hits:
        assert "SQLite" in answer(capsys, "get", hit["citation"])["text"]

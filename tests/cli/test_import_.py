"""``import``: preview, import, repeat, and the mark on what is recalled."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer


@pytest.fixture
def source(empty_home: Path) -> Path:
    """A folder of cards in the home directory."""
    cards = empty_home / "cards"
    cards.mkdir(exist_ok=True)
    text = "---\ntitle: 选用 PostgreSQL\n---\n我们选了 PostgreSQL，因为 JSON 支持好。\n"
    (cards / "db.md").write_text(text, encoding="utf-8")
    return cards


def test_cards_are_previewed_imported_and_marked(folder, source: Path, capsys) -> None:
    assert run(["import", str(source), "--dry-run"]) == 0
    assert "+trust: import" in capsys.readouterr().out
    assert run(["import", str(source), "--from", "memex"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("~/cards: 1 statements, 0 unchanged")
    assert "ADD" in shown
    assert answer(capsys, "import", str(source))["unchanged"] == 1
    assert run(["recall", "PostgreSQL", "--kind", "card"]) == 0
    assert "imported from memex" in capsys.readouterr().out
    (source / "db.md").unlink()
    (source / "link.md").symlink_to("db.md")
    assert run(["import", str(source)]) == 0
    shown = capsys.readouterr().out
    assert "gone at the source, kept here: db.md#db" in shown
    assert "not read: link.md" in shown


def test_a_source_may_have_a_name_and_must_be_there(folder, source: Path, capsys) -> None:
    assert answer(capsys, "import", str(source), "--name", "memex")["name"] == "memex"
    assert run(["import", str(source / "none")]) == 2


def test_a_file_in_which_nothing_is_a_statement_is_no_success(folder, source: Path, capsys) -> None:
    assert run(["export", "graphml", str(source / "graph.xml")]) == 0
    capsys.readouterr()
    assert run(["import", str(source / "graph.xml")]) == 22
    assert "for reading only" in capsys.readouterr().out

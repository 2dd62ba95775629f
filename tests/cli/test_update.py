"""``update``: imported sources, read again."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.cli import run
from tests.cli.answers import answer


def test_what_changed_at_a_source_comes_along(folder: Path, tmp_path: Path, capsys) -> None:
    assert run(["update"]) == 0
    assert "Nothing was imported yet." in capsys.readouterr().out
    store = tmp_path / "cards"
    store.mkdir()
    (store / "tea.md").write_text("---\ntitle: Tea\n---\n\nI drink green tea.\n", "utf-8")
    answer(capsys, "import", str(store))
    (store / "port.md").write_text("---\ntitle: 端口\n---\n\n部署端口是 8080。\n", "utf-8")
    [seen] = answer(capsys, "update", "--dry-run")["imports"]
    assert seen["unchanged"] == 1
    assert "8080" in seen["jobs"][0]["diff"]
    assert answer(capsys, "list", "8080")["total"] == 0
    assert run(["update"]) == 0
    assert "1 ADD" in capsys.readouterr().out
    assert answer(capsys, "list", "8080")["total"] == 1


def test_a_source_that_is_not_here_is_named(folder: Path, tmp_path: Path, capsys) -> None:
    page = tmp_path / "tea.md"
    page.write_text("# Tea\n\n- I drink green tea.\n", "utf-8")
    answer(capsys, "import", str(page), "--name", "kitchen")
    assert answer(capsys, "update")["away"] == ["kitchen"]
    assert run(["update"]) == 0
    assert "import PATH --name kitchen" in capsys.readouterr().out

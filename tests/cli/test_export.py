"""``export`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.test_cli import answer, folder  # noqa: F401  a fixture


@pytest.mark.parametrize("form", ["cards", "index", "json", "graphml"])
def test_every_form_is_written_once(folder, tmp_path: Path, capsys, form: str) -> None:  # noqa: F811  the fixture
    run(["remember", "我们决定用 PostgreSQL 当数据库。", "--key", "db.choice"])
    capsys.readouterr()
    path = tmp_path / "out"
    done = answer(capsys, "export", form, str(path))
    assert done["path"] == str(path)
    assert done["notes"] >= 1
    text = "".join(p.read_text("utf-8") for p in ([path] if path.is_file() else path.rglob("*.md")))
    assert "db.choice" in text or "PostgreSQL" in text
    assert run(["export", form, str(path)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run(["export", form, str(path), "--force", "--all"]) == 0
    assert "notes" in capsys.readouterr().out


def test_json_is_one_document(folder, tmp_path: Path, capsys) -> None:  # noqa: F811  the fixture
    run(["export", "json", str(tmp_path / "cards.json")])
    assert json.loads((tmp_path / "cards.json").read_text("utf-8"))["memory"] == "测试"

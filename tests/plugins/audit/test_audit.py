"""``audit``: from the command line, as a table and as JSON."""

from __future__ import annotations

import re
from pathlib import Path

from kimi_memory.cli import run
from tests.cli.answers import answer
from tests.cli.conftest import folder  # noqa: F401  a fixture


def test_a_folder_is_measured(tmp_path: Path, capsys) -> None:
    lines = [f"- 小李喜欢第 {n} 种绿茶，不是第 {n + 1} 种" for n in range(30)]
    text = "\n".join([*lines, *lines])
    (tmp_path / "MEMORY.md").write_text(text, encoding="utf-8")
    (tmp_path / "link.md").symlink_to("MEMORY.md")
    assert run(["audit", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "60 statements (60 markdown)" in shown
    assert re.search(r"duplicate +30 +50\.0 %", shown)
    assert "more: --all or --json shows them" in shown
    assert "not read: link.md: a link" in shown
    assert run(["audit", str(tmp_path), "--all"]) == 0
    assert "more: --all" not in capsys.readouterr().out
    report = answer(capsys, "audit", str(tmp_path))
    assert report["counts"]["duplicate"] == 30
    assert len(report["findings"]) >= 30


def test_reasons_and_remedies_are_chinese_where_the_terminal_is(
    tmp_path: Path, capsys, monkeypatch
) -> None:
    said = "- We ship the oven tomorrow\n- 老何明天送面粉到店里\n- Ida has the keys of the shop\n"
    text = said + "- Ida has the keys of the shop\n"
    (tmp_path / "MEMORY.md").write_text(text, encoding="utf-8")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["audit", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "1 个文件，4 条陈述" in shown
    assert "写着 'tomorrow'，没说是哪一天。写上日期。" in shown
    assert re.search(r"与 MEMORY\.md:\d 重复。留一条。", shown)
    words = re.sub(r"MEMORY\.md|markdown|tomorrow|--\w+|/\S+", "", shown)
    assert re.findall(r"[A-Za-z]{3,}", words) == []


def test_without_a_path_the_memory_is_measured(folder, capsys) -> None:  # noqa: F811  the fixture
    assert answer(capsys, "audit")["root"] == str(folder)


def test_wrong_words_have_exit_codes(tmp_path: Path, capsys) -> None:
    assert run(["audit", str(tmp_path / "none")]) == 2
    assert run(["audit", str(tmp_path), "--stale-days", "-1"]) == 2
    assert "does not exist" in capsys.readouterr().err

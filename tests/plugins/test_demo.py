"""The demonstrations that a stranger runs first."""

from __future__ import annotations

from pathlib import Path

import pytest
from kimi_memory.plugins.demo.time_story import WORDS

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.operations.doctor import verify

ROOT = Path(__file__).parent.parent.parent


def test_the_story_of_a_belief_is_told_by_real_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    place = str(tmp_path / "shown")
    assert run(["demo", "time", place]) == 0
    shown = capsys.readouterr().out
    words = WORDS["zh"]
    assert all(f"{number} · {title}" in shown for number, title in enumerate(words.titles, 1))
    before, _, after = shown.partition("--as-of born")
    assert "已合并 trial" in before
    assert words.first in after.partition("diff born")[0]
    assert f"{words.first} → {words.corrected}" in after
    assert f"- 移除      deploy.port              {words.corrected}" in after
    with Memory.open(tmp_path / "shown/memory") as memory:
        assert [one for one in verify(memory) if one.severity == "error"] == []
        assert words.corrected in memory.recall(words.question).hits[0].snippet
    assert run(["demo", "time", place]) != 0
    assert "不是空的" in capsys.readouterr().err
    assert run(["demo", "one", "two"]) != 0
    assert "one folder too many" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("page", "locale"), [("README.md", "C.UTF-8"), ("README.zh.md", "zh_CN.UTF-8")]
)
def test_the_readme_shows_what_the_demonstration_prints(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    page: str,
    locale: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", locale)
    assert run(["demo"]) == 0
    printed = capsys.readouterr().out.splitlines()
    given = [line for line in printed if line.startswith("    | ")]
    assert len(given) > 10
    quoted = (ROOT / page).read_text(encoding="utf-8")
    kept = Path("demo-memory/MEMORY.md").read_text(encoding="utf-8")
    for line in quoted.splitlines():
        starts = (
            "    | ",
            "    xiaozao-",
            "    … ",
            "    quote ",
            "    引文",
            "5 · ",
            "6 · ",
            "7 · ",
        )
        if line.startswith(starts):
            assert line in printed
        if line.startswith("- ") and line.endswith(("0.80)", "0.80）", "0.85）")):
            assert line in kept


def test_both_languages_tell_the_same_steps() -> None:
    assert len(WORDS["en"].titles) == len(WORDS["zh"].titles)

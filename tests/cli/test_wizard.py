"""What ``init`` asks on a terminal."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.cli import run
from tests.cli.conftest import Screen


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with Claude Code and the cards of another system."""
    place = tmp_path / "home"
    (place / ".claude").mkdir(parents=True)
    (place / ".memex/cards").mkdir(parents=True)
    text = "---\ntitle: Tea\n---\n\nI drink green tea.\n"
    (place / ".memex/cards/tea.md").write_text(text, "utf-8")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return place


def settings(folder: Path) -> dict[str, str]:
    found = tomllib.loads((folder / "memory.toml").read_text("utf-8"))["memory"]
    return {name: found.get(name, "") for name in ("name", "language", "timezone")}


def test_answers_make_the_memory(home: Path, tmp_path: Path, shown_by: Callable[..., str]) -> None:
    keys = "小灶\nzh\nAsia/Shanghi\nAsia/Shanghai\ny\ny\nn\n"
    said = shown_by("init", str(tmp_path / "m"), keys=keys)
    assert settings(tmp_path / "m") == {
        "name": "小灶", "language": "zh", "timezone": "Asia/Shanghai",
    }  # fmt: skip
    assert "Asia/Shanghi" in said
    assert "SessionStart" in said.split("Install this for claude?")[0]
    assert str(tmp_path / "m") in (home / ".claude/settings.json").read_text("utf-8")
    assert "green tea" in (tmp_path / "m/MEMORY.md").read_text("utf-8")


def test_enter_takes_what_is_proposed_and_changes_nothing_else(
    home: Path, tmp_path: Path, shown_by: Callable[..., str]
) -> None:
    shown_by("init", str(tmp_path / "kitchen"), keys="\n" * 6)
    assert settings(tmp_path / "kitchen") == {"name": "kitchen", "language": "en", "timezone": ""}
    assert list((home / ".claude").iterdir()) == []
    assert "green tea" not in (tmp_path / "kitchen/MEMORY.md").read_text("utf-8")


def test_the_zone_of_the_machine_is_proposed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown_by: Callable[..., str]
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    said = shown_by("init", str(tmp_path / "m"), keys="\n" * 6)
    assert "[Asia/Shanghai]" in said
    assert settings(tmp_path / "m")["timezone"] == "Asia/Shanghai"


def test_a_closed_terminal_makes_nothing(
    home: Path, tmp_path: Path, screen: Screen, capsys
) -> None:
    screen.type("小灶\n\x04")
    with screen.taken():
        assert run(["init", str(tmp_path / "m")]) == 130
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("way", ["yes", "pipe", "again"])
def test_nothing_is_asked_without_need(
    home: Path, tmp_path: Path, screen: Screen, capsys, way: str
) -> None:
    folder = tmp_path / "m"
    if way == "pipe":
        assert run(["init", str(folder)]) == 0
        assert "[" not in capsys.readouterr().out.splitlines()[0]
        return
    if way == "again":
        run(["init", str(folder)])
    with screen.taken():
        assert run(["init", str(folder), *(["--yes"] if way == "yes" else [])]) == 0
    assert "Enter takes" not in screen.text
    assert ("it stays as it is" in screen.text) is (way == "again")


def test_every_answer_is_an_option(home: Path, tmp_path: Path, capsys) -> None:
    words = ["--name", "K", "--language", "en", "--timezone", "Europe/London", "--agents", "claude"]
    more = ["--import", str(home / ".memex/cards")]
    assert run(["init", str(tmp_path / "m"), *words, *more]) == 0
    assert settings(tmp_path / "m") == {"name": "K", "language": "en", "timezone": "Europe/London"}
    assert (home / ".claude/settings.json").is_file()
    assert "green tea" in (tmp_path / "m/MEMORY.md").read_text("utf-8")
    assert run(["init", str(tmp_path / "n"), "--timezone", "Mars"]) != 0
    assert "memory.timezone" in capsys.readouterr().err

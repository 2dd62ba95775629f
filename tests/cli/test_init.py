"""``init``: a new memory from the command line."""

from __future__ import annotations

import re
import subprocess
import tomllib
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kimi_memory.cli import run


def test_init_makes_the_five_tiers_and_a_repository(folder: Path) -> None:
    for tier in ("short-term", "episodic", "mid-term", "semantic", "long-term"):
        assert (folder / tier).is_dir()
    for page in ("MEMORY.md", "USER.md", "PROJECT.md", "long-term/IDENTITY.md", "memory.toml"):
        assert (folder / page).is_file()
    assert "关于使用者" in (folder / "USER.md").read_text(encoding="utf-8")
    log = subprocess.run(
        ["git", "-C", folder, "log", "--oneline"], capture_output=True, text=True, check=True
    )
    assert "A new memory" in log.stdout


def test_init_takes_one_folder(tmp_path: Path, capsys) -> None:
    assert run(["init", str(tmp_path / "a"), "--memory", str(tmp_path / "b")]) == 2
    assert "Two folders are named." in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


def test_init_twice_changes_nothing(folder: Path, capsys) -> None:
    before = (folder / "memory.toml").read_bytes()
    assert run(["init", str(folder), "--name", "other"]) == 0
    assert (folder / "memory.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("locale", "options", "first"),
    [
        ("zh_CN.UTF-8", [], "# 记忆"),
        ("en_GB.UTF-8", [], "# Memory"),
        ("", ["--name", "小灶"], "# 小灶"),
        ("zh_TW", ["--language", "en"], "# Memory"),
    ],
)
def test_first_pages_speak_the_language_of_the_terminal(
    tmp_path, monkeypatch, locale: str, options: list[str], first: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    assert run(["init", str(tmp_path / "m"), *options]) == 0
    text = (tmp_path / "m/MEMORY.md").read_text("utf-8")
    assert first in text
    who = (tmp_path / "m/long-term/IDENTITY.md").read_text("utf-8")
    assert ("我是谁" in who) is (first != "# Memory")


def test_days_stay_as_they_are_where_the_memory_is_opened_far_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = str(tmp_path / "m")
    for zone in ("Asia/Shanghai", "Pacific/Kiritimati", "America/Los_Angeles"):
        monkeypatch.setenv("TZ", zone)
        assert run(["init", memory]) == 0
        assert run(["remember", f"The office of {zone} is closed.", "--memory", memory]) == 0
    settings = tomllib.loads((tmp_path / "m/memory.toml").read_text("utf-8"))
    assert settings["memory"]["timezone"] == "Asia/Shanghai"
    page = (tmp_path / "m/MEMORY.md").read_text("utf-8")
    assert len(re.findall(rf"is closed\. \({now_in('Asia/Shanghai')}, ", page)) == 3


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "CST-8", "No/Where", "x'y"])
def test_a_machine_without_a_place_gives_no_zone(tmp_path: Path, monkeypatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    assert run(["init", str(tmp_path / "m")]) == 0
    assert "timezone" not in (tmp_path / "m/memory.toml").read_text("utf-8")


def now_in(zone: str) -> str:
    return f"{datetime.now(ZoneInfo(zone)):%Y-%m-%d}"

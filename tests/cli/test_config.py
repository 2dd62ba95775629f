"""``config``: settings, shown and changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.cli.config import file_of
from tests.cli.answers import answer


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own settings file, which is not there yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config/kimi_memory/config.toml"


def test_every_setting_is_listed_with_its_meaning(folder: Path, own: Path, capsys) -> None:
    assert run(["config", "list"]) == 0
    said = capsys.readouterr().out
    for name in ("recall.limit", "memory.timezone", "schedule.daily", "server", "signing.key"):
        assert f"  {name} " in said
    assert "Hits returned when nothing is asked for." in said
    assert run(["config", "list", "recall"]) == 0
    assert "capture" not in capsys.readouterr().out
    assert run(["config", "list", "recal"]) == 2


def test_a_value_is_printed_for_scripts(folder: Path, own: Path, capsys) -> None:
    assert run(["config", "get", "memory.name"]) == 0
    assert capsys.readouterr().out == "测试\n"
    assert run(["config", "get", "capture.auto"]) == 0
    assert capsys.readouterr().out == "true\n"
    assert answer(capsys, "config", "get", "recall.limit")["default"] == 6


def test_a_change_keeps_the_rest_of_the_file(folder: Path, own: Path, capsys) -> None:
    path = folder / "memory.toml"
    path.write_text(path.read_text("utf-8") + "\n# 我的\n[recall]\nlimit = 9  # 够了\n", "utf-8")
    before = path.read_text("utf-8")
    assert run(["config", "set", "recall.limit", "4", "--dry-run"]) == 0
    assert "+limit = 4  # 够了" in capsys.readouterr().out
    assert path.read_text("utf-8") == before
    assert run(["config", "set", "recall.limit", "4"]) == 0
    assert path.read_text("utf-8") == before.replace("limit = 9", "limit = 4")
    assert run(["config", "set", "memory.timezone", "Asia/Shanghai"]) == 0
    capsys.readouterr()
    assert run(["config", "list", "--changed"]) == 0
    said = capsys.readouterr().out
    assert '"Asia/Shanghai"' in said
    assert "recall.limit" in said
    assert "capture.limit" not in said


@pytest.mark.parametrize(
    "said",
    [
        ("recall.limt", "4", "Did you mean 'recall.limit'?"),
        ("recall.min_score", "nan", "'nan' is no value of recall.min_score."),
        ("recall.limit", "-5", "recall.limit is -5. Give a number from 1 to"),
        ("timezone", "UTC", "Did you mean 'memory.timezone'?"),
        ("recall.limit", "many", "Give a whole number"),
        ("recall.limit", "true", "type int"),
        ("recall.fusion", "best", "Choose one of"),
        ("memory.timezone", "Asia/Shanghi", "Asia/Shanghai"),
        ("memory.id", "memory-1", "written by 'init'"),
        ("chunks.overlap_tokens", "600", "cannot overlap"),
        ("memory.name", "password = Xk29dkfQm3Lp99zz", "holds a secret"),
    ],
)
def test_what_is_no_setting_or_no_value_changes_nothing(
    folder: Path, own: Path, capsys, said: tuple[str, str, str]
) -> None:
    name, value, why = said
    before = (folder / "memory.toml").read_bytes()
    assert run(["config", "set", name, value]) != 0
    [line] = capsys.readouterr().err.splitlines()
    assert why in line
    assert (folder / "memory.toml").read_bytes() == before
    assert not own.exists()


def test_what_chooses_hosts_keys_and_plugins_goes_into_ones_own_file(
    folder: Path, own: Path, capsys
) -> None:
    before = (folder / "memory.toml").read_bytes()
    for name, value in (("server", "never"), ("plugins.ollama.host", "http://localhost:11434"),
                        ("signing.key", "~/.ssh/id.pub")):  # fmt: skip
        assert file_of(name) == "config.toml"
        assert run(["config", "set", name, value]) == 0, capsys.readouterr().err
    text = own.read_text("utf-8")
    assert 'server = "never"' in text
    assert '[plugins.ollama]\nhost = "http://localhost:11434"' in text
    assert (folder / "memory.toml").read_bytes() == before
    assert run(["config", "set", "plugins.ollama.hst", "x"]) == 2
    assert "Did you mean 'host'?" in capsys.readouterr().err
    assert run(["config", "set", "server", "sometimes"]) != 0
    assert own.read_text("utf-8") == text


def test_without_a_memory_ones_own_settings_are_there(
    tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.delenv("KIMI_MEMORY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert run(["config", "get", "server"]) == 0
    assert capsys.readouterr().out == "auto\n"
    assert run(["config", "get", "recall.limit"]) == 2


def test_an_editor_changes_the_file_after_a_check(
    folder: Path, own: Path, shown_by, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/测试/小灶/")
    assert '+name = "小灶"' in shown_by("config", "edit")
    assert '"小灶"' in (folder / "memory.toml").read_text("utf-8")
    monkeypatch.setenv("EDITOR", "sed -i s/^format.*/format=true/")
    with pytest.raises(AssertionError):
        shown_by("config", "edit")
    assert "format = 1" in (folder / "memory.toml").read_text("utf-8")


def test_without_a_terminal_no_editor_is_opened(folder: Path, own: Path, capsys) -> None:
    assert os.isatty(0) is False
    assert run(["config", "edit"]) == 2
    assert "config set" in capsys.readouterr().err

"""The user's own directories: one key a machine, settings nobody else can choose."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kimi_memory.api.user_dirs import Home
from kimi_memory.errors import FormatError, UsageError


def test_the_key_is_made_once_and_only_its_owner_reads_it(home: Home) -> None:
    key = home.key()
    assert len(key) == 32
    assert home.key() == key
    assert stat.S_IMODE((home.state / "key").stat().st_mode) == 0o600
    assert sorted(p.name for p in home.state.iterdir()) == ["key"]


def test_many_first_uses_agree_on_one_key(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: home.key(), range(32)))
    assert len(keys) == 1


def test_where_nothing_can_be_written_the_key_is_for_this_process(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    home = Home(tmp_path / "config", tmp_path / "state")
    assert len(home.key()) == 32
    assert home.key() != home.key()


def test_a_damaged_key_is_not_used(home: Home) -> None:
    home.state.mkdir()
    (home.state / "key").write_bytes(b"short")
    assert len(home.key()) == 32


def test_no_settings_are_fine_and_plugins_lie_beside_them(home: Home) -> None:
    assert home.settings().plugin_folder == home.config / "plugins"
    assert home.settings().disabled == ()


def test_settings_reach_plugins_by_name(home: Home) -> None:
    home.config.mkdir()
    text = 'disabled = ["triggers"]\n[plugins.ollama]\nmodel = "bge-m3"\n'
    (home.config / "config.toml").write_text(text, encoding="utf-8")
    settings = home.settings()
    assert settings.plugins["ollama"] == {"model": "bge-m3"}
    assert settings.disabled == ("triggers",)


@pytest.mark.parametrize(
    ("content", "error", "why"),
    [
        (b"[plugins]\na = 1\n", FormatError, "a table per plugin"),
        (b"disabled = 'words'\n", FormatError, "list of plugin names"),
        (b"nonsense", FormatError, r"config\.toml:1: not TOML"),
        (b"\xff\xfe", UsageError, "cannot be read"),
    ],
)
def test_bad_settings_are_named(
    home: Home, content: bytes, error: type[Exception], why: str
) -> None:
    home.config.mkdir()
    (home.config / "config.toml").write_bytes(content)
    with pytest.raises(error, match=why):
        home.settings()


def test_the_users_directories_come_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "s"))
    home = Home.of_user()
    assert home == Home(tmp_path / "c/kimi_memory", tmp_path / "s/kimi_memory")
    assert os.environ["HOME"]

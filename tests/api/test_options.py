"""The user's own directories: one key a machine, settings nobody else can choose."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest
from kimi_memory.plugins import NAMES

from kimi_memory.api.options import Home, unknown_settings, user_host
from kimi_memory.config import MARKER
from kimi_memory.errors import FormatError, UsageError
from kimi_memory.hooks.host import Host


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


def found(tmp_path: Path, memory: str = "", user: str = "", host: Host | None = None) -> list[str]:
    """Return what is said of two settings files."""
    (tmp_path / MARKER).write_text(memory, encoding="utf-8")
    (tmp_path / "config.toml").write_text(user, encoding="utf-8")
    home = Home(tmp_path, tmp_path / "state")
    said = unknown_settings(tmp_path, home, host or user_host(home))
    return [f"{one.message}. {one.remedy}" for one in said]


def test_right_settings_are_nothing_to_speak_of(tmp_path: Path) -> None:
    memory = "[capture]\nmax_chars = 3\n[recall]\nlimit = 2\n[schedule]\ndaily = '03:00'\n"
    user = "disabled = ['demo']\nserver = 'never'\n[plugins.triggers]\nmax_chars = 900\n"
    assert found(tmp_path, memory, user) == []


@pytest.mark.parametrize(
    ("text", "where", "near"),
    [
        ("[capture]\nmax_char = 3\n", "memory.toml:2: [capture] max_char ", "max_chars?"),
        ("[captrue]\nlimit = 3\n", "memory.toml:1: [captrue] ", "[capture]?"),
        ("\n[recal]\n", "memory.toml:2: [recal] ", "[recall]?"),
        ("[memory]\nmax_chars = 3\n", ":2: [memory] max_chars ", "[capture] max_chars?"),
        ("language = 'zh'\n", "memory.toml:1: language ", "[memory] language?"),
        ("[recall]\n\"语言\" = 'zh'\n", ":2: [recall] 语言 ", "See docs/settings.md"),
    ],
    ids=["key", "table", "second line", "wrong table", "no table", "nothing like it"],
)
def test_a_misspelt_name_in_a_memory(tmp_path: Path, text: str, where: str, near: str) -> None:
    (line,) = found(tmp_path, text)
    assert where in line and near in line


@pytest.mark.parametrize(
    ("text", "where", "near"),
    [
        ("servr = 'never'\n", "config.toml:1: servr ", "server?"),
        ("disabled = ['triggerz']\n", ":1: disabled plugin triggerz ", "triggers?"),
        ("[plugins.olama]\nmodel = 'x'\n", ":1: [plugins.olama] ", "[plugins.ollama]?"),
        ("[ollama]\nmodel = 'x'\n", ":1: [ollama] ", "[plugins.ollama]?"),
        ("[plugins.ollama]\nmodle = 'x'\n", ":2: [plugins.ollama] modle ", "model?"),
        ("[plugins.demo]\nx = 1\n", ":2: [plugins.demo] x ", "See docs"),
    ],
    ids=["key", "disabled", "plugin", "no plugins table", "plugin's key", "a plugin without any"],
)
def test_a_misspelt_name_of_the_user(tmp_path: Path, text: str, where: str, near: str) -> None:
    (line,) = found(tmp_path, user=text)
    assert where in line and near in line


def test_a_plugin_that_does_not_say_what_it_takes_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    source = "def create(settings):\n    return object()\n"
    (tmp_path / "plugins/mine.py").write_text(source, encoding="utf-8")
    assert found(tmp_path, user="[plugins.mine]\nanything = 1\n") == []


def test_files_that_are_missing_or_broken_are_no_matter_here(tmp_path: Path) -> None:
    home = Home(tmp_path, tmp_path / "state")
    assert unknown_settings(tmp_path, home, Host()) == []
    assert found(tmp_path, "[[[", host=Host()) == []


class Asked(dict[str, object]):
    """Settings that note what is looked for in them."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def get(self, key: str, default: object = None) -> object:  # type: ignore[override]  # nobody asks for another type
        """Note the name, and say that it is not there; without a server little more is asked."""
        self.names.add(key)
        return "http://127.0.0.1:1" if key == "base_url" else default

    def __contains__(self, key: object) -> bool:
        self.names.add(str(key))
        return False


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_bundled_plugin_names_the_settings_it_takes(name: str) -> None:
    """A setting that is read but not named would be called unknown."""
    module, asked = import_module(f"kimi_memory.plugins.{name}"), Asked()
    if create := getattr(module, "create", None):
        create(asked)
    assert asked.names == set(getattr(module, "SETTINGS", ()))

"""Misspelt settings: each is named with its place and the nearest one that exists."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from kimi_memory.plugins import NAMES

from kimi_memory.api.options import user_host
from kimi_memory.api.user_dirs import Home
from kimi_memory.config import MARKER
from kimi_memory.hooks.host import Host
from kimi_memory.operations.unknown_settings import unknown_settings


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

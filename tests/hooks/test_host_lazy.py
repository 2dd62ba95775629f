"""Bundled plugins behind their stand-ins."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from kimi_memory.plugins import NAMES

from kimi_memory import hookimpl
from kimi_memory.errors import PluginError
from kimi_memory.hooks.host import Host, stand_in
from kimi_memory.hooks.specs import SPECS


def marks(plugin: object) -> dict[str, dict[str, object]]:
    """What pluggy would find in a plugin: options of its hooks."""
    return {hook: getattr(plugin, hook).kimi_memory_impl for hook in SPECS if hasattr(plugin, hook)}


def arguments(function: object) -> tuple[str, ...]:
    code = function.__code__  # type: ignore[attr-defined]  # told by what it is
    names = code.co_varnames[: code.co_argcount]
    return tuple(name for name in names if name != "self")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_stated_of_a_plugin_is_what_it_has(name: str) -> None:
    module = importlib.import_module(f"kimi_memory.plugins.{name}")
    plugin = module.create({}) if hasattr(module, "create") else module
    assert marks(stand_in(NAMES[name], lambda: plugin)) == marks(plugin)
    for hook in marks(plugin):
        assert set(arguments(getattr(plugin, hook))) <= set(arguments(SPECS[hook])), hook


def test_a_host_imports_no_plugin_before_its_hook_is_asked() -> None:
    code = (
        "import sys; from kimi_memory.hooks.host import Host; host = Host(entry_points=False)\n"
        "def seen(): return {m for m in sys.modules if m.startswith('kimi_memory.plugins.')}\n"
        "assert not seen(), seen()\n"
        "host.answer('split_words', text='部署 deploy')\n"
        "assert seen() == {'kimi_memory.plugins.words'}, seen()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_plugin_with_settings_is_made_at_once() -> None:
    with pytest.raises(PluginError, match="not an RE2 pattern"):
        Host({"privacy": {"extra": {"staff": "("}}}, entry_points=False)


def test_the_plugin_behind_a_stand_in_is_found_once() -> None:
    found: list[str] = []

    def split_words(text: str) -> list[str]:
        return text.split()

    def find() -> object:
        found.append("once")
        return SimpleNamespace(split_words=split_words)

    host = Host(entry_points=False)
    host.register(stand_in(["split_words"], find), "spaces")
    assert not found
    assert host.answer("split_words", text="部署 deploy") == ["部署", "deploy"]
    assert host.answer("split_words", text="again") == ["again"]
    assert found == ["once"]


def test_a_wrapper_behind_a_stand_in_changes_the_answer() -> None:
    class Shout:
        @hookimpl(wrapper=True)
        def split_words(self, text: str) -> Iterator[None]:
            return [word.upper() for word in (yield)]  # type: ignore[return-value, attr-defined]  # pluggy sends in the answer

    host = Host(entry_points=False)
    host.register(stand_in(["split_words wrapper"], Shout), "shout")
    assert "DEPLOY" in host.answer("split_words", text="deploy 部署")


def test_the_plugin_behind_a_stand_in_is_named_when_it_fails() -> None:
    def split_words(text: str) -> list[str]:
        raise KeyError(text)

    plugin = SimpleNamespace(split_words=split_words)
    host = Host(entry_points=False)
    host.register(stand_in(["split_words"], lambda: plugin), "broken")
    with pytest.raises(PluginError, match="'broken' failed in split_words: KeyError: '词'"):
        host.answer("split_words", text="词")

"""What an import loads: little, because every hook command of an editor starts with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NEVER = {
    *("numpy", "usearch", "whoosh", "ollama", "jinja2", "watchfiles", "yaml", "frontmatter"),
    *("re2", "Stemmer", "platformdirs", "importlib.metadata", "asyncio", "sqlite3", "http"),
    *("kimi_memory.cli", "kimi_memory.agent_hooks", "kimi_memory.server", "kimi_memory.plugins"),
}
"""Loaded when first needed, never by an import of the public face."""

LOADED = """
import sys
before = set(sys.modules)
{statement}
print("\\n".join(sorted(set(sys.modules) - before)))
"""


def loads(statement: str) -> set[str]:
    """The modules that a statement adds in a fresh interpreter."""
    # -I: neither the working directory nor the environment adds anything
    argv = [sys.executable, "-I", "-c", LOADED.format(statement=statement)]
    return set(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "kimi_memory"}


def foreign(modules: set[str]) -> set[str]:
    tops = {name.split(".")[0] for name in modules}
    return tops - set(sys.stdlib_module_names) - {"kimi_memory"}


@pytest.mark.parametrize("statement", ["import kimi_memory", "from kimi_memory import Memory"])
def test_an_import_loads_nothing_heavy(statement: str) -> None:
    assert not loads(statement) & NEVER


@pytest.mark.parametrize("module", ["cli.session", "runs"])
def test_what_searches_nothing_loads_no_arrays(module: str) -> None:
    assert "numpy" not in loads(f"import kimi_memory.{module}")


def test_the_bare_import_loads_nothing_else() -> None:
    assert ours(loads("import kimi_memory")) == {"kimi_memory"}


@pytest.mark.parametrize(
    ("statement", "libraries"),
    [
        ("import kimi_memory", set()),
        ("from kimi_memory import hookimpl", {"pluggy"}),
        ("from kimi_memory import Memory", {"pluggy"}),
    ],
)
def test_pluggy_is_the_one_foreign_library(statement: str, libraries: set[str]) -> None:
    assert foreign(loads(statement)) == libraries


CLIENT_MODULES = 29


def test_the_client_loads_values_and_httpx() -> None:
    loaded = loads("import kimi_memory.client")
    assert len(ours(loaded)) <= CLIENT_MODULES, sorted(ours(loaded))
    assert not loaded & (NEVER - {"http", "asyncio", "kimi_memory.server"})
    assert not {name for name in loaded if name.startswith(("kimi_memory.api", "kimi_memory.jobs"))}


HEAVY = {"numpy", "usearch", "whoosh", "ollama", "jinja2", "watchfiles", "importlib.metadata"}


def test_the_bundled_plugins_load_their_libraries_when_asked() -> None:
    statement = "from kimi_memory.hooks.host import Host; Host(entry_points=False)"
    assert not loads(statement) & HEAVY


def test_capturing_a_turn_loads_nothing_heavy(tmp_path: Path) -> None:
    from kimi_memory import Memory

    Memory.create(tmp_path / "记忆").close()
    captured = "turn(Role.USER, '记住：端口是 5432。')"
    loaded = loads(
        "from kimi_memory import Memory\n"
        "from kimi_memory.domain.session import Role\n"
        f"with Memory.open({str(tmp_path / '记忆')!r}) as memory:\n"
        f"    memory.session('s1').{captured}"
    )
    assert "kimi_memory.capture.log" in loaded
    # Installed plugins are looked for, and MEMORY.md is made of its template.
    assert not loaded & (HEAVY - {"importlib.metadata", "jinja2"})


def test_a_loaded_library_would_be_seen() -> None:
    assert loads("import yaml, importlib.metadata") & NEVER == {"yaml", "importlib.metadata"}

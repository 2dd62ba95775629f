"""The stages of a memory's life, imported when they are first used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.api import stages

_GIT = (
    *("attributes", "cache", "command", "commit", "fast_import", "files", "health", "history"),
    *("index", "locks", "log", "read", "rewrite", "tree"),
)
FORBIDDEN = (
    "kimi_memory.jobs.",
    "kimi_memory.capture.log",
    "kimi_memory.capture.ingest",
    "kimi_memory.capture.views",
    *(f"kimi_memory.store.git.{name}" for name in _GIT),
    "importlib.metadata",
)


@pytest.mark.parametrize("name", stages.__all__)
def test_every_stage_is_found_where_it_lives(name: str) -> None:
    found = getattr(stages, name)
    home = sys.modules[f"kimi_memory.{stages._HOMES[name]}"]
    assert found in (home, getattr(home, name, None))


def test_a_stage_that_is_none_is_refused() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        stages.Nothing  # type: ignore[attr-defined]  # noqa: B018  the access itself fails


def test_recall_imports_no_stage(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "m") as memory:
        memory.remember("数据库用 PostgreSQL。")
    code = (
        "import sys; from kimi_memory.cli import run\n"
        f"assert run(['recall', '--memory', {str(tmp_path / 'm')!r}, '数据库']) == 0\n"
        f"seen = [m for m in sys.modules if m.startswith({FORBIDDEN!r})]\n"
        "assert not seen, seen"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "PostgreSQL" in done.stdout

"""What files held when they had a mark, of few and of many files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.domain.change import digest
from kimi_memory.store.git.history import History
from kimi_memory.store.git.old_contents import find_contents
from tests.store.git.repositories import make, write


@pytest.mark.parametrize("count", [3, 60], ids=["few", "many"])
def test_old_contents_are_found_by_so_many_calls_as_versions_are_looked_at(
    count: int, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"semantic/备忘/{number}.md" for number in range(count)]
    for version in ("first", "第二", "third"):
        for path in paths:
            write(history.root, path, f"{path} {version}\n")
        history.commit(version)
    marks = {path: digest(f"{path} first\n".encode()) for path in paths}
    marks |= {paths[0]: digest(b"never"), "semantic/none.md": digest(b"new")}
    calls = list[object]()
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: calls.append(a) or run(*a, **k))
    found = find_contents(history, marks)
    assert found == {path: f"{path} first\n".encode() for path in paths[1:]}
    assert len(calls) < 12


def test_without_a_history_nothing_is_found(root: Path) -> None:
    assert find_contents(make(root), {"a.md": digest(b"a")}) == {}

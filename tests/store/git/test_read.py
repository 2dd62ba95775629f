"""What is read from a history."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.read import read_graph, read_names, read_versions


def test_a_history_without_commits_has_no_versions(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert read_versions(Git(tmp_path, None), ["episodic"]) == []
    assert read_graph(Git(tmp_path, None), "HEAD") == []
    assert read_names(Git(tmp_path, None)) == {}


def test_a_commit_that_is_not_there_has_no_graph(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    here = Git(tmp_path, None)
    assert read_graph(here, "1" * 40) == [], "before the first commit there is nothing"
    who = ("-c", "user.name=Li", "-c", "user.email=li@example.org")
    made = ("commit", "-q", "--allow-empty", "-m", "First")
    subprocess.run(["git", "-C", str(tmp_path), *who, *made], check=True)
    with pytest.raises(HistoryError, match="rev-list failed"):
        read_graph(here, "1" * 40)

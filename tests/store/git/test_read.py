"""What is read from a history."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kimi_memory.store.git.command import Git
from kimi_memory.store.git.read import read_graph, read_names, read_versions


def test_a_history_without_commits_has_no_versions(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert read_versions(Git(tmp_path, None), ["episodic"]) == []
    assert read_graph(Git(tmp_path, None), "HEAD") == []
    assert read_names(Git(tmp_path, None)) == {}

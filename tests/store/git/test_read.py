"""What is read from a history."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.read import read_blobs, read_graph, read_names, read_versions
from tests.store.git.repositories import git, write


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


def test_blobs_are_read_wherever_git_keeps_them(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    texts = {"packed": "p", "loose": "部署\n\0", "empty": "", "broken": "b" * 90}
    write(tmp_path, "packed", texts["packed"])
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "One")
    git(tmp_path, "repack", "-adq")
    for name, text in texts.items():
        write(tmp_path, name, text)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Two")
    here = Git(tmp_path, tmp_path / ".git")
    ids = {name: git(tmp_path, "rev-parse", f"HEAD:{name}").strip() for name in texts}
    wanted = {ids[name]: text.encode() for name, text in texts.items()}
    assert read_blobs(here, ids.values()) == wanted
    broken = tmp_path / ".git/objects" / ids["broken"][:2] / ids["broken"][2:]
    broken.chmod(0o644)
    broken.write_bytes(broken.read_bytes()[:9])
    with pytest.raises(HistoryError, match="cat-file"):
        read_blobs(here, [ids["broken"]])

"""Commits as loose objects: git reads them, and nobody else loses a right."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.loose import name_commit, write_commit
from tests.store.git.repositories import git


def test_git_reads_what_is_written_and_finds_nothing_odd(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    git(tmp_path, *who, "commit", "-q", "--allow-empty", "-m", "one")
    repository = Git(tmp_path, tmp_path / ".git")
    objects = tmp_path / ".git/objects"
    objects.chmod(0o2775)
    raw = repository.run("cat-file", "commit", "HEAD").replace(b"one", "第二".encode())
    made = write_commit(repository, raw)
    assert made == name_commit(raw) == write_commit(repository, raw)
    assert repository.run("cat-file", "commit", made) == raw
    git(tmp_path, "update-ref", "refs/heads/main", made)
    git(tmp_path, "fsck", "--strict")
    [file] = (objects / made[:2]).iterdir()
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o2775
    assert stat.S_IMODE(file.stat().st_mode) == 0o444


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    repository = Git(tmp_path, tmp_path / ".git")
    raw = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nx"
    place = tmp_path / ".git/objects" / name_commit(raw)[:2]
    place.write_bytes(b"")
    with pytest.raises(HistoryError, match="could not be written"):
        write_commit(repository, raw)

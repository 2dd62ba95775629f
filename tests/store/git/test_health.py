"""Faults of a history, as the doctor names them."""

import os
import shutil
from pathlib import Path

import pytest

from kimi_memory.domain.health import Severity
from kimi_memory.errors import HistoryError
from tests.store.git.repositories import git, write


def test_a_damaged_object_is_found_and_said(history, root):
    write(root, "a.md", "to be lost\n")
    history.commit("x")
    name = lose(root, "HEAD:a.md")
    found = [f for f in history.check() if f.severity is Severity.ERROR]
    assert len(found) == 1
    assert name in found[0].message
    assert "backup" in found[0].remedy
    with pytest.raises(HistoryError, match="cat-file"):
        history.content("HEAD", "a.md")
    write(root, "b.md")
    assert history.changed(history.commit("no need of it")) == [("A", "b.md")]


def lose(root: Path, name: str) -> str:
    """Remove an object of the repository; return its hash."""
    found = git(root, "rev-parse", name)
    lost = root / ".git/objects" / found[:2] / found[2:]
    lost.chmod(0o644)
    lost.unlink()
    return found


def test_a_sound_history_has_no_findings(history):
    assert history.check() == []


def test_a_head_that_names_no_branch_is_found(history, root):
    write(root, "a.md")
    history.commit("x")
    git(root, "symbolic-ref", "HEAD", "refs/heads/nowhere")
    [found] = history.check()
    assert found.severity is Severity.ERROR
    assert found.message == (
        "HEAD names nowhere, and there is no such branch, so the history is not seen"
    )
    command = found.remedy.split("'")[1].split()
    git(root, *command[1:])
    assert history.check() == []


def test_the_doctor_sees_locks_and_unsafe_settings(history, root):
    (root / ".git/index.lock").touch()
    git(root, "config", "core.fsync", "none")
    git(root, "config", "gc.auto", "6700")
    messages = [finding.message for finding in history.check()]
    assert "a lock file of git" in messages
    assert "setting core.fsync is not all" in messages
    assert "setting gc.auto is not 0" in messages
    (root / ".git/index.lock").unlink()
    history.init()
    assert history.check() == []


def test_an_old_git_is_reported(history, root, monkeypatch, tmp_path):
    real = shutil.which("git")
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *version) echo git version 2.30.1;; *) exec {real} "$@";; esac\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:{os.environ['PATH']}")
    (finding,) = history.check()
    assert "2.30.1" in finding.message

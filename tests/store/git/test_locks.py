"""Lock files of a dead git, and those that may have an owner."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from kimi_memory.store.git import locks as git_locks
from kimi_memory.store.git.locks import find_locks, remove_stale


@pytest.fixture
def root(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def lock(root: Path, name: str, age: float = 60) -> Path:
    made = root / ".git" / name
    made.parent.mkdir(parents=True, exist_ok=True)
    made.touch()
    os.utime(made, (time.time() - age, time.time() - age))
    return made


NAMES = ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "refs/heads/a/b.lock"]


def test_old_locks_go_and_only_they(root):
    locks = [lock(root, name) for name in [*NAMES, "objects/info/commit-graph.lock"]]
    other = lock(root, "objects/aa/x.lock")
    assert find_locks(root / ".git") == sorted(locks)
    assert sorted(remove_stale({root / ".git"}, root, time.time())) == sorted(locks)
    assert find_locks(root / ".git") == []
    assert other.exists()


def test_a_lock_younger_than_our_own_is_somebodys(root):
    lock(root, "index.lock", age=60)
    assert remove_stale({root / ".git"}, root, time.time() - 120) == []


def test_a_lock_of_a_moment_ago_is_somebodys(root):
    lock(root, "index.lock", age=1)
    assert remove_stale({root / ".git"}, root, time.time()) == []


def test_a_lock_from_the_future_is_left(root):
    lock(root, "index.lock", age=-3600)
    assert remove_stale({root / ".git"}, root, time.time()) == []


@pytest.mark.parametrize("where", [".", "semantic", ".git"])
def test_a_lock_is_kept_while_a_git_works_in_the_folder(root, where):
    (root / where).mkdir(exist_ok=True)
    made = lock(root, "HEAD.lock")
    with subprocess.Popen(
        ["git", "hash-object", "--stdin"],
        cwd=root / where,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as working:
        wait_for_git(working.pid)
        assert remove_stale({root / ".git"}, root, time.time()) == []
        working.communicate(b"")
    assert remove_stale({root / ".git"}, root, time.time()) == [made]


def wait_for_git(pid: int) -> None:
    """Wait until the child is git: the kernel names it a moment after it started."""
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() != "git":
        assert time.monotonic() < deadline


def test_a_git_elsewhere_owns_nothing_here(root, tmp_path_factory):
    made = lock(root, "index.lock")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with subprocess.Popen(
        ["git", "hash-object", "--stdin"],
        cwd=elsewhere,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    ) as working:
        assert remove_stale({root / ".git"}, root, time.time()) == [made]
        working.communicate(b"")


def test_where_processes_cannot_be_seen_a_lock_must_be_very_old(root, monkeypatch, tmp_path):
    monkeypatch.setattr(git_locks, "PROCESSES", tmp_path / "absent")
    young = lock(root, "index.lock", age=60)
    old = lock(root, "HEAD.lock", age=1200)
    assert remove_stale({root / ".git"}, root, time.time()) == [old]
    assert young.exists()


def test_a_process_we_may_not_look_into_may_own_the_lock(root, monkeypatch, tmp_path):
    process = tmp_path / "proc" / "17"
    process.mkdir(parents=True)
    monkeypatch.setattr(git_locks, "PROCESSES", process.parent)
    made = lock(root, "index.lock")
    (process / "comm").write_text("git\n")
    # Reading a plain file as a link fails like a look into another user's process.
    (process / "cwd").touch()
    assert remove_stale({root / ".git"}, root, time.time()) == []
    (process / "comm").write_text("bash\n")
    assert remove_stale({root / ".git"}, root, time.time()) == [made]


def test_a_process_that_just_ended_owns_nothing(root, monkeypatch, tmp_path):
    process = tmp_path / "proc" / "17"
    process.mkdir(parents=True)
    monkeypatch.setattr(git_locks, "PROCESSES", process.parent)
    made = lock(root, "index.lock")
    assert remove_stale({root / ".git"}, root, time.time()) == [made]


def test_a_lock_that_its_owner_removes_meanwhile_is_no_error(root):
    gone = root / ".git/index.lock"
    gone.symlink_to("nowhere")
    assert git_locks._is_old(gone, time.time()) is False
    gone.unlink()
    assert git_locks._is_old(gone, time.time()) is False

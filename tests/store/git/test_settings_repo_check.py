"""A memory folder and the repositories it may lie in or be; lock files a dead git left there."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import settings
from kimi_memory.store.git.history import History
from kimi_memory.store.git.settings import find_locks, kept_outside, remove_stale


def make(root: Path) -> History:
    root.mkdir(parents=True, exist_ok=True)
    return History(root, lock=nullcontext, clock=lambda: datetime.now(UTC))


def git(root: Path, *arguments: str) -> str:
    person = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@example.org",
        "-c",
        "protocol.file.allow=always",
    ]
    done = subprocess.run(
        ["git", "-C", str(root), *person, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


def project(root: Path) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q")
    (root / "main.py").write_text("print()\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "code")
    return root


@pytest.mark.parametrize(
    "name", ["memory", "docs/记 忆", "a[b]*?", "#x", "!x", "back\\slash", ":(exclude)x", "-x"]
)
def test_a_memory_inside_a_project_is_hidden_from_it(tmp_path, name):
    outer = project(tmp_path / "code")
    exclude = outer / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_bytes(b"*.o")
    history = make(outer / name)
    (note,) = history.init()
    assert f"Nested inside the repository {outer}" in note
    assert str(exclude) in note
    (history.root / "a.md").write_text("x\n")
    assert history.commit("x")
    assert git(outer, "status", "--porcelain") == ""
    assert exclude.read_bytes().startswith(b"*.o\n/")
    assert make(outer / name).init() == []
    (outer / "other").mkdir()
    (outer / "other" / "b.md").write_text("x")
    assert git(outer, "status", "--porcelain") == "?? other/"


def test_a_folder_the_project_already_ignores_needs_no_entry(tmp_path):
    outer = project(tmp_path / "code")
    (outer / ".gitignore").write_text("/memory/\n")
    before = sorted((outer / ".git/info").rglob("*"))
    (note,) = make(outer / "memory").init()
    assert "already ignored" in note
    assert sorted((outer / ".git/info").rglob("*")) == before


def test_files_the_project_tracks_are_not_taken_from_it(tmp_path):
    outer = project(tmp_path / "code")
    memory = outer / "memory"
    memory.mkdir()
    (memory / "a.md").write_text("x")
    git(outer, "add", "-A")
    with pytest.raises(HistoryError, match=r"already tracks files.*git rm -r --cached"):
        make(memory).init()
    assert not (memory / ".git").exists()


def test_a_name_that_cannot_be_ignored_is_said(tmp_path):
    outer = project(tmp_path / "code")
    (note,) = make(outer / "new\nline").init()
    assert "never add it" in note


def test_an_exclude_file_that_cannot_be_written_is_said(tmp_path):
    outer = project(tmp_path / "code")
    exclude = outer / ".git/info/exclude"
    exclude.unlink(missing_ok=True)
    exclude.mkdir(parents=True)
    (note,) = make(outer / "memory").init()
    assert "add it to" in note
    assert make(outer / "memory").ready()


def test_a_worktree_of_a_project_hides_the_memory_too(tmp_path):
    outer = project(tmp_path / "code")
    git(outer, "worktree", "add", "-q", str(tmp_path / "linked"))
    (note,) = make(tmp_path / "linked" / "memory").init()
    assert str(outer / ".git/info/exclude") in note
    assert git(tmp_path / "linked", "status", "--porcelain") == ""


def test_a_submodule_hides_the_memory_inside_it(tmp_path):
    library = project(tmp_path / "library")
    outer = project(tmp_path / "code")
    git(outer, "submodule", "add", "-q", str(library), "lib")
    (note,) = make(outer / "lib" / "memory").init()
    assert "modules/lib/info/exclude" in note
    assert git(outer / "lib", "status", "--porcelain") == ""


def test_a_memory_does_not_become_a_submodule_or_a_foreign_worktree(tmp_path):
    library = project(tmp_path / "library")
    outer = project(tmp_path / "code")
    git(outer, "submodule", "add", "-q", str(library), "lib")
    git(outer, "worktree", "add", "-q", str(tmp_path / "linked"))
    for place in (outer / "lib", tmp_path / "linked"):
        assert not make(place).ready()
        with pytest.raises(HistoryError, match="submodule or a worktree"):
            make(place).init()


def test_a_memory_does_not_lie_in_a_repositorys_own_files(tmp_path):
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    outer = project(tmp_path / "code")
    for place in (tmp_path / "bare.git", tmp_path / "bare.git/memory", outer / ".git/memory"):
        with pytest.raises(HistoryError, match="own files"):
            make(place).init()


def test_the_root_of_a_project_is_refused_with_advice(tmp_path):
    outer = project(tmp_path / "code")
    with pytest.raises(HistoryError, match=r"other content \(main\.py.*git config kimi\.memory 1"):
        make(outer).init()
    with pytest.raises(HistoryError, match="no history here"):
        make(outer).commit("x")
    git(outer, "config", "kimi.memory", "1")
    assert make(outer).init() == []
    assert make(outer).commit("x")


def test_a_project_whose_files_are_only_staged_is_refused(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.c").write_text("x")
    git(tmp_path, "add", "-A")
    with pytest.raises(HistoryError, match="other content"):
        make(tmp_path).init()


def test_a_folder_of_notes_that_is_no_memory_is_refused(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "README.md").write_text("x")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    with pytest.raises(HistoryError, match="other content"):
        make(tmp_path).init()


def test_a_fresh_repository_is_taken(tmp_path):
    git(tmp_path, "init", "-q")
    assert make(tmp_path).init() == []
    (tmp_path / "a.md").write_text("x")
    assert make(tmp_path).commit("x")


@pytest.mark.parametrize("how", ["init", "commit"])
def test_a_clone_of_a_memory_is_taken(tmp_path, how):
    first = make(tmp_path / "first")
    first.init()
    (first.root / "memory.toml").write_text("[memory]\n")
    (first.root / "semantic").mkdir()
    (first.root / "semantic/a.md").write_text("x")
    first.commit("x")
    git(tmp_path, "clone", "-q", "first", "second")
    second = make(tmp_path / "second")
    assert second.ready(), "a clone has its history before anybody says init"
    if how == "init":
        assert second.init() == []
    (second.root / "semantic/b.md").write_text("x")
    assert second.commit("y")
    assert git(second.root, "config", "core.fsync") == "all"
    assert git(second.root, "config", "kimi.memory") == "true"
    assert second.check() == []


def test_an_unknown_repository_without_commits_is_no_clone(tmp_path):
    git(tmp_path, "init", "-q")
    assert not make(tmp_path).ready()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("filter.lfs.clean", "evil %f"),
        ("core.fsmonitor", "evil"),
        ("core.hooksPath", "hooks"),
        ("alias.st", "!evil"),
        ("remote.origin.uploadpack", "evil"),
        ("extensions.partialClone", "origin"),
        ("include.path", "elsewhere"),
        ("extensions.objectFormat", "sha256"),
    ],
)
def test_a_repository_with_programs_in_its_settings_is_not_adopted(tmp_path, name, value):
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.repositoryFormatVersion", "1")
    git(tmp_path, "config", name, value)
    with pytest.raises(HistoryError, match="may run programs"):
        make(tmp_path).init()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files away")
def test_a_project_that_cannot_be_read_is_mentioned(tmp_path, monkeypatch):
    outer = project(tmp_path / "code")
    for path in (outer, outer / ".git"):
        os.chown(path, 12345, 12345)
    memory = outer / "memory"
    (note,) = make(memory).init()
    assert "could not be read" in note
    assert "dubious ownership" in note
    assert make(memory).ready()


def test_an_inherited_git_folder_is_not_taken_for_the_outer_one(tmp_path, monkeypatch):
    outer = project(tmp_path / "code")
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    history = make(tmp_path / "memory")
    assert history.init() == []
    assert (history.root / ".git").is_dir()


@pytest.mark.parametrize("how", ["tracked", "past", "untracked", "alone"])
def test_a_repository_around_a_memory_that_holds_its_files_is_told(tmp_path, how):
    root = tmp_path / "记忆"
    root.mkdir()
    (root / "a.md").write_text("x")
    if how != "alone":
        git(tmp_path, "init", "-q")
    if how in {"tracked", "past"}:
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    if how == "past":
        git(tmp_path, "rm", "-rq", "--cached", root.name)
        git(tmp_path, "commit", "-qm", "y")
    found = kept_outside(root, own=False)
    assert found == (str(tmp_path) if how in {"tracked", "past"} else "")
    git(root, "init", "-q")
    assert kept_outside(root, own=True) == found


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
    deadline = time.monotonic() + 60
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
    monkeypatch.setattr(settings, "PROCESSES", tmp_path / "absent")
    young = lock(root, "index.lock", age=60)
    old = lock(root, "HEAD.lock", age=1200)
    assert remove_stale({root / ".git"}, root, time.time()) == [old]
    assert young.exists()


def test_a_process_we_may_not_look_into_may_own_the_lock(root, monkeypatch, tmp_path):
    process = tmp_path / "proc" / "17"
    process.mkdir(parents=True)
    monkeypatch.setattr(settings, "PROCESSES", process.parent)
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
    monkeypatch.setattr(settings, "PROCESSES", process.parent)
    made = lock(root, "index.lock")
    assert remove_stale({root / ".git"}, root, time.time()) == [made]


def test_a_lock_that_its_owner_removes_meanwhile_is_no_error(root):
    gone = root / ".git/index.lock"
    gone.symlink_to("nowhere")
    assert settings._is_old(gone, time.time()) is False
    gone.unlink()
    assert settings._is_old(gone, time.time()) is False

"""The git binary: what reaches it, and how its failures read."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import command as module
from kimi_memory.store.git.command import (
    SAFE,
    Git,
    clean_environment,
    decode,
    encode,
    end_group,
    one_line,
    refusal,
)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    made = Git(tmp_path, tmp_path / ".git")
    made.run("init", "--quiet", "--template=")
    return made


def test_inherited_git_variables_do_not_reach_git(git, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(elsewhere))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.quotePath")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    git.run("hash-object", "-w", "--stdin", feed=b"x")
    assert not elsewhere.exists()
    assert git.run("config", "--get", "core.quotePath") == b"false\n"


def test_every_call_carries_the_safe_settings(git):
    shown = dict(
        row.split("\n", 1) for row in decode(git.run("config", "--list", "-z")).split("\0")[:-1]
    )
    assert {name: shown[name.lower()] for name in SAFE} == SAFE
    assert shown["core.hookspath"] == "/dev/null"
    assert shown["core.fsmonitor"] == "false"
    assert shown["core.fsync"] == "all"
    assert shown["safe.barerepository"] == "explicit"
    environment = clean_environment()
    assert environment["GIT_CONFIG_GLOBAL"] == "/dev/null"
    assert environment["GIT_LITERAL_PATHSPECS"] == "1"
    assert environment["GIT_OPTIONAL_LOCKS"] == "0"
    assert environment["GIT_TERMINAL_PROMPT"] == "0"


def test_the_persons_own_configuration_is_not_read(git, tmp_path, monkeypatch):
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = 王\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert git.call("config", "--get", "user.name").code == 1


@pytest.mark.parametrize("home", [None, ""], ids=["unset", "empty"])
def test_git_works_without_a_home(git, monkeypatch, home):
    monkeypatch.delenv("HOME")
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert git.run("rev-parse", "--git-dir")


def test_missing_git_says_what_to_do(git, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for attempt in (lambda: git.run("version"), lambda: git.stream("fast-import")):
        with pytest.raises(HistoryError, match="Install git") as caught:
            attempt()
        assert "git = false" in str(caught.value)


def test_a_git_that_does_not_end_is_given_up(git, monkeypatch, tmp_path):
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.05)
    with pytest.raises(HistoryError, match=r"git version did not end within 0\.05 seconds"):
        git.run("version")
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 60)
    with pytest.raises(HistoryError, match="git status was not started, as one before did not"):
        git.run("status")
    monkeypatch.undo()
    monkeypatch.setattr(git, "_rests_until", 0.0)
    assert git.run("version")


@pytest.mark.parametrize("feed", [b"", b"x" * 1_000_000], ids=["nothing", "much"])
def test_what_a_hanging_wrapper_of_git_started_ends_with_it(git, monkeypatch, tmp_path, feed):
    fake, seen = tmp_path / "bin" / "git", tmp_path / "child"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\n/bin/sleep 60 <&0 &\necho $! > {seen}\nwait\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 1)
    started = time.monotonic()
    with pytest.raises(HistoryError, match="did not end within 1 seconds"):
        git.run("version", feed=feed)
    assert time.monotonic() - started < 30
    child = int(seen.read_text())
    while Path(f"/proc/{child}/cmdline").exists() and Path(f"/proc/{child}/cmdline").read_bytes():
        assert time.monotonic() - started < 30
    monkeypatch.setattr(git, "_rests_until", 0.0)
    with git.stream("version") as process:
        end_group(process)
    assert time.monotonic() - started < 30


def test_only_commands_over_a_whole_history_may_take_minutes():
    assert module.call_timeout(("update-ref", "refs/heads/main")) == 30
    assert module.call_timeout((b"config",)) == 30
    assert module.call_timeout(("check-ignore", "-z", "--stdin")) == 30
    assert module.call_timeout(()) == 30
    assert module.call_timeout(("fsck", "--no-dangling")) == 600
    assert module.call_timeout(("rev-list", "--all", "--objects")) == 600
    assert module.call_timeout(("cat-file", "--batch")) == 600


def test_a_git_that_cannot_be_started_is_said(git, monkeypatch, tmp_path):
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_bytes(b"\x7fELF no program")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(fake.parent))
    with pytest.raises(HistoryError, match="could not be run"):
        git.run("version")


def test_failures_keep_gits_words_and_name_a_remedy(git):
    with pytest.raises(HistoryError, match=r"rev-parse failed: fatal: .*doctor"):
        git.run("rev-parse", "--verify", "nothing-here")
    assert git.call("rev-parse", "--verify", "nothing-here").code == 128


@pytest.mark.parametrize(
    ("err", "remedy"),
    [
        ("fatal: detected dubious ownership in repository at '/x'", "chown"),
        ("fatal: Unable to create '/x/.git/index.lock': File exists.", "retry when it has ended"),
        ("error: write: No space left on device", "Free some space"),
        ("fatal: not a git repository: '/x'", "kimi-memory init"),
        ("warning: odd\nsomething else", "something else"),
        ("", "gave no reason"),
    ],
)
def test_known_failures_have_their_own_remedy(err, remedy):
    assert remedy in str(refusal(("write-tree",), err))
    assert "git  failed" in str(refusal((), err))


@pytest.mark.parametrize("raw", ["笔记 一.md".encode(), b"caf\xe9.md", b"-n\nx.md"])
def test_paths_survive_in_any_bytes(raw):
    assert encode(decode(raw)) == raw


def test_a_subject_is_one_line_that_git_takes():
    assert one_line(" a\n\tb\x00c \ud800 已记住\n") == "a b c ? 已记住"


def test_objects_of_a_worktree_are_found_from_aside(tmp_path):
    main = tmp_path / "main"
    main.mkdir()
    git = Git(main, main / ".git")
    git.run("init", "--quiet", "--template=", "--initial-branch=main")
    tree = git.run("hash-object", "-t", "tree", "-w", "--stdin").decode().strip()
    who = {f"GIT_{w}_{k}": "x" for w in ("AUTHOR", "COMMITTER") for k in ("NAME", "EMAIL")}
    commit = git.run("commit-tree", tree, "-m", "x", **who).decode().strip()
    git.run("update-ref", "refs/heads/main", commit)
    git.run("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Git(tmp_path / "linked", main / ".git" / "worktrees" / "linked")
    aside = linked.aside(tmp_path)
    assert aside.run("cat-file", "-t", commit) == b"commit\n"


def test_a_stream_feeds_git(git):
    with git.stream("hash-object", "-w", "--stdin") as process:
        process.communicate(b"content")
    assert process.returncode == 0
    name = (
        subprocess.run(
            ["git", "hash-object", "--stdin"], input=b"content", capture_output=True, check=True
        )
        .stdout.decode()
        .strip()
    )
    assert (git.root / ".git" / "objects" / name[:2] / name[2:]).exists()
    assert "PATH" in os.environ

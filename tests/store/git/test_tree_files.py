"""Which files belong into history."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.store.git import tree
from kimi_memory.store.git.tree import (
    IGNORED,
    RECEIPTS,
    is_gone,
    is_ignored,
    read_plain,
    refused_by_git,
    renew_ignored,
    scan,
    scan_paths,
    signature,
)


def write(root: Path, path: str, content: str = "x") -> Path:
    full = root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(content, encoding="utf-8")
    return full


def test_truth_is_found_and_derived_files_are_not(tmp_path):
    truth = {
        "memory.toml",
        "MEMORY.md",
        "short-term/session_1.jsonl",
        "episodic/daily/2026-02-27.md",
        "semantic/决策/数据库.md",
        ".gitignore",
        "mid-term/jobs/job-1.json",
        "semantic/a.sync-conflict-20260227-101500-ABC.md",
        ".obsidian/app.json",
    }
    other = {
        ".kimi/index/x",
        ".git/config",
        "short-term/session_1.json",
        "MEMORY.md~",
        "semantic/.#a.md",
        "semantic/.a.md.swp",
        "semantic/#a.md#",
        "a.tmp",
        "4913",
        "semantic/.DS_Store",
        ".~lock.a.odt#",
        "~$a.docx",
        ".goutputstream-ABC",
        ".obsidian/workspace.json",
    }
    for path in truth | other:
        write(tmp_path, path)
    found = scan(tmp_path)
    assert set(found.files) == truth
    assert found.skipped == {}


def test_git_ignores_what_we_ignore(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    write(tmp_path, ".gitignore", tree.IGNORED)
    for path in ("a.md~", "x.tmp", "d/.a.swp", ".kimi/x", "short-term/a.json", "~$a", ".#x"):
        write(tmp_path, path)
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "check-ignore", "-q", "--", path], check=False
        )
        assert done.returncode == 0, path
        assert path.startswith(".kimi") or is_ignored(path)


def test_strange_things_are_skipped_and_named(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "LARGEST", 10)
    write(tmp_path, "big.md", "x" * 11)
    write(tmp_path, "fits.md", "x" * 10)
    (tmp_path / "link.md").symlink_to("fits.md")
    os.mkfifo(tmp_path / "pipe.md")
    write(tmp_path, "inner/.git/config")
    write(tmp_path, "inner/a.md")
    write(tmp_path, "sub/.git", "gitdir: ../x")
    write(tmp_path, "odd/GIT~1")
    found = scan(tmp_path)
    assert set(found.files) == {"fits.md"}
    assert found.skipped == {
        "big.md": "larger than 50 MB",
        "link.md": "a symbolic link",
        "pipe.md": "not a plain file",
        "inner": "another git repository",
        "sub": "another git repository",
        "odd/GIT~1": "a name that git refuses",
    }


def test_a_look_at_some_paths_finds_what_a_scan_finds_there(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "LARGEST", 10)
    plain = {"MEMORY.md", "semantic/决策/数据库.md"}
    odd = {"big.md", "pipe.md", "odd/GIT~1"}
    other = {".kimi/x", ".git/config", "inner/.git/config", "inner/a/b.md", "a.tmp", "other.md"}
    for path in plain | other | {"odd/GIT~1"}:
        write(tmp_path, path)
    write(tmp_path, "big.md", "x" * 11)
    os.mkfifo(tmp_path / "pipe.md")
    whole = scan(tmp_path)
    found = scan_paths(
        tmp_path, [*plain, *odd, *other - {"other.md"}, "gone.md", "semantic", "MEMORY.md/x"]
    )
    assert found.files == {path: whole.files[path] for path in plain}
    assert {path: found.skipped[path] for path in odd} == {p: whole.skipped[p] for p in odd}


def test_an_unreadable_folder_is_named_and_a_vanished_one_is_not(tmp_path):
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(20):
            os.mkdir("长" * 80, dir_fd=here)
            inner = os.open("长" * 80, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
    finally:
        os.close(here)
    found = scan(tmp_path)
    assert [why for why in found.skipped.values()] == ["unreadable (File name too long)"]
    assert scan(tmp_path / "absent").skipped == {}


class Entry:
    """A directory entry whose file is gone, or cannot be looked at."""

    def __init__(self, error: OSError) -> None:
        self.name = b"a.md"
        self.error = error

    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        assert not follow_symlinks
        raise self.error


def test_a_file_that_vanishes_while_we_look_is_just_not_there():
    result = tree.Scan()
    assert not tree._scan_entry(Entry(FileNotFoundError(2, "gone")), "a.md", result)
    assert result.skipped == {}
    assert not tree._scan_entry(Entry(PermissionError(13, "no")), "b.md", result)
    assert result.skipped == {"b.md": "unreadable (no)"}


def test_what_is_gone_is_told_from_what_cannot_be_seen(tmp_path):
    write(tmp_path, "a.md")
    (tmp_path / "folder").mkdir()
    assert not is_gone(tmp_path, "a.md", "100644")
    assert is_gone(tmp_path, "b.md", "100644")
    assert is_gone(tmp_path, "a.md/b.md", "100644")
    assert is_gone(tmp_path, "folder", "100644")
    assert not is_gone(tmp_path, "folder", "160000")
    assert not is_gone(tmp_path, "x" * 300, "100644")


def test_only_plain_files_of_a_sane_size_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(tree, "LARGEST", 10)
    write(tmp_path, "a.md", "0123456789")
    write(tmp_path, "big.md", "0123456789a")
    (tmp_path / "link.md").symlink_to("a.md")
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(tmp_path, "a.md") == b"0123456789"
    for path in ("big.md", "link.md", "pipe", "absent.md"):
        assert read_plain(tmp_path, path) is None


def test_a_signature_changes_with_the_file(tmp_path):
    path = write(tmp_path, "a.md")
    before = signature(path.stat())
    assert signature(path.stat()) == before
    os.utime(path, ns=(1, 1))
    assert signature(path.stat()) != before


tricky = st.lists(
    st.sampled_from([".", "g", "G", "i", "t", "git", ".git", "~1", " ", ":", "\\", "\u200c", "笔"]),
    min_size=1,
    max_size=6,
).map("".join)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    root = tmp_path_factory.mktemp("names")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


@given(tricky)
def test_git_takes_every_name_we_do_not_refuse(scratch, name):
    if name in {".", ".."} or refused_by_git(name):
        return
    row = b"100644 " + b"1" * 40 + b"\t" + name.encode() + b"\0"
    done = subprocess.run(
        ["git", "-c", "core.protectHFS=true", "update-index", "-z", "--index-info"],
        cwd=scratch,
        check=False,
        input=row,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", [".git", ".GIT", "git~1", ".git ", ".g\u200cit", "a\\.git", ".git:x"]
)
def test_names_that_mean_the_repository_are_refused(name):
    assert refused_by_git(name)


@pytest.mark.parametrize("name", ["git.md", ".gitignore", "git使用.md", "digit", "legit ~1"])
def test_names_that_only_mention_git_are_fine(name):
    assert not refused_by_git(name)


def test_an_ignore_file_of_an_earlier_version_gets_the_receipts(tmp_path: Path) -> None:
    path = tmp_path / ".gitignore"
    (tmp_path / ".kimi").mkdir()
    rule = f"/{RECEIPTS}\n"
    for before, after in (
        (IGNORED.replace(rule, "") + "/mine\n", IGNORED + "/mine\n"),
        (IGNORED, IGNORED),
        ("/mine\n", "/mine\n"),
    ):
        path.write_text(before, encoding="utf-8")
        renew_ignored(tmp_path)
        assert path.read_text(encoding="utf-8") == after
    path.unlink()
    renew_ignored(tmp_path)
    assert not path.exists()

"""Rewritten history: the same commits and refs, without the text in any object."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Git
from kimi_memory.store.git.rewrite import Rewrite

SECRET = "暗号 secret"


class Plain:
    """Replaces one text, byte for byte."""

    def count(self, content: bytes) -> int:
        return content.count(SECRET.encode())

    def words(self, content: bytes) -> bytes:
        return content.replace(SECRET.encode(), b"gone")

    def name(self, path: str) -> str:
        return path.replace(SECRET, "gone")

    def content(self, path: str, content: bytes) -> bytes:
        return self.words(content)


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=p", "-c", "user.email=p@x", "-c", "core.quotePath=false"]
    done = subprocess.run(["git", "-C", root, *who, *words], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".kimi").mkdir()
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "exclude").write_text("/.kimi/\n", encoding="utf-8")
    for n, text in enumerate(["one", f"two {SECRET}", "three", "three"]):
        (tmp_path / f'a "{n}" 页.md').write_text(text, encoding="utf-8")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"commit {n} {SECRET if n == 2 else ''}\n\nJob: j-{n}")
    (tmp_path / f"{SECRET}.md").write_bytes(b"no newline at end")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "--author", f"{SECRET} <a@b>", "-m", "a name")
    git(tmp_path, "tag", "-a", "v1", "-m", f"tag {SECRET}")
    git(tmp_path, "branch", "side", "HEAD~2")
    git(tmp_path, "checkout", "-q", "side")
    (tmp_path / "side.md").write_text("side", encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "side")
    git(tmp_path, "checkout", "-q", "main")
    git(tmp_path, "merge", "-q", "--no-ff", "-m", "merged", "side")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "nothing")
    return tmp_path


def shape(root: Path) -> list[str]:
    form = "--format=%at %ct %ce %s %(trailers:key=Job,valueonly) %D"
    return git(root, "log", "--all", "--topo-order", form).replace(SECRET, "gone").splitlines()


def test_no_object_holds_the_text_and_every_commit_stays(root: Path) -> None:
    rewrite = Rewrite(root)
    before, old = shape(root), rewrite.head()
    assert rewrite.search(Plain()).commits == 3
    head = rewrite.run(Plain())
    assert head not in {"", old}
    assert rewrite.search(Plain()).objects == 0
    assert shape(root) == before
    assert git(root, "show", "main:gone.md") == "no newline at end"
    assert git(root, "show", 'main:a "1" 页.md') == "two gone"
    assert git(root, "fsck", "--full") == ""
    assert not (root / ".kimi" / "purge").exists()


def test_the_persons_status_stays_as_it_was(root: Path) -> None:
    (root / "side.md").write_text(f"staged {SECRET}", encoding="utf-8")
    git(root, "add", "side.md")
    git(root, "rm", "-q", "--cached", 'a "0" 页.md')
    (root / f"{SECRET}.md").rename(root / "gone.md")
    (root / 'a "1" 页.md').write_text("two gone", encoding="utf-8")
    Rewrite(root).run(Plain())
    status = git(root, "status", "--porcelain", "-z").split("\0")[:-1]
    assert sorted(status) == ['?? a "0" 页.md', 'D  a "0" 页.md', "MM side.md"]
    assert git(root, "show", ":side.md") == "staged gone"


def test_settings_hooks_and_branch_are_carried_over_but_not_what_runs_programs(root: Path) -> None:
    git(root, "config", "core.sshCommand", "touch /nowhere")
    git(root, "config", "user.nickname", "mine")
    hook = root / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n", encoding="utf-8")
    hook.chmod(0o755)
    git(root, "checkout", "-q", "side")
    Rewrite(root).run(Plain())
    assert git(root, "config", "user.nickname").strip() == "mine"
    assert "sshcommand" not in git(root, "config", "--list")
    assert git(root, "symbolic-ref", "HEAD").strip() == "refs/heads/side"
    assert hook.stat().st_mode & 0o100


def test_a_failing_import_leaves_the_history(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(Plain):
        def name(self, path: str) -> str:
            return "/bad//path/" if path.endswith(".md") else path

    rewrite, before = Rewrite(root), shape(root)
    with pytest.raises(HistoryError):
        rewrite.run(Broken())
    assert shape(root) == before
    rewrite.sweep()
    assert rewrite.search(Plain()).objects


def test_where_folders_cannot_be_swapped_two_renames_do(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kimi_memory.store.files import disk

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(disk.Disk, "exchange", refuse)
    Rewrite(root).run(Plain())
    assert Rewrite(root).search(Plain()).objects == 0


def test_a_kill_between_the_renames_is_mended(root: Path) -> None:
    side = root / ".kimi" / "purge"
    side.mkdir()
    (root / ".git").rename(side / "old")
    rewrite = Rewrite(root)
    rewrite.sweep()
    assert rewrite.head()
    assert not side.exists()


@pytest.mark.parametrize("name", ["shallow", "worktrees", "modules", "objects/info/alternates"])
def test_what_cannot_be_rewritten_whole_is_refused(root: Path, name: str) -> None:
    place = root / ".git" / name
    place.parent.mkdir(exist_ok=True)
    place.write_text("", encoding="utf-8")
    with pytest.raises(HistoryError, match="then purge again"):
        Rewrite(root).check()


def test_somebody_elses_repository_is_not_rewritten(root: Path) -> None:
    with pytest.raises(HistoryError, match="not this memory's"):
        Rewrite(root).check()
    git(root, "config", "kimi.memory", "true")
    Rewrite(root).check()


def test_a_repository_elsewhere_is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory):
    place = tmp_path_factory.mktemp("elsewhere") / "git"
    (root / ".git").rename(place)
    (root / ".git").symlink_to(place)
    with pytest.raises(HistoryError, match="no folder of its own"):
        Rewrite(root).check()


def test_an_empty_history_stays_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / ".kimi").mkdir()
    assert Rewrite(tmp_path).run(Plain()) == ""
    assert Git(tmp_path, tmp_path / ".git").call("status").code == 0

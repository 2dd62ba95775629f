"""The folder of a memory as the store sees it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create
from kimi_memory.errors import UnsafePathError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.tree import Tree

LOCKS = ".kimi/locks"


@pytest.fixture
def tree(folder: Path):
    (folder / LOCKS).mkdir(parents=True)
    made = Tree(folder, Disk())
    yield made
    made.close()


def count_open() -> int:
    """Return how many files and folders this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_kept_folder_stays_open(tree: Tree, folder: Path) -> None:
    fd = tree.kept(LOCKS)
    assert tree.kept(LOCKS) == fd
    assert os.fstat(fd).st_ino == (folder / LOCKS).stat().st_ino


def test_a_kept_folder_is_the_one_at_its_path_now(tree: Tree, folder: Path) -> None:
    first = tree.kept(LOCKS)
    (folder / ".kimi").rename(folder / ".moved")
    (folder / LOCKS).mkdir(parents=True)
    second = tree.kept(LOCKS)
    assert os.fstat(second).st_ino == (folder / LOCKS).stat().st_ino
    assert os.fstat(first).st_ino == (folder / ".moved/locks").stat().st_ino


def test_a_kept_folder_that_was_removed_is_made_again(tree: Tree, folder: Path) -> None:
    tree.kept(LOCKS)
    shutil.rmtree(folder / ".kimi")
    fd = tree.kept(LOCKS)
    assert os.fstat(fd).st_ino == (folder / LOCKS).stat().st_ino


def test_a_kept_folder_does_not_follow_a_link(tree: Tree, folder: Path, tmp_path: Path) -> None:
    tree.kept(LOCKS)
    shutil.rmtree(folder / ".kimi")
    (tmp_path / "elsewhere/locks").mkdir(parents=True)
    (folder / ".kimi").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafePathError):
        tree.kept(LOCKS)


def test_closing_lets_go_of_every_kept_folder(tree: Tree, folder: Path) -> None:
    kept = [tree.kept(LOCKS)]
    shutil.rmtree(folder / ".kimi")
    kept.append(tree.kept(LOCKS))
    tree.close()
    for fd in kept:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)


def test_writes_go_on_where_the_private_folder_was_removed(store, folder, actor) -> None:
    store.apply([Create("a.md", b"1")], actor)
    shutil.rmtree(folder / ".kimi")
    store.apply([Create("b.md", b"2")], actor)
    assert store.read("b.md") == b"2"
    assert list((folder / LOCKS).iterdir())


def test_of_a_folder_that_is_gone_nothing_is_told(tree: Tree, folder: Path) -> None:
    (folder / "a:b.md").write_bytes(b"")
    assert tree.strays() == ["a:b.md"]
    shutil.rmtree(folder)
    assert (list(tree.walk()), tree.strays()) == ([], [])


def test_a_walk_leaves_out_what_has_an_unsafe_name(tree: Tree, folder: Path) -> None:
    for path in ("a/one.md", "a/-b/two.md", "a/-b/c/three.md", "a/-four.md", "other/five.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(b"")
    assert sorted(path for path, _ in tree.walk()) == ["a/one.md", "other/five.md"]
    assert [path for path, _ in tree.walk("a")] == ["a/one.md"]
    assert tree.strays() == ["a/-b/c/three.md", "a/-b/two.md", "a/-four.md"]


def test_a_file_with_a_second_name_is_read_as_any_other(tree: Tree, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"one\n")
    (folder / "b.md").hardlink_to(folder / "a.md")
    assert tree.read("b.md") == b"one\n"
    assert (folder / "b.md").stat().st_nlink == 2


def test_what_is_written_does_not_change_what_a_second_name_shows(
    tree: Tree, folder: Path, tmp_path: Path
) -> None:
    (folder / "a.jsonl").write_bytes(b"one\n")
    (folder / "a.jsonl").chmod(0o640)
    (tmp_path / "backup").hardlink_to(folder / "a.jsonl")
    with tree.place("a.jsonl") as place:
        opened = count_open()
        fd = tree.open_file(place, os.O_RDWR | os.O_APPEND, "a.jsonl")
        os.write(fd, b"two\n")
        os.close(fd)
        assert count_open() == opened
    assert (tmp_path / "backup").read_bytes() == b"one\n"
    assert (folder / "a.jsonl").read_bytes() == b"one\ntwo\n"
    assert (folder / "a.jsonl").stat().st_mode & 0o777 == 0o640
    assert not list((folder / ".kimi/tmp").iterdir())


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_plain_file_is_refused(tree: Tree, folder: Path, kind: str) -> None:
    path = folder / "odd"
    {"folder": path.mkdir, "pipe": lambda: os.mkfifo(path), "link": lambda: path.symlink_to("x")}[
        kind
    ]()
    with pytest.raises(UnsafePathError, match="no plain file"):
        tree.read("odd")


def test_a_view_is_swapped_in_whole_and_leaves_nothing_behind(
    tree: Tree, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").write_bytes(b"not ours")
    (folder / "b.json").symlink_to(tmp_path / "elsewhere")
    opened = count_open()
    for path in ("a.json", "b.json"):
        for content in (b"one", b"two", b"three"):
            tree.write_view(path, content, "spare.part")
            assert (folder / path).read_bytes() == content
            assert not (folder / path).is_symlink()
    assert not list((folder / ".kimi/tmp").iterdir())
    assert count_open() == opened
    assert (tmp_path / "elsewhere").read_bytes() == b"not ours"
    tree.remove_view("a.json")
    tree.remove_view("a.json")
    assert not (folder / "a.json").exists()


def test_a_new_folder_is_no_twin_of_another(tree: Tree, folder: Path) -> None:
    (folder / "Notes").mkdir()
    with pytest.raises(UnsafePathError, match="differs from 'Notes' only in case"):
        tree.write_view("notes/a.json", b"one", "spare.part")
    assert not (folder / "notes").exists()

"""Files as they were at an earlier commit, or when their content had a mark."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kimi_memory.domain.job import digest
from kimi_memory.store.files.disk import Stats, state_of
from kimi_memory.store.git import tree
from kimi_memory.store.git.earlier import find_contents, read_earlier
from kimi_memory.store.git.history import History
from tests.store.git.repositories import make, write


def is_page(path: str) -> bool:
    return path.endswith(".md")


def looks(root: Path) -> Stats:
    found = (str(path.relative_to(root)) for path in root.rglob("*.md"))
    return {path: look for path in found if (look := state_of(root, path))}


def test_what_is_not_committed_yet_counts_as_a_difference(history: History, root: Path) -> None:
    for name in ("same", "committed", "edited", "gone", "back", "部署"):
        write(root, f"{name}.md", "then\n")
    write(root, "other.txt", "then\n")
    then = history.commit("Then")
    write(root, "committed.md", "now\n")
    write(root, "back.md", "between\n")
    write(root, "other.txt", "now\n")
    history.commit("Now")
    write(root, "edited.md", "by hand\n")
    write(root, "back.md", "then\n")
    write(root, "new.md", "by hand\n")
    (root / "gone.md").unlink()
    found = read_earlier(history.repository(), then, looks(root), is_page)
    assert found == {
        "committed.md": b"then\n", "edited.md": b"then\n", "gone.md": b"then\n", "new.md": None,
    }  # fmt: skip


def test_files_that_look_as_they_did_are_not_read_again(
    history: History, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write(root, f"{number}.md", "then\n")
    then = history.commit("Then")
    write(root, "1.md", "now\n")
    history.commit("Now")
    # A file that was written within the same tick of the clock is looked at once more.
    while history.commit("Nothing") or any(
        one.stat == (0, 0, 0) for one in history._kept.load().entries.values()
    ):
        continue
    history.close()
    write(root, "3.md", "by hand\n")
    read, real = list[str](), tree.read_plain

    def read_plain(folder: Path, path: str) -> bytes | None:
        read.append(path)
        return real(folder, path)

    monkeypatch.setattr(tree, "read_plain", read_plain)
    found = read_earlier(history.repository(), then, looks(root), is_page)
    assert found == {"1.md": b"then\n", "3.md": b"then\n"}
    assert read == ["3.md"]


@pytest.mark.parametrize("count", [3, 60], ids=["few", "many"])
def test_old_contents_are_found_by_so_many_calls_as_versions_are_looked_at(
    count: int, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [f"semantic/备忘/{number}.md" for number in range(count)]
    for version in ("first", "第二", "third"):
        for path in paths:
            write(history.root, path, f"{path} {version}\n")
        history.commit(version)
    marks = {path: digest(f"{path} first\n".encode()) for path in paths}
    marks |= {paths[0]: digest(b"never"), "semantic/none.md": digest(b"new")}
    calls = list[object]()
    run = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: calls.append(a) or run(*a, **k))
    found = find_contents(history, marks)
    assert found == {path: f"{path} first\n".encode() for path in paths[1:]}
    assert len(calls) < 12


def test_without_a_history_nothing_is_found(root: Path) -> None:
    assert find_contents(make(root), {"a.md": digest(b"a")}) == {}

"""The files that recall reads: scanned whole, and looked at again with few calls."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.index import files
from kimi_memory.index.files import Folder
from kimi_memory.store.files import disk
from kimi_memory.store.files.disk import Stat

LONG = 1e9


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory that takes so long to scan that it is scanned once."""
    monkeypatch.setattr(files, "CHEAP_SECONDS", 0.0)
    monkeypatch.setattr(files, "SHARE", LONG)
    # Whatever the clock of the disk: a folder's time may be relied on at once.
    monkeypatch.setattr(disk, "COARSE_NS", -(10**18))
    for name in ("a/1.md", "a/2.md", "b/c/3.md", "short-term/session_x.jsonl"):
        put(tmp_path, name, "x")
    return tmp_path


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def scan(root: Path) -> dict[str, Stat]:
    found = Folder(root)
    found.scan()
    return found.stats


def told(root: Path) -> None:
    """Leave the trace that a write through the memory leaves."""
    (root / ".kimi/tmp").mkdir(parents=True, exist_ok=True)
    before = (root / ".kimi/tmp").stat().st_mtime_ns
    os.utime(root / ".kimi/tmp", ns=(before + 1, before + 1))


def test_a_whole_scan_is_made_once_and_then_when_it_is_due(large: Path) -> None:
    found = Folder(large)
    assert found.find_changed() is None
    assert found.stats == scan(large)
    assert found.find_changed() == set()


def test_who_is_told_of_changes_looks_at_all_files_more_seldom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "COARSE_NS", -(10**18))
    put(tmp_path, "a/1.md", "x")
    put(tmp_path, "a/2.md", "x")
    found = Folder(tmp_path)
    found.patience = LONG
    assert found.find_changed() is None
    put(tmp_path, "a/1.md", "edited in place")
    put(tmp_path, "a/2.md", "edited too")
    assert found.find_changed(hints=["a/1.md", "nowhere.md", ".."]) == {"a/1.md"}
    put(tmp_path, "b/3.md", "new")
    told(tmp_path)
    assert found.find_changed() == {"b/3.md"}
    found.patience, found._due = 0.0, 0.0
    assert found.find_changed() is None
    assert found.stats == scan(tmp_path)


def test_open_sessions_are_seen_at_once(large: Path) -> None:
    found = Folder(large)
    found.find_changed()
    put(large, "short-term/session_x.jsonl", "more than before")
    put(large, "short-term/session_y.jsonl", "new")
    assert found.find_changed() == {"short-term/session_x.jsonl", "short-term/session_y.jsonl"}
    assert found.stats == scan(large)


def test_what_a_process_of_ours_wrote_is_seen_at_once(large: Path) -> None:
    found = Folder(large)
    found.find_changed()
    found.find_changed()
    found.find_changed()
    put(large, "b/new/4.md", "new")
    (large / "a/2.md").unlink()
    shutil.rmtree(large / "b/c")
    told(large)
    assert found.find_changed() == {"b/new/4.md", "a/2.md", "b/c/3.md"}
    assert found.stats == scan(large)


def test_a_hint_shows_an_edit_in_place(large: Path) -> None:
    found = Folder(large)
    found.find_changed()
    found.find_changed()
    put(large, "a/1.md", "edited in place")
    assert found.find_changed() == set()
    assert found.find_changed(["a/1.md", "a/2.md", "a/none.md", "a/.hidden.md"]) == {"a/1.md"}
    (large / "a/1.md").unlink()
    assert found.find_changed(["a/1.md"]) == {"a/1.md"}
    assert found.stats == scan(large)


def test_a_session_that_moves_to_the_archive_counts_once(large: Path) -> None:
    found = Folder(large)
    found.find_changed()
    put(large, "episodic/sessions/2026-02/session_x.jsonl", "x")
    told(large)
    changed = found.find_changed()
    assert changed is not None
    assert {"short-term/session_x.jsonl", "episodic/sessions/2026-02/session_x.jsonl"} <= changed
    assert found.stats == scan(large)


STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.booleans()), max_size=8)


@settings(max_examples=40)
@given(STEPS)
def test_looks_add_up_to_a_scan(steps: list[tuple[str, int, bool]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        put(root, "a/0.md", "x")
        found = Folder(root)
        found.find_changed()
        for inner, number, there in steps:
            path = f"{inner}/{number}/note.md"
            if there:
                put(root, path, "x" * number)
            else:
                shutil.rmtree(root / inner / str(number), ignore_errors=True)
            changed = found._list_changed_folders()
            assert found.stats == scan(root), changed

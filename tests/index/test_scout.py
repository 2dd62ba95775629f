"""A scout sees what a look would see, and one that fails or comes late costs nothing but time."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.index import scout
from kimi_memory.index.files import CURRENT, INDEX, scan
from kimi_memory.index.folder import Folder
from kimi_memory.index.scout import scouted, scouting
from tests.index.folders import Folder as Index
from tests.index.test_folder import put, told

NAMES = (
    *("a/1.md", "b/c/3.md", "b/页.md", "review/4.md", "conflicts/5.md", "notes.md/6.md"),
    *("a/.7.md", ".kimi/8.md", "a/9.txt", "a/#10.md#", "a/11.md~", "a/12.tmp.md"),
    *("short-term/session_x.jsonl", "episodic/sessions/2026-02/session_x.jsonl"),
    *("episodic/sessions/2026-02/session_y.jsonl", "episodic/sessions/2026-02/13.md"),
    *("mid-term/jobs/14.jsonl", "short-term/15.md"),
)


def seen(root: Path) -> dict[str, object] | None:
    """Return what a scout tells of a folder."""
    with scouting(root, os.environ):
        found = scouted(str(root))
    return None if found is None else dict(found)


@settings(max_examples=25, deadline=None)
@given(st.sets(st.sampled_from(NAMES)))
def test_a_scout_sees_what_a_scan_sees(names: set[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for path in names:
            put(root, path, path)
        with scouting(root, os.environ):
            found = Folder(root)
            assert found.look() is None
        assert not isinstance(found.stats, dict)
        assert dict(found.stats) == scan(root)
        assert len(found.stats) == len(scan(root))


def test_names_that_are_no_unicode_are_seen(tmp_path: Path) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.md"))).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert seen(tmp_path) == scan(tmp_path) != {}


def test_what_is_no_file_is_not_seen(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "folder").symlink_to(".")
    os.mkfifo(tmp_path / "pipe.md")
    assert seen(tmp_path) == scan(tmp_path)


def test_a_scout_goes_but_where_it_was_sent(tmp_path: Path) -> None:
    put(tmp_path, "one/a.md", "x")
    put(tmp_path, "two/b.md", "x")
    with scouting(tmp_path / "one", os.environ):
        assert scouted(str(tmp_path / "two")) is None
        assert list(scouted(str(tmp_path / "one")) or ()) == ["a.md"]
        assert scouted(str(tmp_path / "one")) is None


def test_a_write_after_it_was_sent_makes_it_worthless(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "x")
    with scouting(tmp_path, os.environ):
        told(tmp_path)
        assert scouted(str(tmp_path)) is None


def test_a_write_after_it_was_heard_is_seen(tmp_path: Path) -> None:
    put(tmp_path, "a.md", "x")
    with scouting(tmp_path, os.environ):
        found = Folder(tmp_path)
        found.look()
        assert found.look() == set()
        put(tmp_path, "b.md", "x")
        told(tmp_path)
        assert found.look() is None
        assert found.stats == scan(tmp_path)


def test_a_session_that_goes_on_meanwhile_is_seen(tmp_path: Path) -> None:
    put(tmp_path, "short-term/session_x.jsonl", "x")
    with scouting(tmp_path, os.environ):
        found = Folder(tmp_path)
        put(tmp_path, "short-term/session_x.jsonl", "more")
        put(tmp_path, "short-term/session_y.jsonl", "new")
        found.look()
        assert dict(found.stats) == scan(tmp_path)
        put(tmp_path, "short-term/session_x.jsonl", "and more")
        assert found.look() == {"short-term/session_x.jsonl"}
        assert dict(found.stats) == scan(tmp_path)


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false", "/bin/echo"])
def test_a_scout_that_fails_is_done_without(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.md", "x")
    monkeypatch.setattr(sys, "executable", program)
    with scouting(tmp_path, os.environ):
        found = Folder(tmp_path)
        found.look()
        assert found.stats == scan(tmp_path)


def test_nothing_is_left_of_a_scout_nobody_heard(tmp_path: Path) -> None:
    mine = Path("/proc/self/fd")
    before = len(list(mine.iterdir())) if mine.exists() else 0
    with scouting(tmp_path, os.environ):
        sent = scout._SENT[os.path.realpath(tmp_path)]
    assert not scout._SENT
    with pytest.raises(ChildProcessError):
        os.waitpid(sent._pid, os.WNOHANG)
    if before:
        assert len(list(mine.iterdir())) == before


@pytest.mark.parametrize("many", [0, 60])
@pytest.mark.parametrize("cut", [1, 8, 24, 40, 10**6])
def test_a_report_that_was_cut_short_tells_nothing(tmp_path: Path, cut: int, many: int) -> None:
    put(tmp_path, "a.md", "x")
    for number in range(many):
        put(tmp_path, f"{number}/b.md", "x")
        put(tmp_path, f"{number}/short-term/session_x.jsonl", "x")
    with scouting(tmp_path, os.environ):
        sent = scout._SENT.pop(os.path.realpath(tmp_path))
        contents = []
        for fd in sent._fds:
            with os.fdopen(fd, "rb") as pipe:
                contents.append(pipe.read())
        sent._end()
    assert bool(contents[1]) == bool(many)
    assert dict(scout._seen(contents) or {}) == scan(tmp_path) != {}
    for at in range(1 + bool(many)):
        short = [each[:-cut] if at == place else each for place, each in enumerate(contents)]
        assert scout._seen(short) is None


def test_no_process_outlives_a_scout_that_was_called_back(tmp_path: Path) -> None:
    if not Path("/proc/self/cmdline").exists():
        pytest.skip("this system tells of no other process")
    # More than a pipe holds, so that who writes waits for who reads.
    for number in range(900):
        put(tmp_path, f"{number % 60}/{'long name ' * 20}{number}.md", "x")
    for pause in (0.0, 0.05, 0.3):
        with scouting(tmp_path, os.environ):
            time.sleep(pause)
    until = time.monotonic() + 20
    while left := looking_at(tmp_path):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def looking_at(root: Path) -> list[str]:
    """Return the processes whose command line names a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(root) in path.read_bytes():
                found.append(path.parent.name)
    return found


def test_a_scout_knows_the_numbers_of_files_in_the_index(folder: Index) -> None:
    for n in range(3):
        folder.write(f"notes/{n}.md", f"heron{n} stands in the river\n")
    folder.index().refresh()
    folder.write("notes/1.md", "now it flies over the river\n")
    folder.write("notes/页.md", "a page that is new\n")
    (folder.root / "notes/2.md").unlink()
    with scouting(folder.root, os.environ):
        index = folder.index()
        view = index.searcher()
    ordinals = vars(index._sync._folder.stats)["_ordinals"]
    assert sorted(ordinals.tolist()) == [-1, 0, 1]
    assert index._sync._folder.stats._table == index._table.source != ""
    texts = {view.column("id")[row]: view.text(row) for row in view.living()}
    assert {id: text.split()[0] for id, text in texts.items()} == {
        "notes/0.md#L1": "heron0",
        "notes/1.md#L1": "now",
        "notes/页.md#L1": "a",
    }


def test_an_index_that_is_written_meanwhile_has_other_numbers(folder: Index) -> None:
    folder.write("notes/0.md", "heron\n")
    folder.index().refresh()
    folder.write("notes/1.md", "grebe\n")
    with scouting(folder.root, os.environ):
        folder.index().refresh()
        folder.write("a.md", "stork\n")
        folder.index().refresh()
        index = folder.index()
        view = index.searcher()
    assert sorted(view.text(row).strip() for row in view.living()) == ["grebe", "heron", "stork"]


@pytest.mark.parametrize("name", ["../..", "", "g000009-abcdef01", "\udcff"])
def test_a_name_of_no_index_does_no_harm(folder: Index, name: str) -> None:
    folder.write("notes/0.md", "heron\n")
    folder.index().refresh()
    (folder.root / INDEX / CURRENT).write_bytes(os.fsencode(name))
    with scouting(folder.root, os.environ):
        view = folder.index().searcher()
    assert [view.text(row).strip() for row in view.living()] == ["heron"]

"""Laws of the index: its state never changes an answer, and it always follows the files."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from folders import CHATS, KEY, NOW, OPENED, QUERIES, Folder, fill, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from kimi_memory.domain.search_types import ChunkSizes
from kimi_memory.errors import LockTimeoutError
from kimi_memory.index import files as looking
from kimi_memory.index.index import FLUSH_UNITS, Index
from kimi_memory.index.sync import LARGEST_PAGE
from kimi_memory.store.store import Store

INDEX = ".kimi/index"


def answers(folder: Folder, index: object = None) -> list[object]:
    return [seen(folder.ask(text, index)) for text in QUERIES]


def test_a_folder_without_an_index_answers(folder: Folder) -> None:
    fill(folder)
    hit = folder.ask("which database did we choose").hits[0]
    assert "PostgreSQL" in hit.snippet
    assert not (folder.root / INDEX).exists()


def test_disk_index_and_plain_files_answer_alike(folder: Folder) -> None:
    fill(folder)
    without = answers(folder)
    report = folder.index().refresh()
    assert report.units == sum(map(len, CHATS.values())) + 2 + 2
    assert report.broken == ()
    assert answers(folder) == without
    shutil.rmtree(folder.root / ".kimi")
    assert answers(folder) == without
    assert all(without)


def test_refresh_again_makes_no_new_generation(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    name = index.status().generation
    assert index.refresh().added == 0
    assert index.status().generation == name
    assert index.refresh(full=True).units == index.status().units
    assert index.status().generation != name


def test_a_new_turn_is_found_at_once_and_a_deleted_file_never(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    folder.session("a", [*CHATS["a"], ("Bob", "The mascot is a capybara.")])
    assert folder.ask("capybara", index).hits[0].unit.id == "session:a#5"
    (folder.root / "short-term/session_a.jsonl").unlink()
    assert not folder.ask("capybara", index).hits
    assert not folder.ask("PostgreSQL 16 SQLite locks", index, kind=("turn",)).hits


def test_touching_a_file_reads_it_but_changes_nothing(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    path = folder.root / "PROJECT.md"
    path.write_bytes(path.read_bytes())
    assert index.status().pending == 0


def test_an_edit_that_sets_an_old_time_back_is_seen(folder: Folder) -> None:
    page = folder.root / "notes/bird.md"
    folder.write("notes/bird.md", "# Birds\n\nA heron stands there.\n")
    os.utime(page, ns=(0, 0))
    index = folder.index()
    index.refresh()
    assert folder.ask("heron", index).hits
    folder.write("notes/bird.md", "# Birds\n\nA stork stands there.\n")
    os.utime(page, ns=(0, 0))
    for one in (index, folder.index()):
        assert folder.ask("stork", one).hits
        assert not folder.ask("heron", one).hits


def test_a_page_that_nobody_could_read_is_named_and_not_searched(folder: Folder) -> None:
    folder.write("notes/tea.md", "# Tea\n\nGreen tea from the harbour.\n")
    folder.write("notes/dump.md", "harbour\n")
    with (folder.root / "notes/dump.md").open("r+b") as file:
        file.truncate(LARGEST_PAGE + 1)
    for index in (folder.index(), folder.index()):
        assert [hit.unit.path for hit in folder.ask("harbour", index).hits] == ["notes/tea.md"]
        ((path, why),) = index.status().broken
        assert path == "notes/dump.md"
        assert "larger than 16 MiB" in why
        index.refresh()
    with (folder.root / "notes/dump.md").open("r+b") as file:
        file.truncate(8)
    assert len(folder.ask("harbour").hits) == 2
    assert folder.index().status().broken == ()


def test_a_broken_file_is_named_and_the_rest_answers(folder: Folder) -> None:
    fill(folder)
    folder.write("semantic/general/bad.md", "---\nid: card-x\nkind: card\nkind: card\n---\n")
    folder.write("short-term/session_bad.jsonl", b'{"kind": nonsense\n{}\n')
    index = folder.index()
    index.refresh()
    broken = dict(index.status().broken)
    assert set(broken) == {"semantic/general/bad.md", "short-term/session_bad.jsonl"}
    assert folder.ask("green tea", index).hits
    paths = {finding.path for finding in index.verify()}
    assert paths == set(broken)


def test_overview_lines_that_repeat_a_card_are_no_units(folder: Folder) -> None:
    folder.card("db-choice", "Database", "PostgreSQL, for concurrent writes.")
    folder.write(
        "MEMORY.md", "# Memory\n\n- Database: PostgreSQL. ^card-db-choice\n\nOther words.\n"
    )
    found = [hit.unit.id for hit in folder.ask("PostgreSQL").hits]
    assert found == ["card-db-choice"]


def test_views_pages_of_sessions_and_receipts_are_not_indexed(folder: Folder) -> None:
    folder.session("a", [("user", "The heron stands still.")], archived=True)
    folder.write("episodic/sessions/2026-02/session_a.md", "The heron stands still.\n")
    folder.write("short-term/session_b.json", '{"context": "heron"}')
    folder.write("short-term/recalls.jsonl", '{"text": "heron"}\n')
    folder.write("review/p.md", "heron\n")
    assert [hit.unit.id for hit in folder.ask("heron").hits] == ["session:a#1"]


def test_a_session_caught_between_two_folders_counts_once(folder: Folder) -> None:
    folder.session("a", [("user", "苍鹭站着不动。")])
    folder.session("a", [("user", "苍鹭站着不动。")], archived=True)
    hits = folder.ask("苍鹭").hits
    assert [hit.unit.path for hit in hits] == ["episodic/sessions/2026-02/session_a.jsonl"]


def test_large_changes_are_written_by_the_next_search(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.session("a", [("user", f"heron number {n}") for n in range(600)])
    index = folder.index()
    assert folder.ask("heron", index).hits
    status = index.status()
    assert status.generation
    assert status.pending == 0


def test_a_search_does_not_wait_for_who_writes_the_index(folder: Folder) -> None:
    folder.session("a", [("user", f"heron number {n}") for n in range(600)])
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with Folder(folder.root).store.lock("index"):
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    try:
        assert folder.ask("heron").hits
        assert not (folder.root / INDEX / "CURRENT").exists()
        with pytest.raises(LockTimeoutError), folder.store.lock("index", timeout_seconds=0):
            pass
    finally:
        done.set()
        thread.join()


def test_readers_see_whole_answers_while_the_index_is_written(folder: Folder) -> None:
    fill(folder)
    expected = answers(folder)
    stop, wrong = threading.Event(), list[object]()

    def read() -> None:
        mine = Folder(folder.root)
        index = mine.index()
        while not stop.is_set():
            found = answers(mine, index)
            if found != expected:
                wrong.append(found)

    thread = threading.Thread(target=read)
    thread.start()
    index = folder.index()
    for _ in range(6):
        index.refresh(full=True)
    stop.set()
    thread.join()
    assert not wrong
    assert len(list((folder.root / INDEX).glob("g*"))) <= 2


def test_drop_removes_the_index_and_keeps_the_answers(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    before = answers(folder, index)
    index.drop()
    assert not (folder.root / INDEX).exists()
    assert answers(folder, index) == before


def test_progress_is_told_of_each_file(folder: Folder) -> None:
    fill(folder)
    told: list[tuple[int, int]] = []
    report = folder.index().refresh(progress=lambda done, of: told.append((done, of)))
    assert told == [(done, report.files) for done in range(1, report.files + 1)]


def test_verify_finds_an_index_that_lies(folder: Folder) -> None:
    from kimi_memory.index.stored import Shelf

    fill(folder)
    index = folder.index()
    index.refresh()
    assert index.verify() == []
    index.close()
    shelf = Shelf(folder.root / INDEX, KEY)
    generation = shelf.open()
    assert generation is not None
    words = folder.host.answer("open_keywords", folder=generation.folder / "words")
    words.write((), [0])
    words.close()
    # Signed again, as only this machine could: what is wrong now is the content alone.
    shelf.publish(generation.folder, generation.manifest, None)
    findings = folder.index().verify()
    assert findings
    assert all(finding.fixable for finding in findings)


STEP = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.integers(0, 3), st.just(0)),
    st.tuples(st.just("refresh"), st.just(0), st.just(0)),
    st.tuples(st.just("full"), st.just(0), st.just(0)),
)


@settings(max_examples=25)
@given(st.lists(STEP, min_size=2, max_size=10))
def test_the_history_of_an_index_never_changes_an_answer(steps: list[tuple[str, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Folder(Path(root))
        index = folder.index()
        for kind, file, version in steps:
            if kind == "write":
                turns = [turn for chat in CHATS.values() for turn in chat]
                folder.session(f"s{file}", turns[version : version + 3 + file])
            elif kind == "delete":
                (folder.root / f"short-term/session_s{file}.jsonl").unlink(missing_ok=True)
            else:
                index.refresh(full=kind == "full")
        old = answers(folder, index)
        index.close()
        index.drop()
        assert old == answers(folder)
        folder.store.close()


def test_a_file_that_vanishes_while_we_look_is_no_fault(folder: Folder) -> None:
    class Moving(Store):
        def read(self, path: str) -> bytes:
            if path == "gone.md":
                (self.root / path).unlink(missing_ok=True)
            return super().read(path)

    folder.write("gone.md", "the ferry to Oslo\n")
    folder.write("here.md", "the train to Oslo\n")
    folder.store.close()
    folder.store = Moving.open(folder.root, key=KEY)
    assert folder.index().status().broken == ()
    assert not (folder.root / "gone.md").exists()
    assert [hit.unit.path for hit in folder.ask("Oslo").hits] == ["here.md"]


def test_a_build_that_is_killed_is_gone_on_with(folder: Folder) -> None:
    for n in range(60):
        folder.write(f"notes/{n:02}.md", f"heron {n}\n")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(folder.root)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (folder.root / INDEX / "CURRENT").exists()
    report = folder.index().refresh(full=True)
    assert 0 < report.added < 60
    assert report.units == 60
    assert folder.index().verify() == []


KILLED = f"""
import os, signal, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from pathlib import Path
from folders import Folder
from kimi_memory.index import build
build.BATCH_UNITS = 10
def tell(done, of):
    if done == 33:
        os.kill(os.getpid(), signal.SIGKILL)
Folder(Path(sys.argv[1])).index().refresh(full=True, progress=tell)
"""


def test_a_hint_makes_an_edit_of_a_large_memory_searchable(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    assert not folder.ask("egret", index).hits
    monkeypatch.setattr(looking, "CHEAP_SECONDS", 0.0)
    monkeypatch.setattr(looking, "SHARE", 1e9)
    index.refresh()
    folder.write("PROJECT.md", "# Billing\n\nAn egret stands in it.\n")
    index.hint(["PROJECT.md"])
    assert folder.ask("egret", index).hits[0].unit.path == "PROJECT.md"


def test_other_sizes_of_chunks_make_another_index(folder: Folder) -> None:
    folder.write("notes/a.md", "# 部署\n\n" + "每周五部署一次，先跑测试。" * 60)
    whole = folder.index().refresh().units
    small = Index(folder.store, folder.host, key=KEY, clock=lambda: NOW, sizes=ChunkSizes(64, 0))
    OPENED.append(small)
    assert "words of another kind" in small.status().why
    assert small.refresh().units > 4 * whole
    assert small.status().why == ""
    assert "words of another kind" in folder.index().status().why


def test_a_held_view_is_made_once_and_lasts_as_long_as_its_index(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    index.refresh()
    with index.hold():
        view = index.searcher()
        folder.session("b", [*CHATS["b"], ("Bob", "The mascot is a capybara.")])
        with index.hold():
            assert index.searcher() is view
        writer = threading.Thread(target=index.refresh)
        writer.start()
        writer.join()
        # The files of the held view are closed, so it is not asked any more.
        assert len(index.searcher()) > len(view)
    assert index.searcher() is not view
    assert folder.ask("capybara", index).hits[0].unit.id.startswith("session:b#")


def test_a_question_over_many_new_files_is_answered_where_the_index_cannot_be_written(
    folder: Folder,
) -> None:
    """Whether the store takes no writes, or the disk refuses those of the index alone."""
    for number in range(FLUSH_UNITS + 1):
        folder.write(f"notes/n{number}.md", f"Heron number {number} stood still.\n")
    index = folder.index()
    folder.store.read_only = "the disk is full"
    assert folder.ask("heron 77", index).hits[0].unit.path == "notes/n77.md"
    folder.store.read_only = ""
    shutil.rmtree(folder.root / INDEX)
    (folder.root / INDEX).write_bytes(b"no folder")
    assert folder.ask("heron 78", folder.index()).hits[0].unit.path == "notes/n78.md"

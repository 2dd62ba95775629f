"""Watching: what others write is searchable soon, whatever the system failed to report."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread

import pytest

from kimi_memory import Memory
from kimi_memory.errors import LockTimeoutError, ReadOnlyError
from kimi_memory.operations.watcher import (
    PATIENCE,
    Batch,
    gather_until_quiet,
    is_watched,
    keep_index_informed,
    watch,
)

DEADLINE_SECONDS = 60


class Watching:
    """A watch in a thread of its own, on a memory of its own."""

    def __init__(self, root: Path, opening, **options: float) -> None:
        self._stop, self._batches = Event(), SimpleQueue[Batch | Exception]()
        self._thread = Thread(target=self._run, args=(root, opening, options))
        self._thread.start()

    def next(self) -> Batch:
        """Return the next batch; what went wrong in the thread is raised here."""
        found = self._batches.get(timeout=DEADLINE_SECONDS)
        if isinstance(found, Exception):
            raise found
        return found

    def until(self, holds: Callable[[Batch], bool]) -> list[Batch]:
        """Return the batches up to the first for which something holds."""
        batches = [self.next()]
        while not holds(batches[-1]):
            batches.append(self.next())
        return batches

    def silent(self) -> bool:
        try:
            self._batches.get_nowait()
        except Empty:
            return True
        return False

    def end(self) -> None:
        self._stop.set()
        self._thread.join(DEADLINE_SECONDS)
        assert not self._thread.is_alive()

    def _run(self, root: Path, opening, options: dict[str, float]) -> None:
        try:
            with Memory.open(root, opening) as memory:
                for batch in watch(memory, self._stop, settle_ms=200, **options):
                    self._batches.put(batch)
        except LockTimeoutError as error:
            self._batches.put(error)


@pytest.fixture
def watching(memory: Memory, opening) -> Iterator[Watching]:
    """A watch that has looked once."""
    begun = Watching(memory.root, opening)
    try:
        assert begun.next().cause == "start"
        yield begun
    finally:
        begun.end()


def test_many_files_in_new_nested_folders_are_all_indexed(
    memory: Memory, watching: Watching
) -> None:
    before = memory.index.searcher().alive.sum()
    for n in range(300):
        page = memory.root / f"notes/part{n % 10}/deep{n % 30}/page{n:03d}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"Page zebra{n:03d} 第{n}页。\n", encoding="utf-8")
    batches = watching.until(lambda batch: batch.units >= before + 300)
    assert {path for batch in batches for path in batch.changed} >= {
        f"notes/part{n % 10}/deep{n % 30}/page{n:03d}.md" for n in range(300)
    }
    for n in (0, 150, 299):
        assert memory.recall(f"zebra{n:03d}").hits[0].unit.path.endswith(f"page{n:03d}.md")
    assert memory.index.status().pending == 0


def test_edits_and_removals_are_taken_over(memory: Memory, watching: Watching) -> None:
    page = memory.root / "notes/a.md"
    page.parent.mkdir()
    page.write_text("zebra\n", encoding="utf-8")
    watching.until(lambda batch: "notes/a.md" in batch.changed)
    page.write_text("斑马住在草原上\n", encoding="utf-8")
    watching.until(lambda batch: "notes/a.md" in batch.changed)
    assert memory.recall("斑马").hits
    shutil.rmtree(page.parent)
    watching.until(lambda batch: batch.removed == 1)
    assert not memory.recall("斑马").hits


def test_a_broken_file_is_named(memory: Memory, watching: Watching) -> None:
    (memory.root / "semantic/bad.md").write_text("---\nid: x\nid: y\n---\n", encoding="utf-8")
    [*_, batch] = watching.until(lambda batch: bool(batch.broken))
    assert batch.broken[0].startswith("semantic/bad.md: ")


def test_a_folder_moved_away_is_watched_again_when_it_is_back(
    memory: Memory, opening, tmp_path: Path
) -> None:
    memory.index.refresh()
    begun = Watching(memory.root, opening, every_seconds=0.1)
    try:
        begun.next()
        memory.root.rename(tmp_path / "away")
        assert begun.until(lambda batch: bool(batch.trouble))
        (tmp_path / "away").rename(memory.root)
        (memory.root / "back.md").write_text("zebra\n", encoding="utf-8")
        begun.until(lambda batch: "back.md" in batch.changed)
    finally:
        begun.end()


def test_silence_leads_to_a_look(memory: Memory, opening) -> None:
    """A hint that got lost: the file stands where nothing is reported from."""
    begun = Watching(memory.root, opening, every_seconds=0.1)
    try:
        begun.next()
        (memory.root / "notes").mkdir()
        (memory.root / "notes/a.md").write_text("zebra\n", encoding="utf-8")
        begun.until(lambda batch: "notes/a.md" in batch.changed)
    finally:
        begun.end()


def reported(times: list[float], until: float) -> list[float]:
    """Return when batches come out of writes of one file at some moments."""
    now = 0.0

    def reports() -> Iterator[set]:
        nonlocal now
        for step in range(int(until * 20)):
            now = step / 20
            yield {("modified", "/m/a.md")} if now in times else set()

    return [now for batch in gather_until_quiet(reports(), 3000, lambda: now) if batch]


def test_writes_one_after_another_are_one_batch_when_it_is_quiet() -> None:
    writes = [step / 5 for step in range(20)]  # 0.2 seconds apart
    assert reported(writes, until=20) == [writes[-1] + 3.0]


def test_writing_that_never_stops_is_looked_at_now_and_then() -> None:
    batches = reported([step / 5 for step in range(500)], until=100)
    assert batches[0] == 3.0 * PATIENCE
    assert len(batches) == 3


def test_silence_stays_noticed() -> None:
    ticks: list[set] = [set(), set()]
    assert list(gather_until_quiet(ticks, 3000)) == ticks


def test_a_second_watch_is_told_who_has_it(memory: Memory, opening, watching: Watching) -> None:
    second = Watching(memory.root, opening)
    with pytest.raises(LockTimeoutError, match=r"Lock 'watch' is held by process \d+"):
        second.next()
    second.end()


def test_a_folder_that_takes_no_writes_is_not_watched(memory: Memory, opening) -> None:
    memory.store.read_only = "the disk is full"
    with pytest.raises(ReadOnlyError, match="the disk is full"):
        next(watch(memory, Event()))


def test_what_we_keep_aside_is_no_news(tmp_path: Path) -> None:
    for path in (".git/index", ".kimi/index/x", "notes/.obsidian/x", "notes/.#a.md"):
        assert not is_watched(tmp_path, str(tmp_path / path))
    for path in ("a.md", "semantic/general/a.md"):
        assert is_watched(tmp_path, str(tmp_path / path))
    assert not is_watched(tmp_path, "/elsewhere/a.md")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture
def due(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], float]]:
    """Have a memory told of changes; returns when it will look at all files by itself."""
    monkeypatch.setattr("kimi_memory.operations.watcher.LOOK_SECONDS", 3600.0)
    (memory.root / "page.md").write_text("the heron fishes\n", encoding="utf-8")
    folder = memory.index._sync._folder
    with keep_index_informed(memory):
        until(lambda: folder.patience > 0)
        memory.recall("heron")
        yield lambda: folder._due
    assert folder.patience == 0


def test_a_memory_that_is_told_sees_an_edit_without_a_look_at_all_files(
    memory: Memory, due: Callable[[], float]
) -> None:
    before = due()
    assert before > time.monotonic() + 60
    (memory.root / "page.md").write_text("the grebe dives\n", encoding="utf-8")
    until(lambda: any("grebe" in hit.snippet for hit in memory.recall("grebe").hits))
    (memory.root / "new").mkdir()
    (memory.root / "new/page.md").write_text("the stork sails\n", encoding="utf-8")
    until(lambda: any("stork" in hit.snippet for hit in memory.recall("stork").hits))
    (memory.root / "page.md").unlink()
    until(lambda: not any("grebe" in hit.snippet for hit in memory.recall("grebe").hits))
    assert due() == before


def test_nobody_looks_beside_a_look_that_is_under_way(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kimi_memory.operations.watcher.TICK_MS", 100)
    folder, folder_scan = memory.index._sync._folder, memory.store.folder_scan
    with keep_index_informed(memory):
        with folder_scan.hold():
            folder_scan.look()
            assert folder_scan.is_held
            time.sleep(1)  # Nothing is to happen, of which nobody tells.
            assert folder.patience == 0
        until(lambda: folder.patience > 0)
    assert not folder_scan.is_held


def test_a_memory_whose_folder_goes_looks_for_itself_again(memory: Memory) -> None:
    folder, away = memory.index._sync._folder, memory.root.with_name("away")
    with keep_index_informed(memory):
        until(lambda: folder.patience > 0)
        shutil.move(memory.root, away)
        try:
            until(lambda: folder.patience == 0)
        finally:
            shutil.move(away, memory.root)

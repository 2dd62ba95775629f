"""Batches: what is due when, and what a mark survives."""

import logging
import shutil
import threading
import time
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory.config import HistoryTable
from kimi_memory.errors import DiskError, HistoryError, LockTimeoutError
from kimi_memory.store.git.head import Batch
from kimi_memory.store.git.history import History


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 2, 27, 10, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def seed(tmp_path_factory) -> Path:
    """A memory with one commit, to be copied: quicker than making it each time."""
    root = tmp_path_factory.mktemp("seed") / "memory"
    root.mkdir()
    made = History(root, lock=nullcontext, clock=Clock())
    made.init()
    made.commit("Start")
    return root


@pytest.fixture
def history(seed: Path, tmp_path: Path, clock: Clock) -> History:
    shutil.copytree(seed, tmp_path / "memory")
    return History(tmp_path / "memory", lock=nullcontext, clock=clock)


def batch(history: History, clock: Clock, **options) -> Batch:
    return Batch(
        history.root,
        lambda subject, trailers, looks: history.commit(subject, trailers=trailers, looks=looks),
        HistoryTable(**{"git": history.enabled, **options}),
        clock=clock,
        trailers=lambda: {"Checkpoint": "7:abc"},
    )


def remember(history: History, made: Batch, text: str = "x\n") -> None:
    (history.root / "a.md").write_text(text, encoding="utf-8")
    made.note()


def until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_a_batch_is_due_when_it_is_quiet(history, clock):
    made = batch(history, clock)
    assert not made.due()
    made.note()
    assert not made.due()
    clock.move(4)
    made.note()
    clock.move(4)
    assert not made.due()
    clock.move(1)
    assert made.due()


def test_a_batch_is_due_after_its_longest_time_however_busy(history, clock):
    made = batch(history, clock)
    for _ in range(10):
        made.note()
        assert not made.due()
        clock.move(3)
    assert made.due()


def test_a_flush_commits_with_trailers_and_ends_the_batch(history, clock):
    made = batch(history, clock)
    remember(history, made)
    commit = made.flush("记住")
    (newest, _) = history.log()
    assert (newest.hash, newest.subject) == (commit, "记住")
    assert newest.trailers == {"Checkpoint": "7:abc"}
    clock.move(60)
    assert not made.due()
    assert not made.pending()
    assert made.flush() == ""


def test_a_batch_of_a_process_that_ended_is_found(history, clock):
    remember(history, batch(history, clock))
    clock.move(6)
    later = batch(history, clock)
    assert later.pending()
    assert later.due()
    assert later.flush()


def test_a_batch_set_aside_by_a_process_that_died_is_due(history, clock):
    made = batch(history, clock)
    remember(history, made)
    made._set_aside()
    later = batch(history, clock)
    assert later.due()
    assert later.flush()
    assert not later.pending()


def test_a_write_during_a_flush_starts_a_batch(history, clock):
    made = batch(history, clock)
    remember(history, made)

    @contextmanager
    def slow_lock():
        yield
        remember(history, made, "during\n")

    history._lock = slow_lock
    made.flush()
    assert made.pending()
    clock.move(6)
    history._lock = nullcontext
    assert made.due()
    assert made.flush()
    assert history.content("HEAD", "a.md") == b"during\n"


def test_a_refused_flush_stays_pending_and_is_tried_again_later(history, clock):
    made = batch(history, clock)
    remember(history, made)
    (history.root / ".git/MERGE_HEAD").write_text(history.head())
    clock.move(6)
    with pytest.raises(HistoryError, match="merge is under way"):
        made.flush()
    assert made.pending()
    assert not made.due()
    clock.move(6)
    assert made.due()
    (history.root / ".git/MERGE_HEAD").unlink()
    assert made.flush()
    assert not made.pending()


def test_a_refusal_while_another_flushed_keeps_our_mark(history, clock):
    made = batch(history, clock)
    remember(history, made)

    @contextmanager
    def refusing():
        made._aside.unlink()
        raise LockTimeoutError("git", "pid 1", 1.0)
        yield

    history._lock = refusing
    with pytest.raises(LockTimeoutError):
        made.flush()
    assert made.pending()


def test_a_clock_set_back_does_not_keep_a_batch_waiting(history, clock):
    made = batch(history, clock)
    made.note()
    clock.move(-3600)
    assert made.due()


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"yesterday", b"9" * 40])
def test_a_damaged_mark_is_due(history, clock, damage):
    (history.root / ".kimi/pending").write_bytes(damage)
    assert batch(history, clock).due()


def test_without_history_nothing_is_noted(tmp_path, clock):
    history = History(tmp_path, lock=nullcontext, clock=clock, enabled=False)
    made = batch(history, clock)
    made.note()
    made.start()
    made.close()
    assert not made.pending()
    assert list(tmp_path.iterdir()) == []


def test_a_note_makes_its_folder(history, clock):
    shutil.rmtree(history.root / ".kimi")
    made = batch(history, clock)
    made.note()
    assert made.pending()


def test_the_background_commits_what_is_due(history):
    made = batch(history, lambda: datetime.now(UTC), quiet_seconds=0.05)
    made.start()
    made.start()
    remember(history, made)
    until(lambda: not made.pending())
    assert history.content("HEAD", "a.md") == b"x\n"
    made.close()
    remember(history, made, "left\n")
    assert made.pending()


def test_close_without_flush_leaves_the_batch_to_others(history, clock):
    made = batch(history, clock)
    made.start()
    remember(history, made)
    made.close()
    assert made.pending()


@pytest.mark.parametrize(
    ("error", "level"),
    [(HistoryError("a merge"), logging.WARNING), (LockTimeoutError("git", "x", 1), logging.INFO)],
    ids=["refused", "locked"],
)
def test_the_background_survives_refusals(history, caplog, error, level):
    refusals = []

    @contextmanager
    def refusing():
        if len(refusals) < 2:
            refusals.append(error)
            raise error
        yield

    history._lock = refusing
    made = batch(history, lambda: datetime.now(UTC), quiet_seconds=0.02)
    with caplog.at_level(logging.INFO):
        made.start()
        remember(history, made)
        until(lambda: not made.pending())
        made.close()
    assert len(refusals) == 2
    assert {record.levelno for record in caplog.records} == {level}


def test_a_note_only_moves_the_time_of_the_mark(history, clock):
    made = batch(history, clock)
    made.note()
    mark = history.root / ".kimi/pending"
    before, inode = mark.read_bytes(), mark.stat().st_ino
    clock.now += timedelta(seconds=3)
    made.note()
    assert (mark.read_bytes(), mark.stat().st_ino) == (before, inode)
    assert (history.root / ".kimi/pending").stat().st_mtime == clock.now.timestamp()


def test_the_background_leaves_a_flush_that_is_under_way_alone(tmp_path):
    """Else it would commit, under its own name, what a job is about to write."""
    began, go, subjects = threading.Event(), threading.Event(), []

    def commit(subject, trailers, looks):
        subjects.append(subject)
        began.set()
        assert go.wait(10)
        return "made"

    table = HistoryTable(quiet_seconds=0.02)
    made = Batch(tmp_path, commit, table, clock=lambda: datetime.now(UTC), trailers=dict)
    made.note()
    job = threading.Thread(target=made.flush, args=("Before distil",))
    job.start()
    assert began.wait(10)
    made.start()
    time.sleep(0.3)
    go.set()
    job.join()
    made.close()
    assert subjects == ["Before distil"]


def test_what_is_written_where_no_mark_can_be_made_is_written(history, clock):
    shutil.rmtree(history.root / ".kimi", ignore_errors=True)
    (history.root / ".kimi").write_bytes(b"")
    batch(history, clock).note()


def test_a_mark_that_cannot_be_set_aside_is_an_error_of_the_disk(history, clock):
    made = batch(history, clock)
    remember(history, made)
    (history.root / ".kimi/pending-flush").mkdir()
    with pytest.raises(DiskError, match="pending"):
        made.flush()
    assert made.pending()

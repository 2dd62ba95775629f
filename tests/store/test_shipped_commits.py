"""Commits of a deployed memory beside jobs and commits of other processes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import JobReport
from tests.conftest import Clock
from tests.store.pair import Pair

_MOST_SECONDS = 15.0
"""Less than locks are waited for."""


class Amid:
    """A job that stops before its first file, and goes on when it is allowed to."""

    def __init__(self, memory: Memory) -> None:
        self.begun, self.may_go_on = threading.Event(), threading.Event()
        handle = memory.session("s")
        handle.turn("user", "We decided to use PostgreSQL for the orders, because it scales.")
        memory.mark_ended("s")
        memory.batch.flush()
        self._memory, self._hold = memory, memory.batch.hold
        memory.batch.hold = self._hold_and_wait  # type: ignore[method-assign]  # to stop it there

    @contextmanager
    def _hold_and_wait(self) -> Iterator[None]:
        with self._hold():
            self.begun.set()
            assert self.may_go_on.wait(_MOST_SECONDS)
            yield

    def distil(self) -> JobReport:
        return self._memory.distil("s")


@pytest.fixture
def together(tmp_path: Path, clock: Clock) -> Iterator[tuple[Amid, Memory]]:
    """A job amid its work, and the same folder as another process has it."""
    pair = Pair(tmp_path, clock)
    with pair.open("a") as memory, pair.open("a") as other:
        yield Amid(memory), other


def run_beside(amid: Amid, other: Callable[[], object]) -> tuple[JobReport, object]:
    with ThreadPoolExecutor(2) as pool:
        job: Future[JobReport] = pool.submit(amid.distil)
        assert amid.begun.wait(_MOST_SECONDS)
        beside = pool.submit(other)
        return job.result(_MOST_SECONDS), beside.result(_MOST_SECONDS)


def test_a_job_and_who_makes_a_logged_commit_do_not_wait_for_each_other(
    together: tuple[Amid, Memory],
) -> None:
    amid, other = together

    def make_commit() -> bool:
        # As a commit of the log is made here: ours is the turn, and then git is used.
        with other.store.turn():
            amid.may_go_on.set()
            with other.store.lock("git"):
                return True

    report, done = run_beside(amid, make_commit)
    assert done and report.id and not report.failed


def test_a_batch_of_another_process_leaves_a_job_its_commit(
    together: tuple[Amid, Memory],
) -> None:
    amid, other = together

    def flush() -> str:
        threading.Timer(0.3, amid.may_go_on.set).start()
        other.batch.note()
        return other.batch.flush()

    report, _ = run_beside(amid, flush)
    trailers = [commit.trailers.get("Job") for commit in other.history.log(limit=5)]
    assert report.id in trailers

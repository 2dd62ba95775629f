"""Dry runs wait for no job, and make none wait."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kimi_memory import Memory
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.pick import pick
from kimi_memory.operations.rollback import roll_back
from tests.conftest import Clock
from tests.operations.test_merge_copy import pair
from tests.operations.test_pick import live
from tests.test_copies import clone

__all__ = ["clone", "pair"]

LOOKS: dict[str, Callable[[Memory, Memory, str], object]] = {
    "distil": lambda memory, other, job: memory.distil_waiting(dry_run=True),
    "consolidate": lambda memory, other, job: memory.consolidate("daily", dry_run=True),
    "rollback": lambda memory, other, job: roll_back(memory, "HEAD", dry_run=True),
    "merge": lambda memory, other, job: merge_copy(memory, str(other.root), dry_run=True),
    "pick": lambda memory, other, job: pick(memory, job, str(other.root), dry_run=True),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_dry_run_waits_for_no_job(pair: tuple[Memory, Memory], clock: Clock, name: str) -> None:
    memory, other = pair
    job, _ = live(other, clock)
    before = memory.history.head()
    with ThreadPoolExecutor(1) as pool, memory.store.lock("job"):
        # Another process runs a job of minutes; a lock is waited for half a minute at most.
        done = pool.submit(LOOKS[name], memory, other, job)
        assert done.result(timeout=10) is not None
    assert memory.history.head() == before

"""The pool of processes: a worker that dies, hangs or takes too much takes no other along."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import pytest
from kimi_memory.plugins.pool_process import _USES, ProcessPool

from kimi_memory.domain.fleet import PoolWish, Unit, UnitResult
from kimi_memory.hooks.host import Host


def work(unit: Unit) -> UnitResult:
    """Do what the name of a unit says."""
    if unit.name == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if unit.name == "leave":
        os._exit(3)
    if unit.name == "hang":
        time.sleep(600)
    return UnitResult(unit, "done", str(os.getpid()))


def make(name: str, longest: float = 0.0) -> Unit:
    return Unit("", name, "daily", "", "", longest_s=longest)


def test_hook_open_pool_knows_processes_and_ray() -> None:
    host = Host(entry_points=False)
    assert isinstance(host.answer("open_pool", name="process", wish=PoolWish(1, work)), ProcessPool)
    assert host.answer("open_pool", name="boats", wish=PoolWish(1, work)) is None


@pytest.mark.parametrize(
    ("name", "why"),
    [("die", "its worker ended with code -9"), ("leave", "its worker ended with code 3"),
     ("hang", "it took more than 1 s")],
)  # fmt: skip
def test_a_lost_worker_is_reported_and_replaced(name: str, why: str) -> None:
    with closing(ProcessPool(PoolWish(1, work))) as pool:
        for unit in (make("one"), make(name, 1.0), make("two")):
            pool.submit(unit)
        found = [pool.wait() for _ in range(3)]
    assert [one.unit.name for one in found] == ["one", name, "two"]
    assert [one.outcome for one in found] == ["done", "failed", "done"]
    assert found[1].why == why and found[0].why != found[2].why


def test_a_worker_is_replaced_now_and_then() -> None:
    with closing(ProcessPool(PoolWish(1, work))) as pool:
        for _ in range(_USES + 1):
            pool.submit(make("x"))
        pids = [pool.wait().why for _ in range(_USES + 1)]
    assert len(set(pids[:-1])) == 1 and pids[-1] != pids[0]


def test_no_worker_outlives_its_pool() -> None:
    with closing(ProcessPool(PoolWish(2, work))) as pool:
        for name in ("a", "b", "hang"):
            pool.submit(make(name))
        pids = [int(pool.wait().why) for _ in range(2)]
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

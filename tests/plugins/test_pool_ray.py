"""The pool of Ray: the same failures as of processes, and the place of a memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from kimi_memory.plugins.pool_ray import RESOURCE, RayPool

from kimi_memory.domain.fleet import PoolWish
from tests.plugins.test_pool_process import make, work

ray = pytest.importorskip("ray", reason="needs the library of kimi-memory[ray]")


@pytest.fixture(scope="module", autouse=True)
def engine() -> Iterator[None]:
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, resources={f"{RESOURCE}edge": 1}
    )
    yield
    ray.shutdown()


def test_a_lost_worker_is_reported_and_the_others_go_on() -> None:
    with closing(RayPool(PoolWish(2, work))) as pool:
        for unit in (make("one"), make("die"), make("two"), make("hang", 2.0)):
            pool.submit(unit)
        found = {(one := pool.wait()).unit.name: one for _ in range(4)}
    assert {name: one.outcome for name, one in found.items()} == {
        "one": "done", "two": "done", "die": "failed", "hang": "failed"
    }  # fmt: skip
    assert found["die"].why.startswith("its worker ended: ")
    assert found["hang"].why == "it took more than 2 s"


def test_a_memory_is_worked_on_where_it_is_led() -> None:
    with closing(RayPool(PoolWish(1, work))) as pool:
        pool.submit(make("one")._replace(node="edge"))
        pool.submit(make("two")._replace(node="nowhere"))
        found = {(one := pool.wait()).unit.name: one for _ in range(2)}
    assert found["one"].outcome == "done"
    assert found["two"].why == f"no machine of the Ray cluster offers {RESOURCE}nowhere"
    assert ray.is_initialized(), "an engine that somebody else started goes on"

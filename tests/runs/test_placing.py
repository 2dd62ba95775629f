"""Placement: the table and the threshold, each refusal with its reason, and no surprise."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory.domain.agent_run import Needs, Task
from kimi_memory.domain.placement_types import (
    Capabilities,
    Latency,
    NodeProfile,
    Permissions,
    Resources,
)
from kimi_memory.errors import NoPlaceError
from kimi_memory.runs.placing import Surroundings, place_task

ALL = Capabilities(runtimes=("process", "sandbox"), languages=("python",))
BIG = Resources(8, 16_000, 100_000)
CLOUD = NodeProfile("cloud-r1", "reasoning", region="us")
RACK = NodeProfile("rack-e2", "execution", region="us", capabilities=ALL, resources=BIG)
EDGE = NodeProfile("edge-1", "hybrid", region="us", capabilities=ALL, resources=BIG)
NODES = (CLOUD, RACK, EDGE)


def around(*nodes: NodeProfile, ms: float | None = 20.0, **more: object) -> Surroundings:
    pairs = [("cloud-r1", "rack-e2"), ("edge-1", "rack-e2"), ("cloud-r1", "edge-1")]
    known = [] if ms is None else [Latency(a, b, ms) for a, b in pairs]
    return Surroundings(nodes or NODES, known, **more)  # type: ignore[arg-type]  # by name


def task(**more: object) -> Task:
    return Task("t", **more)  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("interactive", "hybrid"), ("batch", "separated"), ("deploy", "separated"),
     ("research", "separated")],
)  # fmt: skip
def test_the_table_of_tasks(kind: str, mode: str) -> None:
    assert place_task(task(class_=kind), around(ms=83)).mode == mode


@pytest.mark.parametrize(
    ("ms", "mode", "said"),
    [(0.5, "separated", "below 50"), (49.9, "separated", "49.9 ms, below 50"),
     (50.0, "hybrid", "50 ms, 50 or more"), (83.0, "hybrid", "83 ms, 50 or more"),
     (None, "hybrid", "no pair of machines was measured")],
)  # fmt: skip
def test_fifty_milliseconds_are_the_threshold(ms: float | None, mode: str, said: str) -> None:
    for one in (task(class_="interactive"), task(realtime=True)):
        found = place_task(one, around(ms=ms))
        assert found.mode == mode and said in found.why


def test_high_security_wants_two_machines_of_which_one_may_do_nothing() -> None:
    found = place_task(task(class_="interactive", security="high"), around(ms=300))
    assert found.mode == "separated" and found.reasoning != found.execution
    strong = EDGE._replace(permissions=Permissions(sudo=True, docker=True))
    with pytest.raises(NoPlaceError, match=r"edge-1: has permissions|edge-1: cannot think"):
        place_task(task(security="high"), around(strong))
    plain = RACK._replace(capabilities=Capabilities(runtimes=("process",)))
    with pytest.raises(NoPlaceError, match="rack-e2: offers no sandbox"):
        place_task(task(security="high"), around(CLOUD, plain))


@pytest.mark.parametrize(
    ("node", "needs", "said"),
    [
        (EDGE._replace(seen_seconds=41), Needs(), "offline for 41 s"),
        (EDGE._replace(status="maintenance"), Needs(), "in maintenance"),
        (EDGE._replace(status="busy"), Needs(), "busy"),
        (EDGE, Needs(permissions=("docker",)), "lacks permission: docker"),
        (EDGE, Needs(permissions=("filesystem",)), "lacks permission: filesystem"),
        (EDGE, Needs(runtimes=("gvisor",)), "offers no gvisor"),
        (EDGE, Needs(cpu=9), "has 8 of 9 CPUs"),
        (EDGE._replace(load=50), Needs(cpu=5), "has 4 of 5 CPUs"),
        (EDGE, Needs(memory_mb=20_000), "has 16000 of 20000 MB of memory"),
        (EDGE, Needs(disk_mb=200_000), "MB of disk"),
        (EDGE, Needs(gpu=True), "has no GPU"),
    ],
)
def test_every_refusal_says_why(node: NodeProfile, needs: Needs, said: str) -> None:
    able = RACK._replace(
        name="able", kind="hybrid", resources=Resources(99, 10**6, 10**6),
        permissions=Permissions(True, "all", True, True),
        capabilities=Capabilities(True, runtimes=("process", "gvisor")),
    )  # fmt: skip
    found = place_task(task(needs=needs), around(node, able))
    assert found.execution == "able"
    refused = dict(found.refused) | ({"edge-1": ""} if found.reasoning == "edge-1" else {})
    assert said in refused["edge-1"] or found.reasoning == "edge-1"
    with pytest.raises(NoPlaceError) as caught:
        place_task(task(needs=needs), around(node))
    assert f"edge-1: {said}" in str(caught.value) or said in str(caught.value)


def test_a_region_is_held() -> None:
    with pytest.raises(NoPlaceError, match="edge-1: is in us, not asia"):
        place_task(task(region="asia"), around())


def test_the_other_mode_is_taken_and_said() -> None:
    found = place_task(task(class_="batch"), around(EDGE))
    assert (found.mode, found.execution) == ("hybrid", "edge-1")
    assert found.why.endswith("no machine for separated")


def test_hours_are_not_spread_over_a_machine_that_goes_away() -> None:
    laptop = RACK._replace(use_case="offline")
    short, long, busy = task(expected_s=3599), task(expected_s=3600), EDGE._replace(load=60)
    assert place_task(short, around(CLOUD, laptop, busy)).execution == "rack-e2"
    found = place_task(long, around(CLOUD, laptop, busy))
    assert (found.mode, found.reasoning, found.execution) == ("separated", "cloud-r1", "edge-1")
    why = {one.node: one.why for one in found.refused}["rack-e2"]
    assert "often offline" in why and "3600 s" in why
    alone = laptop._replace(kind="hybrid")
    assert place_task(long, around(CLOUD, alone)).mode == "hybrid"
    with pytest.raises(NoPlaceError, match="rack-e2: is often offline"):
        place_task(long, around(CLOUD, laptop))


def test_what_cannot_be_done_in_time_is_placed_nowhere() -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    hour = task(expected_s=3600.0, deadline=now + timedelta(minutes=59))
    with pytest.raises(NoPlaceError, match="expected to take 3600 s, and its deadline is in 3540"):
        place_task(hour, around(now=now))
    assert place_task(hour, around(now=now - timedelta(minutes=2))).execution
    with pytest.raises(NoPlaceError, match="its deadline is over"):
        place_task(task(deadline=now), around(now=now))


def test_the_memory_and_the_load_decide_between_equals() -> None:
    other = EDGE._replace(name="edge-2")
    asked = task(class_="interactive")
    near = around(EDGE, other, ms=None, deployed={"edge-2": "primary"})
    assert place_task(asked, near).execution == "edge-2"
    assert place_task(asked, around(EDGE._replace(load=80), other, ms=None)).execution == "edge-2"
    assert place_task(asked, around(other, EDGE, ms=None)).execution == "edge-1"


def test_every_machine_is_taken_or_refused_and_order_decides_nothing() -> None:
    rng = random.Random(5)
    for _ in range(300):
        nodes = [
            NodeProfile(
                f"n{n}", rng.choice(["reasoning", "execution", "hybrid"]),
                region=rng.choice(["", "us"]), capabilities=rng.choice([ALL, Capabilities()]),
                resources=rng.choice([BIG, Resources()]), load=rng.randrange(101),
                permissions=rng.choice([Permissions(), Permissions(docker=True)]),
                seen_seconds=rng.choice([0, 99]),
            )
            for n in range(rng.randrange(1, 6))
        ]  # fmt: skip
        known = [
            Latency(a.name, b.name, rng.randrange(100))
            for a in nodes for b in nodes if a.name < b.name and rng.random() < 0.6
        ]  # fmt: skip
        asked = task(
            class_=rng.choice(["batch", "interactive"]), needs=Needs(cpu=rng.choice([0, 1])),
            security=rng.choice(["normal", "high"]),
        )  # fmt: skip
        try:
            found = place_task(asked, Surroundings(nodes, known))
        except NoPlaceError as error:
            assert all(f"{one.name}: " in str(error) for one in nodes)
            continue
        named = {found.reasoning, found.execution} | {one.node for one in found.refused}
        assert named == {one.name for one in nodes} and all(one.why for one in found.refused)
        assert 0 <= found.score <= 100
        if asked.security == "high":
            assert found.reasoning != found.execution
        rng.shuffle(nodes)
        again = place_task(asked, Surroundings(nodes, known))
        assert (again.mode, again.reasoning, again.execution) == found[:1] + found[1:3]

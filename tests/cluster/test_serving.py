"""A cluster over HTTP: who leads, handing over, and writes that are sent on to who takes them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.served import Served, serving

from kimi_memory import Memory, Opening
from kimi_memory.client import AsyncClient, Client
from kimi_memory.cluster import Cluster
from kimi_memory.domain.agent_run import Program, Task
from kimi_memory.errors import NoPlaceError, NotPrimaryError, UsageError
from kimi_memory.runs import Runs
from tests.cluster.test_reading import served_on

pytestmark = pytest.mark.cluster
pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")


def open_cluster(served: Served) -> Cluster:
    return Cluster.open(opening=Opening(home=served.directories, background=False))


def say_address(served: Served) -> None:
    """Put the address of a server that runs into its settings, and have the others know it."""
    path = served.directories.config / "config.toml"
    path.write_text(f'{path.read_text()}address = "{served.url}"\n', encoding="utf-8")
    with open_cluster(served) as cluster:
        cluster.join()


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    """Two machines that serve a memory: the first leads, the second follows."""
    url = f"folder://{tmp_path}/log"
    for name in ("edge", "rack"):
        (tmp_path / name).mkdir()
    edge, rack = served_on(tmp_path, "edge", url), served_on(tmp_path, "rack", url)
    opening = Opening(home=edge.directories, background=False)
    Memory.create(edge.root, name="shop", opening=opening).close()
    with open_cluster(edge) as one, open_cluster(rack) as other:
        one.deploy(edge.root)
        other.add("shop", rack.root)
    with serving(tmp_path) as start:
        yield start(edge.root, edge.home), start(rack.root, rack.home)


def test_a_write_is_sent_on_to_the_machine_that_takes_it(pair: tuple[Served, Served]) -> None:
    edge, rack = pair
    with Client(rack.url) as memory, pytest.raises(NotPrimaryError, match="edge takes the writes"):
        memory.remember("The mast is 21 m high.")  # Nobody said where edge is served.
    say_address(edge)
    with rack.client() as plain:
        answer = plain.post("/v1/remember?", json={"text": "Not here."})
        assert answer.status_code == 307
        assert answer.headers["location"] == f"{edge.url}/m/shop/v1/remember"
        assert answer.json()["error"]["code"] == "not_primary"
    with Client(rack.url) as memory:
        with memory.session("s") as session:
            stored = session.turn("user", "决定：部署定在每周五下午。", ref="m1")
            assert (stored.n, stored.durability) == (1, "replicated")
        report = memory.remember("The mast is 21 m high.", key="mast")
        assert report.counts == {"ADD": 1}
    with Client(rack.url) as memory:
        state = memory.cluster_status()
        assert state.seq > 3 and state.why == ""
    with Client(edge.url) as memory:
        assert memory.cluster_status().seq == state.seq
        assert memory.recall("哪天部署？").hits
    for served in (edge, rack):
        with served.client() as plain:
            text = plain.get("/v1/metrics").text
        assert f"kimi_memory_log_record {state.seq}" in text
        assert "kimi_memory_log_epoch 1" in text and "kimi_memory_log_lag_seconds" in text
    with Client(edge.url) as memory:
        seq = memory.cluster_status().seq

    async def steps() -> None:
        async with AsyncClient(rack.url) as memory:
            assert (await memory.remember("The rudder is of oak.", key="rudder")).counts

    asyncio.run(steps())
    with rack.client() as plain:
        found = plain.post("/v1/recall", json={"query": "mast"}, headers={"kimi-after": str(seq)})
        assert "21 m" in found.text and int(found.headers["kimi-epoch"]) >= 1


def test_a_token_is_shown_to_no_machine_but_its_own(pair: tuple[Served, Served]) -> None:
    edge, rack = pair
    here, there = rack.token("me", "--scope", "write"), edge.token("me", "--scope", "write")
    say_address(edge)
    with (
        Client(rack.url, here) as memory,
        pytest.raises(NotPrimaryError, match="edge takes the writes"),
    ):
        memory.remember("The mast is 21 m high.")
    with Client(rack.url, here, others={edge.url: there}) as memory:
        assert memory.remember("The mast is 21 m high.", key="mast").counts == {"ADD": 1}
    # An address of another machine that begins like a known one is not that one.
    with (
        Client(rack.url, here, others={edge.url[:-1]: there}) as memory,
        pytest.raises(NotPrimaryError),
    ):
        memory.remember("The rudder is of oak.")


def test_who_leads_is_said_and_handed_over(pair: tuple[Served, Served]) -> None:
    edge, rack = pair
    say_address(edge)
    say_address(rack)
    with Client(edge.url) as one, Client(rack.url) as other:
        state = other.cluster_status()
        assert (state.node, state.leader, state.address) == ("rack", "edge", f"{edge.url}/m/shop")
        assert state.epoch == 1 and state.may_lead and not state.why
        assert {node.name for node in one.cluster_nodes()} == {"edge", "rack"}
        roles = {row.node: (row.role, row.address) for row in one.cluster_deployments()}
        assert roles == {
            "edge": ("primary", f"{edge.url}/m/shop"),
            "rack": ("replica", f"{rack.url}/m/shop"),
        }
        assert one.demote().node == ""
        led = other.promote()
        assert (led.node, led.epoch) == ("rack", 2)
        last = max((edge.root.parents[1] / "log").glob("logs/*/0*.json"))
        last.with_name(f"{int(last.stem) + 1:020d}.json").write_bytes(b"[]")
        assert "no record of a change log" in one.cluster_status().why
        last.with_name(f"{int(last.stem) + 1:020d}.json").unlink()
        # Now it goes the other way round.
        assert one.remember("The mast is 21 m high.", key="mast").counts == {"ADD": 1}
        assert one.cluster_status().leader == "rack"
        with pytest.raises(UsageError, match="nowhere cannot lead"):
            one.promote("nowhere")
        assert one.cluster_place("interactive").why
        with pytest.raises(NoPlaceError, match="offers no python"):
            one.cluster_place(needs=("python",))
        assert one.cluster_usage(by=("job",)) and one.cluster_agents() == []
    opening = Opening(home=rack.directories, background=False)
    program = Program("worker", (sys.executable, "-c", "print('done')"))
    with Memory.open(rack.root, opening) as memory:
        runs = [Runs(memory).run(Task(f"t-{n}", prompt="Go."), program).id for n in (1, 2)]
    with Client(rack.url) as other:
        assert [run.id for run in other.cluster_agents()] == runs[::-1]
        assert [run.id for run in other.cluster_agents(limit=1)] == runs[1:]


def test_a_memory_of_one_machine_has_no_cluster(tmp_path: Path) -> None:
    Memory.create(tmp_path / "alone").close()
    with serving(tmp_path) as start:
        served = start(tmp_path / "alone", tmp_path / "home")
        with Client(served.url) as memory:
            for ask in (memory.cluster_status, memory.cluster_nodes, memory.demote):
                with pytest.raises(UsageError, match="on one machine alone"):
                    ask()

"""A fork that another machine makes, because it was asked to by one of the cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")

from kimi_memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.forking import fork_on, make_asked
from kimi_memory.errors import UsageError
from tests.cluster.test_membership import kept_in_step, machine


def test_a_fork_is_made_by_the_machine_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edge, rack = machine(tmp_path, "edge", ttl=2.0), machine(tmp_path, "rack", ttl=2.0)
    with Memory.create(tmp_path / "shop", name="shop", opening=edge) as memory:
        memory.remember("The port is 8080.", key="port")
        id = memory.settings.memory.id
    monkeypatch.setattr(Home, "of_user", classmethod(lambda cls: edge.home))
    words = ["fork", "--memory", str(tmp_path / "shop"), "--name", "分支 / x", "--on", "rack"]
    assert run(words) == UsageError.exit_code
    assert "on this machine alone" in capsys.readouterr().err
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(tmp_path / "shop")
        for node, why in (("edge", "is this machine"), ("rack", "does not hold all of")):
            with pytest.raises(UsageError, match=why):
                fork_on(one, "shop", node, "x")
        other.add("shop", tmp_path / "rack" / "shop")
        with pytest.raises(UsageError, match=r"rack did not answer in 0\.2 s"):
            fork_on(one, "shop", "rack", "too early", wait_seconds=0.2)
        with kept_in_step(other, rack):
            with one.memory("shop") as memory:
                memory.remember("The queue is RabbitMQ.", key="queue")
            assert run([*words, "--json"]) == 0
            made = json.loads(capsys.readouterr().out)
            assert run([*words, "--at", "never was"]) != 0
            with pytest.raises(UsageError, match=r"rack cannot make it: .*is not empty"):
                fork_on(one, "shop", "rack", "分支 / x")
        assert not one.log.rows("forks") and not one.log.rows("forked")
    place = tmp_path / "rack" / "分支-x"
    assert (made["node"], made["folder"]) == ("rack", str(place))
    assert not [*place.parent.glob("too-early")]
    with Memory.open(place, rack) as fork:
        assert fork.settings.memory.id == made["id"] != id
        assert fork.settings.memory.parent.startswith(f"{id}@")
        assert fork.settings.memory.name == "分支 / x"
        assert fork.recall("queue").hits and fork.store.relay is None


def test_only_what_a_node_signed_has_another_make_a_fork(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        id = one.deploy(tmp_path / "shop").memory
        other.add("shop", tmp_path / "rack" / "shop")
        asked = {"on": "rack", "name": "forged", "at": "HEAD", "seq": 1}
        other.log.engine.put_row("forks", f"{id}/edge/fork-1", json.dumps(asked).encode())
        # Signed, but by another one than it says.
        one.registry.ask_fork(f"{id}/mac/fork-2", asked)
        assert not [*make_asked(other)]
        one.registry.ask_fork(f"{id}/edge/fork-3", {"on": "rack", "name": 7})
        (line,) = make_asked(other)
        assert line.startswith(f"{id}: a fork for edge: ")
        assert one.registry.fork_answer(f"{id}/edge/fork-3", "rack")["why"]
        assert not [*make_asked(other)]
    assert [*(tmp_path / "rack").glob("forged")] == []

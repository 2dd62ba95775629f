"""Forks and copies that another machine makes, because one of the cluster asked it to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")

from kimi_memory import Memory
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.asking import OtherMachine, answer_questions
from kimi_memory.cluster.moving import sync
from kimi_memory.cluster.trust import seal_log
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
                OtherMachine(one, node).fork("shop", "x")
        other.add("shop", tmp_path / "rack" / "shop")
        with pytest.raises(UsageError, match=r"rack did not answer in 0\.2 s"):
            OtherMachine(one, "rack", wait_seconds=0.2).fork("shop", "too early")
        with kept_in_step(other, rack):
            with one.memory("shop") as memory:
                memory.remember("The queue is RabbitMQ.", key="queue")
            place = tmp_path / "rack" / "分支-x"
            assert run([*words, "--dry-run"]) == 0 and not place.exists()
            assert f"Would have rack make {place}" in capsys.readouterr().out
            assert run([*words, "--json"]) == 0
            made = json.loads(capsys.readouterr().out)
            assert run([*words, "--at", "never was"]) != 0
            with pytest.raises(UsageError, match=r"rack cannot make it: .*is not empty"):
                OtherMachine(one, "rack").fork("shop", "分支 / x")
        assert not one.log.rows("asks") and not one.log.rows("replies")
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
        asked = {"on": "rack", "what": "fork", "name": "forged", "at": "HEAD", "seq": 1}
        other.log.engine.put_row("asks", f"{id}/edge/fork-1", json.dumps(asked).encode())
        # Signed, but by another one than it says.
        one.registry.ask(f"{id}/mac/fork-2", asked)
        assert not [*answer_questions(other)]
        one.registry.ask(f"{id}/edge/fork-3", {"on": "rack", "what": "fork", "name": 7})
        (line,) = answer_questions(other)
        assert line.startswith(f"{id}: edge asks to fork: ")
        assert one.registry.reply(f"{id}/edge/fork-3", "rack")["why"]
        assert not [*answer_questions(other)]
    assert [*(tmp_path / "rack").glob("forged")] == []


def test_a_copy_is_made_by_the_machine_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edge, rack = machine(tmp_path, "edge", ttl=2.0), machine(tmp_path, "rack", ttl=2.0)
    Memory.create(tmp_path / "shop", name="Shop 1", opening=edge).close()
    monkeypatch.setattr(Home, "of_user", classmethod(lambda cls: edge.home))
    words = ["deploy", "add", "--memory", str(tmp_path / "shop"), "--on", "rack"]
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        for more, why in (([], "is not shared"), (["--folder", "x"], "leave --folder and")):
            assert run([*words, *more]) == UsageError.exit_code
            assert why in capsys.readouterr().err
        one.deploy(tmp_path / "shop")
        with kept_in_step(other, rack):
            assert run(words) == UsageError.exit_code
            assert "rack cannot make it: it has no folder" in capsys.readouterr().err
        assert rack.home is not None
        with (rack.home.config / "config.toml").open("a") as file:
            file.write(f'folder = "{tmp_path}/copies"\n')
        with kept_in_step(other, rack):
            assert run([*words, "--dry-run"]) == 0
            assert "Would have rack copy Shop 1." in capsys.readouterr().out
            assert not (tmp_path / "copies").exists()
            assert run([*words, "--role", "cache", "--keep", "semantic"]) == 0
            place = tmp_path / "copies" / "shop-1"
            assert f"Shop 1 is in {place} on rack, a cache" in capsys.readouterr().out
            with one.memory("Shop 1") as memory:
                memory.remember("The queue is RabbitMQ.", key="queue")
            assert sync(one, "Shop 1", "rack").node == "rack"
            with pytest.raises(UsageError, match="rack has Shop 1 already"):
                OtherMachine(one, "rack").copy("Shop 1")
            with pytest.raises(UsageError, match="does not hold all of"):
                OtherMachine(one, "rack").fork("Shop 1", "x")
    assert [row.role for row in one.registry.deployments()] == ["primary", "cache"]
    assert [*(place / "semantic").rglob("*queue*")] and not (place / "short-term").exists()


def test_a_sealed_log_is_copied_only_where_it_can_be_read(tmp_path: Path) -> None:
    pytest.importorskip("pyrage", reason="needs kimi-memory[encrypt]")
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(tmp_path / "shop", sealed=True)
        with pytest.raises(UsageError, match=r"rack cannot read it. Run 'kimi-memory deploy seal"):
            OtherMachine(one, "rack").copy("shop")
        seal_log(one, "shop", to="rack")
        assert OtherMachine(one, "rack", dry_run=True).copy("shop").name == "shop"

"""Snapshots and trimming by themselves: when they are due, and what they leave."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from kimi_memory import Memory
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.log_length import keep_short
from kimi_memory.domain.user_tables import ClusterTable
from tests.cluster.test_membership import machine, relay

TABLE = ClusterTable(keep_days=7.0, snapshot_records=10)


def test_a_log_begins_anew_once_all_have_it_and_it_is_old(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    folder = tmp_path / "edge" / "shop"
    Memory.create(folder, name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        id = one.deploy(folder).memory
        row, _ = other.add("shop", tmp_path / "rack" / "shop")
        with one.memory("shop") as memory, other.memory("shop") as follows:
            for n in range(12):
                memory.session("s").turn("user", f"Message {n}.")
            made, gone = keep_short(memory, relay(memory), one.registry, TABLE)
            assert made and not gone, "it is not old yet"
            assert keep_short(memory, relay(memory), one.registry, TABLE) == (0, 0)
            now = memory.clock()
            memory.clock = lambda: now + timedelta(days=8)
            assert keep_short(memory, relay(memory), one.registry, TABLE) == (0, 1), (
                "what rack lacks stays"
            )
            relay(follows).follow()
            for n in range(3):
                memory.session("s").turn("user", f"After {n}.")
            other.registry.put_deployment(
                type(row)(**{f: getattr(row, f) for f in row.__slots__} | {"applied": made})
            )
            made_again, gone = keep_short(memory, relay(memory), one.registry, TABLE)
            assert gone and not made_again
            assert one.log.read(id, 0, 1)[0][0] == made
            relay(follows).follow()
            assert digest_tree(memory) == digest_tree(follows)
        assert not [*check_log(one.log, id)]

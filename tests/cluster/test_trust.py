"""Records that are signed and sealed: what no node of the cluster put there is refused."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.purging import purge_shared
from kimi_memory.cluster.trust import own_key, seal_log, trust_node
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.errors import NotPrimaryError, RefusedRecordError, UsageError
from kimi_memory.formats.log_record import hash_record
from kimi_memory.jobs.purge import Doomed
from kimi_memory.store.node_keys import KEY_FILE, NODES_FILE
from kimi_memory.store.relay import Relay

pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")
pytest.importorskip("pyrage", reason="needs kimi-memory[cluster]")

SAID = "部署定在每周五下午。"
TURN = "Turn 5 of the talk. 第五轮。"


class Machines:
    """Machines over one folder log."""

    def __init__(self, base: Path) -> None:
        self.base = base

    def opening(self, name: str, *, more: str = "") -> Opening:
        config = self.base / name / "config"
        config.mkdir(parents=True, exist_ok=True)
        text = f'[cluster]\nurl = "folder://{self.base}/log"\nnode = "{name}"\nttl = 30.0\n{more}'
        (config / "config.toml").write_text(text, encoding="utf-8")
        return Opening(home=Home(config, self.base / name / "state"), background=False)

    def cluster(self, name: str, *, more: str = "") -> Cluster:
        return Cluster.open(opening=self.opening(name, more=more))

    def folder(self, name: str) -> Path:
        return self.base / name / "shop"

    def begin(self, *, sealed: bool = False, keyed: bool = True) -> str:
        """Share a memory of machine ``a``, and copy it to ``b``; return its id."""
        Memory.create(self.folder("a"), name="shop", opening=self.opening("a")).close()
        with self.cluster("a") as a, self.cluster("b") as b:
            if keyed:
                a.join()
                b.join()
            row = a.deploy(self.folder("a"), sealed=sealed)
            if sealed:
                seal_log(a, "shop", to="b")
            b.add("shop", self.folder("b"))
        return row.memory


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    yield Machines(tmp_path)


def relay_of(memory: Memory) -> Relay:
    assert memory.store.relay is not None
    return memory.store.relay


def engine_of(cluster: Cluster) -> ChangeLog:
    return cluster.log.engine


def stored(cluster: Cluster, id: str) -> list[bytes]:
    return [bytes(body) for _, body in engine_of(cluster).read(id, 0)]


def last_path(machines: Machines, id: str) -> Path:
    return max((machines.base / "log" / "logs" / id).glob("0*.json"))


def end_at_turn(machines: Machines, id: str) -> Path:
    """Have a log end at the record of the last turn; return the file of that."""
    found = sorted((machines.base / "log" / "logs" / id).glob("0*.json"))
    while TURN.encode() not in found[-1].read_bytes():
        found.pop().unlink()
    return found[-1]


def with_text(body: bytes) -> bytes:
    return body.replace(b"Turn 5", b"Turn 6")


def without_signature(body: bytes) -> bytes:
    record = json.loads(body)
    del record["sig"]
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


FORGED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "another text": (with_text, "its signature is not that of a"),
    "another epoch": (lambda body: body.replace(b'"epoch":1', b'"epoch":2'), "not that of a"),
    "another node": (lambda body: body.replace(b'"node":"a"', b'"node":"b"'), "not that of b"),
    "an unknown node": (lambda body: body.replace(b'"node":"a"', b'"node":"x"'), "key of x"),
    "no signature": (without_signature, "it has no signature of a"),
    "no record": (lambda body: b"[]", "no record of a change log"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_refused_in_one_line(machines: Machines, name: str) -> None:
    id = machines.begin()
    forge, why = FORGED[name]
    with machines.cluster("a") as a, a.memory("shop") as memory:
        memory.session("s").turn("user", "The queue is RabbitMQ.")
        memory.session("s").turn("user", TURN)
    path = end_at_turn(machines, id)
    honest = path.read_bytes()
    path.write_bytes(forge(honest))
    with machines.cluster("b") as b, b.memory("shop") as memory:
        with pytest.raises(RefusedRecordError, match=why) as raised:
            relay_of(memory).follow()
            relay_of(memory).follow()
        assert "\n" not in str(raised.value) and f"record {int(path.stem)}" in str(raised.value)
        assert any(why in line for line in check_log(b.log, id))
        # What came before it is there, and the folder is sound: it goes on.
        assert memory.recall("queue").hits
        assert not [hit for hit in memory.recall("Turn 6").hits if "Turn" in hit.snippet]
        assert not relay_of(memory).position.place.broken
        path.write_bytes(honest)
        assert relay_of(memory).follow() == 1
        assert "Turn 5" in memory.recall("第五轮").hits[0].snippet


def test_a_record_put_anew_or_in_another_order_is_refused(machines: Machines) -> None:
    id = machines.begin()
    with machines.cluster("a") as a, a.memory("shop") as memory:
        memory.session("s").turn("user", "The queue is RabbitMQ.")
        memory.session("s").turn("user", TURN)
    last = end_at_turn(machines, id)
    before = last.with_name(f"{int(last.stem) - 1:020d}.json")
    bodies = before.read_bytes(), last.read_bytes()
    again = last.with_name(f"{int(last.stem) + 1:020d}.json")
    again.write_bytes(bodies[1])
    with machines.cluster("b") as b, b.memory("shop") as memory:
        with pytest.raises(Exception, match="says another number"):
            relay_of(memory).follow()
        relay_of(memory).position.mark_broken("")
        again.unlink()
    with machines.cluster("a") as a:
        before.write_bytes(bodies[1])
        last.write_bytes(bodies[0])
        assert [line for line in check_log(a.log, id) if "stands where" in line]


def test_records_of_before_count_until_the_first_that_is_signed(machines: Machines) -> None:
    id = machines.begin(keyed=False)
    with machines.cluster("a") as a:
        with a.memory("shop") as memory:
            memory.remember("The queue is RabbitMQ.")
        assert not any(b'"sig"' in body for body in stored(a, id))
        a.join()
        with a.memory("shop") as memory:
            memory.remember(SAID)
        assert b'"sig"' in stored(a, id)[-1]
        assert not [*check_log(a.log, id)]
        with machines.cluster("b") as b, b.memory("shop") as memory:
            assert relay_of(memory).follow() > 2
            with a.memory("shop") as leads:
                assert digest_tree(memory) == digest_tree(leads)
            # From here on, nothing unsigned counts; and a node without a key does not lead.
            path = last_path(machines, id)
            forged = json.loads(without_signature(path.read_bytes()))
            forged |= {"seq": forged["seq"] + 1, "txn": "txn-x", "prev": hash_record(b"x")}
            path.with_name(f"{forged['seq']:020d}.json").write_text(json.dumps(forged))
            with pytest.raises(RefusedRecordError, match="no signature"):
                relay_of(memory).follow()
            path.with_name(f"{forged['seq']:020d}.json").unlink()
            engine_of(a).release(id, "a", 1)
            with pytest.raises(NotPrimaryError, match="this node has no key"):
                memory.remember("The cache is Redis.")
            b.join()
            memory.remember("The cache is Redis.")


def test_only_listed_keys_count_where_that_is_wanted(machines: Machines) -> None:
    machines.begin()
    listed = 'trust = "listed"\n'
    with machines.cluster("a") as a:
        shown = own_key(a)
        with a.memory("shop") as memory:
            memory.remember(SAID)
    (machines.base / "b" / "config" / NODES_FILE).unlink()
    with machines.cluster("b", more=listed) as b, b.memory("shop") as memory:
        with pytest.raises(RefusedRecordError, match="the key of a, which signed it"):
            relay_of(memory).follow()
        with pytest.raises(UsageError, match="is no key"):
            trust_node(b, "a", "ssh-ed25519 x")
        assert trust_node(b, "a").fingerprint == shown.fingerprint
    with machines.cluster("b", more=listed) as b, b.memory("shop") as memory:
        assert relay_of(memory).follow()


def test_a_node_that_comes_back_with_another_key_is_refused_until_somebody_says_so(
    machines: Machines,
) -> None:
    machines.begin()
    with machines.cluster("a") as a, a.memory("shop") as memory:
        memory.remember("The queue is RabbitMQ.")
    with machines.cluster("b") as b, b.memory("shop") as memory:
        relay_of(memory).follow()
    (machines.base / "a" / "config" / KEY_FILE).unlink()
    with machines.cluster("a") as a, machines.cluster("b") as b:
        a.join()
        with a.memory("shop") as memory:
            memory.remember(SAID)
        with b.memory("shop") as memory:
            with pytest.raises(RefusedRecordError, match="its signature is not that of a"):
                relay_of(memory).follow()
            trust_node(b, "a")
            # Records of before have the key of before.
            assert relay_of(memory).follow()


def test_the_key_is_one_of_openssh_and_signs_what_it_says(machines: Machines) -> None:
    with machines.cluster("a") as a:
        shown = own_key(a)
    path = machines.base / "a" / "config" / KEY_FILE
    assert path.stat().st_mode & 0o777 == 0o600
    listed = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(path)], capture_output=True, text=True, check=True
    )
    assert shown.fingerprint in listed.stdout


def test_what_is_proposed_in_the_name_of_a_node_counts_only_if_it_signed_that(
    machines: Machines,
) -> None:
    id = machines.begin()
    key = f"{id}/b/semantic/x.md"
    body = {"kind": "edit", "path": "semantic/x.md", "at": 1, "after": "x"}
    with machines.cluster("a") as a, machines.cluster("b") as b:
        a.registry.put_proposal(key, body)
        assert a.registry.proposals(id) == {}
        engine_of(a).put_row("proposals", key, json.dumps(body).encode())
        assert a.registry.proposals(id) == {}
        b.registry.put_proposal(key, body)
        assert a.registry.proposals(id) == {key: body}
        # What was said of one thing does not count for another.
        (row,) = engine_of(a).rows("proposals")
        engine_of(a).put_row("proposals", f"{id}/b/semantic/y.md", row.body)
        assert [*a.registry.proposals(id)] == [key]


def test_the_engine_of_a_sealed_log_reads_nothing(machines: Machines) -> None:
    id = machines.begin(sealed=True)
    long = "Das Lager in Aachen. " * 8000
    with machines.cluster("a") as a, machines.cluster("b") as b:
        with a.memory("shop") as memory:
            memory.remember(SAID, key="day")
            memory.session("s").turn("user", long)
            memory.consolidate("daily")
            memory.batch.flush()
            with b.memory("shop") as copy:
                assert relay_of(copy).follow()
                assert "每周五" in copy.recall("哪天部署？").hits[0].snippet
                assert digest_tree(copy) == digest_tree(memory)
        b.registry.put_proposal(f"{id}/b/secret-name.md", {"path": "secret-name.md", "after": ""})
        assert a.registry.proposals(id)
        assert not [*check_log(a.log, id)]
        for body in stored(a, id):
            assert {*json.loads(body)} == {
                *("v", "memory", "seq", "epoch", "node", "kind", "key", "sealed", "sig")
            }
    names = [SAID, "Lager in Aachen", "semantic/", "short-term", "session_s", "Before distil"]
    told = {
        word
        for path in (machines.base / "log").rglob("*")
        if path.is_file()
        for word in names
        if word.encode() in path.read_bytes()
    }
    assert told == set()


def test_a_sealed_log_is_for_those_it_is_sealed_for(machines: Machines) -> None:
    id = machines.begin(sealed=True)
    with machines.cluster("c") as c:
        c.join()
        with pytest.raises(RefusedRecordError, match="sealed, and not for c"):
            c.add("shop", machines.folder("c"))
    with machines.cluster("a") as a, machines.cluster("b") as b, machines.cluster("c") as c:
        assert seal_log(a, "shop", to="c").nodes == ("a", "b", "c")
        c.add("shop", machines.folder("c"))
        with b.memory("shop") as copy:
            relay_of(copy).follow()
        # A new key: b is out. What was written before is gone from the log where all have it.
        done = seal_log(a, "shop", without=["b"])
        assert (done.key, done.nodes) == (2, ("a", "c"))
        with a.memory("shop") as memory:
            memory.remember(SAID, key="day")
        with b.memory("shop") as copy, pytest.raises(RefusedRecordError, match="not for b"):
            relay_of(copy).follow()
        with c.memory("shop") as copy:
            relay_of(copy).follow()
            assert "每周五" in copy.recall("哪天部署？").hits[0].snippet
        # The log begins with the new snapshot, and a purge reaches it as any.
        with machines.cluster("d") as d:
            d.join()
            seal_log(a, "shop", to="d")
            d.add("shop", machines.folder("d"))
            with a.memory("shop") as memory:
                done = purge_shared(memory, Doomed(texts=("每周五",)), wait_seconds=0)
                assert done.report.done
            d.repair("shop")
            with d.memory("shop") as copy:
                assert not copy.recall("每周五").hits
        # Who takes the keys out of the log does not get plain records for it.
        for row in engine_of(a).rows("keys"):
            engine_of(a).drop_row("keys", row.key)
    with machines.cluster("a") as a, a.memory("shop") as memory:
        with pytest.raises(RefusedRecordError, match="key 2, which seals its log"):
            memory.remember("The queue is RabbitMQ.")
        assert not any(b"RabbitMQ" in body for body in stored(a, id))

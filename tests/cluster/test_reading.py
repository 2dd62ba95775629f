"""Reading from a node that follows: one's own writes, how old an answer is, what stopped."""

from __future__ import annotations

from pathlib import Path
from threading import Timer

import pytest
from fakes.served import Served, environment, serving

from kimi_memory import Memory, Opening
from kimi_memory.cluster import Cluster, find_seq
from kimi_memory.errors import BehindError
from kimi_memory.operations.doctor import doctor
from tests.cluster.test_membership import machine

pytestmark = pytest.mark.cluster
pytest.importorskip("uvicorn", reason="needs the libraries of kimi-memory[http]")


def served_on(base: Path, node: str, url: str) -> Served:
    """A node whose settings name the log, for a server in a process of its own."""
    served = Served(base / node / "shop", base / node / "home")
    environment(served.home)
    served.directories.config.mkdir(parents=True)
    text = f'[cluster]\nurl = "{url}"\nnode = "{node}"\nttl = 600.0\n'
    (served.directories.config / "config.toml").write_text(text, encoding="utf-8")
    return served


def test_a_read_waits_for_what_was_written_elsewhere(tmp_path: Path) -> None:
    url = f"folder://{tmp_path}/log"
    (tmp_path / "edge").mkdir()
    (tmp_path / "rack").mkdir()
    edge, rack = served_on(tmp_path, "edge", url), served_on(tmp_path, "rack", url)
    first, second = (Opening(home=one.directories, background=False) for one in (edge, rack))
    Memory.create(edge.root, name="shop", opening=first).close()
    with Cluster.open(opening=first) as one, Cluster.open(opening=second) as other:
        one.deploy(edge.root)
        other.add("shop", rack.root)
    with (
        serving(tmp_path) as start,
        start(edge.root, edge.home).client() as here,
        start(rack.root, rack.home).client() as there,
    ):
        written = here.post("/v1/remember", json={"text": "部署定在每周五下午。", "key": "day"})
        assert written.status_code < 300, written.text
        seq = int(written.headers["kimi-seq"])
        asked = {"kimi-after": str(seq)}
        found = there.post("/v1/recall", json={"query": "哪天部署？"}, headers=asked)
        assert "每周五" in found.text
        assert int(found.headers["kimi-seq"]) >= seq
        assert 0 <= int(found.headers["kimi-lag-ms"]) < 5000
        refused = there.post("/v1/remember", json={"text": "Not here."})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_primary")
        wrong = there.post("/v1/recall", json={"query": "x"}, headers={"kimi-after": "soon"})
        assert wrong.status_code == 400
        behind = there.post(
            "/v1/recall", json={"query": "x"}, headers={"kimi-after": str(seq + 1000)}
        )
        assert (behind.status_code, behind.json()["error"]["code"]) == (503, "behind")


def test_a_read_waits_for_a_record_that_is_still_to_come(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "edge/shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.deploy(tmp_path / "edge/shop")
        other.add("shop", tmp_path / "rack/shop")
        with one.memory("shop") as leads, other.memory("shop") as follows:
            leads.remember("We use PostgreSQL.")
            assert leads.store.relay is not None and follows.store.relay is not None
            known = leads.store.relay.position.place.seq
            late = Timer(0.3, leads.remember, ["The queue is RabbitMQ."])
            late.start()
            seq, lag = follows.store.relay.position.read_at(known + 1, 20.0)
            late.join()
            assert seq > known and 0 <= lag < 5000
            assert follows.store.relay.position.read_at(known + 1000, 0.1)[0] < known + 1000


def test_a_memory_is_opened_where_it_has_what_was_written_elsewhere(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "edge/shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.deploy(tmp_path / "edge/shop")
        other.add("shop", tmp_path / "rack/shop")
        with one.memory("shop") as leads:
            leads.remember("部署定在每周五下午。", key="day")
            seq = find_seq(leads)
        with other.memory("shop", after=seq) as follows:
            assert "每周五" in follows.recall("哪天部署？").hits[0].snippet
            assert find_seq(follows) >= seq
        with pytest.raises(BehindError, match=f"{seq + 100} was asked for"):
            other.memory("shop", after=seq + 100, wait_seconds=0.1)


def test_the_doctor_names_a_folder_that_stopped(tmp_path: Path) -> None:
    edge = machine(tmp_path, "edge")
    Memory.create(tmp_path / "edge/shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one:
        one.deploy(tmp_path / "edge/shop")
        with one.memory("shop") as memory:
            assert not [f for f in doctor(memory) if f.check == "deployment"]
            assert memory.store.relay is not None
            memory.store.relay.position.mark_broken("record 7: it says another number")
            found = next(f for f in doctor(memory) if f.check == "deployment")
    assert "record 7" in found.message
    assert "deploy repair" in found.remedy


def test_a_turn_is_kept_and_said_to_be_where_the_log_does_not_answer(tmp_path: Path) -> None:
    url = f"folder://{tmp_path}/log"
    (tmp_path / "edge").mkdir()
    edge = served_on(tmp_path, "edge", url)
    opening = Opening(home=edge.directories, background=False)
    Memory.create(edge.root, name="shop", opening=opening).close()
    with Cluster.open(opening=opening) as one:
        one.deploy(edge.root)
    with serving(tmp_path) as start, start(edge.root, edge.home).client() as here:
        turn = {"role": "user", "text": "部署定在每周五下午。"}
        assert here.post("/v1/sessions", json={"id": "s"}).status_code < 300
        stored = here.post("/v1/sessions/s/turns", json=turn).json()
        assert (stored["n"], stored["durability"]) == (1, "replicated")
        (tmp_path / "log").rename(tmp_path / "away")
        (tmp_path / "log").write_text("no folder", encoding="utf-8")
        assert here.post("/v1/sessions", json={"id": "new"}).status_code < 300
        for id, n in (("s", 2), ("new", 1)):
            stored = here.post(f"/v1/sessions/{id}/turns", json=turn | {"text": f"{id} {n}."})
            assert stored.status_code < 300, stored.text
            assert (stored.json()["n"], stored.json()["durability"]) == (n, "local")
        assert here.post("/v1/recall", json={"query": "哪天部署？"}).status_code == 200


def test_a_read_that_may_not_be_old_is_refused_where_the_log_is_not_seen(tmp_path: Path) -> None:
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.deploy(tmp_path / "shop")
        other.add("shop", tmp_path / "rack" / "shop")
        with one.memory("shop") as here:
            here.remember("The port is 8080.", key="port")
        with other.memory("shop") as there:
            assert not there.recall("8080").hits
        with other.memory("shop", most_lag_ms=500) as there:
            assert there.recall("8080").hits
        # The log is away: what is known here is of any age.
        logs, away = tmp_path / "log" / "logs", tmp_path / "log" / "away"
        logs.rename(away)
        logs.write_text("no folder")
        with pytest.raises(BehindError, match="does not see the end of the log"):
            other.memory("shop", most_lag_ms=500, wait_seconds=0.2)
        with other.memory("shop") as there:
            assert there.recall("8080").hits
        logs.unlink()
        away.rename(logs)

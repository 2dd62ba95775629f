"""A purge of a deployed memory: in the log, in every folder, and who is named where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cluster.checking import check_log, digest_tree
from kimi_memory.cluster.purging import list_purged_nodes, purge_shared
from kimi_memory.errors import DivergedError, NotPrimaryError
from kimi_memory.jobs.purge import Doomed
from tests.cluster.nodes import Node
from tests.cluster.test_failover import wait_until

SECRET = "Zephyrine Quillfeather"
SECRET_ZH = "王小芳住在枫林路"
DOOMED = Doomed(texts=(SECRET, SECRET_ZH))


def holds(folder: Path) -> list[str]:
    """Files below a folder that hold a purged text, compressed objects of git aside."""
    words = (SECRET.encode(), SECRET_ZH.encode())
    return [
        str(path)
        for path in folder.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]


def say_it(memory: Memory) -> None:
    session = memory.session("s")
    session.turn("user", f"{SECRET} leads the team. {SECRET_ZH}。", ref="one")
    session.turn("user", "The queue is RabbitMQ. 队列用 RabbitMQ。", ref="two")
    memory.remember(f"{SECRET} prefers tea.")
    memory.batch.flush()


@pytest.fixture
def pair(url: str, tmp_path: Path) -> Iterator[tuple[Node, Node]]:
    found = Node(tmp_path, "a", url, 2.0), Node(tmp_path, "b", url, 2.0)
    found[0].create()
    with found[0].cluster() as a, a.memory("shop") as memory:
        say_it(memory)
    found[1].copy()
    yield found
    for node in found:
        node.kill()


@pytest.mark.cluster
def test_a_purge_reaches_the_log_and_every_folder(pair: tuple[Node, Node], tmp_path: Path) -> None:
    a, b = pair
    a.serve()  # Another process of the node that purges: it goes on in the purged folder.
    b.serve()
    with a.cluster() as cluster, cluster.memory("shop") as memory:
        id = cluster.registry.find("shop")
        done = purge_shared(memory, DOOMED)
        assert done.report.done
        assert {(one.node, one.state) for one in done.nodes} == {("a", "proven"), ("b", "renewed")}
        assert done.records > 3
        memory.session("s").turn("user", "It goes on. 继续。", ref="three")
        memory.batch.flush()
        assert not [*check_log(cluster.log, id)]
        bodies = b"".join(body for _, body in cluster.log.read(id, 0))
        assert SECRET.encode() not in bodies
        assert SECRET_ZH.encode() not in bodies
        last = cluster.log.read(id, 0)[-1][0]
        wait_until(lambda: cluster.registry.deployments(id, "b")[0].applied >= last)
        b.kill()
        with b.cluster() as other, other.memory("shop") as copy:
            assert copy.store.relay is not None
            copy.store.relay.follow()
            assert digest_tree(copy) == digest_tree(memory)
            assert not [commit for commit in copy.history.log() if SECRET in commit.subject]
    assert not holds(tmp_path)


@pytest.mark.cluster
def test_a_node_that_was_away_is_named_and_purges_when_it_is_back(pair: tuple[Node, Node]) -> None:
    a, b = pair
    (b.folder / "notes").mkdir(exist_ok=True)
    (b.folder / "notes/mine.md").write_text(f"# Mine\n\n{SECRET}, written on b alone.\n")
    with a.cluster() as cluster, cluster.memory("shop") as memory:
        id = cluster.registry.find("shop")
        done = purge_shared(memory, DOOMED, wait_seconds=0.2)
        named = {one.node: one for one in done.nodes}
        assert named["b"].state == "left"
        assert "not followed yet" in named["b"].why
        with b.cluster() as other:
            with other.memory("shop") as copy, pytest.raises(DivergedError, match="cluster run"):
                assert copy.store.relay is not None
                copy.store.relay.follow()
            # What no record has is not lost, and the purge is not said to be done.
            kept = other.repair("shop")
            assert len(kept) == 1
            left = list_purged_nodes(cluster.log, id, "a")
            assert [one.state for one in left] == ["proven", "left"]
            assert "mine.md" in left[1].why
            assert SECRET in (b.folder / ".kimi/lost+found" / kept[0]).read_text()
        assert holds(b.folder) == [str(b.folder / ".kimi/lost+found" / kept[0])]
        (b.folder / ".kimi/lost+found" / kept[0]).unlink()
        b.serve()
        wait_until(lambda: list_purged_nodes(cluster.log, id, "a")[1].state == "renewed")


@pytest.mark.cluster
def test_a_purge_that_died_half_way_is_finished_before_anything_else(
    pair: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = pair
    with a.cluster() as cluster:
        with cluster.memory("shop") as memory, monkeypatch.context() as patch:
            patch.setattr("kimi_memory.cluster.purging.export_bundle", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                purge_shared(memory, DOOMED)
        with cluster.memory("shop") as memory:
            with pytest.raises(DivergedError, match="purge was begun"):
                memory.session("s").turn("user", "Too early.")
            done = purge_shared(memory, DOOMED, wait_seconds=0.2)
            assert done.records > 3
            memory.session("s").turn("user", "Now it goes on.", ref="on")
    with b.cluster() as other:
        other.repair("shop")
        with other.memory("shop") as copy, a.cluster() as one, one.memory("shop") as memory:
            assert digest_tree(copy) == digest_tree(memory)
    assert not holds(b.folder)


@pytest.mark.cluster
def test_a_replica_does_not_purge_and_the_leader_is_not_made_anew(
    pair: tuple[Node, Node],
) -> None:
    a, b = pair
    with a.cluster() as cluster, b.cluster() as other:
        with cluster.memory("shop") as memory:
            memory.session("s").turn("user", "A leads.")
        with other.memory("shop") as copy, pytest.raises(NotPrimaryError, match="a takes"):
            purge_shared(copy, DOOMED)
        with pytest.raises(NotPrimaryError, match="deploy demote"):
            cluster.repair("shop")


@pytest.mark.cluster
def test_a_trimmed_log_begins_with_a_snapshot_that_new_copies_begin_at(
    pair: tuple[Node, Node], tmp_path: Path, url: str
) -> None:
    a, b = pair
    b.serve()
    with a.cluster() as cluster:
        id = cluster.registry.find("shop")
        records = len(cluster.log.read(id, 0))
        assert 0 <= cluster.trim("shop", dry_run=True) < records
        gone = cluster.trim("shop")
        b.kill()  # On a machine with much else to do it would lead before the end, or does.
        wait_until(lambda: cluster.state(id).holder == "a" or not cluster.state(id).held)
        assert gone > 3
        left = cluster.log.read(id, 0)
        assert left[0][0] == gone + 1
        assert not [*check_log(cluster.log, id)]
        third = Node(tmp_path, "c", url, 2.0)
        third.copy()
        with (
            third.cluster() as other,
            other.memory("shop") as copy,
            cluster.memory("shop") as memory,
        ):
            memory.session("s").turn("user", "After the cut. 之后。")
            assert copy.store.relay is not None
            copy.store.relay.follow()
            assert digest_tree(copy) == digest_tree(memory)

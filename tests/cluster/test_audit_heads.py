"""The end of an audit log is in the change log, where its machine cannot cut it any more."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
pytest.importorskip("cryptography", reason="needs kimi-memory[cluster]")

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.cluster import Cluster
from kimi_memory.cluster.audit_heads import HeadCarrier, read_carried
from kimi_memory.cluster.checking import check_log
from kimi_memory.cluster.registry import Registry
from kimi_memory.cluster.running import Service
from kimi_memory.domain.space_types import AuditHead
from kimi_memory.mcp.workers import Desk
from kimi_memory.spaces.audit_log import decision_record
from kimi_memory.spaces.carried import Heads, find_carried
from kimi_memory.spaces.space_folder import SpaceFolder
from kimi_memory.store.git.command import Git
from tests.cluster.test_membership import machine, relay


def ask(space: SpaceFolder, memory: str, times: int) -> None:
    for _ in range(times):
        decision = space.decide("lin", "recall", memory)
        space.note(decision_record(space.name, "lin", "recall", decision, memory))


def forge_a_shorter_log(space: SpaceFolder) -> None:
    """Take the last line away, and all that knows of it on this machine."""
    day = next(space.log.folder.glob("*.jsonl"))
    lines = day.read_bytes().splitlines(keepends=True)[:-1]
    day.write_bytes(b"".join(lines))
    aside = space.home.state / "spaces" / f".{space.about.id}.head"
    aside.unlink()
    shutil.rmtree(space.root / ".git")
    Git(space.root, space.root / ".git").run("init", "--quiet", "--initial-branch=main")
    last = json.loads(lines[-1])
    # As the program itself would have left it, had the last line never been written.
    aside.write_text(f"{last['seq']:020} {hashlib.sha256(lines[-1].rstrip()).hexdigest()}\n")
    Git(space.root, space.root / ".git").run("add", "--all")
    Git(space.root, space.root / ".git").run("commit", "--quiet", "-m", "all of it")


class Site:
    """One machine with the memory, and a space of its own."""

    def __init__(self, cluster: Cluster, opening: Opening, folder: Path) -> None:
        assert opening.home is not None
        self.cluster, self.opening, self.folder = cluster, opening, folder
        with Memory.open(folder, opening) as memory:
            self.id = memory.settings.memory.id
        base = folder.parent / f"{folder.name}-space"
        self.space = SpaceFolder.create(opening.home, "team", base)
        self.space.share(self.id, "shop", folder)
        self.space = SpaceFolder.open(opening.home, "team")

    def carry(self, *, leads: bool) -> None:
        """What its service does."""
        with Memory.open(self.folder, self.opening) as memory:
            found = relay(memory)
            home = self.space.home
            carrier = HeadCarrier(
                self.folder, found, Registry(found.position.log), Heads(home).find
            )
            carrier.offer()
            if leads:
                found.lead()
                carrier.carry()
                seq = found.position.place.seq
                carrier.carry()  # Once in each leadership.
                assert found.position.place.seq == seq


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[list[Site]]:
    """``edge`` leads, ``rack`` follows."""
    edge, rack = machine(tmp_path, "edge"), machine(tmp_path, "rack")
    Memory.create(tmp_path / "shop", name="shop", opening=edge).close()
    with Cluster.open(opening=edge) as one, Cluster.open(opening=rack) as other:
        one.join()
        other.join()
        one.deploy(tmp_path / "shop")
        other.add("shop", tmp_path / "rack-shop")
        yield [Site(one, edge, tmp_path / "shop"), Site(other, rack, tmp_path / "rack-shop")]


def test_a_log_that_was_cut_with_all_that_knew_of_it_is_found_by_the_change_log(
    sites: list[Site],
) -> None:
    edge, rack = sites
    for site in (edge, rack):
        ask(site.space, site.id, 3)
    rack.carry(leads=False)
    edge.carry(leads=True)
    heads = [head for _, head in read_carried(edge.cluster.log, edge.id)]
    assert {head.node for head in heads} == {"edge", "rack"} and len(heads) == 2
    assert not [*check_log(edge.cluster.log, edge.id)]
    for site in (edge, rack):
        known, silent = find_carried(site.space)
        found = site.space.log.verify(known)
        assert (found.carried, found.faults, silent) == (1, (), [])
        forge_a_shorter_log(site.space)
        forged = SpaceFolder.open(site.space.home, "team")
        assert not forged.log.verify().faults  # On this machine nothing shows it.
        fault = forged.log.verify(find_carried(forged)[0]).faults[0]
        assert fault.place.endswith("of shop") and "carried there" in fault.why


def test_each_end_is_carried_once_in_a_leadership_and_not_at_every_moment(
    sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    edge, later, monotonic = sites[0], [0.0], time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: monotonic() + later[0])

    def carried() -> int:
        carrier.carry()
        return len([*read_carried(edge.cluster.log, edge.id)])

    def offer() -> HeadCarrier:
        ask(edge.space, edge.id, 1)
        made = HeadCarrier(edge.folder, found, Registry(found.position.log), heads)
        made.offer()
        return made

    heads = Heads(edge.space.home).find
    with Memory.open(edge.folder, edge.opening) as memory:
        found = relay(memory)
        found.lead()
        carrier = offer()
        assert carried() == 1
        offer()
        assert carried() == 1
        for _ in range(2):
            later[0] += 11
            assert carried() == 2


def test_a_node_speaks_for_its_own_log_alone(sites: list[Site]) -> None:
    edge, rack = sites
    false = AuditHead(rack.space.about.id, "rack", 9, "0" * 64)
    Registry(edge.cluster.log).put_audit_head(edge.id, false)
    assert false not in Registry(rack.cluster.log).audit_heads(edge.id)
    edge.carry(leads=True)
    assert [head.node for _, head in read_carried(edge.cluster.log, edge.id)] == ["edge"]


def test_the_service_of_a_node_carries_it(sites: list[Site]) -> None:
    edge = sites[0]
    ask(edge.space, edge.id, 3)
    home, stop = edge.space.home, threading.Event()
    config = home.config / "config.toml"
    config.write_text(config.read_text().replace("ttl = 60.0", "ttl = 2.0"))
    service = Service(edge.cluster, edge.opening, lambda line: None, Heads(home).find)
    thread = threading.Thread(target=service.run, args=(stop.wait,))
    thread.start()
    try:
        end = time.monotonic() + 30
        while not [*read_carried(edge.cluster.log, edge.id)]:
            assert time.monotonic() < end
            time.sleep(0.05)
    finally:
        stop.set()
        thread.join()
    assert edge.space.log.verify(find_carried(edge.space)[0]).carried == 1


def test_a_line_names_the_leadership_and_the_run_that_asks(
    sites: list[Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    edge = sites[0]
    edge.space.add("scout", ["writer"], "agent")
    home = edge.space.home
    monkeypatch.setattr("kimi_memory.api.options.Home.of_user", lambda: home)
    desk = Desk(edge.folder, member="scout", run="run-01")
    try:
        desk.remember("The queue is RabbitMQ.")
        desk.search("queue")
    finally:
        desk.close()
    first, second = (one for one in edge.space.log.records() if one.via == "mcp")
    assert (first.run, first.sub, second.run, second.epoch) == ("run-01", "scout", "run-01", 1)


def test_the_command_compares_and_says_where_it_cannot(
    sites: list[Site], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edge = sites[0]
    ask(edge.space, edge.id, 3)
    edge.carry(leads=True)
    home = edge.space.home
    monkeypatch.setattr("kimi_memory.api.options.Home.of_user", lambda: home)
    assert run(["space", "verify"]) == 0
    assert "1 record of change logs name lines that are there." in capsys.readouterr().out
    (home.config / "config.toml").write_text('[cluster]\nnode = "edge"\n', encoding="utf-8")
    assert run(["space", "verify"]) == 0
    assert "not compared with the change log of shop: " in capsys.readouterr().out

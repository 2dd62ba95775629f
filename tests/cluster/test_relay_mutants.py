"""Every guard of the relay is taken away in turn; a law of the relay must notice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kimi_memory.plugins import log_folder
from kimi_memory.plugins.log_folder import FolderLog

from kimi_memory import Memory, hookimpl
from kimi_memory.cluster.checking import check_log
from kimi_memory.domain.change_log import Fenced
from kimi_memory.domain.job import Actor, Create
from kimi_memory.domain.note import Origin
from kimi_memory.errors import KimiMemoryError, NotPrimaryError
from kimi_memory.hooks.host import Host
from kimi_memory.store.log_position import Position
from kimi_memory.store.relay import Relay
from kimi_memory.store.shipped_commits import CommitShipping
from tests.cluster.swaps import Swap, is_explained, swap_card
from tests.conftest import Clock
from tests.store import test_relay as laws
from tests.store.pair import Pair, files_of, relay_of

pytestmark = pytest.mark.cluster
ME = Actor("cli", Origin.HUMAN)
Law = Callable[[Pair, Callable[..., Memory], Clock], None]


def twins(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    laws.test_two_processes_of_one_node_see_what_the_other_wrote(opened)


def again(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    laws.test_records_that_are_read_again_change_nothing(opened, pair)


def skewed(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    laws.test_the_clock_of_a_node_decides_nothing(opened, clock, pair)


def edited(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    laws.test_an_edit_is_shipped_before_what_stands_upon_it(opened)


def disk(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    with pytest.MonkeyPatch.context() as patch:
        laws.test_what_the_disk_refused_is_done_before_the_next_write(opened, patch)


def lost_answer(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    wire = laws.Wire(pair.base / "log")

    class Wired:
        @hookimpl
        def open_log(self, url: str) -> FolderLog:
            return wire

    host = Host()
    host.register(Wired(), "wired")
    laws.test_a_lost_answer_makes_no_second_record(opened, wire, host, ["after"])


def refused(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    """What the log refuses is not made: neither a file, nor a line, nor a commit."""
    a, b = opened("a"), opened("b")
    a.store.apply([Create("semantic/x.md", b"one\n")], ME)
    a.batch.flush()
    before, head = files_of(a), a.history.head()
    changed = a.root / "semantic/edited.md"
    log = relay_of(a).position.log
    log.release(pair.id, "a", 1)
    b.store.apply([Create("semantic/y.md", b"two\n")], ME)
    for write in (
        lambda: a.store.apply([Create("semantic/z.md", b"three\n")], ME),
        lambda: a.store.append("mid-term/x.jsonl", [b"{}\n"], ME),
    ):
        with pytest.raises(NotPrimaryError):
            write()
    assert files_of(a) == before
    # A commit is refused as well, also one that is begun before anybody notices.
    changed.write_bytes(b"mine\n")
    relay_of(a).epoch, relay_of(a)._behind = 1, False
    with pytest.raises(KimiMemoryError):
        a.history.commit("late", only=["semantic/edited.md"])
    assert a.history.head() == head
    assert not [*check_log(log, pair.id)]


def engine(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    log = FolderLog(pair.base / "other")
    log.lease("m", "a", 60.0)
    log.release("m", "a", 1)
    log.lease("m", "b", 60.0)
    with pytest.raises(Fenced):
        log.put("m", 1, 1, [b"late"])


def taking_over(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    a, b = opened("a"), opened("b")
    a.store.append("mid-term/x.jsonl", [b'{"n":1}\n'], ME)
    log = relay_of(a).position.log
    log.release(pair.id, "a", 1)
    b.store.append("mid-term/x.jsonl", [b'{"n":2}\n'], ME)
    relay_of(a).follow()
    assert b.store.read("mid-term/x.jsonl") == b'{"n":1}\n{"n":2}\n'
    assert files_of(a) == files_of(b)
    assert not [*check_log(log, pair.id)]


def swapped(pair: Pair, opened: Callable[..., Memory], clock: Clock) -> None:
    """A card that two nodes swap, of which one does not know yet that the other leads: A10."""
    path, made = "semantic/x.md", list[Swap]()

    def swap(memory: Memory, expected: str, wanted: str) -> None:
        outcome, at = swap_card(memory, path, expected, wanted), float(len(made))
        if outcome != "refused":
            made.append(Swap(at, at, expected, wanted, outcome))

    a, b = opened("a"), opened("b")
    swap(a, "", "one")
    log = relay_of(a).position.log
    log.release(pair.id, "a", 1)
    swap(b, "one", "two")
    swap(a, "one", "three")
    assert [one.outcome for one in made][:2] == ["ok", "ok"]
    relay_of(a).follow()
    assert is_explained(made, a.store.read(path).decode())


def _put_over(self: FolderLog, memory: str, first: int, epoch: int, records: Any) -> None:
    with self._lock(memory) as folder:
        for seq, body in enumerate(records, first):
            (folder / log_folder._file_of(seq)).write_bytes(body)


def _put_of_any_epoch(self: FolderLog, memory: str, first: int, epoch: int, records: Any) -> None:
    with self._lock(memory) as folder:
        for seq, body in enumerate(records, first):
            log_folder._write_new(folder / log_folder._file_of(seq), body, seq)


def _place_first(self: Relay, draft: Callable[[], Any]) -> Any:
    with self.turn():
        if not self.epoch or self._behind:
            self.lead()
        made, place = draft()
        done = place()
        if made is not None and not self._put_next(made):
            raise NotPrimaryError("m")
        return done


def _begin_silently(self: Relay) -> None:
    place, log = self.position.place, self.position.log
    self.epoch = self._join_or_begin() or log.lease(place.memory, place.node, 60.0)
    if not self.epoch:
        raise NotPrimaryError(place.memory)
    self.position.catch_up()
    self._behind = False


def _forget_to_roll_back(self: Relay, place: Callable[[], Any], before: Any) -> Any:
    return place()


def _move_first(self: CommitShipping, git: Any, made: Any, changed: Any, move: Any) -> bool:
    moved = bool(move())
    _SHIP(self, git, made, changed, lambda: True)
    return moved


_SHIP = CommitShipping.ship

MUTANTS: dict[str, tuple[Law, object, str, object]] = {
    "no unique number": (twins, FolderLog, "put", _put_over),
    "no epoch in a put": (engine, FolderLog, "put", _put_of_any_epoch),
    "made before it is put": (refused, Relay, "_ship", _place_first),
    "branch moved before it is put": (refused, CommitShipping, "ship", _move_first),
    "no record of an epoch": (taking_over, Relay, "_take_lead", _begin_silently),
    "no catching up": (taking_over, Position, "catch_up", lambda self: 0),
    "an answer that is lost": (lost_answer, Relay, "_stands", lambda *_: False),
    "replay by guess": (again, Position, "_journaled", lambda self: {}),
    "no way back from a full disk": (disk, Relay, "_carry_out", _forget_to_roll_back),
}


@pytest.fixture
def lay(clock: Clock, tmp_path: Path) -> Callable[[Law, str], None]:
    """Holds a law against two new nodes."""

    def hold(law: Law, name: str) -> None:
        (tmp_path / name).mkdir()
        pair = Pair(tmp_path / name, clock)
        found: list[Memory] = []

        def opened(node: str, host: Host | None = None) -> Memory:
            found.append(pair.open(node, host))
            return found[-1]

        try:
            law(pair, opened, clock)
        finally:
            for memory in found:
                memory.close()

    return hold


@pytest.mark.parametrize("name", MUTANTS)
def test_a_guard_taken_away_is_noticed(
    name: str, lay: Callable[[Law, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    law, where, what, instead = MUTANTS[name]
    lay(law, "whole")
    monkeypatch.setattr(where, what, instead)
    with pytest.raises((AssertionError, pytest.fail.Exception, KimiMemoryError, ValueError)):
        lay(law, "mutant")


def test_a_card_that_is_swapped_twice_is_noticed(
    lay: Callable[[Law, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(swapped, "whole")
    monkeypatch.setattr(FolderLog, "put", _put_over)
    with pytest.raises((AssertionError, KimiMemoryError)):
        lay(swapped, "mutant")


def test_an_edit_that_is_not_looked_for_is_noticed(
    lay: Callable[[Law, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(edited, "whole")
    monkeypatch.setattr("kimi_memory.store.relay.find_unshipped", lambda *_: [])
    monkeypatch.setattr("kimi_memory.store.relay.is_shipped", lambda *_: True)
    with pytest.raises((AssertionError, KimiMemoryError)):
        lay(edited, "mutant")


def test_a_leadership_by_the_clock_of_a_node_is_noticed(
    lay: Callable[[Law, str], None], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(skewed, "whole")
    monkeypatch.setattr(log_folder, "_read_clock", lambda folder: clock().timestamp())
    with pytest.raises((AssertionError, pytest.fail.Exception, KimiMemoryError)):
        lay(skewed, "mutant")

"""The journal: a chain that shows every edit."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Create, Delete, Move, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.formats.jsonl import seal, unseal
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from tests.store.conftest import Clock

KEY = b"a key of this machine"


@pytest.fixture
def chain(store: Store, actor: Actor) -> Store:
    for n in range(8):
        store.apply([Create(f"semantic/笔记{n}.md", b"%d" % n)], actor)
    return store


def _segment(folder: Path) -> Path:
    (path,) = (folder / ".kimi/journal").iterdir()
    return path


def test_a_record_tells_who_did_what(store: Store, folder: Path) -> None:
    actor = Actor("claude", Origin.TOOL, session="01x", job="job-1")
    receipt = store.apply([Create("a.md", "你好".encode())], actor)
    record = unseal(_segment(folder).read_bytes().splitlines()[-1])
    wanted = {
        "seq": 2,
        "actor": "claude",
        "origin": "tool",
        "session": "01x",
        "job": "job-1",
        "op": "create",
        "path": "a.md",
        "before": "",
        "after": digest("你好".encode()),
        "txn": receipt.id,
        "at": "2026-03-01T09:30:00+00:00",
    }
    assert record | wanted == record
    assert not {"sub", "run"} & record.keys()
    store.apply([Create("b/a.md", b"x")], actor._replace(sub="lin", run="run-01m8"))
    more = unseal(_segment(folder).read_bytes().splitlines()[-1])
    assert (more["sub"], more["run"]) == ("lin", "run-01m8")
    assert store.journal.last("a.md").origin == "tool"
    assert store.journal.mark_of("a.md") == digest("你好".encode())
    assert store.journal.mark_of("b.md") is None
    assert store.journal.verify() == []


def test_a_record_is_signed_over_the_json_it_is_written_in(store: Store, actor: Actor) -> None:
    """A chain is read by other versions too, so its bytes are a promise."""
    store.apply([Create("笔记.md", "你好".encode())], actor)
    line = _segment(store.root).read_bytes().splitlines(keepends=True)[-1]
    record = unseal(line)
    body = {name: value for name, value in record.items() if name != "mac"}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    assert record["mac"] == hmac.new(KEY, text.encode(), hashlib.sha256).hexdigest()
    assert line == seal({**body, "mac": record["mac"]})


def test_known_follows_moves_and_deletions(store: Store, actor: Actor) -> None:
    store.apply([Create("a.md", b"1"), Create("b.md", b"2")], actor)
    assert dict(store.journal.known()) == {"a.md": digest(b"1"), "b.md": digest(b"2")}
    store.apply([Move("a.md", "c.md", digest(b"1"))], actor)
    store.apply([Delete("b.md", digest(b"2"))], actor)
    store.append("short-term/s.jsonl", [seal({"n": 1})], actor)
    known = dict(store.journal.known())
    size = store.size("short-term/s.jsonl")
    assert known["a.md"] == known["b.md"] == ""
    assert known["c.md"] == digest(b"1")
    assert known["short-term/s.jsonl"].endswith(f"@{size}")
    assert store.journal.last("a.md").origin == ""


Tamper = Callable[[list[bytes]], list[bytes]]


def _edit(lines: list[bytes]) -> list[bytes]:
    return [*lines[:4], lines[4].replace(b"cli", b"you"), *lines[5:]]


def _reseal(lines: list[bytes]) -> list[bytes]:
    record = unseal(lines[4])
    record["actor"] = "you"
    return [*lines[:4], seal(record), *lines[5:]]


def _garble(lines: list[bytes]) -> list[bytes]:
    return [*lines[:4], b"not json\n", b"[1]\n", *lines[5:]]


TAMPERS: dict[str, Tamper] = {
    "edit": _edit,
    "reseal": _reseal,
    "reseal last": lambda lines: [*lines[:-1], seal({**unseal(lines[-1]), "actor": "you"})],
    "garble": _garble,
    "delete": lambda lines: [*lines[:4], *lines[5:]],
    "delete first": lambda lines: lines[1:],
    "insert": lambda lines: [*lines[:4], lines[4], *lines[4:]],
    "reorder": lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]],
}


@pytest.mark.parametrize("name", TAMPERS)
def test_tampering_shows(name: str, chain: Store, folder: Path) -> None:
    path = _segment(folder)
    assert chain.journal.verify() == []
    path.write_bytes(b"".join(TAMPERS[name](path.read_bytes().splitlines(keepends=True))))
    assert chain.journal.verify() != []


def test_every_single_deletion_and_edit_shows(chain: Store, folder: Path) -> None:
    path = _segment(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    head = chain.journal.head()
    for n in range(len(lines)):
        path.write_bytes(b"".join(lines[:n] + lines[n + 1 :]))
        assert chain.journal.verify([head]) != [], n
        altered = lines[n].replace(b'"at":"2026', b'"at":"2025')
        path.write_bytes(b"".join([*lines[:n], altered, *lines[n + 1 :]]))
        assert chain.journal.verify() != [], n


def test_a_cut_off_end_shows_against_a_checkpoint(chain: Store, folder: Path) -> None:
    head = chain.journal.head()
    assert chain.journal.verify([head]) == []
    path = _segment(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    assert chain.journal.verify() == []
    (problem,) = chain.journal.verify([head])
    assert f"record {head[0]} " in problem


def test_a_chain_of_another_key_is_foreign(chain: Store, folder: Path, actor: Actor) -> None:
    with Store.open(folder, key=b"another") as other:
        (problem,) = other.journal.verify()
        assert "foreign" in problem
        other.apply([Create("b.md", b"")], actor)
        (problem,) = other.journal.verify()
        assert problem.startswith("9 records")


def test_days_are_segments_of_one_chain(store: Store, folder: Path, tick, actor: Actor) -> None:
    store.apply([Create("a.md", b"")], actor)
    tick.now = datetime(2026, 3, 2, tzinfo=UTC)
    store.apply([Create("b.md", b"")], actor)
    tick.now = datetime(2026, 2, 1, tzinfo=UTC)
    store.apply([Create("c.md", b"")], actor)
    found = sorted(path.name for path in (folder / ".kimi/journal").iterdir())
    assert found == ["2026-03-01.jsonl", "2026-03-02.jsonl"]
    assert store.journal.verify() == []
    assert store.journal.head()[0] == 4
    assert store.journal.known().keys() == {"a.md", "b.md", "c.md"}


def test_a_segment_that_another_process_began_is_found(
    store: Store, folder: Path, tick, actor: Actor
) -> None:
    journal = folder / ".kimi/journal"
    for day in range(2, 6):
        # As if the last look at the folder were long ago, and, every other time, just now.
        if day % 2:
            os.utime(journal, ns=(0, time.time_ns() - 60_000_000_000))
        store.apply([Create(f"ours{day}.md", b"")], actor)
        with Store.open(folder, key=KEY, clock=tick) as other:
            tick.now = datetime(2026, 3, day, tzinfo=UTC)
            other.apply([Create(f"theirs{day}.md", b"")], actor)
        tick.now = datetime(2026, 3, 1, tzinfo=UTC)
    store.apply([Create("last.md", b"")], actor)
    assert store.journal.verify() == []
    assert b"last.md" in (journal / "2026-03-05.jsonl").read_bytes()


def test_a_folder_that_does_not_change_is_not_listed_again(folder: Path, actor: Actor) -> None:
    class Counting(Disk):
        lists = 0

        def names(self, at: int) -> list[str]:
            self.lists += 1
            return super().names(at)

    disk = Counting()
    with Store.open(folder, key=KEY, disk=disk) as store:
        line = seal({"n": 1})
        store.append("short-term/s.jsonl", [line], actor)
        store.append("short-term/s.jsonl", [line], actor)
        before = disk.lists
        store.append("short-term/s.jsonl", [line], actor)
        assert disk.lists > before  # a segment may have been made in the same tick
        os.utime(folder / ".kimi/journal", ns=(0, time.time_ns() - 60_000_000_000))
        store.append("short-term/s.jsonl", [line], actor)
        before = disk.lists
        store.append("short-term/s.jsonl", [line], actor)
        assert disk.lists == before


def test_a_day_that_was_read_is_not_read_again(store: Store, tick, actor: Actor) -> None:
    store.apply([Create("a.md", b"1")], actor)
    for day in (2, 3):
        tick.now = datetime(2026, 3, day, tzinfo=UTC)
        store.apply([Create(f"b{day}.md", b"")], actor)
        assert store.journal.mark_of("a.md") == digest(b"1")
    assert store.journal.known().keys() == {"a.md", "b2.md", "b3.md"}


def test_a_torn_record_is_cut_before_the_next(chain: Store, folder: Path, actor: Actor) -> None:
    path = _segment(folder)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":99,"at"')
    assert [r["seq"] for r in chain.journal.records()] == list(range(1, 10))
    chain.apply([Create("next.md", b"")], actor)
    assert chain.journal.verify() == []
    assert path.read_bytes().startswith(whole)
    (lost,) = (folder / ".kimi/lost+found").iterdir()
    assert lost.read_bytes() == b'{"seq":99,"at"'


def test_a_segment_that_is_torn_from_its_start_goes_on(
    chain: Store, folder: Path, tick, actor: Actor
) -> None:
    (folder / ".kimi/journal/2026-03-02.jsonl").write_bytes(b'{"se')
    tick.now = datetime(2026, 3, 2, tzinfo=UTC)
    chain.apply([Create("next.md", b"")], actor)
    assert chain.journal.verify() == []
    assert chain.journal.head()[0] == 10


def test_two_stores_write_one_chain(chain: Store, folder: Path, actor: Actor) -> None:
    with Store.open(folder, key=KEY) as other:
        for n in range(3):
            other.apply([Create(f"o{n}.md", b"")], actor)
            chain.apply([Create(f"c{n}.md", b"")], actor)
        assert other.journal.head() == chain.journal.head()
        assert other.journal.known() == chain.journal.known()
        assert chain.journal.verify() == []


def test_a_lost_journal_begins_a_new_chain(chain: Store, folder: Path, actor: Actor) -> None:
    assert chain.journal.known()
    shutil.rmtree(folder / ".kimi")
    chain.apply([Create("next.md", b"")], actor)
    assert chain.journal.verify() == []
    assert chain.journal.known().keys() == {"next.md"}
    first = json.loads(_segment(folder).read_bytes().splitlines()[0])
    assert first["op"] == "genesis"


def test_a_replaced_segment_is_read_anew(chain: Store, folder: Path) -> None:
    path = _segment(folder)
    assert len(chain.journal.known()) == 8
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    path.write_bytes(b"".join(lines[:3]) + b"[]\n")
    assert chain.journal.known()["semantic/笔记0.md"] == digest(b"0")
    assert chain.journal.born() > 0
    assert len(list(chain.journal.records())) == 3
    path.write_bytes(b"")
    assert chain.journal.born() == 0
    path.unlink()
    assert chain.journal.born() == 0
    assert chain.journal.known() == {}


def test_an_update_names_its_undo_file(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", b"1")], actor)
    store.apply([Update("a.md", digest(b"1"), b"2")], actor)
    record = list(store.journal.records())[-1]
    assert (folder / ".kimi/undo" / str(record["undo"])).read_bytes() == b"1"
    store.journal.add([], actor)
    assert store.journal.head()[0] == 3


def test_a_journal_that_was_removed_has_no_records(chain: Store, folder: Path) -> None:
    shutil.rmtree(folder / ".kimi")
    assert list(chain.journal.records()) == []


def test_records_after_a_number_are_found_from_the_end(chain: Store, folder: Path) -> None:
    def numbers(seq: int) -> list[object]:
        return [record["seq"] for record in chain.journal.since(seq)]

    assert numbers(9) == []
    assert numbers(6) == [7, 8, 9]
    assert numbers(0) == list(range(1, 10))
    path = _segment(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:7], b"no record\n", lines[8]]))
    assert numbers(6) == [7, 9]


def test_records_after_an_extent_leave_out_what_was_before(
    store: Store, folder: Path, actor: Actor, tick: Clock
) -> None:
    store.apply([Create("a.md", b"1")], actor)
    tick.now += timedelta(days=1)
    store.apply([Create("b.md", b"2")], actor)
    first = store.journal.extent()
    store.apply([Create("c.md", b"3")], actor)
    tick.now += timedelta(days=1)
    store.apply([Create("d.md", b"4")], actor)
    assert len(list((folder / ".kimi/journal").iterdir())) == 3
    assert [one["path"] for one in store.journal.records(after=first)] == ["c.md", "d.md"]
    assert list(store.journal.records(after=store.journal.extent())) == []


def test_a_journal_nobody_wrote_goes_nowhere(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", b"1")], actor)
    _segment(folder).unlink()
    assert store.journal.extent() == ("", 0)
    (folder / ".kimi/journal").rmdir()
    assert store.journal.extent() == ("", 0)


def test_the_last_record_follows_a_segment_that_grows_or_is_replaced(
    chain: Store, folder: Path, actor: Actor
) -> None:
    def mark(path: str) -> str:
        found = chain.journal.last(path)
        return found.mark if found else "none"

    chain.apply([Create("a.md", b"one")], actor)
    assert mark("a.md") == digest(b"one") == mark("a.md")
    chain.apply([Create("b.md", b"two")], actor)
    assert (mark("a.md"), mark("b.md")) == (digest(b"one"), digest(b"two"))
    segment = _segment(folder)
    with segment.open("ab") as file:
        file.write(b'{"path": "a.md", "af')  # somebody is writing
    assert mark("a.md") == digest(b"one")
    shorter = segment.with_name("new")
    shorter.write_bytes(b"".join(segment.read_bytes().splitlines(keepends=True)[:-2]))
    shorter.replace(segment)
    assert (mark("a.md"), mark("b.md")) == (digest(b"one"), "none")

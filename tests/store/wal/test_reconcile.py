"""Reconciling: what people and programs did without the store."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Append, Create, Delete, Move, Update, digest
from kimi_memory.domain.note import Origin
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.files.disk import UNKNOWN, Disk, Stat, signature
from kimi_memory.store.files.tree import Tree
from kimi_memory.store.notes.note_index import Catalog
from kimi_memory.store.store import Store
from kimi_memory.store.wal import folder_scan
from kimi_memory.store.wal.folder_scan import FolderScan
from kimi_memory.store.wal.reconcile import BATCH, External

ONE, TWO = b"one\n", b"two and more\n"


class Clock:
    """The system's clock, ahead by so many seconds."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def time_ns(self) -> int:
        return time.time_ns() + int(self.ahead * 1e9)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(folder_scan, "time", made)
    return made


def seen(store: Store) -> set[str]:
    return set(store.folder_scan.look().files)


def test_without_a_hold_every_look_sees_everything(store: Store, folder: Path) -> None:
    (folder / "a.md").write_bytes(ONE)
    assert seen(store) == {"a.md"}
    (folder / "b.md").write_bytes(ONE)
    (folder / "a.md").unlink()
    assert seen(store) == {"b.md"}


def test_a_hold_sees_what_the_store_writes(store: Store, folder: Path, actor: Actor) -> None:
    (folder / "a.md").write_bytes(ONE)
    (folder / "b.md").write_bytes(ONE)
    (folder / "c.md").write_bytes(ONE)
    with store.folder_scan.hold():
        assert seen(store) == {"a.md", "b.md", "c.md"}
        first = store.folder_scan.look()
        store.apply(
            [
                Create("d/新.md", ONE),
                Update("a.md", digest(ONE), TWO),
                Delete("b.md", digest(ONE)),
                Move("c.md", "d/c.md", digest(ONE)),
                Append("e.jsonl", (b"{}\n",)),
            ],
            actor,
        )
        store.view("short-term/x.json", b"{}")
        assert seen(store) == {"a.md", "d/新.md", "d/c.md", "e.jsonl"}
        assert set(first.files) == {"a.md", "b.md", "c.md"}


def test_a_hold_sees_what_others_write_a_moment_later(
    store: Store, folder: Path, clock: Clock
) -> None:
    with store.folder_scan.hold():
        assert seen(store) == set()
        (folder / "a.md").write_bytes(ONE)
        clock.ahead = 1
        assert seen(store) == set()
        clock.ahead = 3
        assert seen(store) == {"a.md"}
        (folder / "b.md").write_bytes(ONE)
        clock.ahead = -9  # It was set back.
        assert seen(store) == {"a.md", "b.md"}
        (folder / "c.md").write_bytes(ONE)
        store.folder_scan.drop()
        assert seen(store) == {"a.md", "b.md", "c.md"}


def test_a_hold_relies_on_reports_while_they_are_trusted(
    store: Store, folder: Path, actor: Actor
) -> None:
    (folder / "a.md").write_bytes(ONE)
    (folder / "b.md").write_bytes(ONE)
    store.folder_scan.trust(60)
    (folder / "unseen.md").write_bytes(ONE)
    with store.folder_scan.hold():
        first = store.folder_scan.look().files
        assert set(first) == {"a.md", "b.md"}
    with store.folder_scan.hold():
        assert store.folder_scan.look().files is first
    (folder / "a.md").unlink()
    (folder / "c.md").write_bytes(ONE)
    store.folder_scan.hint(["a.md", "c.md", ".git/index"])
    store.apply([Create("d.md", ONE)], actor)
    with store.folder_scan.hold():
        assert seen(store) == {"b.md", "c.md", "d.md"}
    # Without a hold every look is one at all files.
    assert seen(store) == {"b.md", "c.md", "d.md", "unseen.md"}


def test_of_a_folder_that_is_reported_every_file_is_looked_at(store: Store, folder: Path) -> None:
    (folder / "old").mkdir()
    (folder / "old" / "a.md").write_bytes(ONE)
    store.folder_scan.trust(60)
    (folder / "old").rename(folder / "new")
    store.folder_scan.hint(["old", "new"])
    with store.folder_scan.hold():
        assert seen(store) == {"new/a.md"}


class SlowTree(Tree):
    """A folder whose walks wait to be let go, and are counted."""

    walks = 0
    begun, go = threading.Event(), threading.Event()

    def walk(self, under: str = "") -> Iterator[tuple[str, Stat]]:
        self.walks += 1
        self.begun.set()
        self.go.wait(10)
        return super().walk(under)


def test_who_looks_while_the_folder_is_walked_waits_for_that_walk(store: Store) -> None:
    (store.root / "a.md").write_text("a")
    tree, seen = SlowTree(store.root, Disk()), list[set[str]]()
    folder_scan = FolderScan(tree, store.journal)

    def look() -> None:
        with folder_scan.hold():
            seen.append(set(folder_scan.look().files))

    walker, looker = (
        threading.Thread(target=folder_scan.trust, args=(60,)),
        threading.Thread(target=look),
    )
    walker.start()
    assert tree.begun.wait(10)
    looker.start()
    looker.join(0.2)
    tree.go.set()
    for thread in (walker, looker):
        thread.join(10)
    tree.close()
    assert tree.walks == 1 and "a.md" in seen[0]


@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_trust_that_is_over_looks_at_everything(store: Store, folder: Path, seconds: float) -> None:
    store.folder_scan.trust(60)
    store.folder_scan.trust(seconds)
    (folder / "a.md").write_bytes(ONE)
    with store.folder_scan.hold():
        assert seen(store) == {"a.md"}


def test_a_hold_ends_with_the_outermost_block_and_is_of_one_thread(
    store: Store, folder: Path
) -> None:
    there: list[set[str]] = []
    with store.folder_scan.hold():
        with store.folder_scan.hold():
            assert seen(store) == set()
        (folder / "a.md").write_bytes(ONE)
        assert seen(store) == set()
        other = threading.Thread(target=lambda: there.append(seen(store)))
        other.start()
        other.join()
    assert there == [{"a.md"}]
    assert seen(store) == {"a.md"}


def test_what_may_still_be_written_is_not_known(
    store: Store, folder: Path, actor: Actor, clock: Clock
) -> None:
    (folder / "a.md").write_bytes(ONE)
    assert store.folder_scan.look().files == {"a.md": UNKNOWN}
    clock.ahead = 10
    known = signature((folder / "a.md").stat())
    with store.folder_scan.hold():
        assert store.folder_scan.look().files == {"a.md": known}
        clock.ahead = 0
        store.apply([Update("a.md", digest(ONE), TWO)], actor)
        clock.ahead = 11
        assert store.folder_scan.look().files["a.md"] != known


@pytest.mark.parametrize("other", ["folder", "link"])
def test_what_took_the_place_of_a_file_is_none(
    store: Store, folder: Path, actor: Actor, other: str
) -> None:
    with store.folder_scan.hold():
        assert seen(store) == set()
        store.apply([Create("a.md", ONE)], actor)
        (folder / "a.md").unlink()
        if other == "folder":
            (folder / "a.md").mkdir()
        else:
            (folder / "a.md").symlink_to("b.md")
        assert seen(store) == set()


def test_a_survey_knows_when_the_store_went_on(store: Store, folder: Path, actor: Actor) -> None:
    (folder / "a.md").write_bytes(ONE)
    survey = Catalog.from_store(store).survey()
    assert set(survey.still() or ()) == {"a.md"}
    store.append("s.jsonl", [b"{}\n"], actor)
    assert survey.still() is None


KEY = b"a key of this machine"
FIRST = "第一版\n".encode()
SECOND = b"second\n"
LINE = seal({"n": 1})
LINE2 = seal({"n": 2, "text": "你好"})


def test_our_own_writes_are_not_external(store: Store, actor: Actor) -> None:
    assert store.reconcile() == []
    store.apply(
        [
            Create("a.md", FIRST),
            Create("b.md", FIRST),
            Create("c.md", FIRST),
        ],
        actor,
    )
    store.append("short-term/s.jsonl", [LINE], actor)
    store.view("short-term/s.json", b"{}")
    assert store.reconcile() == []
    store.append("short-term/s.jsonl", [LINE2], actor)
    store.apply([Update("a.md", digest(FIRST), SECOND), Append("log.jsonl", (LINE,))], actor)
    store.apply(
        [Move("b.md", "d/b.md", digest(FIRST)), Delete("c.md", digest(FIRST))],
        actor,
    )
    assert store.reconcile() == []
    assert store.reconcile() == []


def test_an_edit_is_noticed_and_journaled_once(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", FIRST)], actor)
    for look in range(2):
        if look:
            store.reconcile()
        (folder / "a.md").write_bytes(SECOND * (look + 1))
        before = digest(SECOND if look else FIRST)
        after = digest(SECOND * (look + 1))
        assert store.reconcile() == [External("a.md", "edited", before, after)]
        assert store.reconcile() == []
        assert store.journal.mark_of("a.md") == after
        assert store.journal.last("a.md").origin == "external"
    assert list(store.journal.records())[-1]["actor"] == "external"
    assert store.journal.verify() == []


def test_an_edit_upon_an_edit_tells_what_was_there_first(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("a.md", FIRST), Create("b.md", FIRST)], actor)
    assert store.journal.edited() == {}
    for content in (SECOND, SECOND * 2):
        (folder / "a.md").write_bytes(content)
        store.reconcile()
    assert store.journal.edited() == {"a.md": digest(FIRST)}
    store.apply([Update("a.md", digest(SECOND * 2), FIRST)], actor)
    assert store.journal.edited() == {}
    # What an undo gives back is the edit again.
    store.apply([Update("a.md", digest(FIRST), SECOND * 2)], actor)
    assert store.journal.edited() == {"a.md": digest(FIRST)}
    (folder / "a.md").unlink()
    store.reconcile()
    assert store.journal.edited() == {}


def test_an_edit_of_the_same_size_and_moment_is_noticed(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("a.md", FIRST)], actor)
    store.reconcile()
    path = folder / "a.md"
    was = path.stat()
    path.write_bytes(FIRST[::-1])
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    (found,) = store.reconcile()
    assert found.kind == "edited"


def test_an_edit_that_sets_an_old_time_back_is_noticed(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("a.md", FIRST)], actor)
    path = folder / "a.md"
    for content in (FIRST, FIRST[::-1]):
        path.write_bytes(content)
        os.utime(path, ns=(1, 1))
        while time.time_ns() - path.stat().st_ctime_ns < 100_000_000:
            pass  # Until a file this fresh is not looked at for that alone.
        found = store.reconcile()
    assert [one.kind for one in found] == ["edited"]


def test_new_and_lost_files_are_noticed(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", FIRST), Create("b.md", SECOND)], actor)
    store.reconcile()
    store.apply([Create("c.md", b"c")], actor)
    for name in ("a.md", "c.md"):
        (folder / name).unlink()
    (folder / "新.md").write_bytes(b"new")
    (folder / "b.sync-conflict-20260101-120000-ABC.md").write_bytes(b"other")
    conflict = "b.sync-conflict-20260101-120000-ABC.md"
    assert sorted(store.reconcile(), key=lambda external: external.path) == [
        External("a.md", "deleted", digest(FIRST), ""),
        External(conflict, "created", "", digest(b"other"), flag="sync-conflict"),
        External("c.md", "deleted", digest(b"c"), ""),
        External("新.md", "created", "", digest(b"new")),
    ]
    assert store.reconcile() == []


def test_a_rename_keeps_the_origin(store: Store, folder: Path) -> None:
    tool = Actor("claude", Origin.TOOL)
    store.apply([Create("a.md", FIRST), Create("b.md", SECOND)], tool)
    store.append("mid-term/log.jsonl", [LINE], tool)
    for at in range(2):
        if at:
            store.reconcile()
        names = (("a.md", "b.md", "mid-term/log.jsonl"), ("x.md", "y.md", "mid-term/old.jsonl"))
        for old, new in zip(names[at], names[1 - at], strict=True):
            (folder / old).rename(folder / new)
        found = store.reconcile()
        assert {(e.kind, e.was, e.path) for e in found} == {
            ("renamed", old, new) for old, new in zip(names[at], names[1 - at], strict=True)
        }
        assert store.journal.last(names[1 - at][0]).origin == "tool"
        assert store.journal.mark_of(names[at][0]) == ""


def test_a_rewritten_log_is_noticed(store: Store, folder: Path, actor: Actor) -> None:
    store.append("short-term/s.jsonl", [LINE, LINE2], actor)
    store.reconcile()
    path = folder / "short-term/s.jsonl"
    path.write_bytes(LINE.replace(b"1", b"7", 1) + LINE2)
    (found,) = store.reconcile()
    assert found.kind == "edited"
    store.append("short-term/s.jsonl", [LINE2], actor)
    assert store.reconcile() == []
    path.write_bytes(LINE2)
    assert [e.kind for e in store.reconcile()] == ["edited"]
    with path.open("ab") as file:
        file.write(LINE)
    assert [e.kind for e in store.reconcile()] == ["edited"]
    path.write_bytes(b"")
    store.append("short-term/s.jsonl", [LINE], actor)
    path.write_bytes(b"")
    assert [e.kind for e in store.reconcile()] == ["edited"]


def test_files_from_before_the_journal_are_adopted(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("a.md", FIRST), Create("b.md", SECOND)], actor)
    store.close()
    shutil.rmtree(folder / ".kimi")
    with Store.open(folder, key=KEY) as again:
        (folder / "later.md").write_bytes(b"x")
        assert [(e.path, e.kind) for e in again.reconcile()] == [("later.md", "created")]
        (folder / "a.md").write_bytes(SECOND)
        assert [(e.path, e.kind, e.before) for e in again.reconcile()] == [
            ("a.md", "edited", digest(FIRST))
        ]
        (folder / "b.md").unlink()
        assert [(e.path, e.kind) for e in again.reconcile()] == [("b.md", "deleted")]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"not json", b'{"a.md":5}', b'{"a.md":[1,2]}', None]
)
def test_a_damaged_snapshot_is_made_anew(
    content: bytes | None, store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("a.md", FIRST)], actor)
    store.reconcile()
    (folder / ".kimi/snapshot.json").unlink()
    if content is not None:
        (folder / ".kimi/snapshot.json").write_bytes(content)
    with Store.open(folder, key=KEY) as again:
        assert again.reconcile() == []
        seal, body = (folder / ".kimi/snapshot.json").read_bytes().split(b"\n")
        assert json.loads(body)["a.md"][3] == digest(FIRST)
        assert seal == again.journal.sign(body)


def test_a_snapshot_is_read_by_the_next_process(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", FIRST)], actor)
    os.utime(folder / "a.md", ns=(0, 0))
    store.reconcile()
    with Store.open(folder, key=KEY) as again:
        (folder / "a.md").write_bytes(SECOND)
        assert [e.before for e in again.reconcile()] == [digest(FIRST)]


def test_a_file_that_becomes_a_link_is_gone(store: Store, folder: Path, actor: Actor) -> None:
    store.apply([Create("a.md", FIRST), Create("b.md", SECOND)], actor)
    store.reconcile()
    (folder / "a.md").unlink()
    (folder / "a.md").symlink_to("b.md")
    (folder / "hard.md").hardlink_to(folder / "b.md")
    assert {(e.path, e.kind) for e in store.reconcile()} == {
        ("a.md", "deleted"),
        ("hard.md", "created"),
    }


def test_writes_during_a_reconcile_are_ours(store: Store, folder: Path, actor: Actor) -> None:
    stop = threading.Event()

    def work() -> None:
        with Store.open(folder, key=KEY) as other:
            n = 0
            while not stop.is_set():
                n += 1
                other.apply([Create(f"w/{n}.md", b"%d" % n)], actor)
                other.apply([Update(f"w/{n}.md", digest(b"%d" % n), b"x%d" % n)], actor)
                other.append("short-term/s.jsonl", [seal({"n": n})], actor)
                if n % 2:
                    other.apply([Delete(f"w/{n}.md", digest(b"x%d" % n))], actor)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        found = [external for _ in range(25) for external in store.reconcile()]
    finally:
        stop.set()
        thread.join()
    assert found == []
    assert store.reconcile() == []


def test_of_many_files_each_is_noted_once_and_others_have_their_turn(
    store: Store, folder: Path, actor: Actor
) -> None:
    store.apply([Create("moved.md", b"It moves.\n"), Create("gone.md", FIRST)], actor)
    store.reconcile()
    (folder / "gone.md").unlink()
    (folder / "moved.md").rename(folder / "zz-moved.md")
    for n in range(2 * BATCH):
        (folder / f"n{n:05}.md").write_bytes(b"%d\n" % n)
    told: list[tuple[int, int]] = []
    mine: list[External] = []

    def turn_of_another(done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == 1:
            with Store.open(folder, key=KEY, timeout_seconds=5.0) as other:
                mine.extend(other.reconcile())

    found = store.reconcile(turn_of_another)
    assert told[-1] == (2 * BATCH + 3, 2 * BATCH + 3)
    assert len(told) >= 3
    noted = [(one.path, one.kind) for one in (*mine, *found)]
    assert len(noted) == len(set(noted)) == 2 * BATCH + 2
    assert {("gone.md", "deleted"), ("zz-moved.md", "renamed")} <= set(noted)
    assert store.reconcile() == []
    assert store.journal.verify() == []

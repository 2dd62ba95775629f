"""One look at the folder for several steps: what it sees, what it may miss, and for how long."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from kimi_memory.domain.change import Actor, Append, Create, Delete, Move, Update, digest
from kimi_memory.store.files.stat import UNKNOWN, signature
from kimi_memory.store.notes.file_cache import Catalog
from kimi_memory.store.store import Store
from kimi_memory.store.wal import scan

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
    monkeypatch.setattr(scan, "time", made)
    return made


def seen(store: Store) -> set[str]:
    return set(store.glance.look().files)


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
    with store.glance.hold():
        assert seen(store) == {"a.md", "b.md", "c.md"}
        first = store.glance.look()
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
    with store.glance.hold():
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
        store.glance.drop()
        assert seen(store) == {"a.md", "b.md", "c.md"}


def test_a_hold_ends_with_the_outermost_block_and_is_of_one_thread(
    store: Store, folder: Path
) -> None:
    there: list[set[str]] = []
    with store.glance.hold():
        with store.glance.hold():
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
    assert store.glance.look().files == {"a.md": UNKNOWN}
    clock.ahead = 10
    known = signature((folder / "a.md").stat())
    with store.glance.hold():
        assert store.glance.look().files == {"a.md": known}
        clock.ahead = 0
        store.apply([Update("a.md", digest(ONE), TWO)], actor)
        clock.ahead = 11
        assert store.glance.look().files["a.md"] != known


@pytest.mark.parametrize("other", ["folder", "link"])
def test_what_took_the_place_of_a_file_is_none(
    store: Store, folder: Path, actor: Actor, other: str
) -> None:
    with store.glance.hold():
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
    survey = Catalog.of(store).survey()
    assert set(survey.still() or ()) == {"a.md"}
    store.append("s.jsonl", [b"{}\n"], actor)
    assert survey.still() is None

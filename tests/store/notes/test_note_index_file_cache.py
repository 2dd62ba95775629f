"""The catalog: facts about files are read once, and never outlive what they were read from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from kimi_memory.store.files import disk
from kimi_memory.store.notes.note_index import FILE, Catalog
from kimi_memory.store.store import Store
from kimi_memory.store.wal import folder_scan
from tests.store.conftest import KEY


class Size(NamedTuple):
    """A fact that JSON knows as a list."""

    bytes: int
    at: datetime


class Reader:
    """Measures files, and counts how often it was asked to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, content: bytes) -> Size:
        self.asked += 1
        return Size(len(content), datetime(2026, 3, 1, tzinfo=UTC))

    def of(self, store: Store, path: str = "a.md") -> Size:
        return Catalog.from_store(store).survey().fact(path, "size", self, again)


def again(row: list) -> Size:
    return Size(row[0], datetime.fromisoformat(row[1]))


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def settle(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the files be old enough that nobody is still writing them."""

    class Later:
        @staticmethod
        def time_ns() -> int:
            return time.time_ns() + 10_000_000_000

    return lambda: monkeypatch.setattr(folder_scan, "time", Later)


def reopened(store: Store, key: bytes = KEY) -> Store:
    store.close()
    return Store.open(store.root, key=key, timeout_seconds=5.0)


def kept(store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch, reader: Reader) -> Path:
    """Save a fact about a file and return where the catalog lies."""
    monkeypatch.setattr(disk, "_FEW", 0)
    (folder / "a.md").write_text("four")
    survey = Catalog.from_store(store).survey()
    survey.fact("a.md", "size", reader, again)
    survey.keep()
    return folder / FILE


def test_a_fact_is_read_once_for_each_content(store, folder, settle, reader) -> None:
    (folder / "a.md").write_text("four")
    settle()
    assert reader.of(store).bytes == reader.of(store).bytes == 4
    assert reader.asked == 1
    (folder / "a.md").write_text("five!")
    assert reader.of(store).bytes == 5
    assert reader.asked == 2


def test_a_file_that_may_still_be_written_is_read_by_each_survey(store, folder, reader) -> None:
    far = time.time_ns() + 3_600_000_000_000
    (folder / "a.md").write_text("four")
    os.utime(folder / "a.md", ns=(far, far))
    survey = Catalog.from_store(store).survey()
    for _ in range(2):
        survey.fact("a.md", "size", reader, again)
    assert reader.asked == 1
    reader.of(store)
    assert reader.asked == 2


def test_the_next_process_finds_what_was_kept(store, folder, settle, monkeypatch, reader) -> None:
    settle()
    kept(store, folder, monkeypatch, reader)
    with reopened(store) as other:
        assert reader.of(other) == Size(4, datetime(2026, 3, 1, tzinfo=UTC))
    assert reader.asked == 1


@pytest.mark.parametrize("damage", ["gone", "torn", "changed", "foreign", "older"])
def test_a_catalog_that_is_not_ours_whole_is_not_believed(
    store, settle, monkeypatch, reader, damage
) -> None:
    settle()
    place = kept(store, store.root, monkeypatch, reader)
    content = place.read_bytes()
    match damage:
        case "gone":
            place.unlink()
        case "torn":
            place.write_bytes(content[:-5])
        case "changed":
            place.write_bytes(content.replace(b"[4,", b"[7,"))
        case "older":
            body = b"[0,[]]"
            place.write_bytes(store.journal.sign(body) + b"\n" + body)
    key = b"another machine's" if damage == "foreign" else KEY
    with reopened(store, key) as other:
        assert reader.of(other).bytes == 4
    assert reader.asked == 2


def test_a_text_can_be_found_in_what_is_kept(store, folder, settle, monkeypatch) -> None:
    monkeypatch.setattr(disk, "_FEW", 0)
    (folder / "a.md").write_text("x")
    settle()
    survey = Catalog.from_store(store).survey()
    survey.note("a.md", "value", "数据库用 SQLite")
    survey.keep()
    assert "数据库用 SQLite".encode() in (folder / FILE).read_bytes()
    assert survey.known("a.md", "value") == "数据库用 SQLite"


def test_a_few_facts_are_not_worth_a_file(store, folder, settle, reader) -> None:
    (folder / "a.md").write_text("four")
    settle()
    survey = Catalog.from_store(store).survey()
    survey.fact("a.md", "size", reader, again)
    assert not survey.due


def test_files_that_are_gone_are_not_kept(store, folder, settle, monkeypatch, reader) -> None:
    settle()
    (folder / "b.md").write_text("secret name")
    Catalog.from_store(store).survey().note("b.md", "value", "secret fact")
    (folder / "b.md").unlink()
    assert b"secret fact" not in kept(store, folder, monkeypatch, reader).read_bytes()


def test_a_catalog_that_cannot_be_written_stops_nobody(
    store, folder, settle, monkeypatch, reader
) -> None:
    settle()
    (folder / ".kimi" / "cache").write_text("in the way")
    kept(store, folder, monkeypatch, reader)
    assert reader.of(store).bytes == 4
    assert (folder / ".kimi" / "cache").read_text() == "in the way"


def test_a_store_that_takes_no_writes_keeps_nothing(
    store, folder, settle, monkeypatch, reader
) -> None:
    settle()
    store.read_only = "on a disk that is read-only"
    kept(store, folder, monkeypatch, reader)
    assert not Catalog.from_store(store).due

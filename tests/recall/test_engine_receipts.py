"""Receipts: written behind the answer, in order, without words, and never in its way."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor
from kimi_memory.domain.tombstone import asked
from kimi_memory.recall.engine import PATH, Receipts
from kimi_memory.store.store import Store

AT = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
ADA, BOB = Actor("ada"), Actor("bob")
DEADLINE_SECONDS = 30.0
QUESTIONS = ("first", "second", "third", "a", "b", "c", "d", "left")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, key=b"key") as opened:
        yield opened


def receipts(store: Store, pause_seconds: float) -> Receipts:
    return Receipts(store, lambda: AT, pause_seconds)


def written(store: Store) -> list[tuple[str, str]]:
    if not store.exists(PATH):
        return []
    lines = map(json.loads, store.read(PATH).splitlines())
    known = {asked(words, store.journal.keyed): words for words in QUESTIONS}
    return [(known[line["asked"]], line["to"]) for line in lines]


def test_a_short_process_writes_at_once(store: Store) -> None:
    made = receipts(store, 0.0)
    made.add("秘密 port", {"card-1": 0.12345}, ADA)
    (line,) = map(json.loads, store.read(PATH).splitlines())
    assert line["asked"] == asked(" 秘密  PORT", store.journal.keyed)
    assert "port" not in store.read(PATH).decode()
    assert (line["hits"], line["scores"], line["at"]) == (
        ["card-1"],
        [0.123],
        "2026-03-04T09:00:00+00:00",
    )


def test_a_long_process_writes_soon(store: Store) -> None:
    made = receipts(store, 0.01)
    made.add("first", ["card-1"], ADA)
    made.add("second", ["card-1"], ADA)
    until = time.monotonic() + DEADLINE_SECONDS
    while len(written(store)) < 2 and time.monotonic() < until:
        time.sleep(0.005)
    assert written(store) == [("first", "ada"), ("second", "ada")]
    made.add("third", ["card-1"], ADA)
    made.close()
    assert written(store)[2:] == [("third", "ada")]


def test_closing_writes_what_is_due_in_order(store: Store) -> None:
    made = receipts(store, 3600.0)
    for query, actor in (("a", ADA), ("b", ADA), ("c", BOB), ("d", ADA)):
        made.add(query, [], actor)
    assert written(store) == []
    made.close()
    assert written(store) == [("a", "ada"), ("b", "ada"), ("c", "bob"), ("d", "ada")]


def test_a_program_that_closes_nothing_leaves_its_receipts(store: Store) -> None:
    program = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from kimi_memory.domain.job import Actor
from kimi_memory.recall.engine import Receipts
from kimi_memory.domain.tombstone import asked
from kimi_memory.store.store import Store

store = Store.open(Path(sys.argv[1]), key=b"key")
made = Receipts(store, lambda: datetime.now(UTC), 3600.0)
made.add("left", [], Actor("ada"))
"""
    subprocess.run([sys.executable, "-c", program, str(store.root)], check=True)
    assert written(store) == [("left", "ada")]


def test_a_memory_that_takes_no_writes_can_still_be_read(store: Store) -> None:
    store.read_only = "the disk is full"
    made = receipts(store, 0.0)
    made.add("a", [], ADA)
    store.read_only = ""
    made.close()
    assert written(store) == []

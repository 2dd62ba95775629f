"""A machine whose clock ran years ahead, and copies that go on with what it wrote."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.undo_many import undo_day, undo_last
from kimi_memory.operations.verify_history import verify_history
from tests.conftest import Clock
from tests.test_copies import clone, errors, git

__all__ = ["clone"]


@pytest.fixture
def apart(memory: Memory, clone: Callable[[str], Memory], clock: Clock) -> tuple[Memory, Memory]:
    """Two copies that wrote, by a right clock, upon a version of the year 2030."""
    memory.remember("Ann likes tea.", key="ann.drink")
    now = clock()
    clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    memory.remember("Bob likes coffee.", key="bob.drink")
    clock.set(now + timedelta(days=1))
    other = clone("laptop")
    for one, text, key in (
        (memory, "Cleo likes water.", "cleo.drink"),
        (other, "Dan likes juice.", "dan.drink"),
        (memory, "Eve likes milk.", "eve.drink"),
    ):
        clock.move(hours=1)
        one.remember(text, key=key)
        one.batch.flush()
    clock.move(hours=1)
    merge_copy(memory, str(other.root))
    return memory, other


def test_every_list_has_what_followed_a_commit_before_it(apart: tuple[Memory, Memory]) -> None:
    memory, _ = apart
    place = {commit.hash: at for at, commit in enumerate(memory.history.log(limit=100))}
    for row in git(memory.root, "rev-list", "--parents", "HEAD").splitlines():
        child, *parents = row.split()
        assert all(place[child] < place[parent] for parent in parents)
    assert [job.kind for job in undo_last(memory, dry_run=True)] == ["pages"]


def test_a_day_is_undone_by_the_clock_that_wrote_it(apart: tuple[Memory, Memory]) -> None:
    memory, _ = apart
    [ahead] = undo_day(memory, datetime(2030, 1, 1, tzinfo=UTC).date(), dry_run=True)
    assert ahead.subject == "bob.drink"
    day = datetime(2026, 2, 28, tzinfo=UTC).date()
    done = [job.subject for job in undo_day(memory, day) if job.kind == "remember"]
    assert done == ["eve.drink", "dan.drink", "cleo.drink"]
    assert errors(memory) == []
    found = {hit.unit.text for hit in memory.recall("who likes what to drink?").hits}
    assert any("Bob" in text for text in found)


def test_what_was_known_then_is_asked_by_the_right_clocks(
    apart: tuple[Memory, Memory], clock: Clock
) -> None:
    memory, other = apart
    merge_copy(other, str(memory.root))
    assert memory.history.head() == other.history.head()
    for one in apart:
        assert errors(one) == []
        assert not [found for found in verify_history(one) if found.severity != "ok"]
        then = one.at("2026-02-28")
        said = " ".join(hit.unit.text for hit in then.recall("likes").hits)
        assert "Ann" in said and "Cleo" in said
    later = memory.remember("Fay likes cocoa.", key="fay.drink")
    assert later.id
    assert "Fay" in " ".join(h.unit.text for h in memory.recall("Fay likes").hits)

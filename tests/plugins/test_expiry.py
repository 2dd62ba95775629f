"""Cards that have expired leave memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Update, digest
from kimi_memory.domain.note import Role
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.formats.codec import patch
from kimi_memory.operations.forget import forget
from tests.jobs.test_runner import talk

ZH, EN = "酒店的门禁密码每天下午更换一次。", "The hotel room number is on the blue card."


def expire(memory: Memory, id: str, **later: float) -> None:
    filed = memory.get(id)
    card = replace(filed.note, expires=memory.clock() + timedelta(**later))
    new = patch(filed.text, filed.note, card, filed.path).encode()
    change = Update(filed.path, digest(filed.text.encode()), new)
    memory.store.apply([change], memory.actor)


@pytest.mark.parametrize(("text", "words"), [(ZH, "酒店门禁密码"), (EN, "hotel room number")])
def test_an_expired_card_is_not_recalled_and_the_daily_job_archives_it(
    memory: Memory, clock, text: str, words: str
) -> None:
    id = memory.remember(text, key="trip.hotel").operations[0].target
    expire(memory, id, days=1)

    def cards() -> list[str]:
        return [hit.unit.id for hit in memory.recall(words, limit=20).hits]

    assert id in cards()
    clock.move(days=2)
    assert id not in cards()
    session = memory.session("later")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    [report] = memory.consolidate("daily", clock().date())
    assert any(op.target == id and op.op == "ARCHIVE" for op in report.operations)
    assert memory.get(id).note.status == "archived"


@pytest.mark.parametrize("ahead", [{"days": 3}, {"days": 4300}], ids=["3 days", "2038"])
@pytest.mark.parametrize("confirmed", [True, False])
def test_what_a_clock_ahead_made_an_end_of_comes_back(
    memory: Memory, clock, ahead: dict[str, float], confirmed: bool
) -> None:
    room = memory.remember(EN, key="trip.hotel").operations[0].target
    expire(memory, room, days=2)
    if not confirmed:
        place = memory.root / memory.get(room).path
        text = place.read_text(encoding="utf-8").replace("status: active", "status: candidate")
        place.write_text(text, encoding="utf-8")
    before = memory.get(room).note
    owner = memory.remember("The owner of Atlas is Dana until March 1.", key="atlas.owner")
    gone = memory.remember("The pin board hangs on a red hook.", key="board.hook")
    expire(memory, gone.operations[0].target, days=30)
    forget(memory, Wanted(note=gone.operations[0].target))
    now = clock()
    clock.move(**ahead)
    memory.consolidate("daily")
    assert memory.get(room).note.status == "archived"
    assert memory.get(owner.operations[0].target).note.status == "superseded"
    clock.set(now + timedelta(minutes=5))
    memory.consolidate("daily")
    after = memory.get(room).note
    assert (after.status, after.tags) == (before.status, before.tags)
    assert memory.get(owner.operations[0].target).note.status == "active"
    assert memory.get(gone.operations[0].target).note.status == "archived"
    again = [op.target for report in memory.consolidate("daily") for op in report.operations]
    assert room not in again
    clock.move(days=3)
    memory.consolidate("daily")
    assert memory.get(room).note.status == "archived"


def test_what_was_replaced_while_the_clock_was_ahead_stays_replaced(memory: Memory, clock) -> None:
    now = clock()
    clock.move(days=400)
    memory.session("s").turn(Role.USER, "We decided to use PostgreSQL as the ledger database.")
    memory.end("s")
    clock.move(days=1)
    memory.session("t").turn(
        Role.USER, "We decided to switch the ledger database from PostgreSQL to SQLite."
    )
    memory.end("t")
    clock.set(now)
    memory.consolidate("daily")
    held = [h.unit.text for h in memory.recall("ledger database", limit=20).hits if h.unit.key]
    assert not any("use PostgreSQL as" in text for text in held), held


def test_what_expires_does_not_count_as_loss(memory: Memory, clock) -> None:
    for n in range(10):
        text = f"Locker number {n} belongs to person number {n * 7}."
        expire(memory, memory.remember(text, key=f"locker.n{n}").operations[0].target, hours=1)
    clock.move(days=1)
    talk(memory)
    memory.distil("s")
    [report] = memory.consolidate("daily", clock().date())
    assert report.counts["ARCHIVE"] == 10


@pytest.mark.parametrize(
    "text", ["The owner of Atlas is Dana until March 1.", "青鸾的端口是8080，截至3月1日。"]
)
def test_what_held_until_a_day_is_superseded_by_nothing(memory: Memory, clock, text: str) -> None:
    memory.remember(text, key="some.key")
    clock.set(clock().replace(month=3, day=1))
    before = [op.op for report in memory.consolidate("daily") for op in report.operations]
    assert "SUPERSEDE" not in before
    clock.move(days=1)
    [report] = memory.consolidate("daily")
    [step] = [op for op in report.operations if op.op == "SUPERSEDE"]
    assert step.why == "was said to hold until 2026-03-02"
    assert memory.get(step.target).note.status == "superseded"
    assert not memory.consolidate("daily")

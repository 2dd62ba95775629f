"""Usage: what happened on each day, by the clocks of the memory."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Actor
from kimi_memory.operations.usage_records import read_receipts
from kimi_memory.operations.usage_report import MOST_DAYS, usage

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_each_day_says_what_happened_on_it(tmp_path: Path) -> None:
    now = [NOON - timedelta(days=2)]
    opening = Opening(clock=lambda: now[0], background=False)
    with Memory.create(tmp_path / "m", opening=opening) as memory:
        memory.remember("The port is 8080.", key="port")
        now[0] = NOON
        with memory.session("talk") as session:
            session.turn("user", "我们决定用 SQLite。")
            session.turn("user", "Then we ship on Friday.")
        memory.end("talk")
        memory.actor = Actor("mcp:claude")
        memory.recall("port")
        memory.recall("port", looking=True)
        days = usage(memory, 7)
        [receipt] = read_receipts(memory)
    assert [one.day for one in days] == [date(2026, 2, 24) + timedelta(days=n) for n in range(7)]
    first, last = days[4], days[6]
    assert (first.turns, first.sessions, dict(first.jobs)) == (1, 1, {"remember": 1})
    assert (last.turns, last.sessions, last.jobs["distil"]) == (2, 1, 1)
    assert dict(last.recalls) == {"mcp:claude": 1}
    assert receipt.to == "mcp:claude" and receipt.hits
    assert not any(one.turns or one.jobs for one in (*days[:4], days[5]))


def test_days_end_with_the_last_one_on_which_something_happened(tmp_path: Path) -> None:
    now = [NOON]
    with Memory.create(
        tmp_path / "m", opening=Opening(clock=lambda: now[0], background=False)
    ) as memory:
        assert usage(memory, 3)[-1].day == NOON.date()
        memory.remember("The port is 8080.", key="port")
        now[0] = NOON + timedelta(days=40)
        assert usage(memory, 30)[-1].day == NOON.date()
        assert usage(memory, 90)[-1].day == now[0].date()
        assert len(usage(memory, 10_000)) == MOST_DAYS

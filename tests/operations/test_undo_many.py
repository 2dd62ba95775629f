"""Undoing many jobs: all of a day, all of an agent, or none."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.errors import GateError, NotFoundError
from kimi_memory.operations.undo_many import undo_agent, undo_day, undo_last
from tests.jobs.edited_pages import cards, page, write
from tests.jobs.test_runner import talk, tree


def test_a_day_is_taken_back_byte_for_byte(memory: Memory, clock) -> None:
    talk(memory, "s")
    memory.distil("s")
    memory.consolidate("daily")
    clock.move(days=1)
    before = tree(memory.root)
    talk(memory, "t")
    memory.distil("t")
    memory.consolidate("daily")
    memory.consolidate("weekly")
    planned = undo_day(memory, clock().date(), dry_run=True)
    assert tree(memory.root) != before
    undone = undo_day(memory, clock().date())
    assert [job.id for job in undone] == [job.id for job in planned]
    assert {job.kind for job in undone} >= {"distil", "daily", "weekly"}
    # What was said is no job's: the session is open again, and nothing else is left.
    said = {"short-term/session_t.jsonl", "short-term/session_t.json"}
    assert {path: sum for path, sum in tree(memory.root).items() if path not in said} == before


def test_the_last_job_is_taken_back_and_then_the_one_before(memory: Memory) -> None:
    talk(memory, "s")
    distilled = memory.distil("s").id
    daily = memory.consolidate("daily")[-1].id
    assert [job.id for job in undo_last(memory, dry_run=True)] == [daily]
    assert [job.id for job in undo_last(memory)] == [daily]
    assert [job.id for job in undo_last(memory)] == [distilled]


def test_without_a_job_there_is_nothing_to_undo(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="to undo"):
        undo_last(memory)


def test_nothing_is_undone_where_one_file_was_changed_since(memory: Memory, clock) -> None:
    talk(memory, "s")
    memory.distil("s")
    memory.consolidate("daily")
    day = "episodic/daily/2026-02-27.md"
    write(memory, page(memory, day) + "- mine\n", day)
    before = tree(memory.root)
    with pytest.raises(GateError, match=r"2026-02-27\.md changed since daily"):
        undo_day(memory, clock().date())
    assert tree(memory.root) == before


def test_an_agent_is_taken_back_and_another_stays(memory: Memory) -> None:
    for agent, said in (
        ("kimi", "The deploy port is 8080, please remember that."),
        ("other", "数据库我们决定用 MongoDB，因为免费额度够用。"),
    ):
        session = memory.session(agent=agent)
        session.turn(Role.USER, said)
        session.turn(Role.ASSISTANT, "ok")
        session.end()
    assert len({c.sources[0].session for c in cards(memory)}) == 2
    undone = undo_agent(memory, "other")
    assert undone
    assert not [c for c in cards(memory) if "MongoDB" in c.value]
    assert [c for c in cards(memory) if "8080" in c.value]


def test_nothing_to_undo_is_said(memory: Memory, clock) -> None:
    with pytest.raises(NotFoundError, match="2026-02-27"):
        undo_day(memory, clock().date())
    with pytest.raises(NotFoundError, match="agent nobody"):
        undo_agent(memory, "nobody")

"""Agents at work: a session is active for a while after its turns, and no longer once it ended."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

from kimi_memory import Memory
from kimi_memory.domain.note import Role
from kimi_memory.store.trust.agents_at_work import AgentsAtWork


def test_a_session_is_active_between_its_start_and_a_while_after(memory: Memory, clock) -> None:
    now = datetime.now(UTC)
    clock.set(now)
    memory.session("a", host="claude").turn(Role.USER, "Good morning, let us begin.")
    clock.move(minutes=10)
    memory.session("a").turn(Role.ASSISTANT, "Good morning.")
    work = AgentsAtWork(memory.store)
    minutes = (-1, 0, 9, 11, 69, 71)
    active = [work.at(now + timedelta(minutes=n)) for n in minutes]
    assert active == ["", "a", "a", "a", "a", ""]
    clock.move(minutes=5)
    memory.end("a")
    assert work.at(now + timedelta(minutes=12)) == "a"
    assert not work.at(now + timedelta(minutes=20))


def test_a_session_whose_time_was_set_back_is_no_older_for_it(memory: Memory, clock) -> None:
    clock.set(datetime.now(UTC))
    memory.session("a", host="claude").turn(Role.USER, "Good morning, let us begin.")
    work = AgentsAtWork(memory.store)
    assert work.at(clock()) == "a"
    place = next((memory.root / "short-term").glob("session_a.jsonl"))
    os.utime(place, (1, 1))
    assert work.at(clock()) == "a"
    assert AgentsAtWork(memory.store).at(clock()) == "a"
    assert not AgentsAtWork(memory.store).at(clock() + timedelta(hours=3))


def test_sessions_of_our_own_commands_and_broken_ones_are_nobodys_work(
    memory: Memory, clock
) -> None:
    clock.set(datetime.now(UTC))
    memory.remember("The owner of Atlas is Dana.", key="atlas.owner")
    broken = memory.root / "short-term" / "session_b.jsonl"
    broken.write_text("no record\n", encoding="utf-8")
    assert not AgentsAtWork(memory.store).at(clock())


def test_a_session_that_goes_meanwhile_is_passed_by(memory: Memory, clock, monkeypatch) -> None:
    from kimi_memory.store.notes import sessions

    clock.set(datetime.now(UTC))
    gone = [sessions.Place("gone", "short-term/session_gone.jsonl")]
    monkeypatch.setattr(sessions, "places", lambda store: gone)
    assert not AgentsAtWork(memory.store).at(clock())


def test_what_was_listed_answers_for_earlier_moments_only(memory: Memory, clock) -> None:
    """A hundred thousand files that were copied in cost one look at the sessions."""
    now = datetime.now(UTC)
    work = AgentsAtWork(memory.store)
    assert not work.at(now - timedelta(minutes=1))
    clock.set(now)
    memory.session("a", host="claude").turn(Role.USER, "Good morning, let us begin.")
    assert not work.at(now - timedelta(minutes=1))
    assert work.at(now) == "a"
    clock.set(now - timedelta(days=9))
    memory.session("b", host="claude").turn(Role.USER, "Good morning, let us begin.")
    assert work.at(clock()) == "b", "earlier moments are looked for, too"

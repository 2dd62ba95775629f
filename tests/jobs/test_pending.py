"""News: what a day or week has to read is told apart without reading it again."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Status
from kimi_memory.domain.pages import Project, Todo
from kimi_memory.jobs.pending import News, name_of
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.jobs.notes import NOW, card, days_ago, event, put

MONDAY = date(2026, 2, 23)


def news(memory: Memory) -> News:
    return News(memory.store, Shelf(memory.store), memory.clock(), memory.settings)


def project(*todos: Todo, **more: object) -> Project:
    base = Project(id="project-p", created=NOW, updated=NOW, name="p", todos=todos)
    return replace(base, **more)


def test_a_project_that_goes_on_gives_no_week_anything_to_do(memory: Memory) -> None:
    put(memory, event("a", "The port was taken"), event("b", "端口被占用", age=30), project())
    before = [news(memory).of_week(monday) for monday in news(memory).weeks()]
    assert len(before) == 2
    put(memory, project(Todo("open"), updated=NOW + timedelta(hours=1)))
    assert [news(memory).of_week(monday) for monday in news(memory).weeks()] == before
    put(memory, project(Todo("done", done=True)))
    assert [news(memory).of_week(monday) for monday in news(memory).weeks()] == before
    put(memory, project(Todo("done", done=True), finished=True))
    assert news(memory).of_week(MONDAY) in before


def test_what_is_over_makes_today_a_day_with_news(memory: Memory) -> None:
    put(memory, card("a", "The freeze holds", valid_to=days_ago(-1)))
    assert news(memory).days() == []
    put(memory, card("a", "The freeze holds", valid_to=NOW))
    assert (news(memory).days(), news(memory).weeks()) == ([NOW.date()], [])
    for status in (Status.SUPERSEDED, Status.CONFLICTED):
        put(memory, card("a", "The freeze holds", valid_to=NOW, status=status))
        assert news(memory).days() == []
    put(memory, card("a", "门禁码是 12", expires=NOW, status=Status.CONFLICTED))
    assert news(memory).days() == [NOW.date()]


def test_days_ahead_and_archived_events_are_no_news(memory: Memory) -> None:
    put(memory, event("a", "later", age=-3), event("b", "gone", status=Status.ARCHIVED))
    assert news(memory).days() == []


def test_weeks_are_named_as_iso_does() -> None:
    assert [name_of(day) for day in (MONDAY, date(2024, 12, 30))] == ["2026-W09", "2025-W01"]


def test_silence_makes_today_a_day_with_news_without_a_new_session(memory: Memory) -> None:
    task = card("a", "The badge printer is broken", type=CardType.TASK_STATE, age=29)
    put(memory, task, card("b", "Never deploy on Fridays", type=CardType.RULE, age=400))
    assert news(memory).days() == []
    put(memory, replace(task, verified=days_ago(31)))
    assert news(memory).days() == [NOW.date()]
    [report] = memory.consolidate("daily")
    assert report.counts == {"REFINE": 1}
    assert memory.get("card-a").note.status is Status.STALE
    assert memory.consolidate("daily") == []


def test_suggested_links_are_confirmed_in_a_week_without_talk(memory: Memory) -> None:
    link = Link("card-b", LinkRel.SIMILAR_TO, 0.9, "suggested: 0.90 alike")
    put(memory, card("a", "Tea is green", age=60, links=(link,)), card("b", "Green tea", age=60))
    assert news(memory).weeks() == [MONDAY]
    memory.consolidate("weekly")
    note = memory.get("card-a").note
    assert isinstance(note, Card)
    assert [one.reason for one in note.links] == ["0.90 alike"]
    assert news(memory).weeks() == []
    assert memory.consolidate("weekly") == []


@pytest.mark.parametrize("ahead", [timedelta(days=3), timedelta(days=4300)], ids=["3 days", "2038"])
@pytest.mark.parametrize("talk", [True, False], ids=["talk", "silence"])
def test_what_a_clock_ahead_made_stale_is_active_once_it_is_right(
    memory: Memory, clock: Clock, ahead: timedelta, talk: bool
) -> None:
    """Nobody has to say anything for that, and what silence made stale stays so."""
    found = card("a", "The port is 5432", age=28)
    task = card("b", "The badge printer is broken", type=CardType.TASK_STATE, age=28.5)
    put(memory, found, task, card("old", "The port was 80", status=Status.STALE, age=29))
    put(memory, *([event("e", "The port was taken")] if talk else []))

    def statuses() -> list[str]:
        return [str(memory.get(f"card-{id}").note.status) for id in ("a", "b", "old")]

    if talk:
        memory.consolidate("daily")
    assert statuses() == ["active", "active", "stale"]
    right = clock()
    clock.set(right + ahead)
    memory.consolidate("daily")
    assert statuses() == ["stale", "stale", "stale"]
    clock.set(right + timedelta(minutes=5))
    assert news(memory).days()[-1:] == [right.date()]
    memory.consolidate("daily")
    assert statuses() == ["active", "active", "stale"]
    assert memory.consolidate("daily") == []
    clock.set(right + timedelta(days=3))
    memory.consolidate("daily")
    assert statuses() == ["stale", "stale", "stale"]


def test_hundreds_of_cards_that_a_clock_ahead_made_stale_come_back_day_by_day(
    memory: Memory, clock: Clock
) -> None:
    put(memory, *(card(f"{n}", f"Port {n} is taken", age=1) for n in range(520)))
    right = clock()

    def stale() -> int:
        return sum(head.status is Status.STALE for head in Shelf(memory.store).heads())

    for day in range(3):
        clock.set(right + timedelta(days=60 + day))
        memory.consolidate("daily")
    assert stale() == 520
    left = []
    for hour in range(3):
        clock.set(right + timedelta(hours=hour))
        assert not [report.failed for report in memory.consolidate("daily") if report.failed]
        left.append(stale())
    assert left == [320, 120, 0]


def test_what_left_while_the_clock_was_right_gives_no_day_anything_to_do(memory: Memory) -> None:
    """A person took these back early: their time ends later, and they were not touched then."""
    put(
        memory,
        card("a", "The door code is 12", status=Status.ARCHIVED, expires=days_ago(-9)),
        card("b", "Dana owns Atlas", status=Status.SUPERSEDED, valid_to=days_ago(-9)),
        card("c", "The port is 5432", status=Status.STALE),
        # It was silent for longer than the limit, whatever the clock showed.
        card("d", "The port was 80", status=Status.STALE, age=31, updated=days_ago(-9)),
    )
    assert news(memory).days() == []
    memory.consolidate("daily", NOW.date())
    kept = [str(memory.get(f"card-{id}").note.status) for id in "abcd"]
    assert kept == ["archived", "superseded", "stale", "stale"]

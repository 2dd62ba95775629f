"""News: what a day or week has to read is told apart without reading it again."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from kimi_memory import Memory
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Status
from kimi_memory.domain.pages import Project, Todo
from kimi_memory.jobs.pending import News, name_of
from kimi_memory.store.notes.notes import Shelf
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

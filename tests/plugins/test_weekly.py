"""The bundled weekly job: archive, growth."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from kimi_memory.plugins.weekly import consolidate_week

from kimi_memory.domain.job import WeekView
from kimi_memory.domain.note import EventType, Lang
from kimi_memory.domain.pages import Event, Identity, Project, Todo

NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)
WHO = Identity(id="identity-1", created=NOON, updated=NOON, name="K")


def event(type: EventType, title: str = "t", **more: object) -> Event:
    base = Event(
        id="event-1", created=NOON, updated=NOON, title=title, type=type, at=NOON, project="p"
    )
    return replace(base, **more)


def week(**parts: object) -> WeekView:
    base = WeekView(
        first=date(2026, 2, 23),
        last=date(2026, 3, 1),
        now=NOON,
        lang=Lang.EN,
        events=(),
        cards=(),
        projects=(),
        identity=WHO,
    )
    return replace(base, **parts)


def project(*todos: Todo) -> Project:
    return Project(id="project-1", created=NOON, updated=NOON, name="p", todos=todos)


@pytest.mark.parametrize(
    ("todos", "events", "finished"),
    [
        ((Todo("a", done=True),), (), False),
        ((Todo("a", done=True), Todo("b")), (), False),
        ((), (), False),
        ((), (event(EventType.SUCCESS, "We shipped it today"),), True),
        ((), (event(EventType.SUCCESS, "小程序正式上线"),), True),
        ((), (event(EventType.FINDING, "We shipped it today"),), True),
        ((), (event(EventType.DECISION, "the project is finished"),), True),
        ((), (event(EventType.FAILURE, "We shipped it broken"),), False),
        ((), (event(EventType.SUCCESS, "We shipped it", project="other"),), False),
    ],
)
def test_a_project_is_finished_when_somebody_says_so(
    todos: tuple[Todo, ...], events: tuple[Event, ...], finished: bool
) -> None:
    steps = consolidate_week(week(projects=(project(*todos),), events=events))
    archived = [s.note for s in steps if isinstance(s.note, Project)]
    assert [note.finished for note in archived] == ([True] if finished else [])


def test_growth_is_one_line_a_week_with_the_weightiest_lesson() -> None:
    events = (
        event(EventType.FAILURE, id="event-a", lesson="back up first", importance=0.9),
        event(EventType.FAILURE, id="event-b", lesson="lesser", importance=0.3),
        event(EventType.DECISION, id="event-c"),
    )
    [step] = consolidate_week(week(events=events))
    assert isinstance(step.note, Identity)
    [line] = step.note.growth
    assert line == (
        "2026-02-23 this week: 1 decisions, 0 findings, 0 successes, 2 failures; "
        "learned: back up first"
    )
    again = consolidate_week(week(events=events, identity=step.note))
    assert again == []


def test_growth_is_written_in_the_language_of_the_identity() -> None:
    zh = replace(WHO, lang=Lang.ZH)
    [step] = consolidate_week(week(events=(event(EventType.DECISION),), identity=zh))
    assert isinstance(step.note, Identity)
    assert step.note.growth[0].startswith("2026-02-23 这一周：1 个决策")


def test_hook_consolidate_week() -> None:
    from kimi_memory.hooks.host import Host

    gathered = Host(entry_points=False).gather(
        "consolidate_week", week=week(events=(event(EventType.DECISION),))
    )
    assert [len(steps) for steps in gathered if steps] == [1]


def test_a_line_of_growth_follows_the_week_and_a_persons_line_stays() -> None:
    one = event(EventType.DECISION)
    two = event(EventType.DECISION, id="event-2")
    grown = replace(WHO, growth=grown_by(WHO, one))
    again = grown_by(grown, one, two)
    assert [line[:40] for line in again] == ["2026-02-23 this week: 2 decisions, 0 fin"]
    assert not grown_by(replace(WHO, growth=again), one, two)
    mine = replace(WHO, growth=("2026-02-23 I learned to ask first.",))
    assert not grown_by(mine, one, two)


def grown_by(who: Identity, *events: Event) -> tuple[str, ...]:
    steps = consolidate_week(week(events=events, identity=who))
    return next((s.note.growth for s in steps if isinstance(s.note, Identity)), ())

"""Project pages: what stands on them, what goes, and what a person wrote."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from kimi_memory.plugins.projects import consolidate_day

from kimi_memory.domain.job import DayView, Step
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Status
from kimi_memory.domain.pages import Digest, DigestLine, Event, Part, Project, Todo
from kimi_memory.hooks.host import Host

DAY = date(2026, 2, 27)
NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)
LONG = (
    "We decided to use SQLite as the database of the whole project, and not Postgres, because "
    "one file is enough for a few hundred members and nobody has to run a server."
)


def card(id: str, value: str, type: CardType, **more: object) -> Card:
    base = Card(
        id=f"card-{id}", created=NOON, updated=NOON, title=value[:20], type=type, key=f"k.{id}",
        value=value, verified=NOON, valid_from=NOON, project="p",
    )  # fmt: skip
    return replace(base, **more)


def event(title: str, type: EventType = EventType.FINDING) -> Event:
    return Event(
        id="event-1", created=NOON, updated=NOON, title=title, type=type, at=NOON, project="p",
        content=f"{title}, and more of it",
    )  # fmt: skip


def page(**parts: object) -> Project:
    return replace(Project(id="project-p", created=NOON, updated=NOON, name="p"), **parts)


def steps(*notes: Card | Event | Digest, project: Project | None = None) -> list[Step]:
    view = DayView(
        date=DAY,
        now=NOON,
        lang=Lang.EN,
        events=tuple(note for note in notes if isinstance(note, Event)),
        cards=tuple(note for note in notes if isinstance(note, Card)),
        digests=tuple(note for note in notes if isinstance(note, Digest)),
        projects=(project,) if project else (),
    )
    return consolidate_day(view)


def made(*notes: Card | Event | Digest, project: Project | None = None) -> Project:
    [step] = steps(*notes, project=project)
    assert isinstance(step.note, Project)
    return step.note


def digest(*lines: tuple[Part, str]) -> Digest:
    told = tuple(DigestLine(part, text, n, n) for n, (part, text) in enumerate(lines, 1))
    return Digest(
        id="digest-1", created=NOON, updated=NOON, title="Look at the export", session="s",
        at=NOON, project="p", lines=told,
    )  # fmt: skip


def test_a_project_gathers_what_its_cards_events_and_digests_say() -> None:
    found = made(
        card("a", LONG, CardType.DECISION),
        card("b", "Short answers, please.", CardType.PREFERENCE),
        card("c", "write the report", CardType.TASK_STATE),
        card("d", "The import loses rows without a transaction.", CardType.GOTCHA),
        card("e", "The goal of this project is to lend tents without paper.", CardType.FACT),
        event("The import was slow"),
        digest((Part.FOUND, "All 42 tests pass."), (Part.OPEN, "The seat map is undecided.")),
    )
    assert found.goal == "lend tents without paper"
    assert found.decisions == (f"2026-02-27 {LONG} ^card-a",)
    assert found.preferences == ("Short answers, please. ^card-b",)
    assert found.todos == (Todo("write the report", id="card-c"),)
    assert found.risks == ("The import loses rows without a transaction. ^card-d",)
    assert found.state == (
        "2026-02-27 All 42 tests pass. ^digest-1",
        "2026-02-27 The seat map is undecided. ^digest-1",
    )
    assert found.progress == (
        "2026-02-27 The import was slow, and more of it ^event-1",
        "2026-02-27 Look at the export ^digest-1",
    )


def test_what_does_not_hold_any_more_goes_and_what_people_wrote_stays() -> None:
    old = card("a", "We use Mongo.", CardType.DECISION)
    before = made(old, card("t", "call the bank", CardType.TASK_STATE))
    before = replace(before, decisions=(*before.decisions, "Ours: never on Fridays"))
    now = made(
        replace(old, status=Status.SUPERSEDED),
        card("b", "We use SQLite.", CardType.DECISION),
        card("t", "call the bank", CardType.TASK_STATE, status=Status.SUPERSEDED),
        project=before,
    )
    assert now.decisions == ("2026-02-27 We use SQLite. ^card-b", "Ours: never on Fridays")
    assert now.todos == (Todo("call the bank", done=True, id="card-t"),)


def test_what_was_forgotten_leaves_the_list() -> None:
    before = page(todos=(Todo("call the bank", id="card-t"), Todo("my own")))
    again = made(card("b", "We use SQLite.", CardType.DECISION), project=before)
    assert again.todos == (Todo("my own"),)


def test_lines_of_earlier_versions_are_told_by_their_words() -> None:
    old = page(
        decisions=("2026-02-27 We decided to use SQLite as the database…", "my own"),
        todos=(Todo("write the report"),),
        progress=("2026-02-27 The import was slow",),
    )
    task = card("c", "write the report", CardType.TASK_STATE)
    found = made(
        card("a", LONG, CardType.DECISION), task, event("The import was slow"), project=old
    )
    assert found.decisions == (f"2026-02-27 {LONG} ^card-a", "my own")
    assert found.todos == (Todo("write the report", id="card-c"),)
    assert found.progress == ("2026-02-27 The import was slow, and more of it ^event-1",)


def test_a_page_that_says_it_all_is_left() -> None:
    notes = (card("a", LONG, CardType.DECISION), event("The import was slow"))
    assert steps(*notes, project=made(*notes)) == []


def test_a_page_follows_a_card_that_ended_on_a_day_without_work_on_it() -> None:
    earlier = NOON - timedelta(days=9)
    task = card("t", "call the bank", CardType.TASK_STATE, verified=earlier)
    before = page(todos=(Todo("call the bank", id="card-t"),))
    assert steps(task, project=before) == []
    found = made(replace(task, status=Status.SUPERSEDED), project=before)
    assert found.todos == (Todo("call the bank", done=True, id="card-t"),)


def test_work_takes_a_finished_project_up_again() -> None:
    done = page(finished=True, status=Status.ARCHIVED, updated=NOON - timedelta(days=9))
    found = made(digest((Part.FOUND, "All tests pass.")), project=done)
    assert (found.finished, found.status) == (False, Status.ACTIVE)


def test_a_persons_state_and_goal_are_theirs() -> None:
    mine = page(goal="lend tents", state=("we wait for the printer",))
    found = made(
        card("e", "The goal is to lend boats and nothing else.", CardType.FACT),
        digest((Part.FOUND, "All tests pass.")),
        project=mine,
    )
    assert found.goal == "lend tents"
    assert found.state == ("2026-02-27 All tests pass. ^digest-1", "we wait for the printer")


@pytest.mark.parametrize(
    ("said", "goal"),
    [
        (
            "Never use emojis. The goal of the project is to let clinics book online.",
            "let clinics book online",
        ),
        ("我们这个项目的目标是做一个预约系统。数据库用 PostgreSQL。", "做一个预约系统"),
        ("我们项目的目标是让病人少排队。", "让病人少排队"),
        ("他们的目标是赢得比赛。", ""),
        ("Scoring a goal is fun. We use Postgres.", ""),
    ],
)
def test_a_goal_may_be_one_sentence_of_several(said: str, goal: str) -> None:
    assert made(card("e", said, CardType.DECISION)).goal == goal


def test_hook_consolidate_day() -> None:
    view = DayView(
        date=DAY, now=NOON, lang=Lang.EN, events=(event("a finding"),), cards=(), projects=()
    )
    found = Host(entry_points=False).gather("consolidate_day", day=view)
    assert any(isinstance(step.note, Project) for steps in found for step in steps)

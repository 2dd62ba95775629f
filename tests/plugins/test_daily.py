"""The bundled daily job: what it makes of a day."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from kimi_memory.plugins.daily import consolidate_day

from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Origin, Quote, Source, Status
from kimi_memory.domain.pages import Day, Event

DAY = date(2026, 2, 27)
PASSING = (CardType.FACT, CardType.TASK_STATE)
NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)
QUOTE = Quote("s", 1, "we chose SQLite")


def event(title: str, type: EventType = EventType.DECISION, **more: object) -> Event:
    base = Event(
        id=f"event-{title}",
        created=NOON,
        updated=NOON,
        title=title,
        type=type,
        at=NOON,
        key="decision.database",
        importance=0.8,
        project="p",
        content=title,
        quotes=(QUOTE,),
        sources=(Source.from_quote(QUOTE),),
    )
    return replace(base, **more)


def card(value: str, **more: object) -> Card:
    base = Card(
        id=f"card-{value}",
        created=NOON,
        updated=NOON,
        title=value,
        type=CardType.DECISION,
        key="decision.database",
        value=value,
        verified=NOON,
        project="p",
    )
    return replace(base, **more)


def day(**parts: object) -> DayView:
    base = DayView(date=DAY, now=NOON, lang=Lang.EN, events=(), cards=(), projects=())
    return replace(base, **parts)


def notes(steps: list[Step], kind: type) -> list:
    return [step.note for step in steps if isinstance(step.note, kind)]


def test_an_important_event_without_a_card_becomes_a_candidate() -> None:
    [made] = notes(consolidate_day(day(events=(event("use SQLite"),))), Card)
    assert made.status is Status.CANDIDATE
    assert made.quotes == (QUOTE,)


def test_an_event_whose_words_a_card_quotes_is_not_made_again() -> None:
    known = card("use SQLite", key="decision.db", quotes=(QUOTE,))
    assert notes(consolidate_day(day(events=(event("use SQLite"),), cards=(known,))), Card) == []


def test_an_unimportant_event_makes_no_knowledge() -> None:
    assert notes(consolidate_day(day(events=(event("x", importance=0.5),))), Card) == []


@pytest.mark.parametrize(
    ("type", "trust"),
    [
        *(
            (type, Origin.AGENT)
            for type in CardType
            if type not in (CardType.FACT, CardType.TASK_STATE)
        ),
        (CardType.FACT, Origin.HUMAN),
        (CardType.FACT, Origin.IMPORT),
    ],
)
def test_what_stands_does_not_go_stale_by_silence(type: CardType, trust: Origin) -> None:
    old = card("old", type=type, trust=trust, verified=NOON - timedelta(days=900))
    assert not notes(consolidate_day(day(cards=(old,))), Card)


@pytest.mark.parametrize("type", PASSING)
def test_a_finding_or_a_task_unverified_for_a_month_goes_stale(type: CardType) -> None:
    old = card("old", type=type, verified=NOON - timedelta(days=31))
    fresh = card("fresh", type=type, verified=NOON - timedelta(days=29))
    [stale] = notes(consolidate_day(day(cards=(old, fresh))), Card)
    assert (stale.id, stale.status) == (old.id, Status.STALE)
    never = replace(day(cards=(old, fresh)), stale_days=10_000_000)
    assert not notes(consolidate_day(never), Card)


def test_what_a_clock_ahead_made_stale_is_active_again_once_the_clock_is_right() -> None:
    port = card("5432", type=CardType.FACT, trust=Origin.AGENT)
    ahead = day(cards=(port,), now=datetime(2038, 2, 1, tzinfo=UTC))
    [stale] = notes(consolidate_day(ahead), Card)
    assert stale.status is Status.STALE
    [again] = notes(consolidate_day(day(cards=(stale,))), Card)
    assert (again.status, again.updated) == (Status.ACTIVE, NOON)
    by_hand = replace(stale, updated=NOON - timedelta(days=1))
    assert notes(consolidate_day(day(cards=(by_hand,))), Card) == []


def test_the_page_speaks_the_language_of_the_day() -> None:
    view = day(lang=Lang.ZH, events=(event("用 SQLite", lang=Lang.ZH),), sessions=("s",))
    [page] = notes(consolidate_day(view), Day)
    assert page.events == ("12:00 决策：用 SQLite ^event-用 SQLite",)
    assert page.sessions == ("[[session_s]]",)


def test_events_stand_in_the_order_of_time_whatever_their_files_are_called() -> None:
    hours = {"a late one": 5, "b early one": -2, "c at noon": 0, "d at noon": 0}
    events = tuple(event(name, at=NOON + timedelta(hours=hour)) for name, hour in hours.items())
    [page] = notes(consolidate_day(day(events=events)), Day)
    assert [line.partition(": ")[2].partition(" ^")[0] for line in page.events] == [
        "b early one", "c at noon", "d at noon", "a late one",
    ]  # fmt: skip


@pytest.mark.parametrize(("lang", "rest"), [(Lang.ZH, "……另有"), (Lang.EN, "… and")])
def test_a_day_with_very_much_shows_the_first_of_it_and_counts_the_rest(
    lang: Lang, rest: str
) -> None:
    ids = tuple(f"imported-{n:05}" for n in range(9000))
    events = tuple(event(f"用 SQLite {n}", lang=lang) for n in range(2000))
    [page] = notes(consolidate_day(day(lang=lang, events=events, sessions=ids)), Day)
    for lines, count in ((page.sessions, 9000), (page.events, 2000)):
        *shown, last = lines
        assert last.startswith(rest)
        assert f" {count - len(shown)} " in last
        assert sum(len(line.encode()) for line in shown) < 16_000
    assert page.sessions[0] == "[[session_imported-00000]]"


def test_an_empty_day_gives_nothing() -> None:
    assert consolidate_day(day()) == []


def test_hook_consolidate_day() -> None:
    from kimi_memory.hooks.host import Host

    found = Host(entry_points=False).gather("consolidate_day", day=day(events=(event("a"),)))
    assert Op.ADD in {step.op for steps in found for step in steps}

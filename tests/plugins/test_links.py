"""The bundled weekly care of links: suggestions settled, causes found in both languages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from kimi_memory.plugins.links import consolidate_week

from kimi_memory.domain.job import WeekView
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Link, LinkRel, Quote, Status
from kimi_memory.domain.pages import Event

NOON = datetime(2026, 2, 27, 12, tzinfo=UTC)


def card(name: str, value: str, type: CardType = CardType.FACT, **more: object) -> Card:
    base = Card(
        id=f"card-{name}", created=NOON, updated=NOON, verified=NOON,
        title=value, type=type, key=f"k.{name}", value=value,
    )  # fmt: skip
    return replace(base, **more)


def week(*cards: Card, events: tuple[Event, ...] = ()) -> WeekView:
    return WeekView(
        first=date(2026, 2, 23), last=date(2026, 3, 1), now=NOON, lang=Lang.EN,
        events=events, cards=cards, projects=(),
    )  # fmt: skip


def links(view: WeekView) -> dict[str, tuple[Link, ...]]:
    steps = consolidate_week(view)
    assert all(step.why for step in steps)
    return {step.note.id: step.note.links for step in steps if isinstance(step.note, Card)}


def suggestion(to: str, weight: float, rel: LinkRel = LinkRel.SIMILAR_TO) -> Link:
    return Link(to, rel, weight, f"suggested: {weight:.2f} alike")


def test_strong_suggestions_are_confirmed_and_weak_ones_wait() -> None:
    one = card("a", "x", links=(suggestion("card-b", 0.9), suggestion("card-c", 0.75)))
    assert links(week(one, card("b", "y"), card("c", "z"))) == {
        "card-a": (
            Link("card-b", LinkRel.SIMILAR_TO, 0.9, "0.90 alike"),
            suggestion("card-c", 0.75),
        )
    }


def test_the_threshold_is_that_of_the_week() -> None:
    one = card("a", "x", links=(suggestion("card-b", 0.9),))
    view = week(one, card("b", "y"))
    assert links(replace(view, accept=0.95)) == {}


def test_a_suggested_contradiction_waits_for_a_person() -> None:
    one = card("a", "x", links=(suggestion("card-b", 0.99, LinkRel.CONTRADICTS),))
    assert links(week(one, card("b", "y"))) == {}


def test_a_suggestion_to_what_stands_no_more_is_dropped() -> None:
    kept = Link("card-b", LinkRel.DEPENDS_ON, 0.5)
    one = card("a", "x", links=(suggestion("card-b", 0.9), kept))
    gone = card("b", "y", status=Status.ARCHIVED)
    assert links(week(one, gone)) == {"card-a": (kept,)}


CAUSES = (
    (
        "The nightly export failed because the connection pool limit was reached",
        "The connection pool limit was set to 20",
    ),
    ("夜间导出失败了，因为数据库连接池上限太小", "数据库连接池上限设成 20"),
)


@pytest.mark.parametrize(("failure", "cause"), CAUSES, ids=["en", "zh"])
def test_a_failure_leads_to_the_card_that_holds_its_reason(failure: str, cause: str) -> None:
    found = links(week(card("f", failure, CardType.GOTCHA), card("c", cause), card("x", "茶 tea")))
    [link] = found["card-f"]
    assert (link.to, link.rel) == ("card-c", LinkRel.CAUSED_BY)
    assert 0.6 <= link.weight <= 1 and link.reason in failure


def test_a_failure_leads_to_the_event_that_holds_its_reason() -> None:
    event = Event(
        id="event-c", created=NOON, updated=NOON, title="t", type=EventType.FINDING, at=NOON,
        content="The connection pool limit was set to 20",
    )  # fmt: skip
    found = links(week(card("f", CAUSES[0][0], CardType.GOTCHA), events=(event,)))
    assert [link.to for link in found["card-f"]] == ["event-c"]


@pytest.mark.parametrize(
    "other",
    [
        {"project": "other"},
        {"quotes": (Quote("s", 1, "said once"),)},
        {"status": Status.ARCHIVED},
    ],
    ids=["another project", "the same words said", "archived"],
)
def test_what_cannot_be_the_cause_is_not_linked(other: dict[str, object]) -> None:
    failure = card(
        "f", CAUSES[0][0], CardType.GOTCHA, project="shop", quotes=(Quote("s", 1, "said once"),)
    )
    assert links(week(failure, card("c", CAUSES[0][1], **other))) == {}


def test_two_failures_of_one_cause_are_linked_once() -> None:
    one = card("a", "Uploads broke because the token cache was full", CardType.GOTCHA)
    two = card("b", "Logins timed out because the token cache was full", CardType.GOTCHA)
    found = links(week(one, two))
    assert found == {
        "card-a": (Link("card-b", LinkRel.SIMILAR_TO, 1.0, "same cause: the token cache was full"),)
    }


@pytest.mark.parametrize(
    "failure",
    [
        card("f", CAUSES[0][0]),
        card("f", "The nightly export failed", CardType.GOTCHA),
        card("f", CAUSES[0][0], CardType.GOTCHA, verified=datetime(2026, 1, 1, tzinfo=UTC)),
    ],
    ids=["no failure", "no reason", "another week"],
)
def test_only_reasons_of_failures_of_the_week_are_looked_up(failure: Card) -> None:
    assert links(week(failure, card("c", CAUSES[0][1]))) == {}


def test_a_second_week_adds_nothing() -> None:
    cards = (card("f", CAUSES[0][0], CardType.GOTCHA), card("c", CAUSES[0][1]))
    [step] = consolidate_week(week(*cards))
    assert isinstance(step.note, Card)
    assert consolidate_week(week(step.note, cards[1])) == []

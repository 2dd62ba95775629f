"""The daily job without a model: the day's page, candidates, staleness.

Why it exists: events are read once and forgotten; a day page is
what people open the next morning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kimi_memory import hookimpl
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import Card, CardType, EventType, Lang, Status
from kimi_memory.domain.pages import Day, Event
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.formats.day_lines import said_line
from kimi_memory.formats.page_lines import marked, with_reason
from kimi_memory.nlp.dates.vocabulary import day_in, in_zone, start_of

MOST_STALE = 200
"""So many cards a run, so that a memory that lay idle does not stop at its gates."""
SECTION_BYTES = 16_000
"""So much of a day's page each section may take; the page as a whole must stay readable."""
_CARD_TYPES = {
    EventType.DECISION: CardType.DECISION,
    EventType.FINDING: CardType.FACT,
    EventType.FAILURE: CardType.GOTCHA,
    EventType.SUCCESS: CardType.PATTERN,
}


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Fold a day's events into knowledge and its page."""
    return [*_add_candidates(day), *_mark_stale(day), *_fresh_again(day), *_build_day_page(day)]


def _seen_on(day: DayView) -> Callable[[Head], bool]:
    """Return what tells a card that was last said on a day."""
    first, last = start_of(day.date, day.zone), start_of(day.date + timedelta(days=1), day.zone)
    return lambda card: card.verified is not None and first <= card.verified < last


def _add_candidates(day: DayView) -> Iterable[Step]:
    """Make knowledge of important events that no card holds yet."""
    heavy = [e for e in day.events if e.key and e.importance >= day.min_importance]
    heads = Cards.of(day.cards).heads if heavy else ()
    keys = {head.key for head in heads}
    quoted = {hash for head in heads for hash in head.quoted}
    for event in heavy:
        # The same words may be known under another key already.
        if event.key not in keys and not {quote.hash for quote in event.quotes} & quoted:
            yield Step(Op.ADD, _card_from_event(event, day.now), f"{event.type} of {day.date}")


def _card_from_event(event: Event, now: datetime) -> Card:
    # A lesson is what is to be known; what happened is why.
    told, why = (event.lesson, event.content) if event.lesson else (event.content, "")
    return Card(
        id=derived_id("card", event.at, event.id, event.key),
        created=now,
        updated=now,
        tags=event.tags,
        # One event is one occasion; a second one, or a person, makes it knowledge.
        status=Status.CANDIDATE,
        sources=event.sources,
        lang=event.lang,
        title=event.title,
        type=_CARD_TYPES[event.type],
        key=event.key,
        value=with_reason(told, why, event.lang),
        quotes=event.quotes,
        category=event.project or "general",
        project=event.project,
        importance=event.importance,
        verified=event.at,
        valid_from=event.at,
    )


def _mark_stale(day: DayView) -> Iterable[Step]:
    """Mark task state and findings not said for long; the longest unsaid first, 200 a day."""
    limit = timedelta(days=day.stale_days)
    known = Cards.of(day.cards)
    active = (h for h in known.heads if h.status is Status.ACTIVE and not h.stands)
    # By heads: after a long pause ten thousand cards may be due, of which two hundred are read.
    late = sorted((head.seen, head.id) for head in active if day.now - head.seen > limit)
    if not late:
        return
    due = {id: seen for seen, id in late[:MOST_STALE]}
    cards = {card.id: card for card in known.where(lambda head: head.id in due)}
    for id, seen in due.items():
        old = replace(cards[id], status=Status.STALE, updated=day.now)
        yield Step(Op.REFINE, old, f"unverified since {day_in(seen, day.zone)}")


def _fresh_again(day: DayView) -> Iterable[Step]:
    """Take back what a job marked stale while the clock was ahead, once it is right; 200 a run."""
    limit = timedelta(days=day.stale_days)
    known = Cards.of(day.cards)
    # Only what bears a moment that has not come yet was marked by a clock that was ahead.
    early = (h for h in known.heads if h.status is Status.STALE and h.updated > day.now)
    again = sorted((h.seen, h.id) for h in early if day.now - h.seen <= limit)
    due = {id for _, id in again[:MOST_STALE]}
    for card in known.where(lambda head: head.id in due):
        new = replace(card, status=Status.ACTIVE, updated=day.now)
        yield Step(Op.REFINE, new, f"marked stale by a clock that showed {card.updated:%Y-%m-%d}")


def _build_day_page(day: DayView) -> Iterable[Step]:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    seen_today = _seen_on(day)
    seen = Cards.of(day.cards).where(lambda head: head.status is Status.ACTIVE and seen_today(head))
    if not day.events and not day.sessions and not seen:
        return
    in_time = sorted(day.events, key=lambda event: (event.at, event.id))
    yield Step(
        Op.REFINE,
        Day(
            # Derived, so that two copies that consolidate one day make one page.
            id=derived_id("day", start, day.date.isoformat()),
            created=start,
            updated=start,
            lang=day.lang,
            date=day.date,
            sessions=_fit_lines(_session_lines(day), day.lang),
            events=_fit_lines((_event_line(event, day) for event in in_time), day.lang),
            knowledge=_fit_lines(map(_card_line, seen), day.lang),
        ),
        f"what happened on {day.date}",
    )


def _session_lines(day: DayView) -> Iterable[str]:
    """Yield what was said, by the hour, then the sessions without a digest."""
    yield from (said_line(one, day.date, day.zone, day.lang) for one in day.spoken)
    told = {one.session for one in day.spoken}
    yield from (f"[[session_{id}]]" for id in day.sessions if id not in told)


def _fit_lines(lines: Iterable[str], lang: Lang) -> tuple[str, ...]:
    """Return the lines there is room for, and how many more there are: imports make long days."""
    room, kept, more = SECTION_BYTES, list[str](), 0
    for line in lines:
        # The three are a bullet, its space and the line break.
        room -= len(line.encode()) + 3
        if room >= 0:
            kept.append(line)
        else:
            more += 1
    rest = f"……另有 {more} 条" if lang is Lang.ZH else f"… and {more} more"
    return (*kept, rest) if more else tuple(kept)


_NAMES = {
    EventType.DECISION: "决策",
    EventType.FINDING: "发现",
    EventType.FAILURE: "失败",
    EventType.SUCCESS: "成功",
}


def _event_text(event: Event) -> str:
    """Return what a line says of an event: a decision is never cut before its reason."""
    whole = event.content if event.type is EventType.DECISION else ""
    return " ".join((whole or event.title).split())


_REPLACED = ("（后来被取代）", " (replaced since)")


def _event_line(event: Event, day: DayView) -> str:
    lang = day.lang
    name = _NAMES[event.type] if lang is Lang.ZH else str(event.type)
    colon = "：" if lang is Lang.ZH else ": "
    over = _REPLACED[lang is Lang.EN] if event.status is Status.SUPERSEDED else ""
    said = f"{in_zone(event.at, day.zone):%H:%M} {name}{colon}{_event_text(event)}{over}"
    return marked(said, event.id)


def _card_line(card: Card) -> str:
    return marked(" ".join(card.value.split()), card.id)

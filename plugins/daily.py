"""The daily job without a model: project pages, the day's page, candidates, staleness.

Why it exists: events are read once and forgotten; a project page and a day page are
what people open the next morning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kimi_memory import hookimpl
from kimi_memory.model.card import Card, CardType
from kimi_memory.model.event import Event, EventType
from kimi_memory.model.head import Cards, Head
from kimi_memory.model.ids import derived_id
from kimi_memory.model.job import Op
from kimi_memory.model.note import Lang
from kimi_memory.model.pages import Day, Project, Todo
from kimi_memory.model.status import Status
from kimi_memory.model.step import DayView, Step
from kimi_memory.text.zone import day_in, in_zone, start_of

MOST_STALE = 200
"""So many cards a day, so that a memory that lay idle does not stop at its gates."""
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
    """Fold a day's events into projects, knowledge and its page."""
    return [*_projects(day), *_knowledge(day), *_stale(day), *_fresh_again(day), *_page(day)]


def _projects(day: DayView) -> Iterable[Step]:
    known = {project.name: project for project in day.projects}
    seen_today = _seen_on(day)
    names = {event.project for event in day.events} | {
        head.project for head in Cards.of(day.cards).heads if head.project and seen_today(head)
    }
    for name in sorted(names - {""}):
        old = known.get(name) or _new_project(name, day)
        new = _grown(_reopened(old, day), day)
        if name not in known:
            yield Step(Op.ADD, new, f"first day of work on {name}")
        elif new != old:
            yield Step(Op.REFINE, new, f"work of {day.date}")


def _reopened(project: Project, day: DayView) -> Project:
    """Return a project that goes on: work after its end takes it up again."""
    later = (e.project == project.name and e.at > project.updated for e in day.events)
    if not project.finished or not any(later):
        return project
    return replace(project, finished=False, status=Status.ACTIVE, updated=day.now)


def _new_project(name: str, day: DayView) -> Project:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    id = derived_id("project", start, name)
    return Project(id=id, created=day.now, updated=day.now, lang=day.lang, name=name)


def _grown(project: Project, day: DayView) -> Project:
    events = [event for event in day.events if event.project == project.name]
    known = Cards.of(day.cards)
    heads = [head for head in known.heads if head.project == project.name]
    live = {head.key for head in heads if head.status is Status.ACTIVE}
    past = {h for one in known.heads if one.status is Status.SUPERSEDED for h in one.quoted}
    cards = known.where(_listed(project.name, day))
    grown = replace(
        project,
        progress=_joined(project.progress, [_line(e) for e in events if _is_progress(e)]),
        decisions=_joined(
            project.decisions,
            [
                _line(event)
                for event in events
                if event.type is EventType.DECISION
                and event.key in live
                and not {quote.hash for quote in event.quotes} & past
            ],
        ),
        preferences=_joined(
            project.preferences,
            [card.value for card in cards if card.type is CardType.PREFERENCE],
        ),
        todos=_todos(project, [c for c in cards if c.type is CardType.TASK_STATE]),
    )
    return project if grown == project else replace(grown, updated=day.now)


def _listed(project: str, day: DayView) -> Callable[[Head], bool]:
    """Return what tells a card a project's page may show: a preference of the day, or a task."""
    seen_today = _seen_on(day)

    def is_listed(head: Head) -> bool:
        if head.project != project or head.status is not Status.ACTIVE:
            return False
        preferred = head.type is CardType.PREFERENCE and seen_today(head)
        return preferred or head.type is CardType.TASK_STATE

    return is_listed


def _todos(project: Project, cards: list[Card]) -> tuple[Todo, ...]:
    listed = {todo.text for todo in project.todos}
    new = [Todo(card.value) for card in cards if card.value not in listed]
    return (*project.todos, *new)


def _is_progress(event: Event) -> bool:
    return event.type is not EventType.DECISION


def _line(event: Event) -> str:
    return f"{event.at:%Y-%m-%d} {event.title}"


def _joined(old: tuple[str, ...], new: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new)))


def _seen_on(day: DayView) -> Callable[[Head], bool]:
    """Return what tells a card that was last said on a day."""
    first, last = start_of(day.date, day.zone), start_of(day.date + timedelta(days=1), day.zone)
    return lambda card: card.verified is not None and first <= card.verified < last


def _knowledge(day: DayView) -> Iterable[Step]:
    """Make knowledge of important events that no card holds yet."""
    heavy = [e for e in day.events if e.key and e.importance >= day.min_importance]
    heads = Cards.of(day.cards).heads if heavy else ()
    keys = {head.key for head in heads}
    quoted = {hash for head in heads for hash in head.quoted}
    for event in heavy:
        if event.key not in keys and not {quote.hash for quote in event.quotes} & quoted:
            yield Step(Op.ADD, _card(event, day.now), f"{event.type} of {day.date}")


def _card(event: Event, now: datetime) -> Card:
    return Card(
        id=derived_id("card", event.at, event.id, event.key),
        created=now,
        updated=now,
        tags=event.tags,
        status=Status.CANDIDATE,
        sources=event.sources,
        lang=event.lang,
        title=event.title,
        type=_CARD_TYPES[event.type],
        key=event.key,
        value=event.content,
        caveats=event.lesson,
        quotes=event.quotes,
        category=event.project or "general",
        project=event.project,
        importance=event.importance,
        verified=event.at,
        valid_from=event.at,
    )


def _stale(day: DayView) -> Iterable[Step]:
    """Mark task state and findings not said for long; the longest unsaid first, 200 a day."""
    limit = timedelta(days=day.stale_days)
    known = Cards.of(day.cards)
    active = (h for h in known.heads if h.status is Status.ACTIVE and not h.stands)
    late = sorted((head.seen, head.id) for head in active if day.now - head.seen > limit)
    if not late:
        return
    due = {id: seen for seen, id in late[:MOST_STALE]}
    cards = {card.id: card for card in known.where(lambda head: head.id in due)}
    for id, seen in due.items():
        old = replace(cards[id], status=Status.STALE, updated=day.now)
        yield Step(Op.REFINE, old, f"unverified since {day_in(seen, day.zone)}")


def _fresh_again(day: DayView) -> Iterable[Step]:
    """Take back what a job marked stale while the clock was ahead, once it is right again."""
    limit = timedelta(days=day.stale_days)
    known = Cards.of(day.cards)
    for card in known.where(
        lambda head: head.status is Status.STALE and day.now - head.seen <= limit
    ):
        if card.updated > day.now:
            new = replace(card, status=Status.ACTIVE, updated=day.now)
            yield Step(
                Op.REFINE, new, f"marked stale by a clock that showed {card.updated:%Y-%m-%d}"
            )


def _page(day: DayView) -> Iterable[Step]:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    seen_today = _seen_on(day)
    seen = Cards.of(day.cards).where(lambda head: head.status is Status.ACTIVE and seen_today(head))
    if not day.events and not day.sessions and not seen:
        return
    yield Step(
        Op.REFINE,
        Day(
            id=derived_id("day", start, day.date.isoformat()),
            created=start,
            updated=start,
            lang=day.lang,
            date=day.date,
            sessions=_first((f"[[session_{id}]]" for id in day.sessions), day.lang),
            events=_first((_event_line(event, day) for event in day.events), day.lang),
            knowledge=_first(
                (f"{card.key}: {' '.join(card.value.split())}" for card in seen), day.lang
            ),
        ),
        f"what happened on {day.date}",
    )


def _first(lines: Iterable[str], lang: Lang) -> tuple[str, ...]:
    """Return the lines there is room for, and how many more there are: imports make long days."""
    room, kept, more = SECTION_BYTES, list[str](), 0
    for line in lines:
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


def _event_line(event: Event, day: DayView) -> str:
    lang = day.lang
    name = _NAMES[event.type] if lang is Lang.ZH else str(event.type)
    colon = "：" if lang is Lang.ZH else ": "
    return f"{in_zone(event.at, day.zone):%H:%M} {name}{colon}{event.title}"

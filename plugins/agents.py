"""Pages of agents: what each did last, what it learned, with whom it works.

Why it exists: several agents share a memory. Who takes up another's work, or looks after
them, reads one page for each. A line from a note ends with its id and goes with it; what
a person writes beside it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time

from kimi_memory import hookimpl
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import CardType, Lang, Status
from kimi_memory.domain.pages import Agent, Part
from kimi_memory.domain.session import SHARED, Session
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.formats.page_lines import marked, split_mark
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.vocabulary import day_in

MOST = 40
"""So many lessons a page shows, the newest."""
_LEARNED = frozenset({CardType.GOTCHA, CardType.PATTERN})
_HELD = frozenset({Status.ACTIVE, Status.STALE, Status.CONFLICTED})
_WHO = regex(r"^\*\*(?P<name>[^*\n]+)\*\*[:：] (?:\d+ sessions?, last|\d+ 次会话，最近) ")
"""How a line about a person begins that this job wrote, and may write anew."""


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Bring the pages of the agents that worked that day up to date."""
    known = {agent.name: agent for agent in day.agents}
    steps = []
    for name, sessions in sorted(_by_agent(day).items()):
        old = known.get(name) or _new_agent(name, day)
        new = _update_agent(old, sessions, day)
        if name not in known:
            steps.append(Step(Op.ADD, new, f"first day of {name}"))
        elif new != old:
            steps.append(Step(Op.REFINE, new, f"work of {day.date}"))
    return steps


def _by_agent(day: DayView) -> dict[str, list[Session]]:
    """Return all shared sessions of the agents that worked that day, in order."""
    found: dict[str, list[Session]] = {}
    for session in sorted(day.past, key=lambda session: (session.started, session.id)):
        if session.agent:
            found.setdefault(session.agent, []).append(session)
    return {
        name: sessions
        for name, sessions in found.items()
        if any(day_in(session.started, day.zone) == day.date for session in sessions)
    }


def _new_agent(name: str, day: DayView) -> Agent:
    start = datetime.combine(day.date, time(), UTC)
    id = derived_id("agent", start, name)
    return Agent(id=id, created=day.now, updated=day.now, lang=day.lang, name=name)


def _update_agent(agent: Agent, sessions: Sequence[Session], day: DayView) -> Agent:
    grown = replace(
        agent,
        state=_update_state(agent.state, sessions, day),
        skills=_update_skills(agent.skills, {session.id for session in sessions}, day),
        relationships=tuple(_update_relationships(agent, sessions, day)),
    )
    return agent if grown == agent else replace(grown, updated=day.now)


def _update_state(
    old: tuple[str, ...], sessions: Sequence[Session], day: DayView
) -> tuple[str, ...]:
    """Return what the agent did last and what it left open, unless a later day did that."""
    last = sessions[-1]
    digest = next((one for one in day.digests if one.session == last.id), None)
    if digest is None:
        return old
    where = f" [{last.project}]" if last.project else ""
    title = f"{day_in(last.started, day.zone)}{where} {digest.title}"
    left = (line.text for line in digest.lines if line.part is Part.OPEN)
    # A line without an id is a person's own; no job may take it away.
    mine = (line for line in old if not split_mark(line)[1])
    return (*(marked(text, digest.id) for text in (title, *left)), *mine)


def _update_skills(old: tuple[str, ...], sessions: set[str], day: DayView) -> tuple[str, ...]:
    """Return what worked and what failed in the agent's sessions, as long as it holds."""
    cards = Cards.of(day.cards)
    held = {head.id for head in cards.heads if head.status in _HELD}
    shown = {id for line in old if (id := split_mark(line)[1])}

    def is_new(head: Head) -> bool:
        said_today = day_in(head.seen, day.zone) == day.date
        right = head.type in _LEARNED and head.id in held and head.scope == SHARED
        return right and said_today and head.id not in shown

    learned = (
        marked(" ".join(card.value.split()), card.id)
        for card in cards.where(is_new)
        if sessions.intersection(source.session for source in card.sources)
    )
    kept = (line for line in old if split_mark(line)[1] in {"", *held})
    lines = (*kept, *learned)
    return (
        tuple(line for line in lines if not split_mark(line)[1])
        + tuple(line for line in lines if split_mark(line)[1])[-MOST:]
    )


def _update_relationships(agent: Agent, sessions: Iterable[Session], day: DayView) -> Iterator[str]:
    """Yield what a person wrote, then a line for each person the agent works with."""
    yield from (line for line in agent.relationships if not _WHO.match(line))
    people: dict[str, list[Session]] = {}
    for session in sessions:
        if session.user:
            people.setdefault(session.user, []).append(session)
    for name, mine in sorted(people.items()):
        last = day_in(mine[-1].started, day.zone)
        projects = sorted({session.project for session in mine} - {""})
        if agent.lang is Lang.ZH:
            told = f"**{name}**：{len(mine)} 次会话，最近 {last}"
            yield f"{told}（{'、'.join(projects)}）" if projects else told
        else:
            many = "session" if len(mine) == 1 else "sessions"
            told = f"**{name}**: {len(mine)} {many}, last {last}"
            yield f"{told} ({', '.join(projects)})" if projects else told

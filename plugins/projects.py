"""Project pages: goal, state, to-dos, decisions with their reasons, risks, preferences.

Why it exists: who comes back to a project after a month reads one page. What stands on
it is what cards, events and digests say now: a line ends with the id of what it is
from, so it goes when that goes, and what a person writes beside it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kimi_memory import hookimpl
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.job import DayView, Op, Step
from kimi_memory.domain.note import CardType, EventType, Status
from kimi_memory.domain.pages import Digest, Event, Part, Project, Todo
from kimi_memory.domain.session import SHARED
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.formats.page_lines import marked, split_mark
from kimi_memory.nlp.basic.patterns import normalise, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.dates.vocabulary import day_in, in_zone

MOST = 40
"""So many lines of decisions, risks and preferences a page shows, the newest."""
_HELD = frozenset({Status.ACTIVE, Status.CONFLICTED})
_DATED = regex(r"^\d{4}-\d\d-\d\d ")
# "The goal of this project is to …", 我们项目的目标是…
_GOAL = regex(
    r"^(?:(?:the|our|my) )?(?:(?:project|overall|main)(?:'s)? )?(?:goal|aim|objective)"
    r"(?: (?:of|for) (?:this|the|our) [\w-]+(?: [\w-]+)?| here)? is (?:to )?(?P<what>\S.{9,})$"
    r"|^(?:我们的?|咱们的?)?(?:这个|本|该)?(?:项目|工程)?的?目标"
    r"(?:就)?(?:是|[:：]) ?(?P<han>\S.{4,})$",
    2,
)


@hookimpl
def consolidate_day(day: DayView) -> list[Step]:
    """Bring the pages of the projects that were worked on up to date."""
    known = {project.name: project for project in day.projects}
    heads = _shared_heads(day)
    names = {event.project for event in day.events}
    names |= {digest.project for digest in day.digests}
    names |= {head.project for head in heads if day_in(head.seen, day.zone) == day.date}
    # A card may have ended on a day without work on its project.
    names |= {head.project for head in heads if _page_is_behind(known.get(head.project), head)}
    return [
        step for name in sorted(names - {""}) for step in _project_steps(name, known, heads, day)
    ]


def _shared_heads(day: DayView) -> list[Head]:
    return [head for head in Cards.of(day.cards).heads if head.scope == SHARED and head.project]


def _page_is_behind(page: Project | None, head: Head) -> bool:
    """Whether a page shows a card that does not hold any more."""
    if page is None or head.status in _HELD or head.status is Status.STALE:
        return False
    mark = f"^{head.id}"
    lines = (*page.decisions, *page.risks, *page.preferences)
    return any(line.endswith(mark) for line in lines) or any(
        todo.id == head.id and not todo.done for todo in page.todos
    )


def _project_steps(
    name: str, known: dict[str, Project], heads: Sequence[Head], day: DayView
) -> Iterator[Step]:
    old = known.get(name) or _new_project(name, day)
    new = _update_project(
        _reopen_project(old, day), [head for head in heads if head.project == name], day
    )
    if name not in known:
        yield Step(Op.ADD, new, f"first day of work on {name}")
    elif new != old:
        yield Step(Op.REFINE, new, f"work of {day.date}")


def _reopen_project(project: Project, day: DayView) -> Project:
    """Return a project that goes on: work after its end takes it up again."""
    later = [*(event.at for event in day.events if event.project == project.name)]
    later += [digest.at for digest in day.digests if digest.project == project.name]
    if not project.finished or not any(at > project.updated for at in later):
        return project
    return replace(project, finished=False, status=Status.ACTIVE, updated=day.now)


def _new_project(name: str, day: DayView) -> Project:
    start = datetime.combine(day.date, datetime.min.time(), UTC)
    id = derived_id("project", start, name)
    return Project(id=id, created=day.now, updated=day.now, lang=day.lang, name=name)


def _update_project(project: Project, heads: Sequence[Head], day: DayView) -> Project:
    events = [event for event in day.events if event.project == project.name]
    digests = [digest for digest in day.digests if digest.project == project.name]
    grown = replace(
        project,
        goal=project.goal or _find_goal(heads, digests),
        state=_update_state(project.state, digests, day),
        todos=_update_todos(project.todos, [h for h in heads if h.type is CardType.TASK_STATE]),
        decisions=_update_lines(project.decisions, heads, CardType.DECISION, day),
        risks=_update_lines(project.risks, heads, CardType.GOTCHA, day),
        preferences=_update_lines(project.preferences, heads, CardType.PREFERENCE, day),
        progress=_update_progress(project.progress, events, digests, day),
    )
    # A page that says the same keeps its time, so no commit is made for nothing.
    return project if grown == project else replace(grown, updated=day.now)


def _find_goal(heads: Iterable[Head], digests: Iterable[Digest]) -> str:
    """Return what people said the project is for, in their words."""
    said = [head.text for head in heads if head.status in _HELD]
    lines = (line for digest in digests for line in digest.lines)
    said += [line.text for line in lines if line.part is not Part.FOUND]
    for text in said:
        for first, end in sentences(text):
            if found := _GOAL.match(text[first:end].strip()):
                return (found["what"] or found["han"]).rstrip(" .。")
    return ""


def _update_state(old: tuple[str, ...], digests: Sequence[Digest], day: DayView) -> tuple[str, ...]:
    """Return where the work stands: what came out last, and what was left open."""
    if not digests:
        return old
    last = max(digests, key=lambda digest: (digest.at, digest.id))
    # What was asked holds the agent's account of it behind an arrow.
    came = [
        line.text
        for line in last.lines
        if line.part is Part.FOUND or (line.part is Part.ASKED and " → " in line.text)
    ]
    left = [line.text for line in last.lines if line.part is Part.OPEN]
    when = f"{day_in(last.at, day.zone)}"
    mine = [line for line in old if not split_mark(line)[1]]
    return (*(marked(f"{when} {text}", last.id) for text in (*came[-1:], *left)), *mine)


def _update_todos(old: tuple[Todo, ...], heads: Sequence[Head]) -> tuple[Todo, ...]:
    """Return the list with what became of its cards, and with the cards that it lacks."""
    by_id = {head.id: head for head in heads}
    by_text = {normalise(head.text): head for head in heads if head.status in _HELD}
    kept: list[Todo] = []
    for todo in old:
        head = by_id.get(todo.id) or by_text.get(normalise(todo.text))
        if head is None:
            if not todo.id or todo.done:
                kept.append(todo)  # A person's own, or a part of what was done.
            continue
        over = head.status is Status.SUPERSEDED
        kept.append(Todo(todo.text, todo.done or over, head.id))
    listed = {todo.id for todo in kept}
    new = [Todo(h.text, id=h.id) for h in heads if h.status is Status.ACTIVE]
    return (*kept, *(todo for todo in new if todo.id not in listed))


def _update_lines(
    old: tuple[str, ...], heads: Sequence[Head], type: CardType, day: DayView
) -> tuple[str, ...]:
    """Return a section that shows the cards of a type that hold, whole; others' lines stay."""
    own = sorted((h for h in heads if h.type is type), key=lambda head: (head.since, head.id))
    dated = type is CardType.DECISION
    texts = [normalise(head.text) for head in own]
    # Lines without an id are a person's, except those that earlier versions wrote without one.
    mine = [line for line in old if not split_mark(line)[1] and not _is_repeated(line, texts)]
    held = [head for head in own if head.status in _HELD][-MOST:]
    made = (f"{day_in(h.since, day.zone)} {h.text}" if dated else h.text for h in held)
    return (*(marked(text, h.id) for text, h in zip(made, held, strict=True)), *mine)


def _is_repeated(line: str, texts: Sequence[str]) -> bool:
    """Whether a line without a mark is the beginning of what a card says."""
    said = normalise(_DATED.sub("", line).rstrip("…. "))
    return bool(said) and any(text.startswith(said) for text in texts)


def _update_progress(
    old: tuple[str, ...], events: Sequence[Event], digests: Sequence[Digest], day: DayView
) -> tuple[str, ...]:
    """Return what was found, tried and done, a line an event, else a line a session."""
    made: dict[str, str] = {}
    told = {source.session for event in events for source in event.sources}
    for event in events:
        if event.type is not EventType.DECISION:
            date = in_zone(event.at, day.zone).date()
            made[event.id] = marked(f"{date} {_one_line(event)}", event.id)
    for digest in digests:
        if digest.session not in told:
            made[digest.id] = marked(f"{day_in(digest.at, day.zone)} {digest.title}", digest.id)
    # Earlier versions wrote these lines without an id.
    short = {f"{event.at:%Y-%m-%d} {event.title}" for event in events}
    kept = [line for line in old if line not in short and split_mark(line)[1] not in made]
    return (*kept, *made.values())


def _one_line(event: Event) -> str:
    return " ".join((event.content or event.title).split())

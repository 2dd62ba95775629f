"""Lines that leave the pages of days, projects and agents when what they repeat is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.pages import Agent, Day, DigestLine, Event, Project
from kimi_memory.domain.session import SHARED
from kimi_memory.formats.day_lines import read_said
from kimi_memory.formats.page_lines import split_mark
from kimi_memory.nlp.basic.patterns import normalise


def page_lines_of(note: Note) -> Iterator[str]:
    """Yield what pages show of a note; of a private note they show nothing."""
    if getattr(note, "scope", SHARED):
        return
    if isinstance(note, Card):
        yield from (note.value, f"{note.key}: {' '.join(note.value.split())}")
    elif isinstance(note, Event):
        yield from (note.title, " ".join(note.content.split()))


def without_lines(page: Note, lines: set[str]) -> Note:
    """Return the page of a day, a project or an agent without the lines that say these texts."""

    def stays(text: str) -> bool:
        shown = normalise(split_mark(text)[0])
        # Before the title stand the date or the time and the type of the event.
        return not any(shown == line or shown.endswith((f" {line}", f":{line}")) for line in lines)

    def kept(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(filter(stays, texts))

    if isinstance(page, Day):
        return replace(page, events=kept(page.events), knowledge=kept(page.knowledge))
    if isinstance(page, Agent):
        return replace(page, state=kept(page.state), skills=kept(page.skills))
    assert isinstance(page, Project)
    return replace(
        page,
        goal=page.goal if stays(page.goal) else "",
        state=kept(page.state),
        progress=kept(page.progress),
        decisions=kept(page.decisions),
        risks=kept(page.risks),
        preferences=kept(page.preferences),
        todos=tuple(todo for todo in page.todos if stays(todo.text)),
    )


def without_turns(page: Note, lost: Callable[[str, DigestLine], bool]) -> Note:
    """Return the page of a day without the lines that show a forgotten turn."""
    if not isinstance(page, Day):
        return page
    said = ((line, read_said(line)) for line in page.sessions)
    kept = tuple(line for line, shown in said if shown is None or not lost(*shown))
    return replace(page, sessions=kept)

"""MEMORY.md: what somebody would paste at the start of a session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kimi_memory.config import Settings
from kimi_memory.domain.brief import Point, choose
from kimi_memory.domain.note import Lang
from kimi_memory.formats.page_lines import BRIEF_TITLES
from kimi_memory.jobs.overview import PAGE, Group, Sheet, in_language
from kimi_memory.store.notes.known import Known

BUDGET = 1200
"""Most tokens of the page, without the reader's own notes."""
_FRAME = 120
"""Tokens kept for its head, its headings and the line on what is left out."""


def memory_sheet(known: Known, settings: Settings, lang: Lang) -> Sheet:
    """Return the overview of a memory."""
    points, beyond = known.candidates(lang, settings.zone)
    chosen = choose(points, BUDGET - _FRAME)
    cards = beyond + sum(point.id.startswith("card-") for point in points)
    shown = sum(point.id.startswith("card-") for point in chosen)
    name = settings.memory.name
    return Sheet(PAGE, "MEMORY", name, lang, tuple(_group_points(chosen, lang)), cards - shown)


def _group_points(points: list[Point], lang: Lang) -> Iterator[Group]:
    for section, of in groupby(points, key=lambda point: point.heading):
        title = in_language(BRIEF_TITLES[section], lang)
        yield Group(title, tuple(point.shown for point in of))

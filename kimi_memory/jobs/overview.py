"""MEMORY.md and pages like it, which show cards line by line, signed.

MEMORY.md is what somebody would paste at the start of a session. Pages that a new memory starts
with follow its language as long as they are untouched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from heapq import nsmallest
from itertools import groupby
from typing import NamedTuple

from kimi_memory.config import Settings
from kimi_memory.domain.brief import Point, choose
from kimi_memory.domain.change import Change
from kimi_memory.domain.note import CardType, Lang, Status
from kimi_memory.domain.pages import (
    IDENTITY_PATH,
    STARTER_IDENTITY,
    STARTER_NAME,
    STARTER_PAGES,
    Identity,
)
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.page_lines import BLANK, BRIEF_TITLES, NOTES, TITLES, UNSURE, signed
from kimi_memory.formats.templates import fill, source
from kimi_memory.jobs.render import Render
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes.known import Known

PAGE = "MEMORY.md"
ROOM = 48 * 1024
"""Most bytes of lines on a page; the rest is counted."""
_MOST = 200
BUDGET = 1200
"""Most tokens of MEMORY.md, without the reader's own notes."""
_FRAME = 120
"""Tokens kept for its head, its headings and the line on what is left out."""


class Group(NamedTuple):
    """A section of a page."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page of lines under headings."""

    path: str
    template: str
    name: str
    """Its heading: what the memory, the category or the thing is called."""
    lang: Lang
    groups: tuple[Group, ...]
    more: int = 0
    """So many cards have no room."""

    @classmethod
    def from_cards(
        cls,
        path: str,
        about: tuple[str, str, Lang],
        cards: Iterable[Head],
        room: int,
        line: Callable[[Head], str],
    ) -> Sheet:
        """Return the page of a category, a person or a thing: its cards by type, surest first.

        Args:
            path: where it lies.
            about: its template, heading and language.
            cards: all that belong on it.
            room: most bytes of lines.
            line: returns the line that shows a card.
        """
        # Only the surest are made into lines: ten thousand lines for a page of two hundred take a
        # second.
        whole = list(cards)
        lines = {head.id: line(head) for head in nsmallest(_MOST, whole, key=_confidence_order)}
        kept = _select_fitting_ids(lines, room)
        fitting = [head for head in whole if head.id in kept]
        lang = about[2]
        groups = tuple(
            Group(title, tuple(lines[head.id] for head in sorted(of, key=_confidence_order)))
            for title, of in _by_type(fitting, lang)
            if of
        )
        return cls(path, *about, groups, len(whole) - len(fitting))

    @property
    def mark(self) -> str:
        """What two sheets share when they have the same text, but for the reader's notes."""
        form = source(f"notes/{self.template}", self.lang)
        rows = (part for group in self.groups for part in (group.title, *group.lines))
        parts = (form, self.name, self.lang, str(self.more), *rows)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    def text(self, notes: str = "") -> str:
        """Return the page, signed with its own hash.

        Args:
            notes: the reader's own section.
        """
        text = fill(
            f"notes/{self.template}",
            self.lang,
            name=self.name,
            groups=[group._asdict() for group in self.groups],
            more=self.more,
            notes_title=in_language(NOTES, self.lang),
            notes=notes,
            mark=BLANK,
        )
        return signed(text)


def _confidence_order(card: Head) -> tuple[float, str, str]:
    """Return what puts the surest first."""
    return -card.confidence, card.key, card.id


def empty_page(name: str, lang: Lang) -> str:
    """Return the overview of a new memory."""
    return Sheet(PAGE, "MEMORY", name, lang, ()).text()


def _select_fitting_ids(lines: Mapping[str, str], room: int) -> set[str]:
    """Return the ids of the first lines that have room on a page."""
    kept = set()
    for id, line in lines.items():
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.add(id)
    return kept


def _by_type(cards: list[Head], lang: Lang) -> Iterator[tuple[str, list[Head]]]:
    sure = [card for card in cards if card.status is not Status.CANDIDATE]
    for type in CardType:
        yield in_language(TITLES[type], lang), [card for card in sure if card.type is type]
    yield in_language(UNSURE, lang), [c for c in cards if c.status is Status.CANDIDATE]


def in_language(words: tuple[str, str], lang: Lang) -> str:
    """Return the Chinese or the English one of two texts."""
    return words[0] if lang is Lang.ZH else words[1]


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


def translate_first_pages(render: Render, lang: Lang) -> Iterator[Change]:
    """Yield the changes that bring the pages nobody wrote on into a language.

    `init` knows the language of the machine at best; what is said tells that of the person.
    """
    for path, template in STARTER_PAGES.items():
        if render.exists(path) and render.text(path) in _other_language_texts(template, lang):
            yield from render.replace_file(path, fill(template, lang, name="").encode())
    if render.exists(IDENTITY_PATH):
        yield from _translate_identity(render, lang)


def is_first_page(path: str, content: bytes) -> bool:
    """Whether a page is one that a new memory begins with, and nobody wrote on it."""
    text = content.decode("utf-8", "replace")
    if path in STARTER_PAGES:
        return text in [fill(STARTER_PAGES[path], lang, name="") for lang in Lang]
    note = codec.read_note(content, path)
    return isinstance(note, Identity) and _is_untouched(note, text)


def _is_untouched(told: Identity, text: str) -> bool:
    return (told.who, told.mission) == STARTER_IDENTITY[told.lang] and codec.render(told) == text


def _other_language_texts(template: str, lang: Lang) -> list[str]:
    return [fill(template, other, name="") for other in Lang if other is not lang]


def _translate_identity(render: Render, lang: Lang) -> Iterator[Change]:
    text, told = render.text(IDENTITY_PATH), None
    with suppress(FormatError):
        told = codec.parse(text, IDENTITY_PATH)
    if not isinstance(told, Identity) or told.lang is lang:
        return
    if _is_untouched(told, text):
        who, mission = STARTER_IDENTITY[lang]
        name = STARTER_NAME[lang] if told.name == STARTER_NAME[told.lang] else told.name
        new = replace(told, lang=lang, who=who, mission=mission, name=name)
        yield from render.replace_file(IDENTITY_PATH, codec.render(new).encode())

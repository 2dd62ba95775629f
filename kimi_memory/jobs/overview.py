"""Pages that show cards line by line, signed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import nsmallest
from typing import NamedTuple

from kimi_memory.domain.note import CardType, Lang, Status
from kimi_memory.formats.card_form import Head
from kimi_memory.formats.page_lines import BLANK, NOTES, TITLES, UNSURE, signed
from kimi_memory.formats.templates import fill, source
from kimi_memory.lazy_dataclass import dataclass

PAGE = "MEMORY.md"
ROOM = 48 * 1024
"""Most bytes of lines on a page; the rest is counted."""
_MOST = 200


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

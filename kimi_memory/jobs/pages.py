"""Generated pages: MEMORY.md, a page a category, a page a person or thing, conflicts.

MEMORY.md is what somebody would paste at the start of a session. Pages that a new memory starts
with follow its language as long as they are untouched.

The notes that a reader adds to them count once they are confirmed.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from heapq import nsmallest
from itertools import groupby
from typing import NamedTuple

from kimi_memory.config import Settings
from kimi_memory.domain.brief import SELF, Point, choose
from kimi_memory.domain.job import Change, Delete, Step, digest
from kimi_memory.domain.note import Card, CardType, Lang, LinkRel, Status
from kimi_memory.domain.pages import (
    IDENTITY_PATH,
    STARTER_IDENTITY,
    STARTER_NAME,
    STARTER_PAGES,
    Identity,
    supporting,
)
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.body_layout import Places, link_to, linked, turn_link
from kimi_memory.formats.card_form import Head, page_language
from kimi_memory.formats.codec import own_name, slug
from kimi_memory.formats.page_lines import (
    BLANK,
    BRIEF_TITLES,
    NOTES,
    TITLES,
    UNSURE,
    fill,
    is_generated,
    may_rewrite,
    read_page,
    sign_of,
    signed,
    source,
)
from kimi_memory.jobs.render import Render
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.notes.known import Known
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

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


SECTION = "notes"
"""The section of a proposal that would add to the notes of a page."""
CONFLICTS = "conflicts"
ENTITIES = "semantic/entities"
_GENERATED, _EDITED, _BLANK, _STRANGE = "generated", "edited", "blank", "strange"
_SIGNED = frozenset({_GENERATED, _EDITED})
_MADE = "made of"
"""The fact that tells from what a page was made, for as long as nobody writes it."""
_SHOWN = frozenset({Status.ACTIVE, Status.STALE, Status.CANDIDATE})


def notes_of(text: str) -> str:
    """Return the reader's own section of a page."""
    # Most pages have none, and reading one line by line takes longer than this look.
    low = text.casefold()
    return read_page(text).notes if any(title.casefold() in low for title in NOTES) else ""


def confirmed_notes(store: Store, path: str) -> str:
    """Return the notes of the last version of a page that counts; empty where there is none."""
    if not store.exists(path):
        return ""
    return notes_of(store.served(path).usable.decode("utf-8", "replace"))


def unconfirmed_lines(text: str, confirmed: str) -> list[str]:
    """Return the lines of a text that the confirmed notes lack, without empty ones."""
    known = {line.strip() for line in confirmed.splitlines()}
    return [line for line in text.splitlines() if line.strip() and line.strip() not in known]


def has_unconfirmed(store: Store, path: str, text: str) -> bool:
    """Whether a page that is there holds notes that wait for a person's word."""
    notes = notes_of(text)
    return bool(notes and unconfirmed_lines(notes, confirmed_notes(store, path)))


@dataclass(frozen=True, slots=True)
class Dispute:
    """One question with several answers, each with its evidence."""

    key: str
    sides: tuple[Card, ...]
    """Oldest first."""

    @property
    def path(self) -> str:
        """Where its page lies."""
        return f"{CONFLICTS}/{own_name(self.key, self.sides[0].scope)}.md"

    def text(self, places: Places = lambda id: "") -> str:
        """Return the page, signed with its own hash.

        Args:
            places: where the cards lie.
        """
        # The reader most likely uses the language in which they spoke last.
        lang = max(self.sides, key=lambda card: card.updated).lang
        sides = [_describe_side(card, places(card.id)) for card in self.sides]
        return signed(fill("notes/CONFLICT", lang, key=self.key, sides=sides, mark="0" * 12))


def open_disputes(shelf: Shelf) -> list[Dispute]:
    """Return what waits for a choice, each with all of its sides."""
    marked = (e for e in shelf.entries().values() if e.kind == "card" and e.status == "conflicted")
    notes = [shelf.file(entry.path).note for entry in marked]
    return disputes(note for note in notes if isinstance(note, Card))


def disputes(cards: Iterable[Card]) -> list[Dispute]:
    """Return the open disputes among some cards, in order of their keys."""
    open_cards = {card.id: card for card in cards if card.status is Status.CONFLICTED}
    groups: dict[str, set[str]] = {}
    slots: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for card in open_cards.values():
        slots[_card_slot(card)].add(card.id)
    for card in sorted(open_cards.values(), key=lambda card: card.id):
        near = {*_contradicted_ids(card), *slots[_card_slot(card)]} & open_cards.keys()
        # A page that shows private and shared answers side by side would give the private one
        # away.
        near = {id for id in near if open_cards[id].scope == card.scope}
        for id in list(near):
            # Disputes that share a card are one.
            near |= groups.get(id, set())
        groups |= dict.fromkeys(near, near)
    found = {frozenset(ids) for ids in groups.values()}
    return sorted(
        (_build_dispute(open_cards[id] for id in ids) for ids in found), key=lambda d: d.key
    )


def _contradicted_ids(card: Card) -> Iterator[str]:
    return (link.to for link in card.links if link.rel is LinkRel.CONTRADICTS)


def _card_slot(card: Card) -> tuple[str, str, str]:
    return card.key, card.project, card.scope


def _build_dispute(cards: Iterable[Card]) -> Dispute:
    sides = sorted(cards, key=lambda card: (card.valid_from or card.created, card.id))
    return Dispute(sides[0].key, tuple(sides))


def _describe_side(card: Card, path: str) -> dict[str, object]:
    return {
        "heading": f"{card.id} {link_to(path)}".strip(),
        "value": " ".join(card.value.split()),
        "confidence": f"{card.confidence:.2f}",
        "trust": str(card.trust),
        "since": f"{card.valid_from or card.created:%Y-%m-%d}",
        "quotes": [
            {"text": " ".join(quote.text.split()), "link": turn_link(quote.session, quote.n)}
            for quote in supporting(card)
        ],
    }


def page_changes(render: Render, shelf: Shelf, steps: Iterable[Step]) -> list[Change]:
    """Return the changes that give every dispute the steps open, or add to, its page."""
    new = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
    if not any(card.status is Status.CONFLICTED for card in new.values()):
        return []
    marked = [e for e in shelf.entries().values() if e.status == str(Status.CONFLICTED)]
    old = (shelf.file(e.path).note for e in marked if e.kind == "card" and e.id not in new)
    cards = [*(note for note in old if isinstance(note, Card)), *new.values()]
    opened = [one for one in disputes(cards) if any(card.id in new for card in one.sides)]
    # A page on which a person wrote is theirs until they have decided.
    free = (d for d in opened if not render.exists(d.path) or may_rewrite(render.text(d.path)))
    texts = ((dispute.path, dispute.text(render.path_of)) for dispute in free)
    return [change for at, text in texts for change in render.replace_file(at, text.encode())]


class Pages:
    """Keeps the generated pages of a memory in step with its cards."""

    def __init__(self, store: Store, shelf: Shelf, settings: Settings) -> None:
        self._store, self._shelf, self._settings = store, shelf, settings
        self._render = Render(store, shelf)

    def changes(
        self,
        cards: Iterable[Card | Head],
        taken: Mapping[str, str] | None = None,
        steps: Sequence[Step] = (),
    ) -> tuple[list[Change], list[str]]:
        """Return the changes of pages that are behind, and notes on those left alone.

        Args:
            cards: all that is known, as it will be.
            taken: pages whose edits were taken over, and the notes to go on with.
            steps: what becomes of other notes that pages show.
        """
        taken, whole = taken or {}, list(cards)
        # Of pages among the steps a file may be broken; cards were read from theirs.
        last = {step.note.id: step.note for step in steps if isinstance(step.note, Card)}
        self._render.place_notes(last.values())
        changes: list[Change] = []
        notes: list[str] = []
        sheets, disputed = self._build_sheets(whole, steps), self._find_disputes(whole)
        due = self._find_outdated_sheets(sheets, taken)
        behind = {sheet.path: self._render_sheet(sheet, taken) for sheet, _ in due}
        marks = {sheet.path: mark for sheet, mark in due}
        for path, text in (behind | self._dispute_texts(disputed)).items():
            if path in taken or self.is_free(path):
                change = self._render.replace_file(path, text.encode())
                changes += change
                # It was the same after all: known now, it is not rendered again next time.
                if path in marks and not change:
                    self._shelf.survey.note(path, _MADE, marks[path])
            elif sign_of(self._render.text(path)) or path == PAGE:
                notes.append(f"{path} was edited by hand and stays as it is")
        wanted = {sheet.path for sheet in sheets} | {dispute.path for dispute in disputed}
        return [*changes, *self._delete_obsolete_pages(wanted)], notes

    def overview(self, steps: Sequence[Step]) -> list[Change]:
        """Return the changes that bring MEMORY.md alone up to date; none if it was edited.

        The pages a new memory starts with follow its language as long as nobody wrote on them.
        """
        if not self.is_free(PAGE):
            return []
        known = Known.from_shelf(self._shelf, steps=steps)
        sheet = self._build_overview(known)
        mark = sheet.mark
        if self._store.exists(PAGE) and self._shelf.survey.known(PAGE, _MADE) == mark:
            return []
        changes = self._render.replace_file(PAGE, self._render_sheet(sheet, {}).encode())
        if changes and self._settings.memory.language == "auto":
            changes += translate_first_pages(self._render, sheet.lang)
        return changes

    def texts(self, cards: Iterable[Card | Head], taken: Mapping[str, str]) -> dict[str, str]:
        """Return every page there should be, by path."""
        whole = list(cards)
        sheets = {
            sheet.path: self._render_sheet(sheet, taken) for sheet in self._build_sheets(whole)
        }
        return sheets | self._dispute_texts(self._find_disputes(whole))

    def _dispute_texts(self, disputed: Iterable[Dispute]) -> dict[str, str]:
        return {dispute.path: dispute.text(self._render.path_of) for dispute in disputed}

    def two_way(self) -> Iterator[str]:
        """Yield the pages there are whose lines a person may edit."""
        if self._store.exists(PAGE):
            yield PAGE
        yield from (path for path in self._candidate_paths if self._page_state(path) in _SIGNED)

    @cached_property
    def _candidate_paths(self) -> list[str]:
        """Where files lie that may be pages of categories, people and things."""
        # Nearly all files are cards, which lie one folder deeper than pages of categories.
        inside = (path for path in self._shelf.survey.looks if path.startswith("semantic/"))
        high = (p for p in inside if p.count("/") == 1 or p.startswith(ENTITIES))
        return sorted(path for path in high if is_page(path))

    def edited(self) -> list[str]:
        """Return the pages whose lines a person may edit, and somebody did."""
        return [
            path
            for path in self.two_way()
            if self._page_state(path) in {_EDITED, _STRANGE}
            or has_unconfirmed(self._store, path, self._render.text(path))
        ]

    def outdated(self) -> Iterator[str]:
        """Yield the pages that list cards which are gone, and MEMORY.md if somebody deleted it."""
        entries = self._shelf.entries()
        if not self._store.exists(PAGE) and any(e.kind == Card.kind for e in entries.values()):
            yield PAGE
        for path in self.two_way():
            listed = self._shelf.survey.fact(path, "listed", _listed_card_ids)
            if self._page_state(path) == _GENERATED and any(id not in entries for id in listed):
                yield path

    def is_free(self, path: str) -> bool:
        """Whether a page may be written: nothing is there, or nothing that somebody added."""
        if not self._store.exists(path):
            return True
        text = self._render.text(path)
        return may_rewrite(text) and not has_unconfirmed(self._store, path, text)

    def _delete_obsolete_pages(self, wanted: Set[str]) -> Iterator[Change]:
        """Yield the deletion of generated pages that have nothing to show any more."""
        conflicts = (p for p in self._store.files(CONFLICTS) if p.endswith(".md"))
        for path in (*self.two_way(), *conflicts):
            if path in wanted or not is_generated(self._render.text(path)):
                continue
            # What a reader noted there is theirs and nowhere else.
            if not notes_of(self._render.text(path)):
                yield Delete(path, digest(self._store.read(path)))

    def _find_outdated_sheets(
        self, sheets: list[Sheet], taken: Mapping[str, str]
    ) -> list[tuple[Sheet, str]]:
        """Return the pages that are not known to be as they should, with their marks."""
        marked = [(sheet, sheet.mark) for sheet in sheets]
        known = self._shelf.survey.known
        return [(s, mark) for s, mark in marked if s.path in taken or known(s.path, _MADE) != mark]

    def _build_sheets(self, cards: list[Card | Head], steps: Sequence[Step] = ()) -> list[Sheet]:
        """Return the pages that show cards line by line; of two at one place the first."""
        # Private notes stand on no page that everybody reads.
        every = (card if type(card) is Head else Head.of(card) for card in cards)
        heads = [head for head in every if not head.scope]
        settings = self._settings
        # Below the gate: the head and the reader's notes need room as well.
        room = min(ROOM, settings.gates.max_page_bytes * 3 // 4)
        known = Known.from_shelf(self._shelf, heads=heads, steps=steps)
        found = {PAGE: self._build_overview(known)}
        names = known.name_people([head for head in heads if head.key.startswith(SELF)])
        line = partial(self._card_line, names)
        for template, path, name, of in _group_cards(heads):
            if path not in found:
                about = template, name, page_language(settings.memory.language, of)
                found[path] = Sheet.from_cards(path, about, of, room, line)
        return list(found.values())

    def _card_line(self, names: Mapping[str, str], head: Head) -> str:
        line = head.line(self._settings.zone, names.get(head.id, ""))
        return linked(line, self._render.path_of)

    def _build_overview(self, known: Known) -> Sheet:
        shared = [head for head in known.heads if not head.scope]
        lang = page_language(self._settings.memory.language, [*shared, *known.digests])
        return memory_sheet(known, self._settings, lang)

    def _render_sheet(self, sheet: Sheet, taken: Mapping[str, str]) -> str:
        notes = taken.get(sheet.path)
        return sheet.text(confirmed_notes(self._store, sheet.path) if notes is None else notes)

    def _find_disputes(self, cards: list[Card | Head]) -> list[Dispute]:
        marked = [card for card in cards if card.status is Status.CONFLICTED]
        return disputes(self._shelf.card(c) if isinstance(c, Head) else c for c in marked)

    def _page_state(self, path: str) -> str:
        """Return whether a page is as it was generated, edited, blank or a stranger's."""
        return self._shelf.survey.fact(path, "page", _state_of)


def _state_of(content: bytes) -> str:
    text = content.decode("utf-8", "replace")
    if may_rewrite(text):
        return _GENERATED if sign_of(text) else _BLANK
    return _EDITED if sign_of(text) else _STRANGE


def _listed_card_ids(content: bytes) -> list[str]:
    """Return the ids of the cards a page shows."""
    lines = read_page(content.decode("utf-8", "replace")).lines
    return [id for id in lines if id.startswith(f"{Card.kind}-")]


def is_page(path: str) -> bool:
    """Whether a file is at the place of a page that shows cards."""
    if not path.endswith(".md"):
        return False
    category = path.startswith("semantic/") and path.count("/") == 1
    return path == PAGE or category or path.startswith((f"{ENTITIES}/", f"{CONFLICTS}/"))


def _group_cards(cards: Iterable[Head]) -> Iterator[tuple[str, str, str, list[Head]]]:
    """Yield template, path, heading and cards of each category and each person or thing."""
    shown = [card for card in cards if card.status in _SHOWN]
    named: dict[str, list[Head]] = defaultdict(list)
    for card in shown:
        named[card.category].append(card)
    places: dict[str, list[str]] = defaultdict(list)
    for category in named:
        places[slug(category)].append(category)
    for name, among in sorted(places.items()):
        of = [card for category in among for card in named[category]]
        # Categories with one file name share a page, which has the same heading every time.
        yield "CATEGORY", f"semantic/{name}.md", min(among), of
    entities = {_card_subject(card) for card in shown if card.type is CardType.ENTITY} - {""}
    about: dict[str, list[Head]] = {name: [] for name in sorted(entities)}
    for card in shown if about else ():
        if (name := _card_subject(card)) in about:
            about[name].append(card)
    for name, of in about.items():
        yield "ENTITY", f"{ENTITIES}/{slug(name)}.md", name, of


def _card_subject(card: Head) -> str:
    """Return whom or what a card is about."""
    return card.key.rpartition(".")[0] or card.key

"""Tombstones: what a person takes back in words, and the gate that keeps it from coming again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from string import capwords

from kimi_memory.domain.change import Append, Change
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, Note, Status
from kimi_memory.domain.pages import Day, Event, Project, Proposal
from kimi_memory.domain.session import SHARED
from kimi_memory.domain.tombstone import Tombstone, Tombstones, is_same_key
from kimi_memory.formats.jsonl import tombstone_line
from kimi_memory.nlp.basic.patterns import fold_case, normalise, regex
from kimi_memory.nlp.basic.similarity import repeats_claim
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.clause_form import NOT, claim_words
from kimi_memory.nlp.rules.slot_list import TOOLS
from kimi_memory.nlp.rules.slot_type import PROJECT
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.values import Relation, compare_values
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes.notes import Shelf

_INSTEAD = regex(r"\b(?:instead of|rather than|in place of)\b|而不是|代替|取代|而非")
_TOOL = regex(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9]+)*")
WHY = "taken back in words"
_SHORTEST_LINE = 4


class TombstoneGate:
    """Recognizes what was forgotten or rejected, also in other words."""

    def __init__(self, stones: Tombstones) -> None:
        self._stones = stones

    def draft(self, draft: Draft, texts: Iterable[str]) -> bool:
        """Whether a draft, which would say one of the texts, must not become a note."""
        if not self._stones:
            return False
        scopes = _relevant_scopes(draft, [quote.session for quote in draft.quotes])
        # What was refined later is forgotten with the words it was first made of.
        if self._stones.bars(scopes, draft.key, texts, [quote.text for quote in draft.quotes]):
            return True
        # "We no longer use Redis" names the forgotten value, and must be able to.
        return not draft.reversal and self._has_barred_value(scopes, draft.key, draft.value)

    def note(self, note: Note) -> bool:
        """Whether a note says what must not come back."""
        if not self._stones:
            return False
        if self._stones.names(note.id):
            return True
        if isinstance(note, Proposal):
            scopes = {"memory", page_scope(note.target, note.section)}
            key = subject_of(note)
            return self._stones.bars(scopes, key, [note.text]) or self._has_barred_value(
                scopes, key, note.text
            )
        if not isinstance(note, Card | Event):
            return False
        said = note.value if isinstance(note, Card) else note.content
        sessions = [source.session for source in note.sources]
        scopes = _relevant_scopes(note, sessions)
        quotes = [quote.text for quote in note.quotes]
        return self._stones.bars(scopes, note.key, [said], quotes) or (
            isinstance(note, Card) and self._has_barred_value(scopes, note.key, note.value)
        )

    def steps(self, steps: Iterable[Step], shelf: Shelf) -> tuple[list[Step], list[str]]:
        """Return the steps that may be done, and a line for each new note that may not."""
        steps = list(steps)
        if not self._stones:
            return steps, []
        known = shelf.entries()
        kept, left_out = [], []
        for step in steps:
            # What is there already was let in by a person; only what is new is held back.
            if step.note.id not in known and step.note.status in LIVE and self.note(step.note):
                left_out.append(f"{step.note.id}: it was forgotten or rejected on purpose")
            else:
                kept.append(step)
        return kept, left_out

    def returned(self, shelf: Shelf) -> Iterator[Card]:
        """Yield live cards that a merge or a copied file brought back."""
        if not self._stones:
            return
        keys = self._stones.keys()
        stems = {stem for key in keys for stem in _stems_of(key)}
        for entry in sorted(shelf.entries().values(), key=lambda entry: entry.path):
            is_named = (
                entry.key in stems
                or not keys.isdisjoint(_stems_of(entry.key))
                or self._stones.names(entry.id)
            )
            if entry.kind == "card" and is_named and entry.status in LIVE:
                note = shelf.file(entry.path).note
                if isinstance(note, Card) and self.note(note):
                    yield note

    def _has_barred_value(self, scopes: set[str], key: str, text: str) -> bool:
        """Whether a text puts a barred value of its own key into other words."""
        near = list[Tombstone]()
        for stone in self._stones.near(scopes):
            alike = _fills_slot_alike(text, stone, scopes)
            if alike:
                return True
            if alike is None:  # Where there is a slot, its value decides.
                near.append(stone)
        low = fold_case(text)
        if cues.REVERSAL.search(low) or _INSTEAD.search(low):
            return False  # Who takes something back names it, and does not say it again.
        return any(
            is_same_key(stone.key, key, f"{text} {stone.value}")
            and (repeats_claim(text, stone.value) or _chooses_alike(text, stone, scopes))
            for stone in near
        )


def _stems_of(key: str) -> set[str]:
    """Return a key and all that it goes on from."""
    parts = key.split(".")
    return {".".join(parts[: n + 1]) for n in range(len(parts))}


def page_scope(target: str, section: str) -> str:
    """Return the scope of what must not be proposed for a section of a page again."""
    return f"page:{target}#{section}"


def subject_of(proposal: Proposal) -> str:
    """Return the key under which a proposal is rejected."""
    return f"{proposal.target}#{proposal.section}"


def _relevant_scopes(about: Draft | Card | Event, sessions: Iterable[str]) -> set[str]:
    told = {f"session:{id}" for id in sessions}
    own = {about.scope} - {SHARED}
    return {"memory", f"project:{about.project}", *own, *(told if len(told) == 1 else ())}


def _fills_slot_alike(text: str, stone: Tombstone, scopes: Collection[str]) -> bool | None:
    """Whether a text gives the slot of a forgotten statement the value that was forgotten.

    What fills a slot of one project says nothing of the same slot of another one. None if
    the two fill no slot in common.
    """
    # A tombstone holds small letters, in which names are not seen.
    told, old = slot_of(text), slot_of(stone.value) or slot_of(capwords(stone.value))
    if told is None or old is None or told.key != old.key or told.denied != old.denied:
        return None
    if told.holder == PROJECT and stone.scope not in scopes:
        return False
    relation = compare_values(old.comparable, told.comparable)
    return relation in {Relation.SAME, Relation.FINER, Relation.COARSER}


def _chooses_alike(text: str, stone: Tombstone, scopes: Collection[str]) -> bool:
    """Whether a text of a project chooses the one tool that the forgotten words chose there."""
    named = _tools_in(text)
    if len(named) != 1 or stone.scope not in scopes or named != _tools_in(stone.value):
        return False
    denials = [claim_words(words).count(NOT) % 2 for words in (text, stone.value)]
    return denials[0] == denials[1]


def _tools_in(text: str) -> set[str]:
    return TOOLS.keys() & set(_TOOL.findall(text.lower()))


def let_go(card: Card, at: datetime, now: datetime) -> Card:
    """Return a card as it is once it was taken back: kept, dated, and not held true."""
    return replace(card, status=Status.ARCHIVED, valid_to=card.valid_to or at, updated=now)


def stones(cards: Iterable[Card], now: datetime) -> list[Change]:
    """Return the change that keeps what was taken back from being made again."""
    found = [stone for card in cards for stone in _build_tombstones(card, now)]
    lines = tuple(tombstone_line(stone) for stone in dict.fromkeys(found))
    return [Append(TOMBSTONES, lines)] if lines else []


def _build_tombstones(card: Card, now: datetime) -> Iterator[Tombstone]:
    scope = card.scope or (f"project:{card.project}" if card.project else "memory")
    for text in (card.value, *(quote.text for quote in card.quotes)):
        if text.strip():
            yield Tombstone(scope, card.key, normalise(text), now, "a person", WHY)


def pages(shelf: Shelf, cards: Iterable[Card], now: datetime) -> Iterator[Step]:
    """Yield the pages of days and projects without the lines that repeat the cards."""
    shared = [card for card in cards if not card.scope]  # No page shows the others.
    said = {normalise(text) for card in shared for text in (card.value, card.title)}
    # "ok" stands in every second line.
    said = {text for text in said if len(text) >= _SHORTEST_LINE}
    for kind in (Day.kind, Project.kind) if said else ():
        for filed in shelf.notes(kind):
            page = filed.note
            cut = _cut_lines(page, said) if isinstance(page, Day | Project) else page
            if cut != page:
                yield Step(Op.REFINE, replace(cut, updated=now), f"repeats what was {WHY}")


def _cut_lines(page: Day | Project, said: set[str]) -> Day | Project:
    def kept(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(line for line in lines if not any(text in normalise(line) for text in said))

    if isinstance(page, Day):
        sessions, events = kept(page.sessions), kept(page.events)
        return replace(page, sessions=sessions, events=events, knowledge=kept(page.knowledge))
    return replace(
        page,
        state=kept(page.state),
        progress=kept(page.progress),
        decisions=kept(page.decisions),
        risks=kept(page.risks),
        preferences=kept(page.preferences),
    )

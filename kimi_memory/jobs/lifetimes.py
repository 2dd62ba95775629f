"""How long notes hold, and the links that a session states between them.

The file of an event whose card was replaced says that it holds no more. ``[ttl]`` says how long
cards are kept, `expires` of a card until when. The moment is set when a card is written, counted
from when it was last said. Said again, it moves; one that a person wrote into the card stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kimi_memory.config import TtlTable
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.graph import SHARED_NAME, SUGGESTED
from kimi_memory.domain.job import Op, Step
from kimi_memory.domain.note import LIVE, Card, CardType, Link, LinkRel, Note, Status
from kimi_memory.domain.pages import Event
from kimi_memory.errors import FormatError, KimiMemoryError, NotFoundError
from kimi_memory.formats.card_form import Head
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.rules.relations import Says, content_of, names_in, phrases_of, share_meant
from kimi_memory.store.notes.note_index import Entry
from kimi_memory.store.notes.notes import Shelf, mark

_HELD = frozenset({Status.ACTIVE, Status.CONFLICTED, Status.STALE})


def with_ended_events(
    steps: tuple[Step, ...], shelf: Shelf, *, asked: bool = False
) -> tuple[Step, ...]:
    """Return steps, and those that mark the events whose card the steps replace.

    An event that rests on anything else as well still says something, and stays as it is.

    Args:
        steps: what is going to be done.
        shelf: the notes as they are.
        asked: whether a person corrects: the new card then names the turns it corrects.
    """
    notes = {step.note.id: step.note for step in steps}
    cards = [note for note in notes.values() if isinstance(note, Card)]
    held = [card for card in cards if card.status in _HELD]
    replaced = [(old, new) for old in cards if (new := _find_successor(old, held)) is not None]
    if not replaced:
        return steps
    gone = {turn: new for old, new in replaced for turn in _turns_of(old)}
    # "I moved from Bern to Basel" proves the old card and the new one: it is not over.
    kept = set() if asked else {turn for _, new in replaced for turn in _turns_of(new)}
    ended = frozenset(gone) - kept
    found = (event for event in _yield_events(notes, shelf, ended) if ended >= _turns_of(event))
    more = [_ended_step(event, gone[min(_turns_of(event))]) for event in found]
    return (*steps, *more)


def _find_successor(old: Card, held: Iterable[Card]) -> Card | None:
    """Return the card that takes the place of a replaced one; None where it only ended."""
    if old.status is not Status.SUPERSEDED:
        return None
    same = ((new.key, new.project) == (old.key, old.project) for new in held)
    pairs = zip(held, same, strict=True)
    return next((new for new, alike in pairs if alike or old.id in new.supersedes), None)


def _yield_events(notes: dict[str, Note], shelf: Shelf, ended: frozenset[str]) -> Iterator[Event]:
    """Yield the active events that rest on some of these turns, as they will be."""
    for note in notes.values():
        if isinstance(note, Event) and note.status is Status.ACTIVE and note.quotes:
            yield note
    for entry in shelf.entries().values():
        if entry.id in notes or not _may_rest_on(entry, ended):
            continue
        try:
            note = shelf.file(entry.path).note
        except KimiMemoryError:
            continue  # A file that cannot be read is never rewritten.
        if isinstance(note, Event) and note.status is Status.ACTIVE and note.quotes:
            yield note


def _may_rest_on(entry: Entry, ended: frozenset[str]) -> bool:
    """Whether an event names one of these turns, by its head alone."""
    if entry.kind != Event.kind or entry.status != Status.ACTIVE:
        return False
    return any(quote.partition(" ")[0] in ended for quote in entry.quotes)


def _ended_step(event: Event, by: Card) -> Step:
    over = replace(event, status=Status.SUPERSEDED, updated=max(event.updated, by.updated))
    return Step(Op.REFINE, over, f"what it tells was replaced by {by.id}")


def _turns_of(note: Card | Event) -> frozenset[str]:
    return frozenset(f"{quote.session}#{quote.n}" for quote in note.quotes)


def with_expiry(steps: Iterable[Step], shelf: Shelf, table: TtlTable) -> list[Step]:
    """Return steps whose cards say until when they are kept."""
    kept = table.spans
    cards = any(kept[name] for name in ("knowledge", "preference", "relationship", "todos"))
    return [_with_expiry(step, shelf, kept) if cards else step for step in steps]


def kind_of(card: Card) -> str:
    """Return the setting that says how long a card is kept."""
    if card.type is CardType.TASK_STATE:
        return "todos"
    if card.type is CardType.PREFERENCE:
        return "preference"
    linked = card.type is CardType.ENTITY and card.links
    return "relationship" if linked else "knowledge"


def _with_expiry(step: Step, shelf: Shelf, kept: Mapping[str, timedelta | None]) -> Step:
    card = step.note
    if not isinstance(card, Card) or card.status not in LIVE:
        return step
    span = kept[kind_of(card)]
    if step.op is Op.ADD and card.expires is None:
        until = _seen(card) + span if span else None
    elif span is not None and (old := _find_card(card.id, shelf)) is not None:
        # What the setting made of the card as it was; anything else is a person's word.
        ours = card.expires == old.expires == _seen(old) + span
        until = _seen(card) + span if ours else card.expires
    else:
        return step
    return replace(step, note=replace(card, expires=until)) if until != card.expires else step


def _seen(card: Card) -> datetime:
    return card.verified or card.created


def _find_card(id: str, shelf: Shelf) -> Card | None:
    entry = shelf.entries().get(id)
    if entry is None:
        return None
    try:
        note = shelf.file(entry.path).note
    except (NotFoundError, FormatError):  # What becomes of it is for others to say.
        return None
    return note if isinstance(note, Card) else None


MOST = 3
"""So many links of one kind a card gets from one session."""
_RELS = {Says.NEEDS: LinkRel.DEPENDS_ON, Says.CAUSE: LinkRel.CAUSED_BY}
_SHARED = 0.4
"""Weight of a link between cards that only name the same thing."""
_REASON = 80


def with_links(
    steps: Sequence[Step], drafts: Sequence[Draft], shelf: Shelf, now: datetime
) -> list[Step]:
    """Return the steps of a session with the links between its cards, and to known ones.

    Args:
        steps: what becomes of the drafts.
        drafts: what was proposed, with the links that a model stated.
        shelf: the notes as they are.
        now: the moment of the job.
    """
    mine = [s.note for s in steps if isinstance(s.note, Card) and s.note.status in LIVE]
    captured = list(_captured_cards(steps, drafts, shelf))
    cards = sorted([*captured, *mine], key=lambda card: (card.verified or card.created, card.id))
    found: dict[str, list[Link]] = {card.id: list(card.links) for card in cards}
    for card, link in _find_links(cards, drafts, shelf):
        known = found[card.id]
        # One direction says it: two cards that point at each other show the same thing twice.
        back = any(one.to == card.id for one in found.get(link.to, ()))
        same_kind = sum(one.rel is link.rel for one in known)
        if not back and same_kind < MOST and all(one.to != link.to for one in known):
            known.append(link)
    more = [Step(Op.LINK, replace(card, updated=now), "its session says so") for card in captured]
    changed = [step for step in more if found[step.note.id] != list(_links_of(step.note))]
    return [_set_links(step, found) for step in (*steps, *changed)]


def _captured_cards(steps: Sequence[Step], drafts: Sequence[Draft], shelf: Shelf) -> Iterator[Card]:
    """Yield the cards that were made of the same words while the session was open."""
    done = {step.note.id for step in steps}
    said = {quote.hash for draft in drafts for quote in draft.quotes}
    for head in shelf.heads() if said else ():
        if head.id not in done and head.status in LIVE and not said.isdisjoint(head.quoted):
            yield shelf.card(head)


def _links_of(note: Note) -> tuple[Link, ...]:
    return note.links if isinstance(note, Card) else ()


def _set_links(step: Step, found: dict[str, list[Link]]) -> Step:
    note = step.note
    if not isinstance(note, Card) or note.id not in found:
        return step
    return replace(step, note=replace(note, links=tuple(found[note.id])))


def _find_links(
    cards: list[Card], drafts: Sequence[Draft], shelf: Shelf
) -> Iterator[tuple[Card, Link]]:
    """Yield links with the card that states each, the surest first."""
    yield from _find_model_links(cards, drafts)
    for card in cards:
        phrases = list(phrases_of(card.value))
        beside: list[Card | Head] = [one for one in cards if one.id != card.id]
        ids = {one.id for one in cards}
        beside += [head for head in shelf.heads() if head.id not in ids] if phrases else []
        for phrase in phrases:
            meant = [(share_meant(phrase.words, _card_text(one)), one) for one in beside]
            near = [(share, one) for share, one in meant if share and _may_meet(card, one)]
            # By share and then by id, so that the same session gives the same links.
            for share, other in sorted(near, key=lambda pair: (-pair[0], pair[1].id))[:MOST]:
                weight = round(0.8 * share, 2)
                yield card, Link(other.id, _RELS[phrase.says], weight, phrase.words[:_REASON])
    yield from _find_name_links(cards)


def _find_model_links(cards: list[Card], drafts: Sequence[Draft]) -> Iterator[tuple[Card, Link]]:
    """Yield the links that a model stated between drafts that became cards."""
    for draft in (draft for draft in drafts if draft.ties):
        card = _card_of(draft.value, draft, cards)
        for tie in draft.ties:
            other = _card_of(tie.to, None, cards)
            if card is None or other is None or other.id == card.id:
                continue
            # That two statements contradict each other is for a person to say.
            waits = tie.rel is LinkRel.CONTRADICTS
            reason = f"{SUGGESTED}: {tie.reason}" if waits else tie.reason
            yield card, Link(other.id, tie.rel, tie.weight, reason)


def _card_of(value: str, draft: Draft | None, cards: list[Card]) -> Card | None:
    said = normalise(value)
    for card in cards:
        if said in normalise(card.value):
            return card
    quoted = set(map(mark, draft.quotes)) if draft else set()
    near = (card for card in cards if quoted and quoted <= set(map(mark, card.quotes)))
    return next(near, None)


def _find_name_links(cards: list[Card]) -> Iterator[tuple[Card, Link]]:
    """Yield links between cards that call the same thing by name, from the later card."""
    # In talk a name is written as it comes: who says "the DJ" once, says "dj" the next time.
    called = frozenset[str]().union(*(names_in(card.value) for card in cards))
    names = {card.id: called & content_of(card.value) - _owner_words(card) for card in cards}
    often = Counter(name for found in names.values() for name in found)
    # What nearly every card of a session names tells none of them from the others.
    rare = {name for name, count in often.items() if count <= max(2, len(cards) // 2)}
    for at, card in enumerate(cards):
        for other in reversed(cards[:at]):
            shared = sorted(names[card.id] & names[other.id] & rare)
            if shared and _may_meet(card, other):
                reason = f"{SHARED_NAME} {', '.join(shared[:MOST])}"
                yield card, Link(other.id, LinkRel.RELATES_TO, _SHARED, reason)


def _owner_words(card: Card) -> frozenset[str]:
    """Return the words of whose card it is: a person is no thing that two cards share."""
    return frozenset(card.key.casefold().partition(".")[0].split("-"))


def _may_meet(card: Card, other: Card | Head) -> bool:
    """Whether two cards are of one scope and project, and one is not the other's past."""
    near = not card.project or not other.project or card.project == other.project
    apart = isinstance(other, Head) or other.id not in card.supersedes
    return card.scope == other.scope and near and apart and other.status in LIVE


def _card_text(note: Card | Head) -> str:
    return note.value if isinstance(note, Card) else note.text

"""Cards made of drafts: a new one, one with more evidence, one that another disputes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Origin, Rel, Source, Status
from kimi_memory.jobs.gates import content_of
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone, until
from kimi_memory.nlp.rules.changed_later import unchanged_part
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.values import Relation, compare_claims
from kimi_memory.store.notes.notes import mark

_SENTENCE = 300
"""Longer words quote a whole turn, whose times may be those of something else."""


def seed_of(draft: Draft) -> tuple[str, ...]:
    """Return what the id of a card comes from: the first words it rests on."""
    # By its evidence and not by its words: said better by a model, it is the same card.
    first = draft.quotes[0]
    return (first.session, str(first.n), draft.key, draft.type)


def card_id(draft: Draft) -> str:
    """Return the id of the card that a draft becomes."""
    return derived_id("card", draft.at, *seed_of(draft))


def find_end_time(draft: Draft, zone: Zone) -> datetime | None:
    """Return the moment until which a draft says that something holds, if it says one."""
    for text in (draft.value, *(quote.text for quote in draft.quotes[:1])):
        if len(text) <= _SENTENCE and (end := until(text, in_zone(draft.at, zone))) is not None:
            return end
    return None


def disputed(card: Card, other: Card, why: str, now: datetime) -> Card:
    """Return a card disputed by another, whose evidence speaks against it."""
    known = set(map(mark, card.quotes))
    quotes = tuple(quote for quote in other.quotes if mark(quote) not in known)
    return replace(
        card,
        status=Status.CONFLICTED,
        links=(*card.links, Link(other.id, LinkRel.CONTRADICTS, 1.0, why)),
        sources=(*card.sources, *(Source.from_quote(quote, Rel.CONTRADICTS) for quote in quotes)),
        quotes=(*card.quotes, *quotes),
        updated=now,
    )


def read_again(held: Sequence[Card], draft: Draft, now: datetime) -> list[Card]:
    """Return the cards that a turn made at once and that wait, or hold, since their session ended.

    What a person has changed since stays, and what took the place of something known: else
    nothing would be. So does what was asked to be remembered, and all where the words may not be
    the person's any more.
    """
    if draft.origin is not Origin.HUMAN:
        return []
    status = Status.CANDIDATE if draft.weak else Status.ACTIVE
    same = [c for c in held if normalise(c.value) == normalise(content_of(draft))]
    mine = [c for c in same if c.updated == c.created and len(c.quotes) == len(draft.quotes)]
    # What was asked for is surer than what is only found in a talk.
    mine = [c for c in mine if c.confidence <= draft.confidence]
    mine = [c for c in mine if c.trust is Origin.HUMAN and not c.supersedes]
    otherwise = {Status.ACTIVE, Status.CANDIDATE} - {status}
    return [replace(c, status=status, updated=now) for c in mine if c.status in otherwise]


def rest_of(card: Card, draft: Draft, now: datetime) -> Card | None:
    """Return a card of what a replaced one says besides, if that is a piece of its quote."""
    part = unchanged_part(card.value, draft.value)
    # Of a dispute nobody knows which part of it is disputed.
    if not part or card.status is Status.CONFLICTED or len(card.quotes) != 1:
        return None
    if part not in card.quotes[0].text:
        return None
    quote = replace(card.quotes[0], text=part)
    return replace(
        card,
        id=derived_id("card", card.created, card.id, part),
        key=f"{card.key.split('.', 1)[0]}.{slug(headline(part), 40)}",
        title=headline(part),
        value=part,
        quotes=(quote,),
        sources=(Source.from_quote(quote),),
        # What these say was said of the whole.
        applies="",
        usage="",
        caveats="",
        supersedes=(),
        links=(),
        updated=now,
    )


def new_card(draft: Draft, now: datetime, end: datetime | None) -> Card:
    """Return the card of a draft, which holds until `end`, if there is one."""
    # How to act is its person's to say: what an agent says of it waits for them.
    bound = Origin.HUMAN if draft.type is CardType.RULE else Origin.AGENT
    trusted = draft.origin.rank <= bound.rank and not draft.weak
    status = Status.ACTIVE if trusted else Status.CANDIDATE
    return Card(
        id=card_id(draft),
        created=now,
        updated=now,
        tags=draft.tags,
        # Read late, for example from an import: its time is over already.
        status=Status.SUPERSEDED if end is not None and end <= now else status,
        sources=tuple(map(Source.from_quote, draft.quotes)),
        lang=draft.lang,
        title=draft.title,
        type=draft.type,
        key=draft.key,
        value=content_of(draft),
        applies=draft.applies,
        caveats="" if draft.lesson in draft.value else draft.lesson,
        quotes=draft.quotes,
        category=draft.category,
        project=draft.project,
        scope=draft.scope,
        confidence=draft.confidence,
        importance=draft.importance,
        trust=draft.origin,
        verified=draft.at,
        valid_from=draft.at,
        valid_to=end,
    )


def suggest_link(card: Card, draft: Draft) -> Link | None:
    """Return a link to a card that a draft may contradict, where rules cannot tell."""
    relation = compare_claims(card.value, draft.value)
    if relation not in {Relation.SWAPPED, Relation.OPPOSITE, Relation.VALUE}:
        return None
    why = f"{SUGGESTED}: nearly the same words, {relation}"
    return Link(card.id, LinkRel.CONTRADICTS, 0.5, why)


def with_evidence(card: Card, draft: Draft, rel: Rel, now: datetime) -> Card:
    """Return the card with the draft's quotes added to its own."""
    known = set(map(mark, card.quotes))
    quotes = tuple(quote for quote in draft.quotes if mark(quote) not in known)
    verified = max(card.verified or draft.at, draft.at)
    return replace(
        card,
        updated=now,
        verified=verified,
        sources=(*card.sources, *(Source.from_quote(quote, rel) for quote in quotes)),
        quotes=(*card.quotes, *quotes),
        tags=tuple(dict.fromkeys((*card.tags, *draft.tags))),
        importance=max(card.importance, draft.importance),
    )

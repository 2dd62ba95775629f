"""The cards that a draft is about: known ones it must be held against, and new ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from kimi_memory.domain.draft import Draft, statement_time
from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import LIVE, Card, CardType, Link, LinkRel, Origin, Rel, Source, Status
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.jobs.gates import content_of
from kimi_memory.nlp.basic.patterns import normalise
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.dates.vocabulary import Zone, in_zone, until
from kimi_memory.nlp.rules.changed_later import may_replace, unchanged_part
from kimi_memory.nlp.rules.clause_form import NOT, claim_words
from kimi_memory.nlp.rules.salience import specific_words
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import kin
from kimi_memory.nlp.rules.values import Relation, compare_claims
from kimi_memory.store.notes.notes import Shelf, mark

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


SHARED = 0.75
"""From this part of the words of the shorter on, two claims may be about the same."""
FEWEST = 2
"""So many words at least are shared."""
MOST = 8
"""So many cards of like words are looked at, those that share most."""
RARE = 4
"""A word that more cards name does not tell which of them a change means."""
_FACT = "claim 3"
"""Name of what is kept of a file; another number when the rules of words or slots change."""


class Claim(NamedTuple):
    """What a card is found by."""

    status: str
    scope: str
    slot: str
    words: tuple[str, ...]
    names: tuple[str, ...]
    """What it names, see `kimi_memory.nlp.rules.salience`."""

    @classmethod
    def of(cls, card: Card) -> Claim:
        """Return the claim of a card."""
        slot = slot_of(card.value, project=card.project)
        words = tuple(sorted(set(claim_words(card.value))))
        names = tuple(sorted(specific_words(card.value)))
        return cls(str(card.status), card.scope, slot.key if slot else "", words, names)

    @classmethod
    def read(cls, row: list[Any]) -> Claim:
        """Return a claim from its JSON form."""
        status, scope, slot, words, names = row
        return cls(status, scope, slot, tuple(words), tuple(names))


_NO_CLAIM = Claim("", "", "", (), ())


class Matching:
    """Finds cards by what they claim: stored ones, and those that a job has made so far.

    Args:
        shelf: the notes as they are.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.fresh: dict[str, Card] = {}
        """Cards that the job made or changed, by id, in the order in which they came."""
        self._claims: dict[str, Claim] = {}
        self._ids: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        """Ids of fresh cards, by key, quote, slot and word: a long session has hundreds."""
        self._order: dict[str, int] = {}

    def put(self, card: Card) -> None:
        """Let a card be found as the job leaves it."""
        # A card that changed must not be found by what it said before.
        if old := self.fresh.get(card.id):
            for name in _names(old, self._claims[card.id]):
                self._ids[name].discard(card.id)
        self.fresh[card.id], self._claims[card.id] = card, Claim.of(card)
        self._order.setdefault(card.id, len(self._order))
        for name in _names(card, self._claims[card.id]):
            self._ids[name].add(card.id)

    def cards(self, draft: Draft) -> list[Card]:
        """Return the cards a draft may bear on, stored or fresh ones."""
        found = {card.id: card for card in self.named(draft)}
        wanted = Claim.of(_as_card(draft))
        for path in self._find_similar(wanted):
            note = self._shelf.file(path).note
            if isinstance(note, Card):
                # As the job leaves it: an earlier draft may have replaced what is stored.
                found.setdefault(note.id, self.fresh.get(note.id, note))
        found |= {id: self.fresh[id] for id in self._find_similar_fresh(wanted)}
        return [card for card in found.values() if same_place(card, draft)]

    def named(self, draft: Draft) -> list[Card]:
        """Return the cards of the draft's key or kin, or that rest on its quotes."""
        quotes, keys = frozenset(map(mark, draft.quotes)), kin(draft.key)
        stored = self._shelf.cards(keys, quotes)
        found = {card.id: self.fresh.get(card.id, card) for card in stored}
        names = [*(("key", key) for key in keys), *(("quote", quote) for quote in quotes)]
        ids = {id for name in names for id in self._ids.get(name, ())}
        found |= {id: self.fresh[id] for id in self._in_order(ids)}
        return [card for card in found.values() if same_place(card, draft)]

    def meant(self, draft: Draft) -> list[Card]:
        """Return the live cards that a draft may change by naming the same things."""
        if not may_replace(draft.value):
            return []
        places = [self._of_name.get(name, ()) for name in specific_words(draft.value)]
        # A name that many cards hold does not tell which of them is meant.
        shared = Counter(path for paths in places if len(paths) <= RARE for path in paths)
        notes = [self._shelf.file(path).note for path, _ in shared.most_common(MOST)]
        cards = [self.fresh.get(note.id, note) for note in notes if isinstance(note, Card)]
        return [card for card in cards if card.status in LIVE and same_place(card, draft)]

    def _find_similar(self, wanted: Claim) -> list[str]:
        """Return the paths of live cards of a claim's slot or nearly of its words."""
        found = set(self._of_slot.get(wanted.slot, ())) if wanted.slot else set()
        shared = Counter(path for word in wanted.words for path in self._of_word.get(word, ()))
        return sorted({*found, *_find_near(wanted, shared, self._live_claims)})

    def _find_similar_fresh(self, wanted: Claim) -> list[str]:
        """Return the ids of fresh cards of a claim's slot or nearly of its words."""
        if wanted.slot:
            return self._in_order(self._ids.get(("slot", wanted.slot), set()))
        shared = Counter(id for word in wanted.words for id in self._ids.get(("word", word), ()))
        return self._in_order(_find_near(wanted, shared, self._claims))

    def _in_order(self, ids: Iterable[str]) -> list[str]:
        return sorted(ids, key=self._order.__getitem__)

    @cached_property
    def _live_claims(self) -> dict[str, Claim]:
        """The claims of live cards by path."""
        survey, live = self._shelf.survey, {str(status) for status in LIVE}
        found: dict[str, Claim] = {}
        for entry in self._shelf.entries().values():
            if entry.kind == Card.kind and entry.status in live:
                claim = survey.fact(entry.path, _FACT, _claim_in(entry.path), Claim.read)
                if claim.status in live:
                    found[entry.path] = claim
        return found

    @cached_property
    def _of_slot(self) -> dict[str, list[str]]:
        return _build_index(
            (path, [claim.slot]) for path, claim in self._live_claims.items() if claim.slot
        )

    @cached_property
    def _of_name(self) -> dict[str, list[str]]:
        return _build_index((path, claim.names) for path, claim in self._live_claims.items())

    @cached_property
    def _of_word(self) -> dict[str, list[str]]:
        return _build_index((path, claim.words) for path, claim in self._live_claims.items())


def latest_live(cards: list[Card]) -> list[Card]:
    """Return the live cards, the one said last first."""
    live = [card for card in cards if card.status in LIVE]
    turn = {card.id: max((quote.n for quote in card.quotes), default=0) for card in live}
    return sorted(live, key=lambda c: (statement_time(c), turn[c.id], c.id), reverse=True)


def same_place(card: Card, draft: Draft) -> bool:
    """Whether a card belongs to the scope of a draft, and to no other project."""
    if card.scope != draft.scope:
        return False
    # What is of no project holds in all of them.
    return not card.project or not draft.project or card.project == draft.project


def _is_near(one: Claim, other: Claim) -> bool:
    # Two addresses share no word and two names share most: where there is a slot, it decides.
    if one.slot or other.slot:
        return bool(one.slot) and one.slot == other.slot
    first, second = set(one.words) - {NOT}, set(other.words) - {NOT}
    if first == second:
        return bool(first)
    shared = len(first & second)
    return shared >= FEWEST and shared >= SHARED * min(len(one.words), len(other.words))


def _find_near(wanted: Claim, shared: Counter[str], claims: Mapping[str, Claim]) -> list[str]:
    """Return what is nearly of a claim's words; of many such, those that share most words."""
    # One name is shared by all: of equal ones the order must not depend on that of a set.
    ranked = sorted(shared, key=lambda name: (-shared[name], name))
    return list(islice((name for name in ranked if _is_near(wanted, claims[name])), MOST))


def _names(card: Card, claim: Claim) -> Iterator[tuple[str, str]]:
    """Yield what a fresh card is found by."""
    yield "key", card.key
    yield from (("quote", mark(quote)) for quote in card.quotes)
    if claim.slot:
        yield "slot", claim.slot
    yield from (("word", word) for word in claim.words)


def _build_index(rows: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    index: dict[str, list[str]] = {}
    for path, names in rows:
        for name in names:
            index.setdefault(name, []).append(path)
    return index


def _claim_in(path: str) -> Callable[[bytes], Claim]:
    def read(content: bytes) -> Claim:
        try:
            note = codec.parse(decode(content, path), path)
        except FormatError:
            return _NO_CLAIM
        return Claim.of(note) if isinstance(note, Card) else _NO_CLAIM

    return read


def _as_card(draft: Draft) -> Card:
    return Card(
        id="",
        created=draft.at,
        updated=draft.at,
        title=draft.title,
        type=draft.type,
        key=draft.key,
        value=draft.value,
        project=draft.project,
        scope=draft.scope,
    )

"""The cards a draft must be held against: of its key, of its slot, or nearly of its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import Card, Status
from kimi_memory.errors import FormatError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode
from kimi_memory.nlp.rules.changed_later import may_replace
from kimi_memory.nlp.rules.claim_words import NOT, claim_words
from kimi_memory.nlp.rules.salience import specific_words
from kimi_memory.nlp.rules.slots import slot_of
from kimi_memory.nlp.rules.subjects import kin
from kimi_memory.store.notes.notes import Shelf, mark

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
    """Finds cards by what they claim.

    Args:
        shelf: the notes as they are.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def cards(self, draft: Draft, fresh: Mapping[str, Card]) -> list[Card]:
        """Return the cards a draft may bear on, stored or `fresh` ones, by id."""
        found = {card.id: card for card in self.named(draft, fresh)}
        for path in self._find_similar(draft):
            note = self._shelf.file(path).note
            if isinstance(note, Card):
                found.setdefault(note.id, fresh.get(note.id, note))
        wanted = Claim.of(_as_card(draft))
        for card in fresh.values():
            if _is_near(wanted, Claim.of(card)):
                found[card.id] = card
        return [card for card in found.values() if same_place(card, draft)]

    def named(self, draft: Draft, fresh: Mapping[str, Card]) -> list[Card]:
        """Return the cards of the draft's key or kin, or that rest on its quotes."""
        quotes, keys = frozenset(map(mark, draft.quotes)), kin(draft.key)
        found = {card.id: card for card in self._shelf.cards(keys, quotes)}
        for card in fresh.values():
            if card.id in found or card.key in keys or quotes & set(map(mark, card.quotes)):
                found[card.id] = card
        return [card for card in found.values() if same_place(card, draft)]

    def meant(self, draft: Draft, fresh: Mapping[str, Card]) -> list[Card]:
        """Return the live cards that a draft may change by naming the same things."""
        if not may_replace(draft.value):
            return []
        places = [self._of_name.get(name, ()) for name in specific_words(draft.value)]
        shared = Counter(path for paths in places if len(paths) <= RARE for path in paths)
        notes = [self._shelf.file(path).note for path, _ in shared.most_common(MOST)]
        cards = [fresh.get(note.id, note) for note in notes if isinstance(note, Card)]
        return [card for card in cards if card.status in LIVE and same_place(card, draft)]

    def _find_similar(self, draft: Draft) -> list[str]:
        """Return the paths of live cards of the draft's slot or nearly of its words."""
        wanted = Claim.of(_as_card(draft))
        found = set(self._of_slot.get(wanted.slot, ())) if wanted.slot else set()
        shared = Counter(path for word in wanted.words for path in self._of_word.get(word, ()))
        near = [
            path for path, _ in shared.most_common() if _is_near(wanted, self._live_claims[path])
        ]
        return sorted({*found, *near[:MOST]})

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


LIVE = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.STALE, Status.CONFLICTED})


def same_place(card: Card, draft: Draft) -> bool:
    """Whether a card belongs to the scope of a draft, and to no other project."""
    if card.scope != draft.scope:
        return False
    return not card.project or not draft.project or card.project == draft.project


def _is_near(one: Claim, other: Claim) -> bool:
    if one.slot or other.slot:
        return bool(one.slot) and one.slot == other.slot
    first, second = set(one.words) - {NOT}, set(other.words) - {NOT}
    if first == second:
        return bool(first)
    shared = len(first & second)
    return shared >= FEWEST and shared >= SHARED * min(len(one.words), len(other.words))


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

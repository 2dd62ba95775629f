"""Earlier statements of a person whose place a later one takes, though no card holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.note import Card, CardType, Lang, Origin, Quote
from kimi_memory.domain.pages import Digest
from kimi_memory.domain.session import Turn
from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules.changed_later import (
    changed_objects,
    may_replace,
    only_reports,
    replaces,
)
from kimi_memory.nlp.rules.lasting import is_lasting
from kimi_memory.nlp.rules.own_clauses import own_clauses
from kimi_memory.nlp.rules.praise import only_praises
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.utterance import Act, Clause
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf, last_digests

RARE = 4
"""A word that more turns hold does not tell which of them a change means."""
MAX_PAST = 160
"""Most characters of a statement with the one behind it."""
LONG = 24
"""A statement of more words mostly tells of other things, too."""
_PART = regex(r"[^,，;；。!?！？]+[,，;；。!?！？]?")
_SAID = (Act.STATEMENT, Act.ORDER)


class Said(NamedTuple):
    """A statement or an order of a person in an earlier session."""

    digest: Digest
    turn: Turn
    clause: Clause
    value: str
    """The clause with the statement behind it, which mostly says why."""
    names: frozenset[str]


class Earlier:
    """Finds what changes bear on in the turns of the last sessions.

    Args:
        shelf: the notes as they are.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def statements(self, draft: Draft) -> Iterator[Draft]:
        """Yield what a later statement takes the place of: what names most of the same, if any.

        Args:
            draft: a statement of a person.
        """
        if draft.weak or draft.origin is not Origin.HUMAN or not may_replace(draft.value):
            return
        if only_reports(draft.value):
            return  # That something is done shares its words with many plans.
        names = specific_words(draft.value)
        before = (said for said in self._past_statements if said.digest.at < draft.at)
        mine = (said for said in before if said.digest.scope == draft.scope)
        meant = [said for said in mine if self._is_meant(said, draft)]
        if meant:
            yield _build_draft(max(meant, key=lambda said: len(said.names & names)), draft)

    def _is_meant(self, said: Said, draft: Draft) -> bool:
        text = said.clause.text
        shared = said.names & specific_words(draft.value)
        # A talk about a budget names it in every turn; the turn that gives its sum is meant.
        valued = traits_of(text).figure and shared & changed_objects(draft.value)
        if not valued and not any(self._name_counts[word] <= RARE for word in shared):
            return False
        return not is_lasting(text) and replaces(text, draft.value) and not self._is_held(said)

    def _is_held(self, said: Said) -> bool:
        """Whether a card rests on these words; then it is judged, and no card of the past made."""
        return any(
            text in said.clause.text or said.clause.text in text
            for text in self._quoted_texts.get((said.digest.session, said.turn.n), ())
        )

    @cached_property
    def _quoted_texts(self) -> dict[tuple[str, int], list[str]]:
        """The words of these sessions that cards rest on."""
        near = {digest.session for digest in self._last_digests}
        found: dict[tuple[str, int], list[str]] = {}
        cards = self._shelf.notes(
            Card.kind, lambda entry: any(mark.split("#", 1)[0] in near for mark in entry.quotes)
        )
        for note in (filed.note for filed in cards):
            for quote in note.quotes if isinstance(note, Card) else ():
                found.setdefault((quote.session, quote.n), []).append(quote.text)
        return found

    @cached_property
    def _last_digests(self) -> list[Digest]:
        return last_digests(self._shelf, {})

    @cached_property
    def _past_statements(self) -> list[Said]:
        return [
            one for digest in self._last_digests for one in reversed(self._read_statements(digest))
        ]

    @cached_property
    def _name_counts(self) -> Counter[str]:
        turns: dict[tuple[str, int], frozenset[str]] = {}
        for said in self._past_statements:
            place = (said.digest.session, said.turn.n)
            turns[place] = turns.get(place, frozenset()) | said.names
        return Counter(word for names in turns.values() for word in names)

    def _read_statements(self, digest: Digest) -> list[Said]:
        """Return what the person of a session said; nothing of one that cannot be read."""
        try:
            place = sessions.find(self._shelf.store, digest.session)
            transcript = sessions.read(self._shelf.store, place.path)
        except (NotFoundError, FormatError):
            return []
        # One person's news does not replace what another one said.
        if transcript.has_several_people():
            return []
        return [
            said
            for turn in transcript.turns
            if turn.is_speech
            for said in _find_statements(digest, turn)
        ]


def _find_statements(digest: Digest, turn: Turn) -> Iterator[Said]:
    own = own_clauses(turn.text)
    for at, clause in enumerate(own):
        if clause.act in _SAID and not only_praises(clause.text):
            after = [one for one in own[at + 1 : at + 2] if one.act in _SAID]
            near = [one for one in after if one.end - clause.start <= MAX_PAST]
            end = max(clause.end, *(one.end for one in near if not is_lasting(one.text)), 0)
            value = turn.text[clause.start : end].strip()
            yield Said(digest, turn, clause, value, specific_words(clause.text))


def _cut_statement(said: Said, names: frozenset[str]) -> str:
    """Return what was said; of a long sentence only the part that names what has changed."""
    if traits_of(said.value).words <= LONG:
        return said.value
    parts = [part for part in _PART.finditer(said.value) if specific_words(part[0]) & names]
    return said.value[parts[0].start() : parts[-1].end()].strip(" ,，;；") if parts else said.value


def _build_draft(said: Said, draft: Draft) -> Draft:
    """Return the earlier statement with its turn, in the place of the later one."""
    value = _cut_statement(said, specific_words(draft.value))
    return Draft(
        type=CardType.FACT if draft.type is CardType.RULE else draft.type,
        key=f"{draft.key.split('.', 1)[0]}.{slug(headline(value), 40)}",
        title=headline(value),
        value=" ".join(value.split()),
        quotes=(Quote(said.digest.session, said.turn.n, value),),
        at=said.turn.at,
        lang=Lang(language_of(value)),
        importance=draft.importance,
        confidence=draft.confidence,
        category=draft.category,
        project=draft.project,
        scope=draft.scope,
    )

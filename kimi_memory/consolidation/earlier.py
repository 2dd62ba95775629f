"""Earlier statements that a change takes the place of, and that only a digest held so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kimi_memory.errors import FormatError, NotFoundError
from kimi_memory.model.card import CardType
from kimi_memory.model.digest import Digest, DigestLine, Part
from kimi_memory.model.draft import CHANGE, Draft
from kimi_memory.model.note import Lang
from kimi_memory.model.origin import Origin, Role
from kimi_memory.model.source import Quote
from kimi_memory.model.turn import Turn
from kimi_memory.store import sessions
from kimi_memory.store.known import last_digests
from kimi_memory.store.shelf import Shelf, mark
from kimi_memory.text.changed_later import COMMON, replaces
from kimi_memory.text.language import language_of
from kimi_memory.text.lasting import is_lasting
from kimi_memory.text.prose import headline
from kimi_memory.text.regex import regex
from kimi_memory.text.salience import specific_words
from kimi_memory.text.slug import slug
from kimi_memory.text.utterance import Act, clauses

MOST = 2
"""A change takes the place of so many earlier statements at most."""
_JOINTS = regex(r" (?:…|→|/) ")


class Earlier:
    """Finds what changes bear on in the digests of the last sessions.

    Args:
        shelf: the notes as they are.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._digests = last_digests(shelf, {})
        self._counts = Counter(
            word
            for digest in self._digests
            for line in digest.lines
            for word in specific_words(line.text)
        )

    def statements(self, draft: Draft) -> Iterator[Draft]:
        """Yield what a change takes the place of, newest first.

        Args:
            draft: a statement with the tag `CHANGE`, of a person.
        """
        if CHANGE not in draft.tags or draft.weak or draft.origin is not Origin.HUMAN:
            return
        found = 0
        for digest in self._digests:
            if digest.at >= draft.at or digest.scope != draft.scope:
                continue
            for line in digest.lines:
                old = self._meant(digest, line, draft) if found < MOST else None
                if old is not None:
                    found += 1
                    yield old

    def _meant(self, digest: Digest, line: DigestLine, draft: Draft) -> Draft | None:
        if line.part is Part.FOUND or line.who:
            return None
        names = specific_words(draft.value)
        pieces = (text for piece in _JOINTS.split(line.text) for text in _statements(piece))
        for piece in pieces:
            shared = names & specific_words(piece)
            rare = any(self._counts[word] <= COMMON for word in shared)
            if rare and not is_lasting(piece) and replaces(piece, draft.value):
                return self._draft(digest, line, piece, draft)
        return None

    def _draft(self, digest: Digest, line: DigestLine, piece: str, draft: Draft) -> Draft | None:
        """Return the statement with the turn that made it; None where a card has it already."""
        for turn in _turns(self._shelf, digest, line):
            quote = Quote(digest.session, turn.n, piece)
            if not quote.stands_in(turn.text) or self._shelf.cards((), frozenset({mark(quote)})):
                continue
            return Draft(
                type=CardType.FACT if draft.type is CardType.RULE else draft.type,
                key=f"{draft.key.split('.', 1)[0]}.{slug(headline(piece), 40)}",
                title=headline(piece),
                value=piece,
                quotes=(quote,),
                at=turn.at,
                lang=Lang(language_of(piece)),
                importance=draft.importance,
                confidence=draft.confidence,
                category=draft.category,
                project=draft.project,
                scope=draft.scope,
            )
        return None


def _statements(text: str) -> list[str]:
    """Return what a line states or orders, sentence by sentence."""
    told = (clause for clause in clauses(text) if clause.act in (Act.STATEMENT, Act.ORDER))
    return [clause.text.strip() for clause in told]


def _turns(shelf: Shelf, digest: Digest, line: DigestLine) -> list[Turn]:
    """Return a person's turns that a line quotes; none of a session that cannot be read."""
    try:
        transcript = sessions.read(shelf.store, sessions.find(shelf.store, digest.session).path)
    except (NotFoundError, FormatError):
        return []
    near = (turn for turn in transcript.turns if line.first <= turn.n <= line.last)
    return [turn for turn in near if turn.role is Role.USER and turn.origin is Origin.HUMAN]

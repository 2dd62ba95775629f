"""Where a note comes from: turns of a session, and the words quoted from them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from kimi_memory.nlp.basic.normalize import normalise

_FORM = re.compile(
    r"session:(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)#(?P<first>\d+)(?:-(?P<last>\d+))?"
    r"(?: (?P<rel>supports|contradicts|updates))?(?: (?P<quote>[0-9a-f]{12}))?"
)


HAND = "edited-"
"""How the ids of sessions begin that hold what a person wrote by hand."""


class Rel(StrEnum):
    """How evidence bears on a note."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    UPDATES = "updates"


@dataclass(frozen=True, slots=True)
class Quote:
    """Words somebody said, and the turn they stand in."""

    session: str
    n: int
    text: str

    @property
    def hash(self) -> str:
        """The first 12 hex digits of the SHA-256 of the normalised words."""
        return hashlib.sha256(normalise(self.text).encode()).hexdigest()[:12]

    def stands_in(self, turn: str) -> bool:
        """Whether the words occur in the text of a turn, up to width, case and spaces."""
        words = normalise(self.text)
        return bool(words) and words in normalise(turn)


@dataclass(frozen=True, slots=True)
class Source:
    """Evidence: one turn or a run of turns, its relation, and the quote's hash if any.

    Text form: ``session:<id>#<n>[-<m>] [supports|contradicts|updates] [<hash>]``.
    """

    session: str
    first: int
    last: int
    rel: Rel = Rel.SUPPORTS
    quote: str = ""

    @classmethod
    def of(cls, quote: Quote, rel: Rel = Rel.SUPPORTS) -> Source:
        """Return the evidence that a quote is."""
        return cls(quote.session, quote.n, quote.n, rel, quote.hash)

    @classmethod
    def parse(cls, text: str) -> Source:
        """Read the text form; ValueError says what is wrong."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"not a source: {text!r} (session:<id>#<n> supports)")
        first = int(found["first"])
        last = int(found["last"] or first)
        if last < first:
            raise ValueError(f"turns run backwards in {text!r}")
        return cls(found["id"], first, last, Rel(found["rel"] or "supports"), found["quote"] or "")

    @property
    def by_hand(self) -> bool:
        """Whether a person wrote it on a page, or into a card."""
        return self.session.startswith(HAND)

    @property
    def place(self) -> str:
        """The turns alone: ``session:<id>#<n>`` or ``…#<n>-<m>``."""
        run = "" if self.last == self.first else f"-{self.last}"
        return f"session:{self.session}#{self.first}{run}"

    def __str__(self) -> str:
        parts = [self.place, str(self.rel)]
        return " ".join([*parts, self.quote] if self.quote else parts)

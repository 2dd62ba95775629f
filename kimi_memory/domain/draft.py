"""A draft: what a distiller proposes; the gates decide what becomes of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from kimi_memory.domain.note import CardType, EventType, Lang, LinkRel, Origin, Quote
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import slug

if TYPE_CHECKING:
    from kimi_memory.domain.note import Card
    from kimi_memory.domain.session import Session, Turn

ORDER, DATED, CHANGE = "order", "dated", "change"
"""Tags of an order to the agent, of a statement whose day is named, and of one that says that
something is otherwise than it was."""
BY_WORDS = frozenset({ORDER, DATED, CHANGE})
"""Tags of what has no slot: its words alone tell what it is about."""


class Tie(NamedTuple):
    """A link to another draft of the same session."""

    rel: LinkRel
    to: str
    """What the other says."""
    reason: str = ""
    weight: float = 0.7


# A draft has no id and no status: what becomes of it is for the gates to say, never for a model.
@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Proposed knowledge, with the words it rests on."""

    type: CardType
    key: str
    """Stable name of what it is about, such as ``db.choice``."""
    title: str
    value: str
    """What is so, in the language of the evidence."""
    quotes: tuple[Quote, ...]
    """At least one; each must stand in its turn."""
    at: datetime
    """When it was said (the last quote)."""
    lang: Lang
    event: EventType | None = None
    """Set when it is also something that happened."""
    reason: str = ""
    outcome: str = ""
    lesson: str = ""
    applies: str = ""
    importance: float = 0.5
    confidence: float = 0.6
    reversal: bool = False
    """The speaker takes back or replaces what was so before."""
    gone: bool = False
    """The speaker takes back what was said under this key; the value says so and is no news."""
    done: bool = False
    """The speaker says that an open task is done; the value names it."""
    weak: bool = False
    """It may be so, but is not said plainly: a candidate that changes no other card."""
    stated: bool = False
    """Its value was written and proven as a statement of its own; no more is read into it."""
    origin: Origin = Origin.HUMAN
    tags: tuple[str, ...] = ()
    category: str = "general"
    project: str = ""
    scope: str = ""
    """That of the session it rests on; what a distiller writes here is not heeded."""
    participants: tuple[str, ...] = ()
    ties: tuple[Tie, ...] = ()
    """What it is linked with; links that its words state are found without."""


class Said(TypedDict):
    """The fields of a draft that tell who said it, and when."""

    quotes: tuple[Quote, ...]
    at: datetime
    origin: Origin
    participants: tuple[str, ...]


def said_in(session: Session, turn: Turn, words: str) -> Said:
    """Return these fields of a draft that rests on the words of one turn."""
    return Said(
        quotes=(Quote(session.id, turn.n, words),),
        at=turn.at,
        origin=turn.origin,
        participants=(turn.speaker or session.user or str(turn.role),),
    )


def statement_time(card: Card) -> datetime:
    """Return when what a card says was said last."""
    return card.valid_from or card.verified or card.created


def is_later(draft: Draft, card: Card) -> bool:
    """Whether a draft was said after what a card says.

    At one moment, as a clock of seconds gives it to two turns, the order of turns decides; of
    two sessions at the same moment neither is the later one.
    """
    since = statement_time(card)
    if draft.at != since:
        return draft.at > since
    said, held = _last_turns(draft.quotes), _last_turns(card.quotes)
    both = said.keys() & held.keys()
    # Who says in one turn that something is otherwise, says it last.
    first = int(draft.reversal)
    return bool(both) and all(said[session] + first > held[session] for session in both)


def _last_turns(quotes: Iterable[Quote]) -> dict[str, int]:
    """Return the number of the last turn that is quoted of each session."""
    return {quote.session: quote.n for quote in sorted(quotes, key=lambda quote: quote.n)}


def category_of(project: str) -> str:
    """Return the category of what belongs to a project, or to none."""
    return slug(project, 40) if project else "general"

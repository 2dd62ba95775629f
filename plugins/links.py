"""The weekly care of links without a model: suggestions settled, causes linked.

Why it exists: a suggested link that is strong enough should not wait for a person for
ever, one to an archived card leads nowhere, and a failure whose reason is said in words
that another card or event holds should lead there. A suggested contradiction always
waits: only a person may say that memory disagrees with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kimi_memory import hookimpl
from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.job import Op, Step, WeekView
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Status
from kimi_memory.domain.pages import Event
from kimi_memory.formats.card_form import Cards, Head
from kimi_memory.nlp.basic.patterns import normalise, regex, simplify
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.relations import similarity, words_of

LIVE = {Status.ACTIVE, Status.STALE, Status.CANDIDATE, Status.CONFLICTED}
ENOUGH = 0.6
"""This part of the words of a reason must stand in what is linked as the cause."""
FEWEST = 2
"""Fewer words in common say nothing."""
SAME_CAUSE = 0.8
"""Two reasons that are so alike tell of one cause."""
_SENTENCE = regex(r"(?<=[.!?;])\s+|[。！？；\n]+")
_SMALL_WORDS = (
    "a an the is was were be been are and or of to in on at for with by it its that this had has "
    "have not no so as we i they from too very"
)
_SMALL = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class _Told:
    """A failure and the reason that was given for it."""

    card: Card
    reason: str


@hookimpl
def consolidate_week(week: WeekView) -> list[Step]:
    """Settle suggested links, and link the failures of the week with their causes."""
    cards = Cards.of(week.cards)
    live = {head.id for head in cards.heads if head.status in LIVE}
    steps: dict[str, Step] = {}
    for card in cards.where(lambda head: head.suggests and head.id in live):
        links, why = _review_suggestions(card, live, week.accept)
        if links != card.links:
            new = replace(card, links=links, updated=week.now)
            steps[card.id] = Step(Op.LINK, new, why)
    said = cards.where(lambda head: head.id in live and _is_fresh_failure(head, week))
    failures = [told for card in said if (told := _find_reason(card)) is not None]
    notes: dict[str, Card | Event] = {
        card.id: card for card in _candidate_cards(cards, live, failures)
    }
    notes |= {event.id: event for event in week.events if failures}
    words = {id: _content_words(_note_text(note)) for id, note in notes.items()}
    for told in failures:
        card = _latest_card(told.card, steps)
        for link in _yield_cause_links(told, notes, words, failures):
            if not any(link.to == known.to for known in card.links):
                card = replace(card, links=(*card.links, link), updated=week.now)
                steps[card.id] = Step(Op.LINK, card, f"{link.rel} {link.to}: {link.reason}")
    return list(steps.values())


def _review_suggestions(card: Card, live: set[str], accept: float) -> tuple[tuple[Link, ...], str]:
    """Return the links of a card with its suggestions confirmed or dropped, and why."""
    kept: list[Link] = []
    why: list[str] = []
    for link in card.links:
        if not link.reason.startswith(SUGGESTED):
            kept.append(link)
        elif link.to not in live:
            why.append(f"the suggested {link.to} does not stand any more")
        elif link.weight >= accept and link.rel is not LinkRel.CONTRADICTS:
            told = link.reason.removeprefix(SUGGESTED).strip(" :")
            kept.append(replace(link, reason=told))
            why.append(f"{link.rel} {link.to} confirmed: {told}")
        else:
            kept.append(link)
    return tuple(kept), "; ".join(why)


def _is_fresh_failure(head: Head, week: WeekView) -> bool:
    # Failures of this week alone: older ones were looked at in their own.
    return head.type is CardType.GOTCHA and week.first <= day_in(head.seen, week.zone) <= week.last


def _candidate_cards(cards: Cards, live: set[str], failures: list[_Told]) -> list[Card]:
    """Return the cards that might be named by a reason; of the others none is read."""
    reasons = [_content_words(told.reason) for told in failures]
    said = set().union(*reasons)

    def may_be(head: Head) -> bool:
        if head.id not in live or not said:
            return False
        line = simplify(normalise(head.text))
        here = {word for word in said if word in line}
        return any(len(here & words) >= FEWEST for words in reasons)

    return cards.where(may_be)


def _note_text(note: Card | Event) -> str:
    return note.value if isinstance(note, Card) else note.content


def _find_reason(card: Card) -> _Told | None:
    """Return a failure with its reason, if it names one."""
    for sentence in _SENTENCE.split(f"{card.value}\n{card.caveats}"):
        _, reason = cues.split_reason(sentence.strip())
        if len(_content_words(reason)) >= FEWEST:
            return _Told(card, reason.strip())
    return None


def _yield_cause_links(
    told: _Told,
    notes: Mapping[str, Card | Event],
    words: Mapping[str, set[str]],
    failures: list[_Told],
) -> Iterator[Link]:
    """Yield links to what the reason names, and to failures of the same reason."""
    wanted = _content_words(told.reason)
    short = told.reason[:80]
    own = {quote.hash for quote in told.card.quotes}
    for note in notes.values():
        # A note made of the same words says the same failure, and is not its cause.
        if note.id == told.card.id or own & {quote.hash for quote in note.quotes}:
            continue
        shared = wanted & words[note.id]
        share = len(shared) / len(wanted)
        # "The cache" of another project is another cache.
        near = not note.project or not told.card.project or note.project == told.card.project
        if near and share >= ENOUGH and len(shared) >= FEWEST and not _is_failure(note, failures):
            yield Link(note.id, LinkRel.CAUSED_BY, round(share, 2), short)
    for other in failures:
        alike = similarity(told.reason, other.reason)
        # Once for each two, from the older id.
        if told.card.id < other.card.id and alike >= SAME_CAUSE:
            yield Link(other.card.id, LinkRel.SIMILAR_TO, round(alike, 2), f"same cause: {short}")


def _is_failure(note: Card | Event, failures: list[_Told]) -> bool:
    return any(note.id == other.card.id for other in failures)


def _content_words(text: str) -> set[str]:
    return set(words_of(text)) - _SMALL


def _latest_card(card: Card, steps: dict[str, Step]) -> Card:
    note = steps[card.id].note if card.id in steps else card
    assert isinstance(note, Card)
    return note

"""Decisions and orders by an exchange: an offer of the agent, and the answer that takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kimi_memory.domain.draft import ORDER, Draft, category_of, said_in
from kimi_memory.domain.note import CardType, EventType, Lang, Quote, Role
from kimi_memory.domain.session import Session, Turn
from kimi_memory.nlp.basic.patterns import language_of, regex
from kimi_memory.nlp.rules.closing_offers import action_offered, agrees, line_named
from kimi_memory.nlp.rules.offers import leaves_choice, offers_in, picked, question_in
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.settled import is_task, is_work
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import key_of

LEAST = 3
"""An option of fewer words cannot be understood without its offer."""
MAX_ANSWER = 160
"""An answer that picks an offer is no longer."""
_ALWAYS = regex(
    r"\b(?:always|(?:every|each) time|from now on|in (?:the )?future|by default)\b"
    r"|每次|以后|今后|一直|都这样",
    2,
)
_PICKING = regex(
    r"\b(?:options?|choices?|first|second|third|fourth|last|latter|former|numbers?|choose|pick|plans?|approach|both|please|prefer|选项|方案)\b|第[一二三四五六]|方案|选项|选择?",
    2,
)
"""Words that only name an option."""


def make_draft(session: Session, turn: Turn, words: str, key: str) -> Draft:
    """Return the draft of an order in some words of a turn."""
    value = " ".join(words.split())
    return Draft(
        type=CardType.RULE,
        key=key,
        title=headline(value),
        value=value,
        lang=Lang(language_of(value)),
        importance=0.8,
        confidence=0.85,
        tags=(ORDER,),
        category=category_of(session.project),
        project=session.project,
        **said_in(session, turn, words),
    )


def find_agreed_order(session: Session, offer: Turn | None, answer: Turn) -> Iterator[Draft]:
    """Yield the order of a short answer that takes an offer for always: "yes, always"."""
    if offer is None or offer.role is not Role.ASSISTANT or len(answer.text) > MAX_ANSWER:
        return
    action = action_offered(offer.text)
    if not action or not agrees(answer.text, action) or not _ALWAYS.search(answer.text):
        return
    draft = make_draft(
        session, answer, answer.text.strip(), key_of("rule", action, session.project)
    )
    value = f"{action} → {draft.value}"
    quotes = (Quote(session.id, offer.n, action), *draft.quotes)
    yield replace(draft, title=headline(action), value=value, quotes=quotes)


def find_choice(session: Session, offer: Turn | None, answer: Turn) -> Iterator[Draft]:
    """Yield the decision of an answer that picks some options, by label or by their words."""
    if offer is None or offer.role is not Role.ASSISTANT or len(answer.text) > MAX_ANSWER:
        return
    if is_task(answer.text):
        return  # what is to be done about a finding is no choice between ways
    about, options = _find_picks(offer.text, answer.text)
    if not options or options[-1].endswith(("?", "？")):
        return  # "Start with the tests?" asks what to do next
    if all(map(is_work, options)):
        return  # of a list of what is to be done nothing is decided but the order
    picks = " / ".join(options)
    value = f"{about} → {picks}" if about else picks
    if traits_of(value).words < LEAST:
        return
    said = answer.text.strip()
    # "C, at four in the morning" says more than its option.
    if _tells_more(said, value):
        value = f"{value} → {said}"
    yield Draft(
        type=CardType.DECISION,
        key=key_of("decision", picks, session.project),
        title=headline(picks),
        value=value,
        quotes=(Quote(session.id, offer.n, options[0]), Quote(session.id, answer.n, said)),
        at=answer.at,
        lang=Lang(language_of(value)),
        event=EventType.DECISION,
        importance=0.75,
        confidence=0.75,
        origin=answer.origin,
        category=category_of(session.project),
        project=session.project,
        participants=tuple(
            dict.fromkeys((offer.speaker or "assistant", answer.speaker or session.user or "user"))
        ),
    )


def _tells_more(answer: str, picked: str) -> bool:
    """Whether an answer names things of its own, beside the option."""
    own = specific_words(_PICKING.sub(" ", answer)) - specific_words(picked)
    return any(not word.isdigit() for word in own)


def _find_picks(offer: str, answer: str) -> tuple[str, list[str]]:
    """Return what was asked, and the options that an answer picks of those offered."""
    offers = offers_in(offer) if leaves_choice(offer) else []
    chosen = picked(answer, offers) if offers else []
    # Who takes everything agrees to a plan and picks nothing; three picks make no single card.
    if chosen and len(chosen) < len(offers) and len(chosen) <= 2:
        return question_in(offer), [one.text for one in chosen]
    if chosen or not leaves_choice(offer):
        return "", []
    about, option = line_named(answer, offer)
    # A line that was pasted without a question above it may be of anything.
    return (about, [option]) if about and option else ("", [])

"""Statements that no distiller took, and that change what is known: these are worth a card.

By itself "pho moves to Sundays" is small talk. That an earlier talk set it to Fridays shows
that it matters; so what is looked for here is the pair of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kimi_memory.domain.draft import CHANGE, ORDER, Draft, category_of, said_in
from kimi_memory.domain.note import CardType, EventType, Lang, Quote
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.jobs.earlier import Earlier
from kimi_memory.nlp.basic.patterns import fold_case, language_of, regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules import cues, hypotheticals, subjects
from kimi_memory.nlp.rules.changed_later import (
    is_directive,
    may_replace,
    names_old,
    revisits,
    sets_free,
)
from kimi_memory.nlp.rules.own_clauses import own_clauses, widen
from kimi_memory.nlp.rules.praise import settles_nothing
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.utterance import Act, Clause

_OPEN = regex(
    r"\b(?:undecided|haven't decided|they offered|either|thinking (?:about|of)|considering"
    r"|talking about)\b"
    r"|在考虑|没定|没想好|再说|要不要",
    2,
)
_UNSETTLED = (cues.JOKE, cues.HEARSAY, _OPEN)
_THOUGHT = {cues.Bar.HYPOTHETICAL, cues.Bar.PLAN}
MAX_VALUE = 160
"""Most characters of a statement with those beside it."""
_SAID = (Act.STATEMENT, Act.ORDER)
_LEAST = 2
"""Things that a statement names at least."""


def revisions(
    transcript: Transcript,
    drafts: Iterable[Draft],
    earlier: Earlier,
    replaces: Callable[[Draft], bool],
) -> Iterator[tuple[Draft, list[Draft]]]:
    """Yield the statements that change what is known, each with the past that no card holds.

    Args:
        transcript: the session of one person.
        drafts: what was distilled from it; what they quote is left to them.
        earlier: finds what was said in earlier sessions.
        replaces: whether a draft takes the place of a live card.
    """
    # Of what one person says nothing another one said may be replaced.
    if transcript.has_several_people():
        return
    taken = [(quote.n, quote.text) for draft in drafts for quote in draft.quotes]
    at_work = transcript.has_agent_at_work()
    for turn in (turn for turn in transcript.turns if turn.is_speech):
        for draft, value in _find_candidates(transcript.session, turn, taken, at_work=at_work):
            olds = list(earlier.statements(draft))
            # Only an earlier order is the past of an order.
            if draft.type is CardType.RULE:
                olds = [old for old in olds if is_directive(old.value)]
            if olds or replaces(draft):
                quotes = (Quote(transcript.session.id, turn.n, value),)
                title, whole = headline(value), " ".join(value.split())
                yield replace(draft, value=whole, title=title, quotes=quotes), olds
                break


def _find_candidates(
    session: Session, turn: Turn, taken: list[tuple[int, str]], *, at_work: bool
) -> Iterator[tuple[Draft, str]]:
    """Yield drafts of the clauses of a turn that may change something, with wider words."""
    own = own_clauses(turn.text)
    for at, clause in enumerate(own):
        if any(n == turn.n and (clause.text in q or q in clause.text) for n, q in taken):
            continue
        start, end = widen(own, at, at, MAX_VALUE, _SAID)
        wide = turn.text[start:end].strip()
        if not _may_change(clause, at_work=at_work) or cues.NEEDS_LEAD.search(wide):
            continue
        if settles_nothing(wide):
            continue
        for type in _possible_types(clause):
            yield _build_draft(session, turn, clause.text, type), wide


def _may_change(clause: Clause, *, at_work: bool) -> bool:
    text = clause.text
    if clause.act not in _SAID and not revisits(text):
        return False
    # While an agent works, words of change mostly tell it what to do next.
    if not may_replace(text) or (at_work and not names_old(text)):
        return False
    low, traits = fold_case(text), traits_of(text)
    unsettled = any(words.search(low) for words in _UNSETTLED) or hypotheticals.REFUSAL.search(low)
    thought = bool(cues.bars_of(text) & _THOUGHT)
    ends = subjects.takes_back(text) and not revisits(text)
    return traits.specific >= _LEAST and not (traits.doubt or unsettled or thought or ends)


def _possible_types(clause: Clause) -> list[CardType]:
    """Return what a clause may be: an order changes orders, a statement what was stated."""
    if clause.act is Act.ORDER:
        return [CardType.RULE]
    if revisits(clause.text) or sets_free(clause.text) or names_old(clause.text):
        return [CardType.RULE, CardType.DECISION]
    return [CardType.DECISION]


def _build_draft(session: Session, turn: Turn, words: str, type: CardType) -> Draft:
    ruled = type is CardType.RULE
    return Draft(
        type=type,
        key=f"{'rule' if ruled else 'decision'}.{slug(headline(words), 40)}",
        title=headline(words),
        value=words,
        lang=Lang(language_of(words)),
        event=None if ruled else EventType.DECISION,
        importance=0.5,
        confidence=0.8,
        stated=True,
        tags=(ORDER, CHANGE) if ruled else (CHANGE,),
        category=category_of(session.project),
        project=session.project,
        **said_in(session, turn, words),
    )

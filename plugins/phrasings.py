"""Orders for ever and wishes to remember, in words that no list of forms holds.

Why it exists: "no exclamation marks with me, I'm not five" is an order, and "note to self via
you: the boiler code is in the pantry" asks to remember something, without a word that a rule
could wait for. In chats with an assistant a learned model
(`kimi_memory.nlp.learned.utterance_kinds`) judges each clause that nothing else was made of.
It wraps the distiller, whichever that is.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator

from kimi_memory import hookimpl
from kimi_memory.domain.draft import DATED, ORDER, Draft, category_of, said_in
from kimi_memory.domain.note import CardType, EventType, Lang, Role
from kimi_memory.domain.session import Session, Transcript, Turn
from kimi_memory.nlp.basic.characters import language_of
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.learned.utterance_kinds import Kind, kinds_of
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.changed_later import Changes
from kimi_memory.nlp.rules.chat_clauses import chat_clauses, orders_always
from kimi_memory.nlp.rules.own_clauses import is_copied, leans, widen
from kimi_memory.nlp.rules.praise import settles_nothing
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.strip_code import headline
from kimi_memory.nlp.rules.subjects import key_of
from kimi_memory.nlp.rules.utterance import Act, Clause

LEAST = 0.6
"""So likely a clause is a wish to remember."""
SPECIFIC, WORDS = 2, 3
"""It names so many things; an order has so many words."""
MAX_VALUE = 200
"""Most characters of a clause with those that it leans on."""
_ASKS_BACK = regex(
    r"\b(?:remind|tell) me (?:again )?(?:what|where|who|when|which|how|why|of)\b|来着"
    r"|我(?:先|都|也|已经?)?记(?:下|住)(?:来|了)",
    2,
)
"""Who asks what it was wants to be told it; who says that they noted it asks for nothing."""
_BARS = frozenset(cues.Bar) - {cues.Bar.PLAN, cues.Bar.FINISHED, cues.Bar.FLEETING}


@hookimpl(wrapper=True)
def distil_session(
    transcript: Transcript,
) -> Generator[None, list[Draft] | None, list[Draft] | None]:
    """Add the orders and wishes to remember of clauses that nothing was made of."""
    drafts = yield
    answered = any(turn.role is Role.ASSISTANT for turn in transcript.turns)
    if drafts is None or not answered:
        return drafts
    if transcript.has_agent_at_work() or transcript.has_several_people():
        return drafts
    return [*drafts, *_find_drafts(transcript, drafts)]


def _find_drafts(transcript: Transcript, drafts: Collection[Draft]) -> Iterator[Draft]:
    spoken = [turn for turn in transcript.turns if turn.is_speech]
    changes = Changes((turn.n, turn.text) for turn in spoken)
    for turn in spoken:
        before = transcript.turn(turn.n - 1)
        read = [quote.text for one in drafts for quote in one.quotes if quote.n == turn.n]
        own = chat_clauses(turn.text)
        for at, clause in enumerate(own):
            ordered = _orders(clause)
            known = any(clause.text in text or text in clause.text for text in read)
            if known or not (ordered or _asks(clause)):
                continue
            if before is not None and is_copied(clause.text, before.text):
                continue
            if changes.after(turn.n, clause.text):
                continue
            start, end = clause.start, clause.end
            if leans(clause.text):
                start, end = widen(own, at, at, MAX_VALUE, (Act.STATEMENT,))
            words = turn.text[start:end].strip()
            if ordered and settles_nothing(words):
                continue
            yield _make_draft(transcript.session, turn, words, ordered=ordered)


def _orders(clause: Clause) -> bool:
    """Whether a clause is an order by what it says, and none that rules have read already."""
    said = clause.act is Act.ORDER and traits_of(clause.text).words >= WORDS
    return said and orders_always(clause.text)


def _asks(clause: Clause) -> bool:
    """Whether a clause asks for what it says to be remembered."""
    traits = traits_of(clause.text)
    if clause.act in (Act.ORDER, Act.REMARK, Act.QUESTION) or traits.specific < SPECIFIC:
        return False
    if traits.doubt or _ASKS_BACK.search(clause.text) or cues.bars_of(clause.text) & _BARS:
        return False
    return kinds_of(clause.text)[Kind.REMEMBER] >= LEAST


def _make_draft(session: Session, turn: Turn, words: str, *, ordered: bool) -> Draft:
    value = " ".join(words.split())
    note = f"user.notes.{slug(headline(value), 40)}"
    return Draft(
        type=CardType.RULE if ordered else CardType.FACT,
        key=key_of("rule", value, session.project) if ordered else note,
        title=headline(value),
        value=value,
        lang=Lang(language_of(value)),
        event=None if ordered else EventType.FINDING,
        importance=0.8,
        confidence=0.75,
        tags=(ORDER,) if ordered else (DATED,),
        category=category_of(session.project),
        project=session.project,
        stated=True,
        **said_in(session, turn, words),
    )

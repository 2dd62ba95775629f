"""The clauses of a chat with an assistant, where most orders have no form that rules could list.

Rules read what a clause does by its form; a learned model tells what it is for by its words.
At work most of what is said is to be done now, and between people nothing is ordered of an
agent: there the form alone counts.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kimi_memory.nlp.basic.characters import language_of
from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.dates.vocabulary import names_day
from kimi_memory.nlp.learned.utterance_kinds import Kind, kinds_of
from kimi_memory.nlp.rules import cues, hypotheticals, updates
from kimi_memory.nlp.rules.framing import asks_to_be_called, orders_for_always
from kimi_memory.nlp.rules.own_clauses import own_clauses
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause

STANDING, REQUESTED = 0.85, 0.93
"""So likely a clause is an order for ever; one in the form of a request, so likely."""
LIKELY, UNLIKELY = 0.7, 0.25
"""A long clause in the form of an order is one if that is so likely; a short one with other words
beside it, if it is not less likely than this."""
LONGEST = {"zh": 28, "en": 112}
"""Of longer clauses a few words of an order say little: they explain, thank and wonder."""
_REMINDER = regex(r"\bremind me\b|提醒我?", 2)
"""To be reminded once is most often what is meant."""
_OURS = regex(
    r"^(?!.*\b(?:you|your|me)\b)\W*(?:(?:and|but|so|then|maybe|perhaps),? )*(?:we|i) (?:can|could|might|will|would)\b|^(?!.*[你您给别])\W*(?:(?:那|所以|也许|其实|而且)[，,]?)*(?:我们?|咱们?)(?:也|还|就|都)?(?:可以|能|会|想|希望|可能)",
    2,
)
"""What the speakers can or will do themselves."""
_NONE = frozenset(
    {cues.Bar.SECRET, cues.Bar.JOKE, cues.Bar.HEARSAY, cues.Bar.HYPOTHETICAL, cues.Bar.PAST}
)
"""What somebody else said, what was and what might be orders nothing."""


def of_chat(found: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses of a turn to an assistant; the bound of an errand is no order.

    "Articles on how to make friends, do not include anything unrelated" says how one text is
    to be.
    """
    beside = any(clause.act not in (Act.ORDER, Act.REMARK) for clause in found)
    return [
        replace(one, act=Act.REQUEST) if _bounds_errand(one, beside=beside) else one
        for one in found
    ]


def _bounds_errand(clause: Clause, *, beside: bool) -> bool:
    """Whether a clause in the form of an order only says how what stands beside it is to be."""
    if clause.act is not Act.ORDER or orders_for_always(clause.text):
        return False
    long = len(clause.text) > LONGEST[language_of(clause.text)]
    least = LIKELY if long else UNLIKELY if beside else 0.0
    return kinds_of(clause.text)[Kind.STANDING] < least


@keep_results(4096)
def chat_clauses(text: str) -> Sequence[Clause]:
    """Return the clauses of a turn that are its speaker's own words, with orders in any words."""
    return tuple(_judge(clause) for clause in of_chat(own_clauses(text)))


@keep_results(4096)
def gives_standing_order(text: str) -> bool:
    """Whether what a person said to an agent holds an order for always.

    The words of such orders are looked for first: most turns have none, and need no reading.
    """
    if not orders_for_always(text):
        return False
    ordered = any(clause.act is Act.ORDER for clause in chat_clauses(text))
    return ordered or asks_to_be_called(text)


def orders_always(text: str, least: float = STANDING) -> bool:
    """Whether words tell the assistant how to act from now on, as the learned model judges.

    Args:
        text: a clause or a few.
        least: so likely it must be.
    """
    if len(text) > LONGEST[language_of(text)]:
        return False
    # What names its day is to be done on that day.
    if names_day(text) or _REMINDER.search(text) or traits_of(text).doubt:
        return False
    if _OURS.search(text):
        return False
    # "Don't change the port to 9090" is about what is so, not about how to act.
    if hypotheticals.REFUSAL.search(cues.fold_case(text)) or updates.takes_back(text):
        return False
    return kinds_of(text)[Kind.STANDING] >= least and not cues.bars_of(text) & _NONE


def _judge(clause: Clause) -> Clause:
    told = clause.act in (Act.ORDER, Act.REMARK, Act.QUESTION) or clause.text.rstrip().endswith(
        ("?", "？")
    )
    least = REQUESTED if clause.act is Act.REQUEST else STANDING
    ordered = not told and orders_always(clause.text, least)
    return replace(clause, act=Act.ORDER) if ordered else clause

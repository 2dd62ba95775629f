"""The clauses of a chat with an assistant, and whether a turn orders something for always."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kimi_memory.nlp.basic.patterns import keep_results, language_of
from kimi_memory.nlp.rules.framing import asks_to_be_called, orders_for_always
from kimi_memory.nlp.rules.own_clauses import own_clauses
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause

LONGEST = {"zh": 28, "en": 112}
"""Of longer clauses a few words of an order say little: they explain, thank and wonder."""


def of_chat(found: Sequence[Clause]) -> Sequence[Clause]:
    """Return the clauses of a turn to an assistant; the bound of an errand is no order.

    "Articles on how to make friends, do not include anything unrelated" says how one text is
    to be. What stands beside "I'm 71, no emojis please" tells of its speaker.
    """
    beside = any(
        clause.act not in (Act.ORDER, Act.REMARK) and not traits_of(clause.text).me
        for clause in found
    )
    return [
        replace(one, act=Act.REQUEST) if _bounds_errand(one, beside=beside) else one
        for one in found
    ]


def _bounds_errand(clause: Clause, *, beside: bool) -> bool:
    """Whether a clause in the form of an order only says how what stands beside it is to be."""
    if clause.act is not Act.ORDER or orders_for_always(clause.text):
        return False
    return beside or len(clause.text) > LONGEST[language_of(clause.text)]


@keep_results(4096)
def chat_clauses(text: str) -> Sequence[Clause]:
    """Return the clauses of a turn that are its speaker's own words."""
    return tuple(of_chat(own_clauses(text)))


@keep_results(4096)
def gives_standing_order(text: str) -> bool:
    """Whether what a person said to an agent holds an order for always.

    The words of such orders are looked for first: most turns have none, and need no reading.
    """
    if not orders_for_always(text):
        return False
    ordered = any(clause.act is Act.ORDER for clause in chat_clauses(text))
    return ordered or asks_to_be_called(text)

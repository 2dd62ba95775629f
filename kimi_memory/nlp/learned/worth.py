"""How likely a careful reader keeps a clause of a person, or a sentence of an agent.

Rules find clauses, but which of them matters three weeks later has no form: "can you make it
so that past events take one row" is a wish how a thing is to be, "can you take a screenshot"
an errand. Some thousand clauses and sentences of sessions that nobody here wrote were judged
one by one, and their words and letters are weighed by a linear model (see
`kimi_memory.nlp.learned.ngrams`; a logistic regression for each column). The weights are made
by ``python -m benchmarks.worth FILE… --write``.
"""

from __future__ import annotations

from enum import StrEnum

from kimi_memory.nlp.basic.patterns import keep_results
from kimi_memory.nlp.learned.ngrams import scores_of

WEIGHTS = "worth.bin"
"""The file with the weights, in this package."""


class Said(StrEnum):
    """Who says something to whom."""

    WORK = "work"
    """A person to an agent at work."""
    ANSWER = "answer"
    """An agent at work."""
    CHAT = "chat"
    """A person to an assistant that only talks."""


SAID = tuple(Said)


def odds_of(text: str, said: Said) -> float:
    """Return the log odds that a reader keeps a text.

    Args:
        text: a clause or a sentence, as it was typed.
        said: who says it to whom.
    """
    return _scores_of(text)[SAID.index(said)]


@keep_results(4096)
def _scores_of(text: str) -> list[float]:
    return scores_of(text, WEIGHTS, len(SAID))

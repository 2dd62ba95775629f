"""How likely a reader keeps a text, by its words and by what it names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kimi_memory.nlp.learned.worth import Said, odds_of
from kimi_memory.nlp.rules.salience import traits_of, weight_of


class Mix(NamedTuple):
    """How the log odds that a reader keeps a text follow from its words and from what it names."""

    said: Said
    words: float
    """The share of the odds by its words (`kimi_memory.nlp.learned.worth`)."""
    names: float
    """The share of its weight by what it names."""
    even: float

    def odds_of(self, text: str, weight: float) -> float:
        """Return the log odds."""
        return self.words * odds_of(text, self.said) + self.names * weight + self.even


# Near a logistic regression over clauses and sentences that were judged one by one, which gives
# 1.14, 0.10, -0.21 at work. That of chats leans more on names than the fit (0.97, 0.28, -0.95), as
# few of those were about a life. The last of each is set by how many lines stand.
MIXES = {"work": Mix(Said.WORK, 1.22, 0.15, 0.0), "chat": Mix(Said.CHAT, 0.5, 0.6, -2.1)}
ANSWERS = Mix(Said.ANSWER, 0.93, 0.15, -0.37)
"""By the sort of session; of an agent's sentences."""
OF_LIFE = 0.6
"""What words of a chat gain that tell of a life, as few of those that were judged did."""


def chat_odds_of(text: str) -> float:
    """Return the log odds that a reader keeps what a person says in a chat."""
    return MIXES["chat"].odds_of(text, weight_of(traits_of(text)))


def odds_out_of_context(text: str) -> float:
    """Return the log odds that a reader keeps a text, where the talk it is from is not known."""
    weight = weight_of(traits_of(text))
    return sum(mix.odds_of(text, weight) for mix in MIXES.values()) / len(MIXES)


def best_odds_of(text: str) -> float:
    """Return the log odds by its words alone that a reader keeps what a person says anywhere."""
    return max(odds_of(text, said) for said in (Said.WORK, Said.CHAT))


WANTED, ANSWERED, WITH_ANSWER, BARE = 0.67, 0.75, 1.11, -1.53
"""A logistic regression over 747 lines of digests that three readers judged, of 39 memories: the
share of the odds of what was wanted, of those of the best sentence of the answer, what having one
adds, and the rest. Of lines of the others it tells those worth keeping with auc 0.69; what was
wanted alone with 0.63."""


def line_odds(wanted: str, answer: Sequence[str]) -> float:
    """Return the log odds that a reader keeps a line of a digest.

    Args:
        wanted: what a person said.
        answer: the sentences of the agent behind it, if any.
    """
    odds = WANTED * odds_out_of_context(wanted) + BARE
    if not answer:
        return odds
    return odds + ANSWERED * best_answer_odds(answer) + WITH_ANSWER


def best_answer_odds(answer: Sequence[str]) -> float:
    """Return the log odds that a reader keeps the best of some sentences of an agent."""
    return max(ANSWERS.odds_of(one, weight_of(traits_of(one))) for one in answer)

"""What a sentence of a chat is: an order for ever, a wish for now, a decision, a fact, talk.

Forms can be listed by rules, phrasings cannot: "no emojis with me, I'm 71" is an order as
"never use emojis" is. So the words and letters of a sentence are weighed by a linear model
(see `kimi_memory.nlp.learned.ngrams`; multinomial logistic regression). Its weights are made
by ``python -m benchmarks.utterance_kinds --write`` of sentences that lie beside that program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum

from kimi_memory.nlp.basic.patterns import keep_results
from kimi_memory.nlp.learned.ngrams import scores_of

WEIGHTS = "utterance_kinds.bin"
"""The file with the weights, in this package."""


class Kind(StrEnum):
    """What a sentence is to a reader who keeps what matters."""

    STANDING = "standing"
    """How the assistant shall act from now on."""
    ONCE = "once"
    """What it shall do now."""
    REMEMBER = "remember"
    DECISION = "decision"
    PLAN = "plan"
    FACT = "fact"
    EVENT = "event"
    FLEETING = "fleeting"
    """Mood, greetings, jokes, what is so at this minute."""
    QUESTION = "question"
    OTHERS = "others"
    """What somebody else says, wants or does."""


KINDS = tuple(Kind)


@keep_results(4096)
def kinds_of(text: str) -> Mapping[Kind, float]:
    """Return how likely each kind is; together they are 1.

    Args:
        text: a sentence or a few, as they were typed.
    """
    scores = scores_of(text, WEIGHTS, len(KINDS))
    highest = max(scores)
    odds = [math.exp(score - highest) for score in scores]
    whole = sum(odds)
    return {kind: odd / whole for kind, odd in zip(KINDS, odds, strict=True)}

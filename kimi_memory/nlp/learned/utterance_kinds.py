"""What a sentence of a chat is: an order for ever, a wish for now, a decision, a fact, talk.

Forms can be listed by rules, phrasings cannot: "no emojis with me, I'm 71" is an order as
"never use emojis" is. So the words and letters of a sentence are weighed by a linear model
(multinomial logistic regression over hashed n-grams, as in Joulin et al., "Bag of Tricks for
Efficient Text Classification", 2016). Its weights, ``utterance_kinds.bin``, are made by
``python -m benchmarks.utterance_kinds --write`` of sentences that lie beside that program.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from itertools import pairwise
from pathlib import Path

from kimi_memory.nlp.basic.characters import HAN, simplify
from kimi_memory.nlp.basic.patterns import keep_results, regex

WEIGHTS = "utterance_kinds.bin"
"""The file with the weights, in this package."""
BUCKETS = 1 << 15
"""N-grams are counted by their hash in so many places."""
MOST = 400
"""So many characters of a text are read."""


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
_PIECE = regex(rf"[a-z]+(?:'[a-z]+)?|\d+(?:[.:,]\d+)*|[{HAN}]+|[^\w\s]")
_FIGURE = regex(r"\d")


def features_of(text: str) -> Iterator[str]:
    """Yield the n-grams of a text: words, their pairs and parts; one to three hanzi."""
    low = simplify(text[:MOST].replace("’", "'").lower())
    pieces = ["^", *_PIECE.findall(low), "$"]
    words = ["#" if _FIGURE.match(piece) else piece for piece in pieces]
    yield f"length {min(6, len(words) // 4)}"
    for one, other in pairwise(words):
        yield f"{one} {other}"
    for word in words:
        yield word
        if word[0] > "\u3000":
            yield from (word[at : at + n] for n in (1, 2, 3) for at in range(len(word) - n + 1))
        elif len(word) > 3:
            yield from (f"{word[:4]}-", f"-{word[-3:]}")
    # Which sentences begin alike matters more than what they are about.
    yield f"begins {' '.join(words[1:3])}"
    yield f"begins {' '.join(words[1:4])}"


def places_of(text: str) -> list[int]:
    """Return the places of a text's n-grams among the weights, each once."""
    return sorted({zlib.crc32(one.encode()) % BUCKETS for one in features_of(text)})


@keep_results(4096)
def kinds_of(text: str) -> Mapping[Kind, float]:
    """Return how likely each kind is; together they are 1.

    Args:
        text: a sentence or a few, as they were typed.
    """
    scale, weights = _read_weights()
    count, places = len(KINDS), places_of(text)
    scores = [float(weights[BUCKETS * count + at]) for at in range(count)]
    share = 1 / math.sqrt(len(places))
    for place in places:
        first = place * count
        for at in range(count):
            scores[at] += share * weights[first + at]
    highest = max(scores)
    odds = [math.exp((score - highest) * scale) for score in scores]
    whole = sum(odds)
    return {kind: odd / whole for kind, odd in zip(KINDS, odds, strict=True)}


@cache
def _read_weights() -> tuple[float, array[int]]:
    """Return the scale and the weights: eight bits for each place and kind, the biases last."""
    packed = zlib.decompress(Path(__file__).with_name(WEIGHTS).read_bytes())
    scale = array("f", packed[:4])[0]
    return scale, array("b", packed[4:])

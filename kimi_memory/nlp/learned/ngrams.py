"""A linear model over hashed n-grams of a text, which needs no library.

As in Joulin et al., "Bag of Tricks for Efficient Text Classification", 2016: the words and
letters of a sentence are counted by their hash, and each has a weight for each column. The
weights are made by `benchmarks.worth`.
"""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from kimi_memory.nlp.basic.patterns import HAN, regex, simplify

BUCKETS = 1 << 15
"""N-grams are counted by their hash in so many places."""
MOST = 400
"""So many characters of a text are read."""
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
    return sorted({zlib.crc32(one.encode()) % BUCKETS for one in set(features_of(text))})


def scores_of(text: str, file: str, columns: int) -> list[float]:
    """Return the score of a text in each column of a model.

    Args:
        text: what is judged.
        file: the file with the weights, in this package.
        columns: how many columns they have.
    """
    scale, weights = read_weights(file)
    places = places_of(text)
    share = 1 / math.sqrt(len(places))
    scores = [float(weights[BUCKETS * columns + at]) for at in range(columns)]
    for place in places:
        first = place * columns
        for at in range(columns):
            scores[at] += share * weights[first + at]
    return [score * scale for score in scores]


@cache
def read_weights(file: str) -> tuple[float, array[int]]:
    """Return the scale and the weights: eight bits for each place and column, the biases last."""
    packed = zlib.decompress((Path(__file__).parent / file).read_bytes())
    scale = array("f", packed[:4])[0]
    return scale, array("b", packed[4:])

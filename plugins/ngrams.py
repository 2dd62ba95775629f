"""Vectors of character n-grams, hashed: near duplicates without a model.

Why it exists: finding that two notes say the same in nearly the same letters needs no
meaning. Such vectors repeat what keyword search knows, so they answer only for
"similarity" and never switch the vector lane of recall on.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

from kimi_memory import hookimpl
from kimi_memory.domain.engine import Embedding, Purpose
from kimi_memory.nlp.basic.patterns import normalise

# A vector of half precision takes one kilobyte, and few pairs of letters fall together.
DIMENSIONS = 512
MODEL = "ngrams-1"
_SIZES = (2, 3)


@hookimpl(trylast=True)
def embed_texts(texts: Sequence[str], purpose: Purpose) -> Embedding | None:
    """Answer for "similarity" alone."""
    if purpose != "similarity":
        return None
    return Embedding(MODEL, [vector(text) for text in texts])


def vector(text: str) -> list[float]:
    """Return the unit vector of a text; zeros for a text without characters."""
    padded = f" {normalise(text)} "
    grams = Counter(
        padded[at : at + size] for size in _SIZES for at in range(len(padded) - size + 1)
    )
    values = [0.0] * DIMENSIONS
    for gram, count in grams.items():
        place, sign = _hash_gram(gram)
        # Signs make n-grams that fall on one place cancel out on average, instead of adding up.
        values[place] += sign * (1 + math.log(count))
    norm = math.sqrt(sum(value * value for value in values))
    return [value / norm for value in values] if norm and padded.strip() else [0.0] * DIMENSIONS


def _hash_gram(gram: str) -> tuple[int, float]:
    """Return the dimension and sign of an n-gram, the same in every process."""
    digest = hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=4).digest()
    number = int.from_bytes(digest, "big")
    return number % DIMENSIONS, 1.0 if number & 0x80000000 else -1.0

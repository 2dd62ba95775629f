"""How likely a value is a secret, by the signs of the word that announces it and of itself.

A logistic regression over the signs that `kimi_memory.nlp.rules.announced_values` names. It was
fitted to some thousand lines with made-up secrets in many kinds, and to what stands in the same
places of chats, manuals and code that hold none. A word for an account or a door counts less than
it would by the fit, as those lines hold more secrets than people tell each other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from kimi_memory.nlp.learned.ngrams import BUCKETS, read_weights

WEIGHTS = "secrets.bin"
"""The file with the weights, in this package."""
LEAST = 0.0
"""Log odds from which on a value is masked."""


def is_secret(signs: Iterable[str]) -> bool:
    """Whether a value with these signs is a secret, so likely that it must be masked."""
    scale, weights = read_weights(WEIGHTS)
    total = weights[BUCKETS] + sum(weights[place] for place in places_of(signs))
    return scale * total > LEAST


def places_of(signs: Iterable[str]) -> set[int]:
    """Return the places of signs among the weights, each once."""
    return {zlib.crc32(sign.encode()) % BUCKETS for sign in signs}

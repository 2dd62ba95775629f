"""How likely a value is a secret, by the signs of the word that announces it and of itself.

A logistic regression over the signs that `kimi_memory.nlp.rules.announced_values` names, fitted
to invented lines by ``python -m benchmarks.secrets --write``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import repeat
from pathlib import Path

WEIGHTS = "secrets.tsv"
"""The table in this package: a row for each sign that counts, in hundredths of log odds."""

LEAST = 70
"""Hundredths from which on a value is masked: people tell fewer secrets than the lines hold."""


def is_secret(signs: Iterable[str]) -> bool:
    """Whether a value with these signs is a secret, so likely that it must be masked."""
    weights = read_weights()
    return sum(map(weights.get, signs, repeat(0)), weights[""]) > LEAST


@cache
def read_weights() -> Mapping[str, int]:
    """Return the weight of each sign; that of "" counts always."""
    rows = (Path(__file__).parent / WEIGHTS).read_text(encoding="utf-8").splitlines()
    pairs = (row.split("\t", 1) for row in rows)
    return {sign: int(weight) for weight, sign in pairs}

"""A second look at the best hits, by a model that reads question and text together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from kimi_memory.domain.search_types import Hit
from kimi_memory.errors import ModelError, PluginError
from kimi_memory.hooks.host import Host
from kimi_memory.index.units import passage

ROWS = 30
"""So many of the best hits are looked at again."""
SHARE = 0.7
"""Of the second look in the score; the rest is the first."""


def reranked(host: Host, query: str, hits: list[Hit]) -> tuple[list[Hit], str]:
    """Return the hits in the order a reranker gives them, and a note where it failed.

    The score of each hit is still what its parts explain: the second look is a factor.
    """
    top = hits[:ROWS]
    if len(top) < 2 or not query.strip():
        return hits, ""
    texts = [passage(hit.unit) for hit in top]
    try:
        found: Sequence[float] | None = host.answer("rerank", query=query, texts=texts)
    except (ModelError, PluginError) as error:
        # A server that is away costs the order, never the answer.
        return hits, f"Not reranked: {error}"
    if found is None:
        return hits, ""
    if len(found) != len(top) or not all(map(math.isfinite, found)):
        return hits, f"Not reranked: {len(found)} usable scores for {len(top)} texts."
    best, second = top[0].score, _normalise_scores(found)
    looked = [_rescore_hit(hit, score, best) for hit, score in zip(top, second, strict=True)]
    # As if they had got 0: what was not looked at must not overtake what was.
    rest = [_multiply_score(hit, 1.0 - SHARE) for hit in hits[ROWS:]]
    return sorted([*looked, *rest], key=lambda hit: (-hit.score, hit.unit.id)), ""


def _normalise_scores(scores: Sequence[float]) -> list[float]:
    """Return scores from 0 to 1: rerankers differ in scale, and only the order is promised."""
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _rescore_hit(hit: Hit, second: float, best: float) -> Hit:
    wanted = (1.0 - SHARE) * hit.score + SHARE * second * best
    return _multiply_score(hit, wanted / hit.score)


def _multiply_score(hit: Hit, factor: float) -> Hit:
    return replace(hit, score=hit.score * factor, parts={**hit.parts, "rerank": factor})

"""Fusion: how the keyword lane and the vector lane become one score.

=====  ======================================================================
score  both lanes from 0 to 1, the vector lane with its weight: the default,
       because a small model must not outvote words
70/30  vectors count 70 %, keywords 30 %, whatever the model
rrf    reciprocal rank fusion: 1 / (60 + rank) in each lane, scores forgotten
=====  ======================================================================

Whatever the way, the parts of a row add up to its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from kimi_memory.config import RecallTable
from kimi_memory.domain.engine import Embedding
from kimi_memory.index.searcher import Bools, Floats, Searcher

Method = Literal["score", "70/30", "rrf"]

FLOOR_RANK = 100
"""From this rank on, a row counts as far. With all-MiniLM at weight 0.3, ranks 50 to 100
gain recall on LoCoMo where plain cosines lose a point."""
VECTOR_SHARE = 0.7
"""Of the vector lane where it comes first."""
NEAREST = FLOOR_RANK + 1
"""So many rows are asked for: those behind them count as far."""
TIED = 1000
"""So many where all of those are equally near, so that their order decides nothing."""
RRF_K = 60
"""Cormack, Clarke, Büttcher 2009: how little the very first ranks stand out."""


class Probe(NamedTuple):
    """The vector of a question, what its lane weighs and how the lanes are joined."""

    vector: Sequence[float]
    weight: float
    method: Method = "score"
    share: float = VECTOR_SHARE
    """Of the vector lane, where it comes first."""


def lane_weights(probe: Probe | None) -> dict[str, float]:
    """Return what each lane counts in the score of a row."""
    if probe is None:
        return {"keyword": 1.0}
    shares = {"score": probe.weight / (1.0 + probe.weight), "70/30": probe.share, "rrf": 0.5}
    vector = shares[probe.method]
    return {"keyword": 1.0 - vector, "vector": vector}


def probe_of(
    found: Embedding | None,
    searcher: Searcher,
    settings: RecallTable,
    share: float = VECTOR_SHARE,
) -> tuple[Probe | None, str]:
    """Return what to search vectors with, and what a person should know when there is nothing."""
    lane = searcher.lane
    if settings.vector_weight <= 0:
        return None, ""
    if found is None:
        away = lane is not None and bool(lane.model)
        return None, "No embedding model answers: words alone found these." if away else ""
    if lane is None:
        return None, "There are no vectors yet: run 'kimi-memory index'."
    # Cosines between vectors of two models mean nothing.
    if lane.model != found.model:
        why = f"The vectors were made by {lane.model}, the model is now {found.model}"
        return None, f"{why}: words alone found these. Run 'kimi-memory index'."
    weight = settings.vector_weight * found.weight
    return Probe(found.vectors[0], weight, settings.fusion, share), ""


def nearness(
    searcher: Searcher, probe: Probe | None, mask: Bools, seen: Bools | None = None
) -> tuple[Floats, float]:
    """Return how near each row is to the question, and the cosine of the nearest row of all.

    Of all are those that the caller may see; every one where `seen` is not given.

    The nearest that counts is 1, those from the floor on are 0.
    """
    if probe is None:
        return np.broadcast_to(0.0, len(searcher)), 0.0
    found = np.zeros(len(searcher))
    rows, cosines = searcher.vectors(probe.vector, NEAREST, mask)
    # Equal rows come in any order; cut off among them, the same memory would answer differently.
    if len(rows) == NEAREST and cosines[0] <= cosines[-1]:
        rows, cosines = searcher.vectors(probe.vector, TIED, mask)
    found[rows] = _spread_cosines(np.maximum(cosines, 0.0))
    if not (mask == searcher.alive).all():
        _, cosines = searcher.vectors(probe.vector, 1, seen)
    return found, max(0.0, float(cosines[0])) if len(cosines) else 0.0


def _spread_cosines(cosines: Floats) -> Floats:
    """Return cosines spread from 0 to 1.

    Models differ in how near strangers are (0.1 or 0.8), so what counts is how far a row
    stands out from those behind it.
    """
    if not len(cosines):
        return cosines
    ordered = np.sort(cosines)[::-1]
    best, floor = float(ordered[0]), float(ordered[min(FLOOR_RANK, len(ordered) - 1)])
    if best <= floor:
        # All are equally near: none stands out, and none is far.
        return (cosines > 0).astype(float)
    spread: Floats = np.clip((cosines - floor) / (best - floor), 0.0, 1.0)
    return spread


def fuse(keyword: Mapping[str, Floats], near: Floats, probe: Probe | None) -> dict[str, Floats]:
    """Return the summands of each row's score, 0 to 1 altogether.

    Args:
        keyword: summands of the keyword lane, 0 to 1 altogether.
        near: nearness of each row.
        probe: how they are joined; None where there is no vector lane.
    """
    if probe is None:
        return dict(keyword)
    total: Floats = np.zeros(0)
    if probe.method != "score":
        total = sum(keyword.values(), np.zeros(len(near)))
    share: float | Floats
    match probe.method:
        case "score":
            share = 1.0 / (1.0 + probe.weight)
            vector = near * probe.weight / (1.0 + probe.weight)
        case "70/30":
            best = float(total.max(initial=0.0)) or 1.0
            share = (1.0 - probe.share) / best
            vector = near * probe.share
        case "rrf":
            share = np.divide(_by_rank(total), total, out=np.zeros(len(near)), where=total > 0)
            vector = _by_rank(near)
    return {**{name: part * share for name, part in keyword.items()}, "vector": vector}


def _by_rank(scores: Floats) -> Floats:
    """Return the reciprocal rank of each row, half a point for the first; 0 where it has none.

    Equal scores share the better rank, so that the order of rows decides nothing.
    """
    ascending = np.sort(scores[scores > 0])
    ranks = 1 + len(ascending) - np.searchsorted(ascending, scores, side="right")
    found: Floats = np.where(scores > 0, 0.5 * (RRF_K + 1) / (RRF_K + ranks), 0.0)
    return found

"""Ranking: lanes fused to one score, boosts of speaker and role, the best rows chosen.

The keyword lane and the vector lane become one score in one of three ways:

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
from dataclasses import replace
from datetime import datetime, timedelta
from functools import reduce
from heapq import heapify, heappop, heapreplace
from itertools import groupby
from math import inf
from typing import Literal, NamedTuple

import numpy as np

from kimi_memory.config import RecallTable
from kimi_memory.domain.engine import Embedding
from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Query
from kimi_memory.index.columns import best
from kimi_memory.index.searcher import Bools, Floats, Searcher
from kimi_memory.nlp.rules.cues import asks_for_previous
from kimi_memory.recall.bm25 import Lexical, rank
from kimi_memory.recall.conversation import Question, during, fresh, read_question, sides, telling
from kimi_memory.recall.evidence import favour_previous, stand_behind
from kimi_memory.recall.filters import allowed, marked, visible_rows
from kimi_memory.recall.relevance import relevant_rows
from kimi_memory.recall.served import notes_about

Method = Literal["score", "70/30", "rrf"]

SPEAKER = 1.5
"""Factor of the turns of the one speaker a question names."""
SPEAKER_BROAD = 1.8
"""The same where the question asks for several things."""
TIME = 1.5
"""Factor of what was said in the time a question names, or speaks of it."""
SPREAD = 0.9
"""Factor of each further turn of a sitting where the question asks for several things."""
STRETCH, SPREAD_OVER_TIME = 12, 0.6
"""Where it asks for the course of things, each stretch of a sitting, of so many turns, tells a
part of it: the factor of each further turn of a stretch."""
ROLE = 1.6
"""Factor of a person's turns in a chat with an assistant, of the assistant's where a question
asks what it said."""
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


class Ranked(NamedTuple):
    """The best rows, best first, with the parts of each score."""

    rows: list[int]
    parts: list[dict[str, float]]
    lanes_by_row: list[tuple[str, ...]]
    lanes: tuple[str, ...]
    cover: float = 1.0
    """How much of the question the memory can speak to, 0 to 1; comparable across questions."""


def candidates(
    searcher: Searcher,
    query: Query,
    words: Sequence[str],
    probe: Probe | None,
    *,
    room: int,
    now: datetime | None = None,
) -> Ranked:
    """Return at least `room` best rows that pass the filters, fewer where fewer match.

    Args:
        searcher: the memory.
        query: what is asked, with its filters.
        words: its words.
        probe: its vector, if there is one.
        room: how many rows.
        now: what the dates of the question count from; without it they are only words.
    """
    mask, previous = _candidate_mask(searcher, query)
    question = read_question(searcher, query.text, words, now)
    if query.turn_days > 0 and now is not None and not (question.days or _names_time(query)):
        mask = mask & ~_turns_before(searcher, now - timedelta(days=query.turn_days))
    listed = marked(searcher, query, mask)
    # Where words alone decide, rows that cannot be among the best need no score.
    lexical = rank(searcher, question, mask, room if probe is None and not listed.any() else 0)
    seen = None if probe is None else visible_rows(searcher, query)
    near, cosine = nearness(searcher, probe, mask, seen)
    summands = {**fuse(lexical.parts, near, probe), "marked": listed}
    factors = _compute_factors(searcher, question, lexical)
    factors |= {"previous": favour_previous(searcher)} if previous else {}
    told = (part for part in summands.values() if part.strides[0])
    scores: Floats = reduce(np.add, told, np.zeros(len(searcher)))
    for factor in factors.values():
        scores = scores * factor
    current = not previous and query.valid_at is None
    rows = _look_closer(searcher, scores, factors, room, current=current, question=question)
    if query.min_relevance > 0:
        # Only where something is shown unasked: who asks gets the best there is.
        rows = relevant_rows(searcher, question, query, rows)
    lanes = ("keyword",) if probe is None else ("keyword", "vector")
    # The nearest row speaks to the question as far as its model counts against words.
    nearest = min(1.0, probe.weight) * cosine if probe is not None else 0.0
    return Ranked(
        rows,
        _score_parts(rows, summands, factors),
        _row_lanes(rows, lexical, near),
        lanes,
        1.0 if listed.any() else max(lexical.cover, nearest),
    )


def _names_time(query: Query) -> bool:
    """Whether a query names a time or a session."""
    return bool(query.since or query.until or query.valid_at or query.session)


def _turns_before(searcher: Searcher, start: datetime) -> Bools:
    at = np.asarray([inf if at is None else at for at in searcher.column("at")])
    return searcher.column("kind").among(("turn",)) & (at < start.timestamp())


def _look_closer(
    searcher: Searcher,
    scores: Floats,
    factors: dict[str, Floats],
    room: int,
    *,
    current: bool,
    question: Question,
) -> list[int]:
    """Return the best rows by factors that need them read, which are added to the others."""
    rows = _best_rows(scores, searcher, room)
    if len(question.names) == 1 and "speaker" in factors:
        about = notes_about(searcher, rows, question.names)
        factors["speaker"] = np.where(about, _speaker_boost(question), factors["speaker"])
        scores = _restrict_scores(rows, np.where(about, scores * _speaker_boost(question), scores))
        rows = _best_rows(scores, searcher, room)
    # A replaced value must not stand before the one that took its place.
    behind = stand_behind(searcher, rows) if current else None
    if behind is not None:
        factors["replaced"] = behind
        scores = _restrict_scores(rows, scores * behind)
        rows = _best_rows(scores, searcher, room)
    if question.broad:
        factors["fresh"] = fresh(searcher, rows)
        scores = _restrict_scores(rows, scores * factors["fresh"])
        factors["spread"] = _spread_factor(searcher, scores, rows, question.over_time)
        rows = _best_rows(scores * factors["spread"], searcher, room)
    return rows


def _candidate_mask(searcher: Searcher, query: Query) -> tuple[Bools, bool]:
    """Return the rows that pass the filters, and whether replaced values are asked for."""
    mask = allowed(searcher, query)
    if query.valid_at is not None or query.status or not asks_for_previous(query.text):
        return mask, False
    return mask | allowed(searcher, replace(query, status=(Status.SUPERSEDED,))), True


def _compute_factors(searcher: Searcher, question: Question, lexical: Lexical) -> dict[str, Floats]:
    """Return the factors of rows; pages and cards of a memory without talk have none."""
    if not searcher.sittings:
        return {}
    factor = np.ones(len(searcher))
    for stretch in question.days:
        factor[during(searcher, stretch)] = TIME
    return {
        "speaker": _speaker_factor(searcher, question),
        "role": _role_factor(searcher, question, lexical),
        "telling": telling(searcher),
        "time": factor,
    }


def _spread_factor(
    searcher: Searcher, scores: Floats, rows: Sequence[int], over_time: bool
) -> Floats:
    """Return the factor that is left of each row once better rows beside it are chosen.

    Args:
        searcher: the memory.
        scores: of all rows.
        rows: those to choose from.
        over_time: whether each stretch of a sitting tells a part, too.
    """
    factor = np.ones(len(searcher))
    ids = searcher.column("id")
    sitting = {row: int(searcher.sitting[row]) for row in rows}
    waiting = set(rows)
    # A heap: scores only fall, so one that comes up unchanged is the best of those left.
    queue = [(-float(scores[row]), ids.value(row), row) for row in rows]
    heapify(queue)
    while queue:
        worth, id, first = queue[0]
        now = -float(scores[first]) * factor[first]
        if worth < now:  # It lost to better rows since it was put there.
            heapreplace(queue, (now, id, first))
            continue
        heappop(queue)
        waiting.discard(first)
        for row in waiting if sitting[first] >= 0 else ():
            if sitting[row] == sitting[first]:
                near = over_time and row // STRETCH == first // STRETCH
                factor[row] *= SPREAD_OVER_TIME if near else SPREAD
    return factor


def _restrict_scores(rows: Sequence[int], scores: Floats) -> Floats:
    """Return the scores of some rows, nothing for the others: those were not looked at."""
    kept = np.zeros(len(scores))
    kept[rows] = scores[rows]
    return kept


def _best_rows(scores: Floats, searcher: Searcher, room: int) -> list[int]:
    """Return the best rows, best first; ties stand by id, which few rows need to be asked for."""
    found = best(scores, room)
    found = found[np.argsort(-scores[found], kind="stable")]
    ids, ordered = searcher.column("id"), list[int]()
    for _, tied in groupby(found.tolist(), scores.item):
        rows = list(tied)
        ordered += rows if len(rows) == 1 else sorted(rows, key=ids.value)
    return ordered


def _score_parts(
    rows: Sequence[int], summands: dict[str, Floats], factors: dict[str, Floats]
) -> list[dict[str, float]]:
    """Return what each row's score is made of, without what changes nothing."""
    found: list[dict[str, float]] = [{} for _ in rows]
    for arrays, nothing in ((summands, 0.0), (factors, 1.0)):
        for name, values in arrays.items():
            for parts, value in zip(found, values[rows].tolist(), strict=True):
                if value != nothing:
                    parts[name] = value
    return found


def _row_lanes(rows: Sequence[int], lexical: Lexical, near: Floats) -> list[tuple[str, ...]]:
    said = (lexical.turn[rows] != 0) | (lexical.window[rows] != 0)
    both = zip(said.tolist(), (near[rows] != 0).tolist(), strict=True)
    return [("keyword",) * keyword + ("vector",) * vector for keyword, vector in both]


def _speaker_factor(searcher: Searcher, question: Question) -> Floats:
    """Favour the turns of a speaker when the question names exactly one."""
    factor = np.ones(len(searcher))
    if len(question.names) == 1:
        factor[searcher.column("speaker").among(question.names)] = _speaker_boost(question)
    return factor


def _speaker_boost(question: Question) -> float:
    return SPEAKER_BROAD if question.broad else SPEAKER


def _role_factor(searcher: Searcher, question: Question, lexical: Lexical) -> Floats:
    """Favour what a person said where an assistant answers, or the answer if that is asked for."""
    person, assistant = sides(searcher)
    if question.reply:
        return np.where(assistant, ROLE, 1.0)
    # Only for own words: else who asked would stand before who answered.
    return np.where(person & (lexical.turn > 0), ROLE, 1.0)

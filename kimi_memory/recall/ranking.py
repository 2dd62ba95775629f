"""Ranking: lanes joined by score, boosts of speaker and role, the best rows chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kimi_memory.index.searcher import Bools, Floats, Searcher
from kimi_memory.model.turn import Role
from kimi_memory.model.unit import Query
from kimi_memory.recall.filters import allowed
from kimi_memory.recall.lexical import Lexical, rank

SPEAKER = 1.3
"""Factor of the turns of the one speaker a question names."""
USER = 1.4
"""Factor of a person's turns in a chat with an assistant."""
VECTOR_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Ranked:
    """The best rows, best first, with the parts of each score."""

    rows: list[int]
    parts: list[dict[str, float]]
    lanes_by_row: list[tuple[str, ...]]
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Probe:
    """The vector of a question and what its lane weighs against the keyword lane."""

    vector: Sequence[float]
    weight: float


def candidates(
    searcher: Searcher, query: Query, words: Sequence[str], probe: Probe | None, *, room: int
) -> Ranked:
    """Return at least `room` best rows that pass the filters, fewer where fewer match."""
    mask = allowed(searcher, query)
    lexical = rank(searcher, words, mask)
    nearness = _nearness(searcher, probe, mask)
    weight = 0.0 if probe is None else probe.weight
    scale = 1.0 / (1.0 + weight)
    summands = {
        "turn": lexical.turn * scale,
        "window": lexical.window * scale,
        "session": lexical.session * scale,
        "vector": nearness * weight * scale,
    }
    factors = {
        "speaker": _speaker(searcher, set(words)),
        # Only for own words: else who asked would stand before who answered.
        "role": np.where(lexical.turn > 0, searcher.once("role", lambda: _role(searcher)), 1.0),
    }
    scores = sum(summands.values()) * factors["speaker"] * factors["role"]
    rows = _best(scores, searcher, room)
    lanes = ("keyword",) if probe is None else ("keyword", "vector")
    return Ranked(
        rows,
        [_parts(row, summands, factors) for row in rows],
        [_lanes(row, lexical, nearness) for row in rows],
        lanes,
    )


def _best(scores: Floats, searcher: Searcher, room: int) -> list[int]:
    found = np.flatnonzero(scores > 0)
    if len(found) > room:
        floor = np.partition(scores[found], -room)[-room]
        found = found[scores[found] >= floor]
    ids = searcher.column("id")
    return sorted((int(row) for row in found), key=lambda row: (-scores[row], ids[row]))


def _parts(row: int, summands: dict[str, Floats], factors: dict[str, Floats]) -> dict[str, float]:
    found = {name: float(values[row]) for name, values in summands.items() if values[row]}
    return found | {name: float(v[row]) for name, v in factors.items() if v[row] != 1.0}


def _lanes(row: int, lexical: Lexical, nearness: Floats) -> tuple[str, ...]:
    keyword = ("keyword",) if lexical.turn[row] or lexical.window[row] else ()
    return (*keyword, "vector") if nearness[row] else keyword


def _nearness(searcher: Searcher, probe: Probe | None, mask: Bools) -> Floats:
    """Return the cosine of each near row, divided by the largest one."""
    found = np.zeros(len(searcher))
    if probe is None:
        return found
    for row, cosine in searcher.vectors(probe.vector, VECTOR_ROWS):
        found[row] = max(0.0, cosine) if mask[row] else 0.0
    best = float(found.max(initial=0.0))
    return found / best if best > 0 else found


def _speaker(searcher: Searcher, words: set[str]) -> Floats:
    """Favour the turns of a speaker when the question names exactly one."""
    factor = np.ones(len(searcher))
    speakers = searcher.column("speaker")
    known = searcher.once("speakers", lambda: _speakers(searcher))
    named = [name for name, parts in known.items() if words.issuperset(parts)]
    if len(named) == 1:
        factor[[name == named[0] for name in speakers]] = SPEAKER
    return factor


def _speakers(searcher: Searcher) -> dict[str, list[str]]:
    """Return the words of each speaker's name."""
    names = sorted(set(searcher.column("speaker")) - {""})
    found = {name: searcher.words.split(name) for name in names}
    return {name: parts for name, parts in found.items() if parts}


def _role(searcher: Searcher) -> Floats:
    """Favour what a person said where an assistant answers."""
    factor = np.ones(len(searcher))
    roles = searcher.column("role")
    inside = searcher.sitting >= 0
    assistant = np.asarray([role == Role.ASSISTANT for role in roles], dtype=bool) & inside
    if assistant.any():
        answered = np.zeros(searcher.sittings, dtype=bool)
        answered[searcher.sitting[assistant]] = True
        person = np.asarray([role == Role.USER for role in roles], dtype=bool) & inside
        person[person] = answered[searcher.sitting[person]]
        factor[person] = USER
    return factor

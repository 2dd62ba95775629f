"""The context block of a bound token: nothing in it but lines of its namespace."""

from __future__ import annotations

import secrets

from kimi_memory.memory import Memory
from kimi_memory.model.unit import Hit, Query
from kimi_memory.recall.block import Line, ordered, shown
from kimi_memory.recall.choice import choose
from kimi_memory.recall.context import PRIORITY, Context
from kimi_memory.surfaces.http.caller import Namespace
from kimi_memory.surfaces.http.contract import Given
from kimi_memory.text.tokens import estimate

_STANDING = ("preference", "rule")
_HITS = 40


def context_within(memory: Memory, space: Namespace, given: Given) -> Context:
    """Return a block under a budget: standing preferences for start, else what is found."""
    budget = given["budget"] or memory.settings.recall.context_tokens
    space.within(session=given["session"])
    answer = memory.recall(space.narrowed(_query(given)))
    beside = given.get("beside")  # a session that stands in the prompt already
    hits = [hit for hit in answer.hits if not beside or hit.unit.session != beside]
    lines = [_line(hit) for hit in hits]
    nonce = secrets.token_hex(8)
    kept = choose([], lines, memory.index.words.split, budget, nonce)
    text = shown(kept, nonce) if kept else ""
    ids = tuple(line.id for line in ordered(kept))
    return Context(text, estimate(text), ids, len(lines) - len(kept))


def _query(given: Given) -> Query:
    within = given.get("within") or None
    if given["purpose"] == "start":
        return Query(text="", limit=_HITS, type=_STANDING, within=within)
    tier = ("semantic", "episodic") if given["purpose"] == "task" else ()
    session = (given["session"],) if given["session"] and not given["query"] else ()
    return Query(text=given["query"], limit=_HITS, tier=tier, session=session, within=within)


def _line(hit: Hit) -> Line:
    unit = hit.unit
    who = unit.speaker or unit.role or unit.title
    said = " ".join(hit.snippet.split())
    return Line(
        id=unit.id,
        priority=PRIORITY[unit.tier],
        path=unit.path,
        said=f"{who}: {said}" if who else said,
        first=unit.first,
        last=unit.last,
        labels=(unit.trust,),
        day=f"{unit.at:%Y-%m-%d}" if unit.at else "",
        value=hit.score,
    )

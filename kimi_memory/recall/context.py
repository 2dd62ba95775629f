"""The context block: what an agent should know now, under a budget of tokens.

Priorities are those of the tiers: P0 short-term, P1 mid-term, P2 episodic, P3 semantic,
P4 long-term. Room is given in that order to what is shown in any case, so the last falls
out first; what a question found then competes by what it adds for each token, where
priority decides between equals. The block shows what changes least first, so that a
prompt cache keeps its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from kimi_memory.errors import FormatError
from kimi_memory.model.unit import Query, Unit
from kimi_memory.recall.block import Line, ordered, shown
from kimi_memory.text.snippet import snippet
from kimi_memory.text.tokens import estimate
from kimi_memory.text.zone import Zone, in_zone

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Bools, Searcher
    from kimi_memory.model.session import Json
    from kimi_memory.recall.recall import Recall

Purpose = Literal["start", "task", "live"]

LAST_TURNS = 10
HITS = (12, 100)
"""Least and most hits that compete for the room of a block."""
HIT_TOKENS = 12
"""For so many tokens of the budget one more hit is looked at."""
LINE_CHARS = 400
PRIORITY = {"short-term": 0, "mid-term": 1, "episodic": 2, "semantic": 3, "long-term": 4, "page": 3}
_DOUBTED = frozenset({"candidate", "stale", "conflicted"})


class Request(NamedTuple):
    """What a context is wanted for."""

    purpose: Purpose
    budget: int
    """Most tokens of the block, by `kimi_memory.text.tokens.estimate`."""
    nonce: str
    """8 to 64 random letters and digits, new for every block."""
    query: str = ""
    project: str = ""
    session: str = ""
    """Root id of the open session; the newest one if empty."""
    beside: str = ""
    """Root id of a session whose turns the model has before it; none of them is shown."""
    within: tuple[str, ...] | None = None
    """Private scopes that may be shown beside what is shared; None for all."""
    as_of: datetime | None = None
    """Find what was held to be true at this moment; what is shown in any case is of now."""
    zone: Zone = UTC
    """The zone of shown days."""


@dataclass(frozen=True, slots=True)
class Context:
    """A context block."""

    text: str
    """Empty when nothing fits."""
    tokens: int
    lines: tuple[str, ...]
    """Ids of what is in it, in the order shown."""
    dropped: int
    """How many lines did not fit."""


def build(recall: Recall, request: Request) -> Context:
    """Choose the lines for a purpose and show those that fit the budget."""
    from kimi_memory.recall.choice import choose

    standing = {line.id: line for line in _always(recall, request)}
    found = {line.id: line for line in _found(recall, request) if line.id not in standing}
    by_priority = sorted(standing.values(), key=lambda line: line.priority)
    split, budget, nonce = recall.words.split, request.budget, request.nonce
    kept = choose(by_priority, found.values(), split, budget, nonce)
    text = shown(kept, nonce) if kept else ""
    ids = tuple(line.id for line in ordered(kept))
    return Context(text, estimate(text), ids, len(standing) + len(found) - len(kept))


def _always(recall: Recall, request: Request) -> Iterator[Line]:
    """Yield what a purpose shows whatever the question is."""
    if request.purpose == "live" and not request.beside:
        yield from _recent(recall.searcher(), request)


def _found(recall: Recall, request: Request) -> Iterator[Line]:
    """Yield what the question finds."""
    if not request.query.strip():
        return
    least, most = HITS
    limit = min(most, max(least, request.budget // HIT_TOKENS))
    tier = ("semantic", "episodic") if request.purpose == "task" else ()
    asked = Query(
        text=request.query,
        limit=limit,
        min_relevance=recall.min_relevance,
        tier=tier,
        within=request.within,
        as_of=request.as_of,
    )
    for hit in recall.search(asked).hits:
        if request.beside and hit.unit.session == request.beside:
            continue
        yield _line(hit.unit, hit.snippet, request.zone)._replace(value=hit.score)


def _recent(searcher: Searcher, request: Request) -> Iterator[Line]:
    """Yield the task, the variables and the last turns of the open session."""
    from kimi_memory.model.records import read_transcript_lines

    path = _open_session(searcher, request)
    if not path:
        return
    try:
        transcript = read_transcript_lines(searcher.files.read(path).splitlines(True), path)
    except FormatError:
        return
    id = transcript.session.id
    if transcript.task:
        yield _about(f"session:{id}#task", path, f"task: {_members(transcript.task)}")
    if transcript.variables:
        told = f"variables: {_members(transcript.variables)}"
        yield _about(f"session:{id}#variables", path, told)
    wanted = {f"session:{id}#{turn.n}" for turn in transcript.turns[-LAST_TURNS:]}
    ids = searcher.column("id")
    held = _held(searcher)
    rows = [row for row in searcher.living() if ids[row] in wanted and held[row]]
    for unit in sorted(searcher.units(rows).values(), key=lambda unit: unit.n):
        yield _line(unit, unit.text, request.zone)


def _held(searcher: Searcher) -> Bools:
    """Return the rows that nobody asked to forget."""
    from kimi_memory.recall.filters import standing

    return standing(searcher)


def _seen(searcher: Searcher, request: Request) -> Bools:
    """Return the rows that whoever asks may see."""
    from kimi_memory.recall.filters import seen

    return seen(searcher, Query(text="", within=request.within))


def _open_session(searcher: Searcher, request: Request) -> str:
    """Return the file of the open session that was spoken in last."""
    held = _held(searcher) & _seen(searcher, request)
    tiers, sessions, at = (searcher.column(name) for name in ("tier", "session", "at"))
    rows = [
        row
        for row in searcher.living()
        if held[row] and tiers[row] == "short-term" and request.session in ("", sessions[row])
    ]
    latest = max(rows, key=lambda row: (at[row] or 0.0, searcher.path(row)), default=None)
    return "" if latest is None else searcher.path(latest)


def _members(values: Mapping[str, Json]) -> str:
    return _short("; ".join(f"{name}: {value}" for name, value in values.items()))


def _about(id: str, path: str, said: str) -> Line:
    """Return a line about a whole session."""
    return Line(id=id, priority=0, path=path, said=said)


def _line(unit: Unit, text: str, zone: Zone) -> Line:
    who = unit.speaker or unit.role
    name = f"{who}: " if who else f"{unit.title}: " if unit.title else ""
    return Line(
        id=unit.id,
        priority=PRIORITY[unit.tier],
        path=unit.path,
        said=f"{name}{_short(text)}",
        first=unit.first,
        last=unit.last,
        labels=tuple(_labels(unit, zone)),
        day=f"{in_zone(unit.at, zone):%Y-%m-%d}" if unit.at else "",
    )


def _labels(unit: Unit, zone: Zone) -> Iterator[str]:
    """Yield trust, doubt and end of validity."""
    yield unit.trust
    if unit.status in _DOUBTED:
        yield unit.status
    if unit.valid_to is not None:
        yield f"until {in_zone(unit.valid_to, zone):%Y-%m-%d}"


def _short(text: str) -> str:
    """Return a text in one line; headings are left out, as the title says them."""
    lines = [line.strip() for line in text.splitlines()]
    said = "\n".join(line for line in lines if line and not line.startswith("#"))
    return " ".join(snippet(said or text, (), LINE_CHARS)[0].split())

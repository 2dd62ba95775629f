"""The context block: what an agent should know now, under a budget of tokens.

Priorities are those of the tiers: P0 short-term, P1 mid-term, P2 episodic, P3 semantic,
P4 long-term. Room is given in that order, so the last falls out first. The block shows
what changes least first, so that a prompt cache keeps its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kimi_memory.errors import FormatError
from kimi_memory.model.records import read_transcript_lines
from kimi_memory.model.session import Json
from kimi_memory.model.unit import Query, Unit
from kimi_memory.text.fence import fence
from kimi_memory.text.snippet import snippet
from kimi_memory.text.tokens import estimate

if TYPE_CHECKING:
    from kimi_memory.index.searcher import Searcher
    from kimi_memory.recall.recall import Recall

Purpose = Literal["start", "task", "live"]

LAST_TURNS = 10
HITS = 12
LINE_CHARS = 400
PRIORITY = {"short-term": 0, "mid-term": 1, "episodic": 2, "semantic": 3, "long-term": 4, "page": 3}
_ORDER = (4, 1, 3, 2, 0)
"""Priorities in the order they are shown: what changes least first."""
_STANDING = frozenset({"preference", "rule"})
_DOUBTED = frozenset({"candidate", "stale", "conflicted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
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


@dataclass(frozen=True, slots=True)
class Line:
    """One line that could be shown."""

    id: str
    priority: int
    text: str


def build(recall: Recall, request: Request) -> Context:
    """Choose the lines for a purpose and show those that fit the budget."""
    found: dict[str, Line] = {}
    for line in _lines(recall, request):
        found.setdefault(line.id, line)
    kept: list[Line] = []
    for line in sorted(found.values(), key=lambda line: line.priority):
        if estimate(_shown([*kept, line], request.nonce)) <= request.budget:
            kept.append(line)
    text = _shown(kept, request.nonce) if kept else ""
    ids = tuple(line.id for line in _ordered(kept))
    return Context(text, estimate(text), ids, len(found) - len(kept))


def _lines(recall: Recall, request: Request) -> Iterator[Line]:
    if request.purpose == "start":
        yield from _standing(recall.searcher(), request)
    elif request.purpose == "task":
        yield from _hits(
            recall, Query(text=request.query, limit=HITS, tier=("semantic", "episodic"))
        )
    else:
        yield from _recent(recall.searcher(), request)
        yield from _hits(recall, Query(text=request.query, limit=HITS))


def _ordered(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: _ORDER.index(line.priority))


def _shown(lines: Sequence[Line], nonce: str) -> str:
    return fence([line.text for line in _ordered(lines)], nonce)


def _hits(recall: Recall, query: Query) -> Iterator[Line]:
    if query.text.strip():
        for hit in recall.search(query).hits:
            yield _line(hit.unit, hit.snippet)


def _standing(searcher: Searcher, request: Request) -> Iterator[Line]:
    """Yield identity, projects and standing preferences, in order of their place."""
    kinds, types = searcher.column("kind"), searcher.column("type")
    projects, statuses = searcher.column("project"), searcher.column("status")
    rows = [
        row
        for row in searcher.living()
        if statuses[row] in ("active", "stale")
        and (
            searcher.path(row).startswith("long-term/")
            or (kinds[row] == "project" and _wanted(projects[row], request))
            or (types[row] in _STANDING and _wanted(projects[row] or request.project, request))
        )
    ]
    units = searcher.units(rows).values()
    for unit in sorted(units, key=lambda unit: (unit.path, unit.first, unit.id)):
        yield _line(unit, unit.text)


def _wanted(project: str, request: Request) -> bool:
    return not request.project or project == request.project


def _recent(searcher: Searcher, request: Request) -> Iterator[Line]:
    """Yield the task, the variables and the last turns of the open session."""
    path = _open_session(searcher, request.session)
    if not path:
        return
    try:
        transcript = read_transcript_lines(searcher.files.read(path).splitlines(True), path)
    except FormatError:
        return
    id = transcript.session.id
    if transcript.task:
        yield Line(f"session:{id}#task", 0, f"- task: {_members(transcript.task)} ({path})")
    if transcript.variables:
        told = f"- variables: {_members(transcript.variables)} ({path})"
        yield Line(f"session:{id}#variables", 0, told)
    wanted = {f"session:{id}#{turn.n}" for turn in transcript.turns[-LAST_TURNS:]}
    ids = searcher.column("id")
    rows = [row for row in searcher.living() if ids[row] in wanted]
    for unit in sorted(searcher.units(rows).values(), key=lambda unit: unit.n):
        yield _line(unit, unit.text)


def _open_session(searcher: Searcher, session: str) -> str:
    """Return the file of the open session that was spoken in last."""
    tiers, sessions, at = (searcher.column(name) for name in ("tier", "session", "at"))
    rows = [
        row
        for row in searcher.living()
        if tiers[row] == "short-term" and session in ("", sessions[row])
    ]
    latest = max(rows, key=lambda row: (at[row] or 0.0, searcher.path(row)), default=None)
    return "" if latest is None else searcher.path(latest)


def _members(values: Mapping[str, Json]) -> str:
    return _short("; ".join(f"{name}: {value}" for name, value in values.items()))


def _line(unit: Unit, text: str) -> Line:
    who = unit.speaker or unit.role
    said = f"{who}: " if who else f"{unit.title}: " if unit.title else ""
    return Line(
        unit.id,
        PRIORITY[unit.tier],
        f"- [{', '.join(_labels(unit))}] {said}{_short(text)} ({_place(unit)})",
    )


def _labels(unit: Unit) -> Iterator[str]:
    """Yield trust, day, doubt and end of validity."""
    yield unit.trust
    if unit.at is not None:
        yield f"{unit.at:%Y-%m-%d}"
    if unit.status in _DOUBTED:
        yield unit.status
    if unit.valid_to is not None:
        yield f"until {unit.valid_to:%Y-%m-%d}"


def _place(unit: Unit) -> str:
    run = "" if unit.last == unit.first else f"-L{unit.last}"
    return f"{unit.path}#L{unit.first}{run}"


def _short(text: str) -> str:
    """Return a text in one line; headings are left out, as the title says them."""
    lines = [line.strip() for line in text.splitlines()]
    said = "\n".join(line for line in lines if line and not line.startswith("#"))
    return " ".join(snippet(said or text, (), LINE_CHARS)[0].split())

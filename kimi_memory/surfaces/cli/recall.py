"""``recall``: find the lines that answer a question."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from kimi_memory.errors import UsageError
from kimi_memory.model.unit import Hit, Query
from kimi_memory.surfaces.cli.shared import leave, moment, open_memory, show, show_json

if TYPE_CHECKING:
    from kimi_memory.recall import Answer

_LISTS = {
    "tier": "short-term, episodic, mid-term, semantic or long-term",
    "kind": "turn, card, event, project, day and the like",
    "type": "decision, fact, rule and the like",
    "tag": "a tag",
    "status": "active, candidate, superseded and the like",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="+", help="a question or words, in any language")
    parser.add_argument("--limit", type=int, default=0, help="most hits")
    parser.add_argument("--min-score", type=float, default=None, help="drop hits below, 0 to 1")
    for name, help in _LISTS.items():
        parser.add_argument(
            f"--{name}", action="append", default=[], help=f"{help}; may be repeated"
        )
    parser.add_argument("--project", default="", help="only what belongs to this project")
    parser.add_argument("--agent", default="", help="only what belongs to this agent")
    parser.add_argument("--since", default="", help="only from this date or time on")
    parser.add_argument("--until", default="", help="only up to this date or time")
    parser.add_argument("--explain", action="store_true", help="show the parts of each score")


def run(arguments: Namespace) -> int:
    """Search and print."""
    with open_memory(arguments) as memory:
        answer = memory.recall(_query(arguments, memory.settings.recall.limit))
        leave(memory)
    if arguments.json:
        show_json(answer)
    else:
        _show(answer, explain=arguments.explain)
    return 0


def _query(arguments: Namespace, limit: int) -> Query:
    if arguments.limit < 0:
        raise UsageError("--limit is below zero. Give how many hits you want.")
    return Query(
        text=" ".join(arguments.query),
        limit=arguments.limit or limit,
        min_score=arguments.min_score or 0.0,
        project=arguments.project,
        agent=arguments.agent,
        since=moment(arguments.since) if arguments.since else None,
        until=moment(arguments.until) if arguments.until else None,
        **{name: tuple(getattr(arguments, name)) for name in _LISTS},
    )


def _show(answer: Answer, *, explain: bool) -> None:
    for rank, hit in enumerate(answer.hits, 1):
        show(f"[{rank}] {hit.score:.2f}  {_who(hit)}  {hit.citation}")
        for line in hit.snippet.splitlines():
            show(f"    {line}")
        if explain:
            parts = "  ".join(f"{name} {value:.3f}" for name, value in hit.parts.items())
            show(f"    = {parts}  (lanes: {', '.join(hit.lanes)})")
    for note in answer.notes:
        show(f"note: {note}")
    if not answer.hits:
        show("Nothing found.")


def _who(hit: Hit) -> str:
    unit = hit.unit
    when = f"{unit.at:%Y-%m-%d}" if unit.at else ""
    parts = [unit.kind, unit.key or unit.speaker or unit.role, when]
    if unit.status != "active":
        parts.append(unit.status)
    return " · ".join(part for part in parts if part)

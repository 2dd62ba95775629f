"""``link``: link two notes, remove a link, or list what is suggested."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.filter_options import NOTE_HELP, find_named
from kimi_memory.cli.shared import finish_reports, open_memory, show_result
from kimi_memory.domain.note import LinkRel
from kimi_memory.errors import UsageError
from kimi_memory.operations.links import Wanted, link, suggested, unlink


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("source", nargs="?", default="", help=NOTE_HELP)
    parser.add_argument("target", nargs="?", default="", help="the other note, named likewise")
    parser.add_argument(
        "--rel",
        default="",
        help=f"how the first relates to the second: one of {', '.join(LinkRel)}",
    )
    parser.add_argument("--weight", type=float, default=0.8, help="how strong, above 0 up to 1")
    parser.add_argument("--reason", default="", help="why, in one line")
    parser.add_argument("--remove", action="store_true", help="take the link out")
    parser.add_argument("--suggested", action="store_true", help="list suggested links")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, write nothing")


def run(arguments: Namespace) -> int:
    """Link, unlink or list."""
    with open_memory(arguments) as memory:
        if arguments.suggested:
            return _list_suggested(memory, arguments)
        if not arguments.source or not arguments.target:
            raise UsageError("A link has two ends. Give two ids, or --suggested.")
        wanted = Wanted(
            source=find_named(memory, arguments.source),
            target=find_named(memory, arguments.target),
            rel=_parse_relation(arguments.rel),
            weight=arguments.weight,
            # A link is one line of front matter.
            reason=" ".join(arguments.reason.split()),
        )
        change = unlink if arguments.remove else link
        report = change(memory, wanted, dry_run=arguments.dry_run)
    return finish_reports(arguments, [report])


def _parse_relation(text: str) -> LinkRel | None:
    name = text.upper().replace("-", "_")
    if name and name not in set(LinkRel):
        raise UsageError(f"{text!r} is no relation. Choose one of {', '.join(LinkRel)}.")
    return LinkRel(name) if name else None


def _list_suggested(memory: Memory, arguments: Namespace) -> int:
    edges = suggested(memory)
    lines = [f"{edge.weight:.2f}  {edge.source} {edge.rel} {edge.target}" for edge in edges]
    how = "Confirm one with 'kimi-memory link', reject one with 'kimi-memory link --remove'."
    return show_result(arguments, edges, [*lines, how if edges else "No link waits."])

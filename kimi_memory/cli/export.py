"""``export``: write cards, an index, JSON or a graph for other programs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.operations.export import export_cards, export_graph, export_index, export_json
from kimi_memory.operations.session_export import export_sessions

_FORMS = {
    "cards": export_cards,
    "json": export_json,
    "sessions": export_sessions,
    "index": export_index,
    "graphml": export_graph,
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "form",
        choices=list(_FORMS),
        help="cards by type or all as JSON, which import takes back; sessions as JSON, which "
        "ingest takes back; for reading only: an index page, a graph",
    )
    parser.add_argument("path", type=Path, help="where to: a folder for cards and sessions")
    parser.add_argument("--all", action="store_true", help="superseded and archived ones too")
    parser.add_argument("--force", action="store_true", help="replace what is there")


def run(arguments: Namespace) -> int:
    """Export and say how much."""
    with open_memory(arguments) as memory:
        export = _FORMS[arguments.form]
        found = export(memory, arguments.path, past=arguments.all, force=arguments.force)
    if arguments.json:
        show_json(found)
    else:
        edges = f" and {found.edges} links" if found.edges else ""
        what = "sessions" if arguments.form == "sessions" else "notes"
        show(f"{found.notes} {what}{edges} in {found.path} ({found.files} files)")
    return 0

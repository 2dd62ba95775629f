"""``lsp``: serve an editor over the Language Server Protocol."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import find_memory
from kimi_memory.errors import NotAMemoryError, UsageError

try:
    from kimi_memory.lsp.language_server import serve
except ImportError:
    serve = None  # type: ignore[assignment]  # the library is an extra; `run` says so


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--stdio", action="store_true", help="over standard input; always so")
    parser.add_argument("--lenses", action="store_true", help="show what waits above each file")


def run(arguments: Namespace) -> int:
    """Serve until the editor goes."""
    if serve is None:
        raise UsageError("An editor needs the library pygls: kimi-memory[lsp].")
    if sys.stdin.isatty():
        # It would wait for messages that nobody types.
        raise UsageError("An editor starts 'lsp' and talks to it: see docs/editors.md.")
    root: Path | None
    try:
        root = find_memory(arguments)
    except NotAMemoryError:
        root = None  # The editor says which folder it has opened.
    serve(root, lenses=arguments.lenses)
    return 0

"""``ui``: open the pages of a memory, or of several, in a browser."""

from __future__ import annotations

import sys
import webbrowser
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from kimi_memory.cli.serve import add_server, serving_of
from kimi_memory.cli.shared import show
from kimi_memory.config import MARKER
from kimi_memory.domain.ids import utcnow
from kimi_memory.errors import NotAMemoryError
from kimi_memory.web.seats import make_code
from kimi_memory.web.serving import find_server, serve


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_server(parser)
    parser.add_argument("--no-open", action="store_true", help="print the address, open nothing")


def run(arguments: Namespace) -> int:
    """Serve a memory with its pages, or open those of a server that runs already.

    Where ``--memory`` is repeated, all of them are served, and the API answers for the first.
    """
    named: list[Path] = getattr(arguments, "memories", [])
    folders = list(dict.fromkeys(one.expanduser().resolve() for one in named))
    arguments.memory = folders[0] if folders else arguments.memory
    for folder in folders[1:]:
        if not (folder / MARKER).is_file():
            raise NotAMemoryError(folder)
    serving = replace(serving_of(arguments), beside=tuple(folders[1:]))

    def open_pages(url: str) -> None:
        # In the address for one moment: it holds once, for a minute, behind a button.
        code = make_code(serving.home, serving.root, utcnow().timestamp())
        show(f"{url}/ui/enter?code={code}")
        sys.stdout.flush()
        if not arguments.no_open:
            webbrowser.open(f"{url}/ui/enter?code={code}")

    url = "" if serving.beside else find_server(serving)
    if url:
        open_pages(url)
        return 0
    serve(serving, lambda url, guarded: open_pages(url))
    return 0

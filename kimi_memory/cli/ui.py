"""``ui``: open the pages of a memory in a browser."""

from __future__ import annotations

import sys
import webbrowser
from argparse import ArgumentParser, Namespace

from kimi_memory.api.options import utcnow
from kimi_memory.cli.serve import add_server, serving_of
from kimi_memory.cli.shared import show
from kimi_memory.web.seats import make_code
from kimi_memory.web.serving import find_server, serve


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    add_server(parser)
    parser.add_argument("--no-open", action="store_true", help="print the address, open nothing")


def run(arguments: Namespace) -> int:
    """Serve the memory with its pages, or open those of a server that runs already."""
    serving = serving_of(arguments)

    def open_pages(url: str) -> None:
        # In the address for one moment: it holds once, for a minute, behind a button.
        code = make_code(serving.home, serving.root, utcnow().timestamp())
        show(f"{url}/ui/enter?code={code}")
        sys.stdout.flush()
        if not arguments.no_open:
            webbrowser.open(f"{url}/ui/enter?code={code}")

    url = find_server(serving)
    if url:
        open_pages(url)
        return 0
    serve(serving, lambda url, guarded: open_pages(url))
    return 0

"""``tui``: open a panel on the memory in the terminal."""

from __future__ import annotations

import importlib
import os
import sys
from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cli.keys import edit_text
from kimi_memory.cli.shared import find_locale, find_memory, find_person
from kimi_memory.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--lang", choices=["zh", "en"], help="of its own words; default: that of the terminal"
    )


def run(arguments: Namespace) -> int:
    """Show the panel until the person leaves it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") == "dumb":
        why = "There is no terminal that a panel could be drawn on."
        raise UsageError(f"{why} Use 'kimi-memory list', 'recall' and 'review'.")
    try:
        panel = importlib.import_module("kimi_memory.tui.panel")
    except ModuleNotFoundError as error:
        if error.name and error.name.split(".")[0] in ("textual", "rich"):
            raise UsageError("It needs Textual. Run: pip install 'kimi-memory[tui]'") from error
        raise
    lang = arguments.lang or ("zh" if find_locale().startswith("zh") else "en")
    with Memory.open(find_memory(arguments), Opening(actor=find_person())) as memory:
        panel.Panel(memory, lang, edit_text).run()
    return 0

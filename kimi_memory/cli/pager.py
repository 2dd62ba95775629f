"""Long output on a terminal, page by page."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from kimi_memory.cli.terminal import count_columns

_OPTIONS = "FRX"
"""Of less: end where all fits on one screen, show colours, and leave the text on the screen."""


class _Terminal(io.StringIO):
    """Output that goes to a terminal a little later."""

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed meanwhile through a pager if it is longer than the terminal is high."""
    shown = sys.stdout
    if not shown.isatty():
        yield
        return
    sys.stdout = kept = _Terminal()
    try:
        yield
    finally:
        sys.stdout = shown
        _show(kept.getvalue())


def _show(text: str) -> None:
    size = shutil.get_terminal_size()
    rows = sum(1 + max(0, count_columns(one) - 1) // size.columns for one in text.splitlines())
    pager = _find_pager() if rows >= size.lines else []
    if not pager:
        print(text, end="", flush=True)
        return
    options = {"LESS": _OPTIONS, "LESSCHARSET": "utf-8"}
    # The reader ends it: to stop it with an error of ours would leave the terminal in its state.
    subprocess.run(pager, input=text, encoding="utf-8", env={**options, **os.environ}, check=False)


def _find_pager() -> list[str]:
    """Return the command of the reader's pager; empty where there is none."""
    words = shlex.split(os.environ.get("PAGER", "less"))
    if not words or words[0] == "cat" or shutil.which(words[0]) is None:
        return []
    return words

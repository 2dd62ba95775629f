"""Where the memory of a command is, and what is begun there before the command is loaded."""

from __future__ import annotations

import os
from argparse import ArgumentError, ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kimi_memory.config import MARKER
from kimi_memory.errors import NotAMemoryError
from kimi_memory.index.scout import scouting

_ASKING = ("recall", "context")
"""Commands that look at every file for one question."""


def find_memory(arguments: Namespace) -> Path:
    """Return the memory folder a command is about.

    Raises:
        NotAMemoryError: none was named and none lies above the working directory.
    """
    named = arguments.memory or os.environ.get("KIMI_MEMORY")
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file():
            return folder
    raise NotAMemoryError(here)


@contextmanager
def ahead(words: Sequence[str]) -> Iterator[None]:
    """Have the folder looked at while a command that asks something is loaded.

    Args:
        words: the command line; what is wrong with it is told by the command's own parser.
    """
    if words[:1] and words[0] in _ASKING and (root := _named(words[1:])):
        with scouting(root, os.environ):
            yield
    else:
        yield


def _named(words: Sequence[str]) -> Path | None:
    parser = ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--memory", type=Path)
    try:
        return find_memory(parser.parse_known_args(words)[0])
    except (ArgumentError, NotAMemoryError):
        return None

"""A command of the command line, so that plugins can add theirs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """One word after ``kimi-memory``."""

    name: str
    help: str
    """One imperative line."""
    add_arguments: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], int]
    """Returns the exit code; errors of the tree carry their own."""
    group: str = ""
    """Under which heading ``kimi-memory --help`` lists it, such as ask or check."""

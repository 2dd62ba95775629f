"""``git``: what git itself asks for when a person merges two copies with it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.formats.page_lines import is_generated
from kimi_memory.store.files.disk import put


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    merge = steps.add_parser(
        "merge-file", help="merge a generated page; 'init' tells git to run this"
    )
    for name, help in (
        ("base", "the page both began with"),
        ("ours", "our page; the result is written here"),
        ("theirs", "the page of the other copy"),
        ("path", "where the page lies in the memory"),
    ):
        merge.add_argument(name, type=Path, help=help)


def run(arguments: Namespace) -> int:
    """Keep the page that a person edited; exit code 1 where both were.

    A generated page follows from the cards, and is written anew by the next job. An edit
    of it is still to be taken over, so it must not get lost.
    """
    theirs = arguments.theirs.read_bytes()
    # Ours may be edited or not; either way nothing of theirs is lost, as theirs follows from the
    # cards.
    if _is_as_generated(theirs):
        return 0
    if _is_as_generated(arguments.ours.read_bytes()):
        put(arguments.ours, theirs)
        return 0
    # Git reports the conflict and leaves our page; a driver that joined lines would invent a page
    # nobody wrote.
    return 1


def _is_as_generated(page: bytes) -> bool:
    return is_generated(page.decode("utf-8", "replace"))

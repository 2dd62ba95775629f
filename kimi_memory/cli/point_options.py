"""The option that narrows a point to one copy; apart, as `get` begins without the other filters."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def add_copy(parser: ArgumentParser) -> None:
    """Declare the option that narrows a point to what one copy knew then."""
    parser.add_argument(
        "--copy",
        default="",
        metavar="NAME",
        help="what one copy knew then: 'here', its id as blame shows it, or the name of its "
        "folder on this machine",
    )


def named_point(arguments: Namespace) -> str:
    """Return the point that the options name; of one copy the last one if none is named."""
    if not arguments.copy:
        return str(arguments.as_of)
    return f"{arguments.copy}@{{{arguments.as_of or 'now'}}}"

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


def add_valid_at(parser: ArgumentParser) -> None:
    """Declare the option that names the moment at which something was so."""
    parser.add_argument(
        "--valid-at",
        default="",
        metavar="POINT",
        help="what was held to be true then: at the end of a date, such as 2026-02-27, 7d or "
        "上个月, or at a point as --as-of takes it",
    )


def looks_back(arguments: Namespace) -> bool:
    """Whether the options ask for another state than that of now."""
    return bool(named_point(arguments) or arguments.valid_at)


def named_point(arguments: Namespace) -> str:
    """Return the point that the options name; of one copy the last one if none is named."""
    if not arguments.copy:
        return str(arguments.as_of)
    return f"{arguments.copy}@{{{arguments.as_of or 'now'}}}"

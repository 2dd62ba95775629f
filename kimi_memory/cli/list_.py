"""``list``: show what is held, by any filter, page by page."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kimi_memory.cli.filter_options import (
    add_as_of,
    add_filters,
    find_following,
    keep_list,
    read_filters,
)
from kimi_memory.cli.shared import (
    count_columns,
    cut,
    find_width,
    leave,
    open_memory,
    pad,
    paint,
    say,
    show,
    show_field,
    show_json,
)
from kimi_memory.domain.note import Status
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.recall.browse import BANDS, FACETS, SORTS, Listing, ListQuery

_KEY_SHARE = 3
"""At most this part of a line is for keys."""
_LEAST_TEXT = 12
"""Columns that are left to the text of a line whatever stands beside it."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "query",
        nargs="*",
        help='what each line must say: words, "a phrase", -without, begin*, field:value',
    )
    parser.add_argument("--limit", type=int, default=50, help="lines on a page; default: 50")
    parser.add_argument(
        "--sort", choices=[*SORTS], default="newest", help="default: newest, by its last change"
    )
    parser.add_argument("--band", action="append", choices=BANDS, default=[], help="hot, warm …")
    parser.add_argument("--all", action="store_true", help="also what was replaced or archived")
    parser.add_argument("--counts", action="store_true", help="count by type, status and so on")
    parser.add_argument("--after", default="", metavar="CURSOR", help="the page after this one")
    parser.add_argument(
        "--more", action="store_true", help="go on behind the last list in this terminal"
    )
    add_filters(parser)
    add_as_of(parser)


def run(arguments: Namespace) -> int:
    """List what passes the filters; cards, unless another kind is named."""
    with open_memory(arguments) as memory:
        if arguments.more:
            arguments.after = find_following(memory)
        query = _build_query(arguments, read_filters(arguments, memory)[0])
        point = query.filters.as_of
        listing = memory.at(point).engine.browse(query) if point else memory.browse(query)
        leave(memory)
        if arguments.json:
            show_json(listing)
            return 0
        keep_list(memory, [unit.id for unit in listing.units], following=listing.next)
    for line in _format_lines(listing, find_width()):
        print(line)
    _show_end(listing, paged=bool(arguments.after))
    if arguments.counts:
        _show_counts(listing.facets)
    return 0


def _build_query(arguments: Namespace, filters: Query) -> ListQuery:
    # A list ranks nothing, so each word is one that a line must say.
    words = (one for one in filters.text.split() if one not in filters.phrases)
    held = replace(
        filters,
        kind=filters.kind or ("card",),
        status=filters.status or (tuple(Status) if arguments.all else ()),
        phrases=(*filters.phrases, *words),
    )
    return ListQuery(
        filters=held,
        bands=tuple(arguments.band),
        sort=arguments.sort,
        after=arguments.after,
        limit=arguments.limit,
        facets=FACETS if arguments.counts or arguments.json else (),
    )


def _format_lines(listing: Listing, width: int) -> Iterator[str]:
    """Yield a line for each unit: number, key, what it says, and what sets it apart."""
    names = [printable(unit.key or unit.id) for unit in listing.units]
    most = width // _KEY_SHARE or max(map(count_columns, names), default=0)
    wide = min(most, max(map(count_columns, names), default=0))
    digits = len(str(len(names)))
    for number, (unit, name) in enumerate(zip(listing.units, names, strict=True), 1):
        head = f"{number:>{digits}}  {pad(cut(name, wide), wide)}  "
        beside = printable("  ".join(_describe(unit)))
        text = printable(" ".join((unit.title or unit.text).split()))
        if width:
            left = width - count_columns(head) - count_columns(beside) - 2
            text = pad(cut(text, max(left, _LEAST_TEXT)), left)
        yield f"{head}{text}  {paint(beside, 'dim')}".rstrip()


def _describe(unit: Unit) -> Iterator[str]:
    """Yield what stands behind the text: where it belongs, since when, and if it holds no more."""
    if unit.status != Status.ACTIVE:
        yield say(unit.status)
    if unit.project:
        yield unit.project
    since = unit.valid_from or unit.at
    if since:
        yield f"{since:%Y-%m-%d}"


def _show_end(listing: Listing, *, paged: bool) -> None:
    """Print how many there are in all, and how to see more."""
    shown, total = len(listing.units), listing.total
    if not total:
        show(say("No note matches these filters."))
    elif shown < total or paged:
        show(say("{count} of {all}.", count=shown, all=total))
    else:
        show(say("{all} in all.", all=total))
    if listing.next:
        show(say("The next page: the same command with --more"))


def _show_counts(facets: Mapping[str, Mapping[str, int]]) -> None:
    for name, counts in facets.items():
        parts = ", ".join(
            f"{count} {say(value) if value else '–'}" for value, count in counts.items() if count
        )
        if parts:
            show_field(say(name), parts, start=0)

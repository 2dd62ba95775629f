"""``bisect``: find the version from which on a note says something."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.past.bisect import Flip, Wrong


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", help="a key, the id of a note, or the beginning of one")
    parser.add_argument("--says", default="", metavar="TEXT", help="since when it says these words")
    parser.add_argument("--not-says", default="", metavar="TEXT", help="since when it does not")
    parser.add_argument("--status", default="", help="since when it has this status")
    parser.add_argument("--below", type=float, metavar="CONFIDENCE", help="since when it is less")
    parser.add_argument("--good", default="", metavar="POINT", help="only after this point")
    parser.add_argument("--bad", default="", metavar="POINT", help="only up to this point")
    parser.add_argument("--all", action="store_true", help="every time it began or ceased")


def run(arguments: Namespace) -> int:
    """Print where it began; 1 where it never was so."""
    wrong = Wrong(arguments.says, arguments.not_says, arguments.status, arguments.below)
    with open_memory(arguments) as memory:
        flips = memory.bisect(arguments.what, wrong, good=arguments.good, bad=arguments.bad)
    begun = [one for one in flips if one.begins]
    shown = flips if arguments.all else begun[-1:]
    if arguments.json:
        show_json(shown)
    elif not begun:
        show("It never was so.")
    else:
        for flip in shown:
            _show_flip(flip)
    return 0 if begun else 1


def _show_flip(flip: Flip) -> None:
    cause = flip.cause
    why = f'{cause.op} "{cause.why}"' if cause.why else cause.op
    at = f"{cause.at:%Y-%m-%d %H:%M}"
    since = "since" if flip.begins else "until"
    parts = (f"{since} v{cause.version}, {at}", cause.short, cause.model, why)
    show("  ".join(part for part in parts if part))
    show(f'  it says: "{flip.says}"')
    for turn in flip.turns:
        place = f"{turn.path}#L{turn.line}" if turn.path else ""
        show(f'  the turn: {turn.source}  {turn.speaker}  "{turn.text}"  {place}'.rstrip())
    if flip.before:
        show(f'  until v{flip.before_version}: "{flip.before}"')
    if flip.begins and cause.job:
        show(f"  take it back: kimi-memory undo {cause.job}")

"""``timeline``: show every state of a note or a key."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.filter_options import NOTE_HELP, find_in_history
from kimi_memory.cli.shared import open_memory, pad, say, show, show_json, translate
from kimi_memory.domain.past import TimelineEntry


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", help=NOTE_HELP)
    parser.add_argument("--since", default="", metavar="POINT", help="only from this point on")
    parser.add_argument("--until", default="", metavar="POINT", help="only up to this point")
    parser.add_argument("--turns", action="store_true", help="name the turns of each state")


def run(arguments: Namespace) -> int:
    """Print the states, oldest first."""
    with open_memory(arguments) as memory:
        what = find_in_history(memory, arguments.what)
        found = memory.timeline(what, since=arguments.since, until=arguments.until)
    if arguments.json:
        show_json(found)
        return 0
    note = ""
    for one in found:
        # A key may have been several cards in turn: each begins with its own line.
        if one.note != note:
            show(f"{one.key or one.path}  {one.note}")
            note = one.note
        _show_entry(one, turns=arguments.turns)
    return 0


def _show_entry(one: TimelineEntry, *, turns: bool) -> None:
    cause, sure = one.cause, f"  {one.confidence:.2f}" if one.confidence else ""
    at, change = f"{cause.at:%Y-%m-%d %H:%M}", pad(say(one.change), 10)
    show(f"  v{cause.version:<5} {at}  {change} {one.says}{sure}")
    start = f"{one.valid_from:%Y-%m-%d}" if one.valid_from else ""
    end = f"{one.valid_to:%Y-%m-%d}" if one.valid_to else ""
    so = "so from {start} to {end}" if end else "so from {start}" if start else ""
    so = say(so, start=start or "?", end=end)
    why = f'{cause.op} "{translate(cause.why)}"' if cause.why else cause.op
    why = why or ("" if cause.job else say(cause.kind))
    merged = say("a merge") if cause.merged else ""
    by = cause.model or ("" if cause.job else cause.author)
    parts = (say(one.status), so, cause.short, why, merged, by)
    show(f"         {'  '.join(part for part in parts if part)}")
    if turns and one.sources:
        show(f"         {say('turns')}  {', '.join(one.sources)}")

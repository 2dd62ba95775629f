"""``timeline``: show every state of a note or a key."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.cli.filter_options import NOTE_HELP, find_in_history
from kimi_memory.cli.shared import open_memory, pad, say, show_result, translate
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
    lines, note = list[str](), ""
    for one in found:
        # A key may have been several cards in turn: each begins with its own line.
        if one.note != note:
            lines.append(f"{one.key or one.path}  {one.note}")
            note = one.note
        lines += _format_entry(one, turns=arguments.turns)
    return show_result(arguments, found, lines)


def _format_entry(one: TimelineEntry, *, turns: bool) -> Iterator[str]:
    cause, sure = one.cause, f"  {one.confidence:.2f}" if one.confidence else ""
    at, change = f"{cause.at:%Y-%m-%d %H:%M}", pad(say(one.change), 10)
    yield f"  v{cause.version:<5} {at}  {change} {one.says}{sure}"
    start = f"{one.valid_from:%Y-%m-%d}" if one.valid_from else ""
    end = f"{one.valid_to:%Y-%m-%d}" if one.valid_to else ""
    so = "so from {start} to {end}" if end else "so from {start}" if start else ""
    so = say(so, start=start or "?", end=end)
    why = f'{cause.op} "{translate(cause.why)}"' if cause.why else cause.op
    why = why or ("" if cause.job else say(cause.kind))
    merged = say("a merge") if cause.merged else ""
    by = cause.model or ("" if cause.job else cause.author)
    parts = (say(one.status), so, cause.short, why, merged, by)
    yield f"         {'  '.join(part for part in parts if part)}"
    if turns and one.sources:
        yield f"         {say('turns')}  {', '.join(one.sources)}"

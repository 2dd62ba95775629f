"""``get``: show a note by id, a turn, or lines of a file by path."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.api.memory import Memory
from kimi_memory.cli.filter_options import NOTE_HELP, find_listed, open_then
from kimi_memory.cli.shared import add_copy, add_valid_at, named_point, open_memory, show_result
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.nlp.basic.quotes import split_citation, split_commit
from kimi_memory.operations.find_note import find_note
from kimi_memory.store.notes.sessions import cite_turn


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "what", help=f"{NOTE_HELP}; a path, a citation: path#L2-L5, or a turn: session:ID#2"
    )
    parser.add_argument("--from", type=int, default=1, dest="first", help="first line, from 1")
    parser.add_argument("--lines", type=int, default=0, help="how many lines; default: all")
    parser.add_argument("--as-of", default="", metavar="POINT", help="as it was at this point")
    add_copy(parser)
    add_valid_at(parser)
    parser.add_argument("--related", action="store_true", help="show what the note is linked with")
    parser.add_argument("--hops", type=int, choices=(1, 2), default=1, help="links to follow")


def run(arguments: Namespace) -> int:
    """Print the text, or what the note is linked with."""
    if arguments.related:
        # A note as it is takes a third as long.
        from kimi_memory.cli.related import show_related

        return show_related(arguments)
    if arguments.first < 1 or arguments.lines < 0:
        raise UsageError("Lines are counted from 1. Give --from 1 or more.")
    with open_memory(arguments, follow=True) as memory:
        what = find_listed(memory, arguments.what)
        point = named_point(arguments)
        what = what if point else cite_turn(memory.store, what)
        if arguments.valid_at:
            with open_then(memory, arguments) as past:
                path, text = _read_text(past, what)
        else:
            path, text = _read_text(memory, what, point)
    first, count = _line_range(what, arguments)
    lines = text.splitlines()[first - 1 :]
    lines = lines[:count] if count else lines
    return show_result(
        arguments, {"path": path, "from": first, "text": "\n".join(lines)}, "\n".join(lines)
    )


def _line_range(what: str, arguments: Namespace) -> tuple[int, int]:
    """Return the first line and how many: of a citation, or as the options say."""
    _, first, last = split_citation(what)
    # Options are what was typed last and on purpose; the lines of a citation are often only pasted.
    if not first or arguments.first > 1 or arguments.lines:
        return arguments.first, arguments.lines
    return first, last - first + 1


def _read_text(memory: Memory, what: str, point: str = "") -> tuple[str, str]:
    """Return path and text of a file, or of the note of an id; at a point where one is named."""
    path = what.split("#", 1)[0]
    # A file may have an @ in its name, so what is there goes before what the sign could mean.
    path, commit = (path, "") if memory.store.exists(path) else split_commit(path)
    if point or commit:
        then = memory.at(point or commit)
        try:
            return then.get(path)
        except NotFoundError:
            # It is no path of then: perhaps an id or a key.
            return then.get(find_note(memory, path))
    try:
        return path, memory.store.text(path)
    except NotFoundError:
        # It is no file: perhaps an id or a key.
        pass
    try:
        filed = memory.get(find_note(memory, what))
    except NotFoundError:
        raise NotFoundError("note or file", what) from None
    return filed.path, filed.text

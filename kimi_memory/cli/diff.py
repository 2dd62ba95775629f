"""``diff``: show what changed."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import (
    open_memory,
    pad,
    say,
    show,
    show_diff,
    show_json,
    show_result,
    translate,
)
from kimi_memory.domain.past import BeliefChange, BeliefDiff
from kimi_memory.errors import UsageError
from kimi_memory.past.beliefs import SIGNS


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    forms = "a date, a commit, v12, a name, a job's id, or JOB^ for what was before it"
    parser.add_argument("old", nargs="?", default="HEAD", help=f"{forms}; default: HEAD")
    parser.add_argument("new", nargs="?", default="", help="the same; default: the files now")
    parser.add_argument("--path", default="", help="only one file")
    parser.add_argument("--all", action="store_true", help="also records of jobs and time stamps")
    parser.add_argument("--beliefs", action="store_true", help="compare what cards say, not files")
    parser.add_argument("--key", action="append", default=[], help="beliefs of this key alone")
    parser.add_argument("--project", default="", help="beliefs of this project alone")
    parser.add_argument("--why", action="store_true", help="name the job that changed each belief")


def run(arguments: Namespace) -> int:
    """Print the difference."""
    if arguments.beliefs:
        return _show_beliefs(arguments)
    if arguments.key or arguments.project or arguments.why:
        raise UsageError("--key, --project and --why are for beliefs. Add --beliefs.")
    with open_memory(arguments) as memory:
        old, new = (_find_commit(memory, text) for text in (arguments.old, arguments.new))
        text = memory.history.diff(old, new, arguments.path)
    if arguments.json:
        show_json({"diff": text})
    elif text:
        show_diff(text, whole=arguments.all)
    else:
        show(say("No difference."))
    return 0


def _find_commit(memory: Memory, text: str) -> str:
    # Before the first commit HEAD names nothing, and the diff of everything is still asked for.
    return memory.points.find(text).commit if text not in ("", "HEAD") else text


def _show_beliefs(arguments: Namespace) -> int:
    keys = tuple(arguments.key)
    with open_memory(arguments) as memory:
        found = memory.beliefs(
            arguments.old, arguments.new, keys=keys, project=arguments.project, why=arguments.why
        )
    return show_result(arguments, found, format_beliefs(found))


def format_beliefs(found: BeliefDiff) -> Iterator[str]:
    """Yield a line for each belief that differs, and one that counts them."""
    for one in found.changes:
        yield format_change(one)
        # Only with `--why`, which asks the history of each belief and takes longer.
        if one.cause is not None:
            said = translate(one.cause.why)
            why = f'{one.cause.op} "{said}"' if said else one.cause.op
            # An undo leaves no record of its own.
            why = why or ("" if one.cause.job else say(one.cause.kind))
            at = f"{one.cause.at:%Y-%m-%d %H:%M}"
            yield f"{'':12}{at}  {one.cause.short}  {why}".rstrip()
    if found.forgotten:
        text = "forgotten {count} beliefs, on request"
        yield f"{SIGNS['forgotten']} {say(text, count=found.forgotten)}"
    count = len(found.changes) + found.forgotten
    yield say("{count} of {all} beliefs differ", count=count, all=found.total)


def format_change(one: BeliefChange) -> str:
    """Return a line of what became of a belief."""
    return f"{SIGNS[one.change]} {pad(say(one.change), 9)} {pad(one.key, 24)} {_format_values(one)}"


def _format_values(one: BeliefChange) -> str:
    """Return what it says, or both, or how sure it is."""
    if one.old and one.new and one.old != one.new:
        return f"{one.old} → {one.new}"
    said = one.new or one.old
    if one.old and one.new and one.old_confidence != one.new_confidence:
        return f"{said}  {one.old_confidence:.2f} → {one.new_confidence:.2f}"
    return said

"""``blame``: show since when a line or a field says what it says, and why."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import fields

from kimi_memory.cli.filter_options import find_in_history
from kimi_memory.cli.shared import (
    add_copy,
    named_point,
    open_memory,
    pad,
    say,
    show_result,
    translate,
)
from kimi_memory.cli.since_line import format_since
from kimi_memory.domain.past import BlameLine, BlameTurn, Cause, CopyKnew
from kimi_memory.past.copies import HERE

# Enough to recognise a turn; `get` shows the whole of it.
_LONGEST = 200
_OF_COMMIT = ("commit", "version", "at", "copy", "author", "merged")
_OF_JOB = ("kind", "model", "prompt", "op", "why")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "what",
        help="a path, path:12, path:12-14, a citation path#L2-L5, a note's id, a key, "
        "or project/key",
    )
    parser.add_argument("--field", default="", help="of a note, such as value or status")
    parser.add_argument("--as-of", default="", metavar="POINT", help="as it was at this point")
    add_copy(parser)
    parser.add_argument(
        "--copies", action="store_true", help="since when each copy has it, and what others say"
    )
    parser.add_argument("--all", action="store_true", help="everything the field said before")


def run(arguments: Namespace) -> int:
    """Print each line, and where it comes from."""
    with open_memory(arguments) as memory:
        what = find_in_history(memory, arguments.what)
        found = memory.blame(
            what, field=arguments.field, at=named_point(arguments), copies=arguments.copies
        )
    lines = (line for one in found for line in _format_line(one, every=arguments.all))
    return show_result(arguments, [_describe(one) for one in found], lines)


def _describe(one: BlameLine) -> dict[str, object]:
    """Return a line for programs, with its commit beside it and the job apart."""
    before = [{"says": earlier.says, **_describe_cause(earlier.cause)} for earlier in one.before]
    about = {f.name: getattr(one, f.name) for f in fields(one) if f.name != "cause"}
    return {**about, **_describe_cause(one.cause), "before": before}


def _describe_cause(cause: Cause | None) -> dict[str, object]:
    """Return a commit and its job; null where there is none."""
    if cause is None:
        return dict.fromkeys((*_OF_COMMIT, "job"))
    job = {"id": cause.job, **{name: getattr(cause, name) for name in _OF_JOB}}
    commit = {name: getattr(cause, name) for name in _OF_COMMIT}
    return {**commit, "job": job if cause.job else None}


def _format_line(one: BlameLine, *, every: bool) -> Iterator[str]:
    place = f"{one.path}:{one.line}" if one.line else one.path
    yield f"{place}  {one.text}"
    if one.note:
        yield _format_row("shows", f"{one.note}  {one.field}".rstrip())
    if one.cause is not None:
        yield from _format_cause(one.cause)
    if one.signer:
        yield _format_row("signed", f"{one.signer} ✓")
    if one.now is not None:
        yield _format_row("now", format_since(one.now))
    yield from map(_format_turn, one.turns)
    yield from map(_format_copy, one.copies)
    # One earlier value answers most questions; a setting that changes daily has hundreds.
    for earlier in one.before if every else one.before[:1]:
        cause = earlier.cause
        yield _format_row("before", f'"{earlier.says}"  {cause.at:%Y-%m-%d %H:%M}  {cause.short}')


def _format_row(name: str, text: str) -> str:
    return f"  {pad(say(name), 7)} {text}"


def _format_cause(cause: Cause) -> Iterator[str]:
    copy = f"  {say('copy {id}', id=cause.copy)}" if cause.copy else ""
    merged = f"  {say('a merge')}" if cause.merged else ""
    at = f"{cause.at:%Y-%m-%d %H:%M}"
    yield _format_row("since", f"{at}  {cause.commit[:10]}  v{cause.version}{copy}{merged}")
    if cause.job:
        why = f'  {cause.op} "{translate(cause.why)}"' if cause.op else ""
        yield _format_row("job", f"{cause.job}{why}")
        yield _format_row("model", cause.model or say("none"))
    else:
        yield _format_row("by", cause.author)


def _format_copy(one: CopyKnew) -> str:
    name = f" ({say(one.name) if one.name == HERE else one.name})" if one.name else ""
    place = f"v{one.version}, {one.at:%Y-%m-%d %H:%M}"
    if one.has:
        said = say("since {point}", point=place)
    else:
        said = say("lacked it at {point}", point=place)
        said += f': "{one.says}"' if one.says else ""
    return _format_row("copies", f"{one.copy}{name}  {said}")


def _format_turn(turn: BlameTurn) -> str:
    text = " ".join(turn.text.split())
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    mark = say("verified" if turn.verified else "NOT VERIFIED")
    against = say(", against it") if turn.rel == "contradicts" else ""
    return _format_row(
        "turns", f'{turn.source}  {turn.speaker}  "{text}"  {mark}{against}'.rstrip()
    )

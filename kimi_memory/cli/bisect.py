"""``bisect``: find the version from which on a note says something, or a test fails."""

from __future__ import annotations

import os
import subprocess
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.diff import format_change
from kimi_memory.cli.filter_options import NOTE_HELP, find_in_history, open_exactly
from kimi_memory.cli.shared import open_memory, say, show_result, translate
from kimi_memory.domain.past import Cause
from kimi_memory.errors import UsageError
from kimi_memory.past.bisect import Flip, Wrong
from kimi_memory.past.bisect_versions import Judge, Verdict, VersionFlip, find_version_flips
from kimi_memory.past.points import Point
from kimi_memory.recall.eval_cases import check_case, read_case_file

_SKIP = 125
"""The exit code of a command that cannot tell, as for git."""
_NO_COMMAND = (126, 127)
"""Exit codes of a shell that could not run it."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", nargs="?", default="", help=NOTE_HELP)
    parser.add_argument("--says", default="", metavar="TEXT", help="since when it says these words")
    parser.add_argument("--not-says", default="", metavar="TEXT", help="since when it does not")
    parser.add_argument("--status", default="", help="since when it has this status")
    parser.add_argument("--below", type=float, metavar="CONFIDENCE", help="since when it is less")
    parser.add_argument(
        "--eval", type=Path, metavar="FILE", help="since when a case of this file fails"
    )
    parser.add_argument("--name", default="", help="with --eval: cases whose name has these words")
    parser.add_argument(
        "--run",
        dest="test",
        default="",
        metavar="COMMAND",
        help="since when a command fails for the memory that KIMI_MEMORY names; exit 125: skip",
    )
    parser.add_argument("--good", default="", metavar="POINT", help="only after this point")
    parser.add_argument("--bad", default="", metavar="POINT", help="only up to this point")
    parser.add_argument(
        "--all", action="store_true", help="every time it began or ceased; tests each version"
    )


def run(arguments: Namespace) -> int:
    """Print where it began; 1 where it never was so."""
    if arguments.eval or arguments.test:
        return _run_test(arguments)
    if not arguments.what:
        raise UsageError("Name a key or a note; or a test of all with --eval or --run.")
    wrong = Wrong(arguments.says, arguments.not_says, arguments.status, arguments.below)
    with open_memory(arguments) as memory:
        what = find_in_history(memory, arguments.what)
        flips = memory.bisect(what, wrong, good=arguments.good, bad=arguments.bad)
    begun = [one for one in flips if one.begins]
    shown = flips if arguments.all else begun[-1:]
    lines = (line for flip in shown for line in _format_flip(flip, what))
    show_result(arguments, shown, lines if begun else [say("It never was so.")])
    return 0 if begun else 1


def _format_flip(flip: Flip, what: str) -> Iterator[str]:
    cause = flip.cause
    yield _format_cause(cause, begins=flip.begins)
    yield f'  {say("it says")}: "{flip.says}"'
    for turn in flip.turns:
        place = f"{turn.path}#L{turn.line}" if turn.path else ""
        row = f'{turn.source}  {turn.speaker}  "{turn.text}"  {place}'
        yield f"  {say('the turn')}: {row}".rstrip()
    if flip.before:
        yield f'  {say("until")} v{flip.before_version}: "{flip.before}"'
    if flip.begins and cause.job:
        yield f"  {say('take it back: kimi-memory undo {job}', job=cause.job)}"
    if flip.begins and flip.before:
        # A job may have learned much else; `rollback` takes an id as a whole.
        only = flip.note if flip.note.startswith(what) else what
        text = "only this: kimi-memory rollback v{version} --only {what}"
        yield f"  {say(text, version=flip.before_version, what=only)}"


def _format_cause(cause: Cause, *, begins: bool) -> str:
    why = f'{cause.op} "{translate(cause.why)}"' if cause.why else cause.op
    since = say("since" if begins else "until")
    parts = (
        f"{since} v{cause.version}, {cause.at:%Y-%m-%d %H:%M}", cause.short, cause.model, why
    )  # fmt: skip
    return "  ".join(part for part in parts if part)


def _run_test(arguments: Namespace) -> int:
    wrong = (arguments.says, arguments.not_says, arguments.status, arguments.below)
    if arguments.what or any(one not in ("", None) for one in wrong):
        raise UsageError("--eval and --run test the whole memory. Leave the rest out.")
    if bool(arguments.eval) == bool(arguments.test) or (arguments.name and arguments.test):
        raise UsageError("Give --eval, with or without --name, or --run.")
    with open_memory(arguments) as memory:
        judge = _build_eval(memory, arguments) if arguments.eval else _build_run(memory, arguments)
        good, bad = (
            memory.points.find(text) if text else None for text in (arguments.good, arguments.bad)
        )
        verdicts: list[Verdict] = []

        def listen(point: Point) -> Verdict:
            verdicts.append(judge(point))
            return verdicts[-1]

        flips = find_version_flips(memory.past, listen, good, bad, every=arguments.all)
    failed = any(one.failed for one in verdicts)
    never = "It fails at every version that was tested." if failed else "It does not fail."
    lines = [line for flip in flips for line in _format_version(flip)]
    show_result(arguments, flips, lines or [say(never)])
    return 0 if any(flip.begins for flip in flips) else 1


def _build_eval(memory: Memory, arguments: Namespace) -> Judge:
    """Return a test that asks the questions of a file at a version."""
    wanted = arguments.name.casefold()
    cases = [one for one in read_case_file(arguments.eval) if wanted in one.name.casefold()]
    if not cases:
        raise UsageError(f"{arguments.eval} has no case of that name. Leave out --name.")

    def judge(point: Point) -> Verdict:
        past = memory.at(point.commit)
        found = [check_case(past.engine, one, past.now(), memory.zone) for one in cases]
        why = [f"{one.name}: {line}" for one in found for line in one.why]
        return Verdict(bool(why), tuple(why))

    return judge


def _build_run(memory: Memory, arguments: Namespace) -> Judge:
    """Return a test that runs a command for the memory of a version."""

    def judge(point: Point) -> Verdict:
        with open_exactly(memory, point.commit) as (_, past):
            environment = os.environ | {"KIMI_MEMORY": str(past.root)}
            # Through a shell: what a person types has pipes.
            done = subprocess.run(  # noqa: S602  the person's own words
                arguments.test,
                shell=True,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        code = done.returncode
        if code in _NO_COMMAND or not 0 <= code < 128:
            raise UsageError(f"The command could not be run at v{point.version} (exit {code}).")
        lines = done.stdout.decode("utf-8", "replace").splitlines()[-3:]
        return Verdict(None if code == _SKIP else code != 0, (f"exit {code}", *lines))

    return judge


def _format_version(flip: VersionFlip) -> Iterator[str]:
    yield _format_cause(flip.cause, begins=flip.begins)
    for line in flip.why if flip.begins else ():
        yield f"  {line}"
    for change in flip.changes:
        yield f"  {format_change(change)}"
    passes = "passes at {version}" if flip.begins else "fails at {version}"
    yield f"  {say(passes, version=f'v{flip.before_version}')}"
    if flip.begins and flip.cause.job:
        yield f"  {say('take it back: kimi-memory undo {job}', job=flip.cause.job)}"

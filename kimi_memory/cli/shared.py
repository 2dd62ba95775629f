"""What commands share: finding the memory, printing values, differences and text for a terminal.

Text is in the reader's language, as wide as the terminal, in colours, page by page.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening, read_settings, unknown_settings, user_host
from kimi_memory.config import MARKER, Settings
from kimi_memory.domain.ids import read_run
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import KimiMemoryError, LockTimeoutError, NotAMemoryError, UsageError
from kimi_memory.formats.chinese import (
    read_chinese,
    translate_check,
    translate_finding,
    translate_message,
)
from kimi_memory.formats.json_values import plain
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.counted import AGREEING, agree
from kimi_memory.nlp.basic.safe_text import printable, printable_line
from kimi_memory.nlp.basic.sentences import count_columns, cut, pad, wrap
from kimi_memory.nlp.dates.vocabulary import Zone, day_in, from_clocks
from kimi_memory.store.files.code_branch import FILE as FOLLOWED
from kimi_memory.store.files.code_branch import find_working_copy

if TYPE_CHECKING:
    from kimi_memory.domain.job import JobReport

__all__ = [
    "count_columns",
    "cut",
    "find_locale",
    "find_width",
    "is_coloured",
    "pad",
    "paged",
    "paint",
    "paint_diff",
    "print_error",
    "say",
    "say_check",
    "say_finding",
    "translate",
    "wrap",
]

_NARROWEST = 40
"""Fewer columns are not laid out for: most would be indentation."""
_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

_COUNTED = re.compile(rf"{{(\w+)}} (?P<words>{AGREEING})")

_OPTIONS = "FRX"
"""Of less: end where all fits on one screen, show colours, and leave the text on the screen."""


def find_width(stream: TextIO | None = None) -> int:
    """Return how many columns lines are laid out for; 0 where they stay as they are.

    Args:
        stream: where they are printed; standard output if None.
    """
    # Programs that read a pipe need each line whole.
    if not (stream or sys.stdout).isatty():
        return 0
    return max(_NARROWEST, shutil.get_terminal_size().columns)


def print_error(text: str) -> None:
    """Print a line, safe to print already, to standard error, as wide as the terminal."""
    for part in wrap(text, find_width(sys.stderr)):
        print(part, file=sys.stderr)


def is_coloured() -> bool:
    """Whether standard output takes colours and the reader wants them."""
    # https://no-color.org: any value but an empty one turns them off.
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def paint(text: str, style: str) -> str:
    """Return a text, safe to print already, in a style where there are colours."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and is_coloured() else text


def paint_diff(line: str) -> str:
    """Return a line of a diff, safe to print already, in the colours git has."""
    if line.startswith(("--- ", "+++ ", "diff ", "index ")):
        return paint(line, "bold")
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return paint(line, styles[line[0]]) if line[:1] in styles else line


def find_locale() -> str:
    """Return the language that the terminal speaks, as POSIX looks for it."""
    # In the order of POSIX: the first that is set decides.
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := os.environ.get(name))), "")


def say(text: str, **values: object) -> str:
    """Return an English text in the reader's language, with values in their places."""
    if _reads_chinese():
        text = read_chinese().get(text, text)
    elif values:
        text = _COUNTED.sub(lambda found: _agree(found, values), text)
    return text.format(**values) if values else text


def _agree(found: re.Match[str], values: Mapping[str, object]) -> str:
    """Return a place for a number and the words after it, in the singular where it is one."""
    value = values.get(found[1])
    count = value if type(value) is int else 0
    return f"{{{found[1]}}} {agree(count, found['words'])}"


def translate(text: str) -> str:
    """Return an English message, its values in their places already, in the reader's language."""
    return translate_message(text) if _reads_chinese() else text


def say_finding(text: str) -> str:
    """Return what a check found in the reader's language, with the parts that have one."""
    return translate_finding(text) if _reads_chinese() else text


def say_check(name: str) -> str:
    """Return the name of a check in the reader's language."""
    return translate_check(name) if _reads_chinese() else name


def _reads_chinese() -> bool:
    return find_locale().startswith("zh")


class _Terminal(io.StringIO):
    """Output that goes to a terminal a little later."""

    def isatty(self) -> bool:
        """Whether a person reads it."""
        return True


@contextmanager
def paged() -> Iterator[None]:
    """Show what is printed meanwhile through a pager if it is longer than the terminal is high."""
    shown = sys.stdout
    if not shown.isatty():
        yield
        return
    sys.stdout = kept = _Terminal()
    try:
        yield
    finally:
        sys.stdout = shown
        _show(kept.getvalue())


def _show(text: str) -> None:
    size = shutil.get_terminal_size()
    rows = sum(1 + max(0, count_columns(one) - 1) // size.columns for one in text.splitlines())
    pager = _find_pager() if rows >= size.lines else []
    if not pager:
        print(text, end="", flush=True)
        return
    options = {"LESS": _OPTIONS, "LESSCHARSET": "utf-8"}
    # The reader ends it: to stop it with an error of ours would leave the terminal in its state.
    subprocess.run(pager, input=text, encoding="utf-8", env={**options, **os.environ}, check=False)


def _find_pager() -> list[str]:
    """Return the command of the reader's pager; empty where there is none."""
    words = shlex.split(os.environ.get("PAGER", "less"))
    if not words or words[0] == "cat" or shutil.which(words[0]) is None:
        return []
    return words


_STAMP = re.compile(r"[+-](?:updated|verified): \d{4}-")
"""When a note was written or looked at: each job sets it anew."""
_BOOKS = re.compile(r"(?:mid-term/jobs/|short-term/recalls|mid-term/tombstones)")
"""Files that say how something was done; what was done stands in the others."""


def show_diff(diff: str, indent: str = "", *, whole: bool = False) -> None:
    """Print a diff.

    Args:
        diff: a unified one of any number of files.
        indent: stands before each line.
        whole: also the stamps and records that only keep the books.
    """
    width = find_width()
    for line in diff.splitlines() if whole else fold_books(diff):
        for part in wrap(f"{indent}{printable(line)}", width):
            # All parts of a long line look like its first.
            print(indent + paint_diff(line[:1] + part.removeprefix(indent).removeprefix(line[:1])))


def fold_books(diff: str) -> Iterator[str]:
    """Yield the lines of a diff that say something; files of records are only counted."""
    left_out = 0
    lines = diff.splitlines()
    starts = [at for at, line in enumerate(lines) if _is_start(lines, at)]
    yield from lines[: starts[0] if starts else None]
    for start, end in pairwise([*starts, len(lines)]):
        file = lines[start:end]
        if _BOOKS.match(_find_path(file)):
            left_out += 1
        else:
            yield from _without_stamps(file)
    if left_out:
        yield say("({count} files of records left out; --all shows them)", count=left_out)


def _is_start(lines: list[str], at: int) -> bool:
    """Whether the part of a file begins at a line."""
    if lines[at].startswith("diff --git "):
        return True
    # git's own line stands above these two; a removed line may look like the first.
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if not (lines[at].startswith("--- ") and below.startswith("+++ ")):
        return False
    return not any(line.startswith("diff --git ") for line in lines[max(0, at - 6) : at])


def _find_path(file: list[str]) -> str:
    named = [line[6:] for line in file[:7] if line.startswith(("--- a/", "+++ b/"))]
    return named[-1] if named else ""


def _without_stamps(file: list[str]) -> Iterator[str]:
    """Yield a file's part without the stamps, and without hunks of stamps alone."""
    starts = [at for at, line in enumerate(file) if line.startswith("@@ ")]
    hunks = [_drop_stamps(file[start:end]) for start, end in pairwise([*starts, len(file)])]
    told = [hunk for hunk in hunks if any(line[:1] in ("+", "-") for line in hunk[1:])]
    # A renamed file has no hunks, and says something all the same.
    if told or not hunks:
        yield from file[: starts[0] if starts else None]
        yield from chain.from_iterable(told)


def _drop_stamps(hunk: list[str]) -> list[str]:
    return [line for line in hunk if not _STAMP.match(line)]


def find_person() -> Actor:
    """Return who types, and the run of an agent that a command was called in."""
    # At a terminal that is the owner; programs come in by hooks, MCP or HTTP and are named there.
    return Actor("cli", Origin.HUMAN, run=read_run(os.environ))


def open_memory(arguments: Namespace, *, follow: bool = False) -> Memory:
    """Open the memory a command is about; history is committed by jobs and by `leave`.

    A name in a settings file that no setting has is reported each time: it changes nothing, so
    nothing else would show it.

    Args:
        arguments: of the command.
        follow: open the working copy for the branch of code that is checked out here, where the
            memory follows branches of code.
    """
    root = find_memory(arguments)
    # No threads: a command ends at once, and what a thread still had to do would be cut off.
    opening = Opening(actor=find_person(), background=False)
    memory = Memory.open(follow_code(root) if follow else root, opening)
    # On standard error, so that JSON on standard output stays whole.
    for one in unknown_settings(memory.root, memory.home, memory.host):
        show_note(f"kimi-memory: {one.message}. {one.remedy}")
    if memory.store.moved:
        show_note(f"kimi-memory: note: this memory moved to {memory.store.moved}; read it there.")
    if memory.settings_wait:
        why = f"memory.toml waits for your word ({memory.settings_wait})"
        show_note(f"kimi-memory: note: {why}; the settings before it count. See 'review'.")
    if not getattr(arguments, "dry_run", False):
        _repair_merges(memory)
    return memory


def follow_code(root: Path) -> Path:
    """Return the working copy for the branch of code that is checked out here, or the memory."""
    if not (root / FOLLOWED).is_file():
        return root
    name, place = find_working_copy(str(root), str(Path.cwd()))
    if not name:
        return root
    if not (Path(place) / MARKER).is_file():
        with Memory.open(root, Opening(actor=find_person(), background=False)) as memory:
            memory.follow_code(Path.cwd())
    show_note(f"kimi-memory: note: this is {name}, the working copy for this branch of code")
    return Path(place)


def _repair_merges(memory: Memory) -> None:
    try:
        lines = memory.repair_merges()
    except KimiMemoryError as error:
        # Reading goes on without: of a file with marks the last sound version is read.
        lines = [f"a merge of git is not repaired yet: {error}"]
    for line in lines:
        show_note(f"kimi-memory: note: {line}")


def locate_settings(arguments: Namespace) -> tuple[Path, Settings]:
    """Return the folder of the memory a command is about, and its settings; it is not opened."""
    root = find_memory(arguments).expanduser().resolve()
    return root, read_settings(root)


def user_plugins() -> Host:
    """Return the plugins of the user, for what needs no memory."""
    return user_host(Home.of_user())


def add_within(parser: ArgumentParser) -> None:
    """Declare whose private scopes a command may see."""
    parser.add_argument(
        "--within",
        action="append",
        metavar="SCOPE",
        help="show what is shared, and this private scope such as agent:NAME; may be repeated, "
        "'' for none; else all",
    )


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


def within(arguments: Namespace) -> tuple[str, ...] | None:
    """Return the private scopes that were named, None for all."""
    return None if arguments.within is None else tuple(arguments.within)


def leave(memory: Memory) -> None:
    """Commit what earlier commands left pending, if it is time; nothing is lost if not."""
    notes = [*memory.notes]
    try:
        if memory.batch.due() and not _is_reconciling(memory):
            memory.batch.flush()
    except KimiMemoryError as error:
        # The notes are on disk already; a commit that waits is no reason to call the command a
        # failure. On a read-only disk not even the lock for it can be taken.
        notes.append(f"history is behind: {error}")
    for note in notes:
        show_note(f"kimi-memory: note: {note}")


def _is_reconciling(memory: Memory) -> bool:
    """Whether another process takes note of many files, which it will commit itself."""
    # To commit a hundred thousand files takes half a minute, for which no turn has to wait.
    try:
        with memory.store.lock("reconcile", timeout_seconds=0):
            return False
    except LockTimeoutError:
        return True


def show(text: str = "") -> None:
    """Print text for people as one line: a name with a line break in it begins no line of ours."""
    show_text(printable_line(text))


def show_text(text: str) -> None:
    """Print the lines of a text for people: control characters visible, as wide as the terminal."""
    width, text = find_width(), printable(text)
    if not width:
        print(text)
        return
    for line in text.split("\n"):
        for part in wrap(line, width):
            print(part)


def show_title(text: str) -> None:
    """Print the line that a thing begins with, in bold where the terminal can do that."""
    for part in wrap(printable_line(text), find_width()):
        print(paint(part, "bold"))


def show_fields(fields: Mapping[str, str]) -> None:
    """Print names with what belongs to them, one below the other; empty ones are left out."""
    widest = max(8, *map(count_columns, fields))
    for name, value in fields.items():
        if value:
            show_field(name, value, widest)


def show_field(name: str, value: str, columns: int = 8, start: int = 2) -> None:
    """Print a name with what belongs to it, which stays in its column however long it is.

    Args:
        name: what it is called.
        value: what belongs to it.
        columns: how wide the column of names is.
        start: where that begins.
    """
    head = f"{' ' * start}{pad(name, columns)} "
    for part in wrap(printable_line(f"{head}{value}"), find_width(), count_columns(head)):
        print(part)


def show_note(text: str) -> None:
    """Print a line for people to standard error, beside what programs read."""
    print_error(printable_line(text))


def read_input() -> str:
    """Return standard input; say so where a person at a terminal has to type it."""
    if sys.stdin.isatty():
        show_note(say("Type it here. Ctrl D on a line of its own ends it."))
    return sys.stdin.read()


def show_json(value: object) -> None:
    """Print a value as JSON."""
    # Not escaped for terminals: programs need the words as they are, and JSON escapes controls.
    print(json.dumps(plain(value), ensure_ascii=False, indent=2))


def show_result(arguments: Namespace, value: object, text: str | Iterable[str]) -> int:
    """Print a value as JSON where asked for, else text or lines for people; return the code 0."""
    if arguments.json:
        show_json(value)
    elif isinstance(text, str):
        show_text(text)
    else:
        for line in text:
            show(line)
    return 0


def foretell(arguments: Namespace, line: str) -> int:
    """Print what a dry run would do; return the exit code."""
    return show_result(arguments, {"would": line}, line)


def moment(text: str, zone: Zone) -> datetime:
    """Read a date or time argument; one without a zone is meant in that of the memory.

    Raises:
        UsageError: it is neither.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is no date. Write 2026-02-27 or 2026-02-27T09:30.") from None
    # People mean their own clock, while files hold UTC.
    return found if found.tzinfo else from_clocks(found, zone)


def parse_json(text: str, place: str, example: str) -> object:
    """Read JSON that a person typed or a program piped.

    Args:
        text: the JSON.
        place: where it stands, such as the name of an option.
        example: what fits there.

    Raises:
        UsageError: it is none, or holds a number that JSON has not.
    """
    try:
        value: object = json.loads(text)
        # Python reads NaN and Infinity, which no other reader of our JSON lines would.
        json.dumps(value, allow_nan=False)
    except json.JSONDecodeError as error:
        why = f"line {error.lineno}, column {error.colno}: {error.msg}"
    # Thousands of brackets are a mistake of the input, not a crash of ours.
    except RecursionError:
        why = "it is nested too deep"
    except ValueError as error:
        why = str(error)
    else:
        return value
    raise UsageError(f"{place} is not JSON ({why}). Give {example}.")


def day_argument(text: str, zone: Zone) -> date:
    """Read a date argument; of a time, its day in the zone of the memory.

    Raises:
        UsageError: it is neither.
    """
    return day_in(moment(text, zone), zone)


def show_report(report: JobReport) -> None:
    """Print what a job did."""
    if report.failed:
        show(f"{report.kind} {report.subject}: {say('failed')}: {translate(report.failed)}")
    elif report.paths and not report.id:
        show(f"{report.kind}: {report.subject}")
    elif not report.id:
        show(f"{report.kind} {report.subject}: {say('nothing to do')}")
    else:
        counts = ", ".join(f"{count} {op}" for op, count in sorted(report.counts.items()))
        show(f"{report.kind} {report.subject}: {counts or say('files only')}  [{report.id}]")
        for operation in report.operations:
            why = translate(operation.why)
            show(f"  {operation.op:<12} {operation.key or operation.target}  {why}")
    if report.spent.calls:
        cost = f"{report.spent.tokens_in} tokens in, {report.spent.tokens_out} out"
        show(f"  model        {report.model}: {report.spent.calls} asked, {cost}")
    for line in report.left_out:
        show_field(say("left out"), translate(line), 12)
    if report.diff:
        show_diff(report.diff)


def finish_reports(arguments: Namespace, reports: list[JobReport]) -> int:
    """Print the reports of a command, for people or as JSON; not 0 where one failed."""
    # One day that failed does not stop the others, but a scheduler must see it.
    code = KimiMemoryError.exit_code if any(report.failed for report in reports) else 0
    if arguments.json:
        show_json(reports)
        return code
    for report in reports:
        done = report.id or report.paths or report.left_out or report.failed
        if done or len(reports) == 1:
            show_report(report)
    # A line for each of two hundred days on which nothing happened would hide the one that matters.
    if reports and not any(report.id or report.failed for report in reports) and len(reports) > 1:
        show(f"{reports[0].kind}: nothing to do in {len(reports)} periods")
    return code


def on_terminal() -> bool:
    """Whether a person watches standard error."""
    return sys.stderr.isatty()


def find_memory(arguments: Namespace) -> Path:
    """Return the memory folder a command is about.

    Raises:
        NotAMemoryError: none was named and none lies above the working directory.
    """
    named = arguments.memory or os.environ.get("KIMI_MEMORY")
    if named:
        return Path(named)
    here = Path.cwd()
    # As git does it: from anywhere inside of a memory, commands mean that memory.
    for folder in (here, *here.parents):
        if (folder / MARKER).is_file():
            return folder
    raise NotAMemoryError(here)

"""``purge``: destroy a text or a session everywhere, with proof."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.cli.shared import (
    cut,
    open_memory,
    pad,
    read_input,
    say,
    show_note,
    show_result,
    translate,
)
from kimi_memory.errors import UsageError
from kimi_memory.jobs.purge_file import DoomedLine
from kimi_memory.operations.follow_purge import Followed, follow_all, follow_purges
from kimi_memory.operations.forget import Doomed, PurgeReport, purge
from kimi_memory.operations.prove_purges import prove_purges
from kimi_memory.operations.purge_everywhere import Reached, purge_everywhere

if TYPE_CHECKING:
    from kimi_memory.api.memory import Memory
    from kimi_memory.cluster.purging import SharedPurge

# The whole list stands in the JSON; on a terminal the counts would scroll away behind it.
_SHOWN = 20
_LINES, _LONGEST = 5, 160
"""So many lines of each file are shown, each up to so many columns."""
_OF_WORDS = (".md", ".jsonl")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--text", action="append", default=[], help="words to destroy; - reads standard input"
    )
    parser.add_argument(
        "--session", action="append", default=[], metavar="ID", help="destroy all its turns"
    )
    parser.add_argument(
        "--follow",
        nargs="?",
        const="",
        metavar="SOURCE",
        help="do here what another copy purged: a remote, the copy's folder, or a bundle; "
        "default: all copies on this machine and all remotes",
    )
    parser.add_argument(
        "--identity",
        type=Path,
        metavar="FILE",
        help="with --follow: the key of age or SSH that the bundle is encrypted for",
    )
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="in the other copies on this machine and at remotes, too; alone: what was purged here",
    )
    parser.add_argument(
        "--prove",
        action="store_true",
        help="with --everywhere, and nothing else: say of each place what is proven of the purges "
        "made here, and change nothing; 1 where one may still hold it",
    )
    sure = parser.add_mutually_exclusive_group()
    sure.add_argument("--yes", action="store_true", help="do it; without, only show what would go")
    sure.add_argument(
        "--dry-run", action="store_true", help="only show what would go, as without --yes"
    )


def run(arguments: Namespace) -> int:
    """Show what would be destroyed, or destroy it."""
    if arguments.prove:
        return _prove(arguments)
    if arguments.follow is not None:
        return _follow(arguments)
    # From standard input, so that a secret need not stand in the shell's history or in `ps`.
    texts = tuple(read_input() if text == "-" else text for text in arguments.text)
    doomed = Doomed(texts, tuple(arguments.session))
    if arguments.everywhere:
        return _purge_everywhere(arguments, doomed)
    with open_memory(arguments) as memory:
        if memory.store.relay is not None and arguments.yes:
            return _purge_shared(arguments, memory, doomed)
        report = purge(memory, doomed, yes=arguments.yes)
    show_result(arguments, report, _format_report(report))
    # To standard error even with --json: no receipt may hide that copies exist elsewhere.
    for name in report.remotes:
        shown = name if " " in name else repr(name)
        warning = f"warning: history was shared with {shown}; purge it there as well"
        show_note(f"kimi-memory: {warning}")
    return 0


def purge_on_nodes(memory: Memory, doomed: Doomed) -> SharedPurge:
    """Purge a memory that several machines have on each of them."""
    # What reaches other nodes is not loaded for a memory of this machine alone.
    from kimi_memory.cluster.purging import purge_shared

    return purge_shared(memory, doomed)


def _purge_shared(arguments: Namespace, memory: Memory, doomed: Doomed) -> int:
    """Purge on every node; 1 where it did not reach all of them."""
    found = purge_on_nodes(memory, doomed)
    left = any(one.state == "left" for one in found.nodes)
    lines = [*_format_report(found.report)]
    if found.nodes:
        lines.append(f"  {say('{count} records of the change log', count=found.records)}")
    lines += [f"{one.state:<9}  {one.node}  {one.why}".rstrip() for one in found.nodes]
    if left:
        text = "It is done there as soon as they follow. See 'kimi-memory cluster status'."
        lines.append(say(text))
    if found.nodes:
        text = "Backups of the database, and its own files until they are cleaned, are not reached."
        lines.append(say(text))
    show_result(arguments, found, lines)
    return int(left)


def _prove(arguments: Namespace) -> int:
    """Print what is proven of each place; 1 where one may still hold what was purged."""
    named = arguments.text or arguments.session or arguments.follow is not None
    if named or arguments.yes or not arguments.everywhere:
        raise UsageError("--prove only looks, at what was purged before. Say --everywhere --prove.")
    with open_memory(arguments) as memory:
        found = prove_purges(memory)
    show_result(arguments, found, map(_format_place, found))
    return int(any(one.state == "left" for one in found))


def _follow(arguments: Namespace) -> int:
    if arguments.text or arguments.session or arguments.everywhere:
        raise UsageError("--follow finds by itself what was purged. Give it alone.")
    if arguments.identity and not arguments.follow:
        raise UsageError("--identity reads one bundle. Name it after --follow.")
    with open_memory(arguments) as memory:
        if not arguments.follow:
            every = follow_all(memory, yes=arguments.yes)
        else:
            identity = arguments.identity
            every = [follow_purges(memory, arguments.follow, identity=identity, yes=arguments.yes)]
    lines = (line for followed in every for line in _format_followed(followed))
    show_result(arguments, every if not arguments.follow else every[0], lines)
    return next((one.code for one in every if one.code), 0)


def _format_followed(followed: Followed) -> Iterator[str]:
    """Yield what a source purged, and what of it went here; its failure is printed as an error."""
    if followed.failed:
        show_note(f"kimi-memory: {followed.source}: {translate(followed.failed)}")
    elif followed.report is None:
        text = "Nothing to follow: {source} purged nothing that was not purged here."
        yield say(text, source=followed.source)
    else:
        found = [say("{count} texts", count=followed.texts)] if followed.texts else []
        count = len(followed.sessions)
        found += [say("{count} sessions", count=count)] if count else []
        what = say(" and ").join(found) or say("nothing that was ever here")
        ids = ", ".join(followed.purges)
        yield say("{source} purged {what} ({ids}).", source=followed.source, what=what, ids=ids)
        yield from _format_report(followed.report)


def _purge_everywhere(arguments: Namespace, doomed: Doomed) -> int:
    with open_memory(arguments) as memory:
        found = purge_everywhere(memory, doomed, yes=arguments.yes)
    lines = [*_format_report(found.report)] if found.report is not None else []
    none = [say("No other copy and no remote is known here.")]
    lines += [_format_place(one) for one in found.reached] or none
    return show_result(arguments, found, lines)


def _format_place(one: Reached) -> str:
    return f"{pad(say(one.state), 9)}  {one.name}  {translate(one.why)}"


def _format_lines(lines: Sequence[DoomedLine]) -> Iterator[str]:
    """Yield the first lines of a file that would go: words that nobody meant show here."""
    # Records of jobs repeat what stands in the files they changed.
    words = [one for one in lines if one.path.endswith(_OF_WORDS)]
    for one in words[:_LINES]:
        yield f"      {one.number}: {cut(one.text.strip(), _LONGEST)}"
    if len(words) > _LINES:
        yield f"      … {say('{count} more', count=len(words) - _LINES)}"


def _format_report(report: PurgeReport) -> Iterator[str]:
    if report.empty and not report.done:
        yield say("Not found: nothing in files, history or index holds it.")
        yield from _format_longer(report)
        return
    done = "Purged, and proven by a scan of every byte:"
    yield say(done if report.done else "Would be destroyed:")
    lines = say("{count} lines in {files} files", count=report.lines, files=len(report.files))
    yield f"  {lines}"
    for path in report.files[:_SHOWN]:
        yield f"    {path}"
        yield from _format_lines([one for one in report.shown if one.path == path])
    text = "{count} git objects; {commits} commit messages among them"
    for said in (
        say("{count} notes as a whole", count=len(report.notes)),
        say(text, count=report.objects, commits=report.commits),
        say("{count} hidden and machine-local files", count=report.private),
    ):
        yield f"  {said}"
    if report.done:
        yield f"  {say('receipt {id}', id=report.id)}"
    yield from _format_longer(report)
    if not report.done:
        yield say("Nothing was changed. It cannot be undone; add --yes to do it.")


def _format_longer(report: PurgeReport) -> Iterator[str]:
    if report.longer:
        words = ", ".join(report.longer[:_SHOWN])
        more = "" if len(report.longer) <= _SHOWN else " …"
        text = "Longer words that hold it stay; name them, too, if they are to go: {words}"
        yield say(text, words=words + more)

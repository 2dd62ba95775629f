"""``branch``: make, list, compare or remove working copies of this memory."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.cli.diff import format_beliefs
from kimi_memory.cli.merge import format_report
from kimi_memory.cli.shared import open_memory, pad, say, show, show_result
from kimi_memory.operations.branches import (
    diff_beliefs,
    diff_files,
    find_branch,
    list_branches,
    place_branch,
    remove_branch,
)
from kimi_memory.operations.code_branches import (
    fold_code,
    follow_code,
    list_code_copies,
    unfollow_code,
)
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import make_branch
from kimi_memory.past.points import FORMS


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    add = steps.add_parser("add", help="make a working copy with a history of its own")
    add.add_argument("name", help="of the branch")
    add.add_argument("--at", default="HEAD", metavar="POINT", help=f"where it begins: {FORMS}")
    add.add_argument(
        "--dir", type=Path, default=None, metavar="PATH", help="default: beside the memory"
    )
    steps.add_parser("list", help="list the branches on this machine")
    diff = steps.add_parser("diff", help="show what a branch has otherwise than this memory")
    diff.add_argument("name", help="of the branch")
    diff.add_argument("--beliefs", action="store_true", help="compare what cards say, not files")
    follow = steps.add_parser(
        "follow", help="have a working copy for each branch of a repository of code"
    )
    follow.add_argument("folder", type=Path, help="a work tree of the repository")
    follow.add_argument(
        "--base", default="", help="the branch that is this memory; default: the one checked out"
    )
    follow.add_argument("--stop", action="store_true", help="follow it no more")
    fold = steps.add_parser(
        "fold", help="bring back working copies whose branch of code has landed"
    )
    fold.add_argument("names", nargs="*", metavar="NAME", help="these, whatever their branch is")
    fold.add_argument("--yes", action="store_true", help="do it; else show what would be merged")
    remove = steps.add_parser("remove", help="remove the folder of a branch")
    remove.add_argument("name", help="of the branch")
    how = remove.add_mutually_exclusive_group()
    how.add_argument("--merge", action="store_true", help="merge it into this memory first")
    how.add_argument("--drop", action="store_true", help="with what is only there")


def run(arguments: Namespace) -> int:
    """Do one step."""
    steps = {
        "add": _add_branch, "list": _list_branches, "diff": _show_difference,
        "follow": _follow_code, "fold": _fold_code, "remove": _remove_branch,
    }  # fmt: skip
    with open_memory(arguments) as memory:
        steps[arguments.step](memory, arguments)
    return 0


def _list_branches(memory: Memory, arguments: Namespace) -> None:
    found = list_branches(memory)
    lines = []
    for one in found:
        apart = say("{ahead} ahead, {behind} behind", ahead=one.ahead, behind=one.behind)
        pending = say(", changes pending") if one.pending else ""
        lines.append(f"{pad(one.name, 16)} {apart}{pending}  {one.folder}")
    show_result(arguments, found, lines or [say("No branches on this machine.")])


def _show_difference(memory: Memory, arguments: Namespace) -> None:
    if arguments.beliefs:
        beliefs = diff_beliefs(memory, arguments.name)
        show_result(arguments, beliefs, format_beliefs(beliefs))
    else:
        text = diff_files(memory, arguments.name)
        show_result(arguments, {"diff": text}, text or say("No difference."))


def _remove_branch(memory: Memory, arguments: Namespace) -> None:
    if arguments.merge:
        find_branch(memory, arguments.name)  # A commit or a folder of that name is not meant.
        report = merge_copy(memory, arguments.name)
        if not arguments.json:
            for line in format_report(report, dry_run=False):
                show(line)
    gone = remove_branch(memory, arguments.name, drop=arguments.drop)
    show_result(
        arguments, gone, say("Removed {name}: {folder}", name=gone.name, folder=gone.folder)
    )


def _add_branch(memory: Memory, arguments: Namespace) -> None:
    folder = (arguments.dir or place_branch(memory, arguments.name)).expanduser()
    point = make_branch(memory, arguments.name, folder, arguments.at)
    made = {"name": arguments.name, "folder": folder, "point": point}
    name = f"v{point.version} ({point.short})" if point.version else point.short
    text = say("{name} begins at {point}: {folder}", name=arguments.name, point=name, folder=folder)
    show_result(arguments, made, text)


def _follow_code(memory: Memory, arguments: Namespace) -> None:
    if arguments.stop:
        repository = unfollow_code(memory, arguments.folder)
        text = say("{repository} is followed no more.", repository=repository)
        show_result(arguments, {"repository": repository}, text)
        return
    repository, base = follow_code(memory, arguments.folder, arguments.base)
    text = "{repository} is followed: each branch but {base} gets a working copy of this memory."
    said = say(text, repository=repository, base=base)
    show_result(arguments, {"repository": repository, "base": base}, said)


def _fold_code(memory: Memory, arguments: Namespace) -> None:
    folded = fold_code(memory, arguments.names, yes=arguments.yes)
    left = list_code_copies(memory)
    lines = list[str]()
    for one in folded:
        lines += format_report(one.merged, dry_run=not one.removed)
        text = "removed: {folder}" if one.removed else "would be removed: {folder}"
        lines.append(f"  {say(text, folder=one.copy.folder)}")
    for copy in left:
        if copy.name not in [one.copy.name for one in folded]:
            state = say("has not landed" if copy.branch else "its branch of code is gone")
            lines.append(f"{copy.name}: {state}  {copy.branch}  {copy.folder}")
    if folded and not arguments.yes:
        lines.append(say("Do it with --yes."))
    elif any(one.merged.waiting for one in folded):
        lines.append(say("What came along waits for your word: kimi-memory review"))
    none = [say("No branch of code has a working copy.")]
    show_result(arguments, {"folded": folded, "left": left}, lines or none)

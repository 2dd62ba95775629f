"""``context``: print a block of memory for a prompt."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from shlex import quote

from kimi_memory.api.memory import Memory
from kimi_memory.cli.filter_options import add_as_of, find_moment, open_exactly
from kimi_memory.cli.shared import (
    add_within,
    leave,
    named_point,
    open_memory,
    say,
    show_note,
    show_result,
    within,
)
from kimi_memory.domain.search_types import Context
from kimi_memory.errors import UsageError
from kimi_memory.operations.replay_block import list_blocks, replay_block
from kimi_memory.past.labels import label_block
from kimi_memory.store.prompt_blocks import PromptBlock

_LIST = ""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("query", nargs="*", help="what the task is about")
    parser.add_argument(
        "--for",
        choices=["start", "task", "live"],
        default="task",
        dest="purpose",
        help="start of a session, a task, or the next turn; default: task",
    )
    parser.add_argument("--budget", type=int, default=0, help="most tokens")
    parser.add_argument("--session", default="", help="the running session")
    parser.add_argument(
        "--project", default="", help="the project it is about; default: that of the session"
    )
    add_as_of(parser, exact=True, held=True)
    parser.add_argument(
        "--replay",
        nargs="?",
        const=_LIST,
        metavar="RECEIPT",
        help="the block a prompt was given, as it was: a receipt, a moment, or 'last'; "
        "without one, list what is kept",
    )
    add_within(parser)


def run(arguments: Namespace) -> int:
    """Build the block and print it."""
    if arguments.budget < 0:
        raise UsageError("--budget is below zero. Give how many tokens the block may take.")
    with open_memory(arguments, follow=True) as memory:
        if arguments.replay == _LIST:
            return _list_blocks(arguments, memory)
        if arguments.replay is not None:
            return _show_replayed(arguments, memory)
        if arguments.exact:
            with open_exactly(memory, named_point(arguments)) as (point, past):
                built = label_block(_build(arguments, past, ""), point)
        else:
            built = _build(arguments, memory, named_point(arguments))
        leave(memory)
    if built.text or arguments.json:
        show_result(arguments, built, built.text)
    else:
        # Not in the block: what is printed goes into a prompt.
        _explain_empty(arguments)
    return 0


def _explain_empty(arguments: Namespace) -> None:
    query = " ".join(arguments.query)
    if arguments.purpose != "task":
        show_note(say("The block is empty: the memory has nothing to say here yet."))
        return
    if query in ("", "start"):
        show_note(say("The block is empty: say what the task is about."))
        show_note(say("At the start of a session: kimi-memory context --for start"))
        return
    # A one-word query is often below the relevance threshold of a block; `recall` has none.
    show_note(
        say("The block is empty: these words do not show that the memory has to do with them.")
    )
    show_note(say("All that holds the words: kimi-memory recall {words}", words=quote(query)))


def _build(arguments: Namespace, memory: Memory, as_of: str) -> Context:
    return memory.context(
        arguments.purpose,
        " ".join(arguments.query),
        budget=arguments.budget,
        session=arguments.session,
        within=within(arguments),
        project=arguments.project,
        as_of=as_of,
        valid_at=find_moment(memory, arguments.valid_at) if arguments.valid_at else None,
    )


def _list_blocks(arguments: Namespace, memory: Memory) -> int:
    """List the blocks that are kept, without their words."""
    found = list_blocks(memory, arguments.session)
    rows = [
        {
            "id": one.id, "at": one.at, "to": one.to, "for": one.purpose,
            "session": one.session, "lines": len(one.lines),
        }
        for one in found
    ]  # fmt: skip
    lines = [
        f"{one.id}  {_local(memory, one)}  {one.to}  {one.purpose}  {one.session or '-'}"
        f"  {len(one.lines)} lines"
        for one in found
    ]
    return show_result(arguments, rows, lines or ["No block is kept."])


def _show_replayed(arguments: Namespace, memory: Memory) -> int:
    """Print a block as it was; 1 where it is not what this machine wrote down."""
    found = replay_block(memory, arguments.replay, arguments.session)
    block = found.block
    # Beside what programs read: the block is printed as the prompt had it.
    show_note(
        f"{block.id}: given {_local(memory, block)} to {block.to}, {block.purpose}"
        f"{f', session {block.session}' if block.session else ''}"
    )
    if found.withheld:
        show_note(f"{found.withheld} of its lines are withheld: you asked to forget them since.")
    if not block.verified:
        show_note("It was changed since, or kept under another key: this is not proven.")
    show_result(arguments, found, block.text)
    return 0 if block.verified else 1


def _local(memory: Memory, block: PromptBlock) -> str:
    return f"{block.at.astimezone(memory.now().tzinfo):%Y-%m-%d %H:%M:%S}"

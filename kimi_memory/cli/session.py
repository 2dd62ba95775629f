"""``session``: start one, add turns, record its state, end it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from kimi_memory.api.memory import Memory
from kimi_memory.cli.shared import (
    finish_reports,
    leave,
    moment,
    open_memory,
    parse_json,
    read_input,
    say,
    show,
    show_json,
    show_note,
    show_result,
)
from kimi_memory.domain.session import AREAS, Json
from kimi_memory.errors import UsageError
from kimi_memory.operations.session_list import list_sessions

_HEADER = {
    "agent": "name of the agent",
    "user": "name of the person",
    "project": "project the session belongs to",
    "title": "what it is about",
}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    start = steps.add_parser("start", help="start a session, or go on with an open one")
    start.add_argument("id", nargs="?", default="", help="default: a fresh id")
    for name, help in _HEADER.items():
        start.add_argument(f"--{name}", default="", help=help)
    start.add_argument(
        "--area",
        default="",
        choices=["", *AREAS],
        metavar="AREA",
        help="agent, user or session: what is said is theirs alone; default: shared",
    )
    turn = steps.add_parser("turn", help="store one turn")
    turn.add_argument("id", help="the session's id")
    turn.add_argument("text", nargs="?", help="default: standard input")
    turn.add_argument(
        "--role",
        choices=["user", "assistant", "tool", "system"],
        default="user",
        help="who speaks; default: user",
    )
    turn.add_argument("--speaker", default="", help="the speaker's name")
    turn.add_argument("--ref", default="", help="the host's id of the message")
    turn.add_argument("--at", default="", help="when it was said; default: now")
    state = steps.add_parser("state", help="record the current task or variables")
    state.add_argument("id", help="the session's id")
    # JSON and no key=value pairs: what an agent keeps here has lists and numbers.
    state.add_argument("--task", help="a JSON object")
    state.add_argument("--variables", help="a JSON object, merged into earlier ones")
    end = steps.add_parser("end", help="end a session: archive and distil it")
    end.add_argument("id", help="the session's id")
    listed = steps.add_parser("list", help="list open sessions, or all")
    listed.add_argument("--all", action="store_true", help="also those that ended")


def run(arguments: Namespace) -> int:
    """Do one step."""
    step = {
        "start": _start_session,
        "turn": _store_turn,
        "state": _record_state,
        "end": _end_session,
        "list": _list_sessions,
    }
    with open_memory(arguments, follow=True) as memory:
        code = step[arguments.step](memory, arguments)
        leave(memory)
    return code


def _start_session(memory: Memory, arguments: Namespace) -> int:
    given = arguments
    handle = memory.session(
        given.id,
        agent=given.agent,
        user=given.user,
        project=given.project,
        title=given.title,
        area=given.area,
        host="cli",
    )
    show_result(arguments, handle.header, handle.id)
    return 0


def _store_turn(memory: Memory, arguments: Namespace) -> int:
    # Piped, a turn may be longer than a command line can be, and stands in no `ps`.
    text = read_input() if arguments.text is None else arguments.text
    handle = memory.session(arguments.id)
    at = moment(arguments.at, memory.zone) if arguments.at else None
    turn = handle.turn(arguments.role, text, speaker=arguments.speaker, at=at, ref=arguments.ref)
    if arguments.json:
        show_json(turn)
    # Blocks that other programs injected are taken out, and the same message comes in once: nothing
    # may be left to store.
    elif turn is None:
        show("Nothing new to store.")
    else:
        # Said each time: a mask that took too much can be seen at once, and the words said again.
        masked = f", {turn.masked} masked" if turn.masked else ""
        left = f", {turn.stripped} characters of injected blocks left out" if turn.stripped else ""
        show(f"session:{handle.id}#{turn.n}{masked}{left}")
    if handle.durability == "local":
        show_note(say("Kept on this machine only, until the change log answers."))
    return 0


def _record_state(memory: Memory, arguments: Namespace) -> int:
    task = _parse_object("--task", arguments.task)
    variables = _parse_object("--variables", arguments.variables)
    memory.session(arguments.id).state(task=task, variables=variables)
    return 0


def _parse_object(option: str, text: str | None) -> Mapping[str, Json] | None:
    if text is None:
        return None
    example = f'an object such as {option} \'{{"goal": "write the report"}}\''
    value = parse_json(text, option, example)
    if not isinstance(value, dict):
        raise UsageError(f"{option} is not a JSON object. Give {example}.")
    return value


def _end_session(memory: Memory, arguments: Namespace) -> int:
    return finish_reports(arguments, [memory.end(arguments.id)])


def _list_sessions(memory: Memory, arguments: Namespace) -> int:
    found = [place.id for place in list_sessions(memory) if place.open or arguments.all]
    if arguments.json:
        show_json(found)
        return 0
    for id in found:
        show(id)
    # A script that reads the ids out of a pipe gets nothing else.
    if not found and not arguments.all:
        show_note(say("No session is open. Those that ended: kimi-memory session list --all"))
    return 0

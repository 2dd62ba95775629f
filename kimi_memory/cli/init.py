"""``init``: make a memory; on a terminal it asks for what it needs."""

from __future__ import annotations

import json
import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Opening
from kimi_memory.cli import run as run_command
from kimi_memory.cli.shared import find_locale, find_person, say, show, show_json
from kimi_memory.cli.wizard import AGENTS, ask_after, ask_before, asks, carry_out, machine_zone
from kimi_memory.config import MARKER
from kimi_memory.errors import UsageError
from kimi_memory.operations.setting_list import change_memory, set_value


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="default: here")
    parser.add_argument("--name", default="", help="what to call the memory")
    parser.add_argument(
        "--language",
        choices=["auto", "zh", "en"],
        default="auto",
        help="of generated pages; default: auto",
    )
    parser.add_argument(
        "--by", default="", metavar="NAME", help="who makes it, as they want to be called"
    )
    parser.add_argument(
        "--timezone",
        default="",
        metavar="ZONE",
        help="of days and times, such as Asia/Shanghai; default: that of this machine now",
    )
    parser.add_argument(
        "--agents",
        action="append",
        choices=AGENTS,
        default=[],
        help="put the hooks into this program's settings; may be repeated",
    )
    parser.add_argument(
        "--import",
        dest="imports",
        action="append",
        type=Path,
        metavar="PATH",
        default=[],
        help="import what another system remembers; may be repeated",
    )
    parser.add_argument(
        "--schedule", action="store_true", help="let the daily and the weekly job run"
    )
    parser.add_argument(
        "--yes", action="store_true", help="ask nothing; what is not given stays as it is"
    )


def run(arguments: Namespace) -> int:
    """Make the folder, its pages and its history, and what else was asked for."""
    if arguments.memory and arguments.folder not in (Path(), arguments.memory):
        raise UsageError("Two folders are named. Leave --memory or the folder out.")
    folder = (arguments.memory or arguments.folder).expanduser()
    is_new, is_asking = not (folder / MARKER).is_file(), asks(arguments, folder)
    if is_asking:
        ask_before(arguments, folder)
    elif is_new:
        # Noted once: days would change with the place from which a memory is opened.
        arguments.timezone = arguments.timezone or machine_zone()
    _make(arguments, folder, is_new=is_new)
    if is_asking:
        ask_after(arguments, folder, run_command)
    return carry_out(arguments, folder, run_command)


def _make(arguments: Namespace, folder: Path, *, is_new: bool) -> None:
    opening = Opening(actor=find_person(), background=False)
    with Memory.create(
        folder,
        name=arguments.name,
        language=arguments.language,
        # The environment is read here and nowhere below, see `tests/test_architecture.py`.
        locale=find_locale(),
        opening=opening,
    ) as memory:
        _note(memory, "timezone", arguments.timezone)
        _note(memory, "created_by", arguments.by if is_new else "")
        if arguments.json:
            files = memory.store.files()
            show_json({"memory": memory.root, "files": files, "notes": memory.notes})
            return
        if is_new:
            show(say("Memory in {folder}", folder=memory.root))
            for path in memory.store.files():
                show(f"  {path}")
        else:
            show(say("{folder} is a memory already; it stays as it is.", folder=memory.root))
        for note in memory.notes:
            show(note)
        if memory.root != Path.cwd():  # A command finds its memory in the folder it is called in.
            show(say("First: cd {folder}", folder=shlex.quote(str(folder))))
        # An empty folder shows nobody what the program is for.
        show(say("Next: kimi-memory remember, ingest FILE, or hook install; then recall."))
        show(say("Jobs: kimi-memory schedule --install lets the daily and the weekly job run"))


def _note(memory: Memory, name: str, value: str) -> None:
    """Write what was said of a memory into its settings, if anything was."""
    if value:
        text = memory.store.read(MARKER).decode()
        quoted = json.dumps(value, ensure_ascii=False)
        change_memory(memory, set_value(text, f"memory.{name}", quoted))

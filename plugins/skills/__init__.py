"""The command ``skills``: procedures that came up again and again, for a person to install.

Why it exists: what is done the same way three times can be written down once.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory import Memory, hookimpl
from kimi_memory.agent_hooks import user_files
from kimi_memory.cli.shared import finish_reports, open_memory, show, show_json, show_result
from kimi_memory.domain.command import Command
from kimi_memory.errors import UsageError

from .proposals import FindSkills, propose, skill, skills

__all__ = ["FindSkills", "propose", "register_commands", "skill", "skills"]


@hookimpl
def register_commands() -> list[Command]:
    """Add ``skills``."""
    help = "list, show and install procedures that came up again and again"
    return [Command("skills", help, _add_arguments, _run, "export")]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "step",
        nargs="?",
        default="list",
        choices=["find", "list", "show", "install"],
        help="find looks in all sessions; default: list",
    )
    parser.add_argument("name", nargs="?", default="", help="which skill to show or install")
    parser.add_argument(
        "dest", nargs="?", type=Path, help="where to install: a folder such as ~/.agents/skills"
    )
    parser.add_argument("--force", action="store_true", help="replace another text of that name")
    parser.add_argument("--dry-run", action="store_true", help="find: show the diff, write nothing")


def _run(arguments: Namespace) -> int:
    """Do one step."""
    step = {
        "find": _find_skills,
        "list": _list_skills,
        "show": _show_skill,
        "install": _install_skill,
    }
    with open_memory(arguments) as memory:
        return step[arguments.step](memory, arguments)


def _find_skills(memory: Memory, arguments: Namespace) -> int:
    return finish_reports(arguments, [propose(memory, dry_run=arguments.dry_run)])


def _list_skills(memory: Memory, arguments: Namespace) -> int:
    found = skills(memory)
    if arguments.json:
        show_json(found)
        return 0
    for one in found:
        show(f"{one.name}  {one.description}")
        for problem in one.problems:
            show(f"  not valid: {problem}")
    if not found:
        show("No candidates. 'kimi-memory skills find' looks for some.")
    return 0


def _show_skill(memory: Memory, arguments: Namespace) -> int:
    one = skill(memory, arguments.name)
    show_result(arguments, one, one.text.rstrip("\n"))
    return 0


def _install_skill(memory: Memory, arguments: Namespace) -> int:
    if arguments.dest is None:
        raise UsageError("Say which skill and where to: skills install NAME FOLDER.")
    one = skill(memory, arguments.name)
    if one.problems:
        raise UsageError(f"{one.path} is not valid: {one.problems[0]}. Correct it first.")
    path = arguments.dest.expanduser() / one.name / "SKILL.md"
    old = user_files.text_at(path)
    changes = old != one.text
    if old and changes and not arguments.force:
        raise UsageError(f"{path} holds another text. Compare them, or add --force.")
    if changes:
        user_files.put(path, one.text)
    value = {"name": one.name, "path": path, "changed": changes}
    show_result(arguments, value, f"{path}: {'installed' if changes else 'there already'}")
    return 0

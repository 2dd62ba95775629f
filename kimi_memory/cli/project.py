"""``project``: list projects, finish one, take one up again."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.cli.shared import finish_reports, open_memory, show_result
from kimi_memory.errors import UsageError
from kimi_memory.operations.projects import finish_project, projects


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("step", choices=["list", "finish", "reopen"], help="what to do")
    parser.add_argument("name", nargs="?", default="", help="the project")
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")


def run(arguments: Namespace) -> int:
    """List, finish or reopen."""
    if arguments.step == "list":
        return _list_projects(arguments)
    if not arguments.name:
        raise UsageError(f"Which project? Write: kimi-memory project {arguments.step} NAME")
    with open_memory(arguments) as memory:
        finished = arguments.step == "finish"
        report = finish_project(
            memory, arguments.name, finished=finished, dry_run=arguments.dry_run
        )
    return finish_reports(arguments, [report])


def _list_projects(arguments: Namespace) -> int:
    with open_memory(arguments) as memory:
        found = projects(memory)
    lines = []
    for project in found:
        left = sum(not todo.done for todo in project.todos)
        lines.append(f"{project.name}: {'finished' if project.finished else f'{left} to do'}")
    return show_result(arguments, found, lines)

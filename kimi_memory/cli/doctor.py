"""``doctor``: look for faults, and mend them."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.agent_hooks.checkup import check_hosts
from kimi_memory.cli.findings import show_findings
from kimi_memory.cli.shared import open_memory, say_finding, show
from kimi_memory.operations.doctor import doctor, fix


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--fix", action="store_true", help="mend what can be; only adds or moves")


def run(arguments: Namespace) -> int:
    """Examine, mend if asked, and print."""
    with open_memory(arguments) as memory:
        findings = doctor(memory)
        if arguments.fix:
            for done in fix(memory, findings):
                show(say_finding(f"fixed: {done}"))
            findings = doctor(memory)
        # After mending: programs are only asked, never mended here.
        findings += check_hosts(memory.root)
    return show_findings(arguments, findings, "All checks passed.")

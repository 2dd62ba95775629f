"""``verify``: check journal, notes, quotes and indexes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from kimi_memory.care.checkup import verify
from kimi_memory.surfaces.cli.findings import show_findings
from kimi_memory.surfaces.cli.shared import open_memory


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments: none of its own."""


def run(arguments: Namespace) -> int:
    """Print what is wrong; exit code 1 if anything is."""
    with open_memory(arguments) as memory:
        findings = verify(memory)
    return show_findings(arguments, findings, "Everything checks out.")

"""``eval``: run the cases of a memory, and fail when one fails."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from kimi_memory.cli.shared import open_memory, show, show_json
from kimi_memory.operations.evals import Report, Result, evaluate


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("files", nargs="*", type=Path, help="default: evals/*.yaml of the memory")
    parser.add_argument("--name", default="", help="only cases whose name has these words")


def run(arguments: Namespace) -> int:
    """Evaluate, print a table, and return 1 when a case failed."""
    with open_memory(arguments) as memory:
        report = evaluate(memory, arguments.files, arguments.name)
    if arguments.json:
        show_json(report)
    else:
        _show(report)
    return 1 if report.failed else 0


def _show(report: Report) -> None:
    for result in report.results:
        tokens = f"  {result.tokens} tokens" if result.tokens else ""
        show(f"{_mark(result)}  {result.name}  ({result.path}, {result.took_ms:.0f} ms{tokens})")
        for line in result.why:
            show(f"        {line}")
    show(f"{report.passed} passed, {report.failed} failed")


def _mark(result: Result) -> str:
    return "passed " if result.passed else "FAILED "

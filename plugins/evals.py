"""The command ``eval`` and its page: cases kept as files, run against recall and context.

Why it exists: whether a memory answers well is for its owner to say, and to check again after
every change of words, weights or models.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory import Memory, hookimpl
from kimi_memory.cli.shared import open_memory, show, show_json, show_note
from kimi_memory.domain.command import Command
from kimi_memory.domain.plugin_page import Given, PluginPage
from kimi_memory.errors import UsageError
from kimi_memory.formats.eval_case import FOLDER, Case, is_eval, read_cases
from kimi_memory.formats.frontmatter import decode

if TYPE_CHECKING:
    from kimi_memory.recall.eval_cases import Result


_TEMPLATE = '{% include "plugins/evals.html.j2" %}'
_EXAMPLE = """# evals/database.yaml
- name: the database
  query: Which database do we use?
  expect: [SQLite]
  forbid: [MongoDB]
"""
_LABELS = {
    "evals_help": (
        "Questions with what is right about their answers. Running them writes nothing.",
        "问题和正确答案的要点。运行不会写入任何东西。",
    ),
    "named": ("Whose name says", "名字含"),
    "passed": ("passed", "通过"),
    "failed": ("failed", "未通过"),
    "cases": ("Cases", "用例"),
    "case": ("Case", "用例"),
    "question": ("Question", "问题"),
    "wanted": ("Wanted", "要求"),
    "result": ("Result", "结果"),
    "abstain": ("no answer", "不应有答案"),
    "no_cases": (
        "There is no case yet. Write one as evals/<name>.yaml in the memory:",
        "还没有用例。在记忆文件夹里写 evals/<名字>.yaml：",
    ),
}


@hookimpl
def register_commands() -> list[Command]:
    """Add ``eval``."""
    help = "run the cases of evals/*.yaml, and fail when one fails"
    return [Command("eval", help, _add_arguments, _run_eval, "check")]


@hookimpl
def register_pages() -> list[PluginPage]:
    """Add the page that lists the cases and runs them."""
    page = PluginPage(
        name="evals", titles=("Evals", "评测"), template=_TEMPLATE, find=_find_cases, labels=_LABELS
    )
    return [page]


def _add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", type=Path, help="default: evals/*.yaml of the memory")
    parser.add_argument("--name", default="", help="only cases whose name has these words")


def _run_eval(arguments: Namespace) -> int:
    """Evaluate, print a table, and return 1 when a case failed."""
    with open_memory(arguments) as memory:
        report = evaluate(memory, arguments.files, arguments.name)
    for note in report.notes:
        show_note(f"note: {note}")
    if arguments.json:
        show_json(report)
        return 1 if report.failed else 0
    for result in report.results:
        mark = "passed " if result.passed else "FAILED "
        tokens = f"  {result.tokens} tokens" if result.tokens else ""
        show(f"{mark}  {result.name}  ({result.path}, {result.took_ms:.0f} ms{tokens})")
        for line in result.why:
            show(f"        {line}")
    show(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


@dataclass(frozen=True, slots=True)
class Report:
    """How all cases went."""

    results: tuple[Result, ...]
    passed: int
    failed: int
    notes: tuple[str, ...] = ()
    """What the authors of cases should know."""


def evaluate(memory: Memory, files: Sequence[Path] = (), name: str = "") -> Report:
    """Run the cases in ``evals/`` of a memory, or in files.

    Nothing is written: a case that is run leaves no receipt, so it counts for no use.

    Args:
        memory: an open memory.
        files: files of cases anywhere; those of the memory if empty.
        name: only cases whose name has these words.

    Raises:
        FormatError: a file cannot be read; it is named with what to do.
        UsageError: there is no case at all.
    """
    from kimi_memory.recall.eval_cases import check_case, read_case_file  # others need no numpy

    listed = chain.from_iterable(map(read_case_file, files)) if files else _yield_cases(memory)
    cases = [case for case in listed if name.casefold() in case.name.casefold()]
    if not cases:
        raise UsageError(f"There is no case to run. Write {FOLDER}/<name>.yaml in the memory.")
    # The engine and not `Memory.recall`, which leaves a receipt: a test must not warm up what it
    # asks for.
    results = tuple(check_case(memory.engine, case, memory.now(), memory.zone) for case in cases)
    passed = sum(result.passed for result in results)
    notes = tuple(case.note for case in cases if case.note)
    return Report(results, passed, len(results) - passed, notes)


def _find_cases(memory: Memory, given: Given) -> Mapping[str, object]:
    """Return the cases of a memory, with how each went where they are to be run."""
    name = (given.get("name") or ("",))[-1].strip()
    cases = [case for case in _yield_cases(memory) if name.casefold() in case.name.casefold()]
    report = evaluate(memory, name=name) if cases and given.get("run") else None
    results: Iterable[Result | None] = report.results if report else [None] * len(cases)
    pairs = list(zip(cases, results, strict=True))
    return {"cases": pairs, "report": report, "name": name, "example": _EXAMPLE}


def _yield_cases(memory: Memory) -> Iterable[Case]:
    for path in filter(is_eval, memory.store.files(FOLDER)):
        yield from read_cases(decode(memory.store.read(path), path), path)

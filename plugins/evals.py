"""The command ``eval``: cases kept as files, run against recall and context.

Why it exists: whether a memory answers well is for its owner to say, and to check again after
every change of words, weights or models.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from kimi_memory import Memory, hookimpl
from kimi_memory.cli.shared import open_memory, show, show_json, show_note
from kimi_memory.domain.command import Command
from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.errors import UsageError
from kimi_memory.formats.eval_case import FOLDER, Case, hits_of, is_eval, is_id, read_cases
from kimi_memory.formats.frontmatter import decode
from kimi_memory.nlp.dates.zone import start_of
from kimi_memory.recall.request import Request

ANSWERED = 0.5
"""From this part of a question's words in one hit on, memory claims to know the answer."""
# Fixed: the mark of a block counts as tokens, and the same case must cost the same each time.
_NONCE = "evaluated0"


@hookimpl
def register_commands() -> list[Command]:
    """Add ``eval``."""
    help = "run the cases of evals/*.yaml, and fail when one fails"
    return [Command("eval", help, _add_arguments, _run_eval)]


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
class Result:
    """How one case went."""

    path: str
    name: str
    passed: bool
    why: tuple[str, ...] = ()
    """What was wrong."""
    hits: tuple[str, ...] = ()
    """Ids of what was found, best first."""
    tokens: int = 0
    """Size of the context block, where the case has a budget."""
    took_ms: float = 0.0


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
    cases = [
        case for case in _yield_cases(memory, files) if name.casefold() in case.name.casefold()
    ]
    if not cases:
        raise UsageError(f"There is no case to run. Write {FOLDER}/<name>.yaml in the memory.")
    results = tuple(_Run(memory, case).result() for case in cases)
    passed = sum(result.passed for result in results)
    notes = tuple(case.note for case in cases if case.note)
    return Report(results, passed, len(results) - passed, notes)


def _yield_cases(memory: Memory, files: Sequence[Path]) -> Iterable[Case]:
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{file} cannot be read: {why}. Name another file.") from error
        yield from read_cases(decode(content, str(file)), str(file))
    for path in () if files else filter(is_eval, memory.store.files(FOLDER)):
        yield from read_cases(decode(memory.store.read(path), path), path)


@dataclass(frozen=True, slots=True)
class _Run:
    """One case against one memory."""

    memory: Memory
    case: Case

    def result(self) -> Result:
        """Ask, compare and time."""
        case = self.case
        began = time.perf_counter()
        query = self._build_query()
        # The engine and not `Memory.recall`, which leaves a receipt: a test must not warm up what
        # it asks for.
        hits = self.memory.engine.search(query).hits
        wrong = [
            *self._check_hits(hits),
            *(self._check_abstention(query, hits) if case.abstain else ()),
        ]
        tokens, more = self._check_context(query) if case.budget else (0, [])
        return Result(
            case.path,
            case.name,
            passed=not (wrong or more),
            why=(*wrong, *more),
            hits=tuple(hit.unit.id for hit in hits),
            tokens=tokens,
            took_ms=round((time.perf_counter() - began) * 1000, 2),
        )

    def _build_query(self) -> Query:
        query = Query(
            text=self.case.query, limit=self.case.limit or self.memory.settings.recall.limit
        )
        if self.case.valid_at is None:
            return query
        # The last moment of the day: what was decided on it was so.
        end = start_of(self.case.valid_at + timedelta(days=1), self.memory.zone)
        return replace(query, valid_at=end - timedelta(microseconds=1))

    def _check_hits(self, hits: Sequence[Hit]) -> list[str]:
        texts = [(hit.unit.id, f"{hit.unit.title}\n{hit.unit.text}") for hit in hits]
        missing = [word for word in self.case.expect if not any(hits_of(word, texts))]
        wrong = [f"{word!r} is not among {len(hits)} hits" for word in missing]
        for word in self.case.forbid:
            # Each hit by its id, as the author has to find out why that one came up.
            wrong += [f"{word!r} is forbidden and in {id}" for id in hits_of(word, texts)]
        return wrong

    def _check_abstention(self, query: Query, hits: Sequence[Hit]) -> list[str]:
        words = self.memory.index.words
        asked = set(words.of_query(query, self.memory.now()))
        shares = [
            (len(asked.intersection(words.of_unit(hit.unit))) / len(asked), hit.unit.id)
            for hit in hits
            if asked
        ]
        # Scores are relative within an answer; how many of the words are there is not.
        share, id = max(shares, default=(0.0, ""))
        return [f"{id} has {share:.0%} of the question's words"] if share >= ANSWERED else []

    def _check_context(self, query: Query) -> tuple[int, list[str]]:
        request = Request(
            purpose="task",
            budget=self.case.budget,
            nonce=_NONCE,
            query=self.case.query,
            valid_at=query.valid_at,
        )
        from kimi_memory.recall.context import build  # Other commands need no numpy.

        context = build(self.memory.engine, request)
        shown = [(id, context.text) for id in context.lines] or [("", context.text)]
        wrong = []
        for word in self.case.expect:
            if not any(hits_of(word, shown)):
                wrong.append(f"{word!r} is not in a context of {self.case.budget} tokens")
        for word in self.case.forbid:
            if any(hits_of(word, shown)) and not is_id(word):
                wrong.append(f"{word!r} is forbidden and in the context")
        if context.tokens > self.case.budget:
            wrong.append(f"the context has {context.tokens} tokens")
        return context.tokens, wrong

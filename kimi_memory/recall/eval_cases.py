"""Running the cases of evals: what recall brings up, held against what is right."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.errors import UsageError
from kimi_memory.formats.eval_case import Case, hits_of, is_id, read_cases
from kimi_memory.formats.frontmatter import decode
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import Zone, start_of
from kimi_memory.recall.context import build
from kimi_memory.recall.engine import Recall
from kimi_memory.recall.request import Request

ANSWERED = 0.5
"""From this part of a question's words in one hit on, memory claims to know the answer."""
# Fixed: the mark of a block counts as tokens, and the same case must cost the same each time.
_NONCE = "evaluated0"


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


def read_case_file(file: Path) -> list[Case]:
    """Read the cases of a file that lies anywhere.

    Raises:
        UsageError: it cannot be read.
        FormatError: it holds no cases.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        why = error.strerror or error
        raise UsageError(f"{file} cannot be read: {why}. Name another file.") from error
    return read_cases(decode(content, str(file)), str(file))


def check_case(engine: Recall, case: Case, now: datetime, zone: Zone) -> Result:
    """Ask what a case asks, and compare; nothing is written, no receipt either.

    Args:
        engine: of a memory, or of a memory as it was.
        case: the question, and what is right about its answer.
        now: relative dates in the question count from it.
        zone: of the memory; a day of the case ends in it.
    """
    return _Check(engine, case, now, zone).run()


@dataclass(frozen=True, slots=True)
class _Check:
    """One case against one memory."""

    engine: Recall
    case: Case
    now: datetime
    zone: Zone

    def run(self) -> Result:
        """Ask, compare and time."""
        case = self.case
        began = time.perf_counter()
        query = self._build_query()
        hits = self.engine.search(query).hits
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
        query = Query(text=self.case.query, limit=self.case.limit or self.engine.limit)
        if self.case.valid_at is None:
            return query
        # The last moment of the day: what was decided on it was so.
        end = start_of(self.case.valid_at + timedelta(days=1), self.zone)
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
        words = self.engine.words
        asked = set(words.of_query(query, self.now))
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
        context = build(self.engine, request)
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

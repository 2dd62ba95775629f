"""The proof that an index is what its files make of it: built anew beside it and compared."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice

from kimi_memory.api.memory import Memory
from kimi_memory.domain.search_types import Query
from kimi_memory.index.index import Index
from kimi_memory.index.searcher import Searcher
from kimi_memory.index.sync import Progress
from kimi_memory.index.verify import Digest, IndexStatus, compare, digest
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.recall.ranking import candidates

QUESTIONS = 24
"""Questions taken from the memory itself, whose ranking is compared."""
# About as long as what people ask.
QUESTION_CHARS = 80
# Deep enough that a row with a wrong count of words shows among the hits.
DEPTH = 20
# A file may change between building the two; three times in a row it does not.
_RETRIES = 3
# One wrong rank already means that the index is to be built anew.
_SHOWN = 5

Ranks = list[tuple[str, dict[str, float]]]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two indexes."""

    generation: str
    """Name on disk; empty where there is none that may be opened, or none that stays."""
    units: int
    words: int
    digest: str


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How the index in use compares with one built from the files alone."""

    same: bool
    live: Side
    rebuilt: Side
    questions: int
    """Questions that were ranked by both."""
    differences: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


def rebuild(memory: Memory, progress: Progress | None = None) -> Rebuilt:
    """Build the index anew beside the one in use, compare what they say, and remove it.

    Units, words and the ranking of questions are compared. Vectors are not: to make them
    anew, a model would be asked.

    Raises:
        LockTimeoutError: another process does the same.
        ReadOnlyError: the folder takes no writes.
    """
    began, before = time.perf_counter(), memory.index.status()
    with memory.index.beside(progress) as other:
        found = _compare_indexes(memory, other)
        # A person may save a note between the two readings; only a difference that stays is one.
        for _ in range(_RETRIES):
            if not found.differences or found.is_of(memory.index, other):
                break
            found = _compare_indexes(memory, other)  # a file changed while we looked
    live, anew = found.digests
    differences = [f"the index on disk is not used: {before.why}"] if before.why else []
    differences += found.differences
    return Rebuilt(
        not differences,
        Side(before.generation, live.units, live.words, live.sha256),
        Side("", anew.units, anew.words, anew.sha256),
        found.questions,
        tuple(differences),
        tuple(_yield_status_notes(before)),
        time.perf_counter() - began,
    )


def _yield_status_notes(status: IndexStatus) -> Iterator[str]:
    if not status.generation and not status.why:
        yield "there is no index on disk: the files themselves are searched"
    if status.model:
        yield f"vectors of {status.model} are not compared"


@dataclass(frozen=True, slots=True)
class _Compared:
    views: tuple[Searcher, Searcher]
    digests: tuple[Digest, Digest]
    differences: tuple[str, ...]
    questions: int

    def is_of(self, live: Index, anew: Index) -> bool:
        """Whether no file has changed since."""
        return self.views[0] is live.searcher() and self.views[1] is anew.searcher()


def sample_questions(memory: Memory) -> list[str]:
    """Return questions that are taken from a memory itself."""
    with memory.index.guard:
        return _sample_questions(memory.index.searcher())


def rank_answers(memory: Memory, questions: Iterable[str], at: datetime) -> list[list[str]]:
    """Return the ids of the best hits of each question at a moment, in their order."""
    with memory.index.guard:
        view = memory.index.searcher()
        return [[id for id, _ in _rank_question(memory, view, one, at)] for one in questions]


def _compare_indexes(memory: Memory, other: Index) -> _Compared:
    with memory.index.guard, other.guard:
        live, anew = memory.index.searcher(), other.searcher()
        digests = digest(live), digest(anew)
        questions = _sample_questions(anew)
        return _Compared(
            (live, anew),
            digests,
            (
                *(_find_differences(live, anew) if digests[0] != digests[1] else ()),
                *islice(_find_rank_changes(memory, live, anew, questions), _SHOWN),
            ),
            len(questions),
        )


def _find_differences(live: Searcher, anew: Searcher) -> list[str]:
    found = [finding.message for finding in compare(live, anew)]
    return found or ["units have other fields than their files"]


def _find_rank_changes(
    memory: Memory, live: Searcher, anew: Searcher, questions: Iterable[str]
) -> Iterator[str]:
    now = memory.clock()
    for question in questions:
        if _rank_question(memory, live, question, now) != _rank_question(
            memory, anew, question, now
        ):
            yield f"ranked otherwise: {question!r}"


def _sample_questions(view: Searcher) -> list[str]:
    """Return beginnings of texts from all over the memory, the same for the same files."""
    ids = view.column("id")
    # By id and not by row, whose order is another in each index.
    rows = sorted(view.living(), key=ids.value)
    chosen = rows[:: max(1, len(rows) // QUESTIONS)][:QUESTIONS]
    return [unit.text[:QUESTION_CHARS] for unit in view.units(chosen).values()]


def _rank_question(memory: Memory, view: Searcher, question: str, now: datetime) -> Ranks:
    query = Query(text=question)
    words = memory.index.words.of_query(query, now)
    ranked = candidates(view, query, words, None, room=DEPTH, now=now)
    ids = view.column("id")
    return [(ids.value(row), parts) for row, parts in zip(ranked.rows, ranked.parts, strict=True)]

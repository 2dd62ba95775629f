"""What a copy of a memory holds, in a form that another machine can be asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import digest
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.doctor import verify
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.verify_index import rank_answers
from kimi_memory.store.files.paths import RECEIPTS


@dataclass(frozen=True, slots=True)
class CopyState:
    """What a copy holds. All of it survives JSON, so that two machines can compare theirs."""

    copy: str
    """The id of the copy."""
    files: int
    paths: str
    """SHA-256 of the names of all files."""
    sha256: str
    """SHA-256 of all files with their names."""
    versions: int
    history: str
    """SHA-256 of all commits."""
    names: dict[str, str]
    """Names of versions."""
    waiting: list[str]
    """Files that wait for a person's word."""
    begun: bool
    """Whether the journal has begun."""
    faults: list[str]
    """What `verify` finds."""
    answers: list[list[str]]
    """The best hits of each question, in their order."""


def describe_copy(memory: Memory, questions: list[str], at: datetime) -> CopyState:
    """Return what a copy holds, and how it answers some questions.

    Args:
        memory: the copy.
        questions: what it is asked.
        at: the moment that they are asked at; the clocks of two machines differ.
    """
    graph = memory.history.graph()
    # What was asked here stays here.
    files = [path for path in memory.store.files() if path != RECEIPTS]
    sums = [(path, digest(memory.store.read(path))) for path in files]
    return CopyState(
        copy=memory.copy_id,
        files=len(files),
        paths=_digest_json(files),
        sha256=_digest_json(sums),
        versions=len(graph),
        history=digest(json.dumps(graph).encode()),
        names=memory.history.names(),
        waiting=[one.path for one in waiting_files(memory)],
        begun=memory.store.journal.head()[0] >= 1,
        faults=[f"{one.path}: {one.message}".removeprefix(": ") for one in verify(memory)],
        answers=rank_answers(memory, questions, at),
    )


def _digest_json(value: object) -> str:
    return digest(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape"))


def find_differences(one: CopyState, other: CopyState, questions: list[str]) -> Iterator[str]:
    """Yield what a copy has otherwise than the memory it was made of.

    Args:
        one: of the memory.
        other: of the copy.
        questions: what both were asked.
    """
    parts = {
        "it has other files": (one.paths, other.paths),
        "its files have other bytes": (one.sha256, other.sha256),
        "it has another history": (one.history, other.history),
        "its versions have other names": (one.names, other.names),
        "other files wait for a word there": (one.waiting, other.waiting),
        "its journal has not begun": (True, other.begun),
    }
    yield from (said for said, (mine, theirs) in parts.items() if mine != theirs)
    # What is damaged here already is carried as it is; only new damage is a fault of the move.
    yield from (line for line in other.faults if line not in one.faults)
    for question, mine, theirs in zip(questions, one.answers, other.answers, strict=True):
        if mine != theirs:
            yield f"it ranks {question!r} otherwise"

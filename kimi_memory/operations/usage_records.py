"""Records of use as they were written: jobs, and receipts of what agents were shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import Job
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.job_file import FOLDER, job_of
from kimi_memory.formats.jsonl import unseal
from kimi_memory.jobs.usage import RECALLS
from kimi_memory.lazy_dataclass import dataclass


def read_records(memory: Memory, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the records of jobs of a kind as they stand in their files."""
    for path in memory.store.files(FOLDER):
        if path.startswith(f"{FOLDER}/{kind}-"):
            with suppress(ValueError):  # Other checks name files that cannot be read.
                yield json.loads(memory.store.read(path))


def read_jobs(memory: Memory) -> Iterator[Job]:
    """Yield the records of jobs that can be read."""
    for path in memory.store.files(FOLDER):
        if path.endswith(".json"):
            # One that cannot be read has no figures; the doctor names it.
            with suppress(KimiMemoryError, ValueError):
                yield job_of(memory.store.read(path))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one answer or block showed; it holds no word of the question."""

    at: datetime
    to: str
    """Which agent got it, by the way it asked."""
    hits: tuple[str, ...]


def read_receipts(memory: Memory) -> Iterator[Receipt]:
    """Yield the receipts of what agents were shown, oldest first."""
    content = memory.store.read(RECALLS) if memory.store.exists(RECALLS) else b""
    for line in content.splitlines(keepends=True):
        try:
            record = unseal(line)
            at = moment(str(record.get("at")))
        except ValueError:
            # A torn line costs one count, and the report is about thousands.
            continue
        hits = record.get("hits")
        # Who looks around uses nothing.
        if record.get("looking") is not True and isinstance(hits, list):
            yield Receipt(at, str(record.get("to") or ""), tuple(map(str, hits)))

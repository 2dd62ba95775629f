"""Events: what was stored and which jobs ran, reported as they happen by whichever process.

They are read from the journal, from the place where a client stopped. Nobody who writes
knows of the readers, so a slow one holds up nothing, and one that comes back misses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.formats.job_file import FOLDER as JOBS
from kimi_memory.server.principal import Namespace
from kimi_memory.server.responses import Event
from kimi_memory.store.wal.records import EXTERNAL

_SESSION = re.compile(r"(?:.+/)?session_(?P<id>[^/]+)\.jsonl")
_JOB = re.compile(rf"{JOBS}/(?P<id>[^/]+)\.json")


def head(memory: Memory) -> int:
    """Return the number of the last thing that happened."""
    return memory.store.journal.head()[0]


def since(memory: Memory, seq: int, space: Namespace) -> tuple[int, list[Event]]:
    """Return how far the journal goes, and what happened after a number in a namespace."""
    if head(memory) <= seq:
        return seq, []
    records = memory.store.journal.since(seq)
    events = [event for record in records for event in _yield_events(record)]
    seen = [event for event in events if _is_seen(memory, event, space)]
    return max([seq, *(_record_number(record) for record in records)]), seen


def _is_seen(memory: Memory, event: Event, space: Namespace) -> bool:
    if not space:
        return True
    # Jobs and edits concern the whole memory; of a file that is gone nobody knows whose it was.
    if event.kind != "capture" or not memory.store.exists(event.path):
        return False
    return space.holds_path(memory, event.path)


def _record_number(record: Mapping[str, Any]) -> int:
    seq = record.get("seq")
    return seq if isinstance(seq, int) else 0


def _yield_events(record: Mapping[str, Any]) -> Iterator[Event]:
    """Yield what a record of the journal tells, if anything."""
    path, at = str(record.get("path", "")), str(record.get("at", ""))
    seq, by = _record_number(record), str(record.get("actor", ""))
    if by == EXTERNAL:
        yield Event(seq, "edit", at, path, by=by)
    elif found := _JOB.fullmatch(path):
        yield Event(seq, "job", at, path, job=found["id"], by=by)
    elif (found := _SESSION.fullmatch(path)) and record.get("op") == "append":
        yield Event(seq, "capture", at, path, session=found["id"], by=by)

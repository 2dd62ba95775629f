"""The checker: what must hold of every log, and of every folder that follows it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kimi_memory.api.memory import Memory
from kimi_memory.domain.change_log import ChangeLog
from kimi_memory.domain.job import digest
from kimi_memory.errors import RefusedRecordError
from kimi_memory.formats.log_record import hash_record, is_snapshot
from kimi_memory.store.files.paths import is_own


class _LogState:
    """What the records so far come to."""

    def __init__(self) -> None:
        self.seq, self.epoch, self.prev, self.head = 0, 0, "", ""
        self.leaders: dict[int, str] = {}
        self.txns: dict[str, int] = {}

    def take(self, number: int, body: bytes) -> Iterator[str]:
        """Take in the next record; yield what is wrong with it."""
        record: Mapping[str, Any] = json.loads(body)
        if not self.seq and is_snapshot(body):
            # Those before it were destroyed: what it says of itself is where the log begins.
            self.seq, self.prev = number - 1, record.get("prev", "")
            self.epoch, self.leaders = record["epoch"], {record["epoch"]: record["node"]}
            self.head = record["about"]["commit"]
        yield from self._check_order(number, record)
        first = self.txns.setdefault(record["txn"], number)
        if first != number:
            yield f"record {number} repeats {record['txn']} of record {first}"
        if commit := record.get("commit"):
            if self.head and commit["parent"] != self.head:
                yield f"record {number} commits upon another commit than the last one"
            self.head = commit["id"]
        self.seq, self.epoch, self.prev = number, record["epoch"], hash_record(body)

    def _check_order(self, number: int, record: Mapping[str, Any]) -> Iterator[str]:
        if number != self.seq + 1 or record["seq"] != number:
            yield f"record {number} stands where {self.seq + 1} is due"
        if record.get("prev", "") != self.prev:
            yield f"record {number} does not name the one before it"
        epoch, node = record["epoch"], record["node"]
        if epoch < self.epoch:
            yield f"record {number} is of epoch {epoch}, after {self.epoch}"
        if self.leaders.setdefault(epoch, node) != node:
            yield f"epoch {epoch} has records of two nodes"
        if epoch > self.epoch and record["kind"] != "epoch":
            yield f"record {number} begins epoch {epoch}, and does not say so"


def check_log(log: ChangeLog, memory: str) -> Iterator[str]:
    """Yield what is wrong with a log, a line each."""
    state = _LogState()
    try:
        while found := log.read(memory, state.seq):
            for number, body in found:
                yield from state.take(number, body)
    except RefusedRecordError as error:
        yield f"{error.remote}: {error.why}"


def digest_tree(memory: Memory) -> str:
    """Return what stands for all that two folders share: the files and the current commit."""
    store = memory.store
    files = [(path, digest(store.read(path))) for path in store.files() if not is_own(path)]
    return digest(json.dumps([memory.history.head(), files], ensure_ascii=False).encode())

"""The keys that seal logs: one at a time for each memory, each encrypted for some nodes.

They lie beside the log, for nodes that join later. A key is never taken back: who could read what
it seals can go on reading that. A node that is to read nothing new is left out of the next key.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.errors import RefusedRecordError, UsageError
from kimi_memory.store.node_keys import NodeKeys, wrap

if TYPE_CHECKING:
    from kimi_memory.domain.change_log import ChangeLog

KEYS = "keys"
# As AES-256 takes it.
_BYTES = 32


class LogKey(NamedTuple):
    """A key that seals a log, as it lies beside it."""

    number: int
    to: Mapping[str, str]
    """Public keys of the nodes that can open it, by node."""
    wrapped: str


class LogKeys:
    """Finds the keys that seal logs, and makes new ones.

    Args:
        log: where they lie; it lets through none that a node of the cluster did not put there.
        keys: of this node.
    """

    def __init__(self, log: ChangeLog, keys: NodeKeys) -> None:
        self._log, self._keys = log, keys
        self._rows: dict[str, dict[int, LogKey]] = {}
        self._opened: dict[tuple[str, int], bytes] = {}

    def current(self, memory: str) -> tuple[int, bytes] | None:
        """Return number and key that seal what is put now; None for a log that is not sealed.

        Raises:
            RefusedRecordError: it is not for this node, or somebody removed it from the log.
        """
        seen = self._keys.mark_of(memory).key
        rows = self._read(memory)
        if seen > max(rows, default=0):
            rows = self._read(memory, anew=True)
        number = max(rows, default=0)
        if number < seen:
            raise RefusedRecordError(
                memory, f"key {seen}, which seals its log, is gone", "Restore the table of keys"
            )
        return (number, self._unwrap(memory, rows[number])) if number else None

    def find(self, memory: str, number: int) -> bytes:
        """Return a key by its number.

        Raises:
            RefusedRecordError: it is not for this node, or not there.
        """
        if (found := self._opened.get((memory, number))) is not None:
            return found
        row = self._read(memory).get(number) or self._read(memory, anew=True).get(number)
        if row is None:
            why = f"key {number}, which seals its log, is not there"
            raise RefusedRecordError(memory, why, "Restore the table of keys")
        self._keys.note(memory, key=number)
        return self._unwrap(memory, row)

    def all(self, memory: str) -> list[bytes]:
        """Return all keys that this node can open, newest first."""
        rows = self._read(memory)
        mine = [row for row in rows.values() if self._keys.node in row.to]
        return [self._unwrap(memory, row) for row in sorted(mine, reverse=True)]

    def entries(self, memory: str) -> list[LogKey]:
        """Return the keys of a log, oldest first, as they lie there."""
        return sorted(self._read(memory, anew=True).values())

    def nodes(self, memory: str) -> list[str]:
        """Return the nodes that can read what is put now; none where the log is not sealed."""
        rows = self.entries(memory)
        return sorted(rows[-1].to) if rows else []

    def make(self, memory: str, to: Mapping[str, str]) -> int:
        """Make the next key of a log, for some nodes; return its number.

        Raises:
            UsageError: this node has no key, or is not among them.
        """
        if not self._keys.public or self._keys.node not in to:
            raise UsageError(
                f"{self._keys.node} could not read what it seals. Run 'kimi-memory node join'."
            )
        number = max((one.number for one in self.entries(memory)), default=0) + 1
        key = os.urandom(_BYTES)
        self._put(memory, LogKey(number, to, wrap(key, to.values())))
        self._keys.note(memory, key=number)
        return number

    def share(self, memory: str, node: str, key: str) -> int:
        """Encrypt all keys that this node can open for another one, too; return how many."""
        mine = [row for row in self.entries(memory) if self._keys.node in row.to]
        for row in mine:
            to = {**row.to, node: key}
            self._put(
                memory, row._replace(to=to, wrapped=wrap(self._unwrap(memory, row), to.values()))
            )
        return len(mine)

    def _put(self, memory: str, row: LogKey) -> None:
        body = json.dumps({"to": dict(row.to), "wrapped": row.wrapped}, sort_keys=True).encode()
        self._log.put_row(KEYS, f"{memory}/{row.number:06d}", body)
        self._rows.pop(memory, None)

    def _read(self, memory: str, *, anew: bool = False) -> dict[int, LogKey]:
        if anew or memory not in self._rows:
            found: dict[int, LogKey] = {}
            for row in self._log.rows(KEYS):
                of, _, number = row.key.partition("/")
                if of == memory:
                    body = json.loads(row.body)
                    found[int(number)] = LogKey(int(number), body["to"], body["wrapped"])
            self._rows[memory] = found
        return self._rows[memory]

    def _unwrap(self, memory: str, row: LogKey) -> bytes:
        place = (memory, row.number)
        if place not in self._opened:
            if self._keys.node not in row.to:
                raise RefusedRecordError(
                    memory,
                    f"its log is sealed, and not for {self._keys.node}",
                    "On a node that reads it, run 'kimi-memory deploy seal NAME --to "
                    f"{self._keys.node}'",
                )
            self._opened[place] = self._keys.unwrap(row.wrapped)
        return self._opened[place]

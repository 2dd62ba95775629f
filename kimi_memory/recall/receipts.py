"""Receipts: what recall showed, to whom, when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from kimi_memory.errors import StoreError
from kimi_memory.model.actor import Actor
from kimi_memory.model.record import seal
from kimi_memory.store.store import Store

PATH = "short-term/recalls.jsonl"


class Receipts:
    """Appends one line an answer to ``short-term/recalls.jsonl``.

    Args:
        store: where to.
        clock: tells the moment.
        mask: takes secrets out of a query before it is written.
    """

    def __init__(
        self, store: Store, clock: Callable[[], datetime], mask: Callable[[str], str]
    ) -> None:
        self._store, self._clock, self._mask = store, clock, mask

    def add(self, query: str, ids: Sequence[str], actor: Actor) -> None:
        """Note what was shown; a memory that cannot be written can still be read."""
        at = self._clock().astimezone(UTC).isoformat(timespec="seconds")
        line = seal({"at": at, "query": self._mask(query), "hits": list(ids), "to": actor.name})
        try:
            self._store.append(PATH, [line], actor)
        except StoreError:
            return

"""Receipts: what recall showed, to whom, when."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.domain.change import Actor
from kimi_memory.domain.ids import new_id
from kimi_memory.domain.tombstone import asked
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.prompt_blocks import PromptBlock, keep_block
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.search_types import Context
    from kimi_memory.domain.session import Json

PATH = "short-term/recalls.jsonl"
PAUSE_SECONDS = 0.5
"""How long a receipt may wait in a long-lived process."""


class _Shown(NamedTuple):
    at: datetime
    query: str
    hits: tuple[str, ...]
    scores: tuple[float, ...] | None
    actor: Actor
    looking: bool = False
    block: PromptBlock | None = None


class Receipts:
    """Appends one line an answer to ``short-term/recalls.jsonl``.

    Nobody waits for a receipt and none is promised: it is not synced, in a long-lived
    process it follows the answer within `pause_seconds`, in a short one (0) it is written
    at once. It holds no word of the question. Git ignores the file: it is of this copy alone.

    Args:
        store: where to.
        clock: tells the moment.
        pause_seconds: longest time a receipt may be behind.
        prompt_days: so long the blocks stay that were made for prompts; with 0 none is kept.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], datetime],
        pause_seconds: float = 0.0,
        prompt_days: int = 0,
    ) -> None:
        self._clock, self._pause = clock, pause_seconds
        self._due = _Due(store, prompt_days)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        # For who never closes a memory: this runs at the end of the interpreter too.
        self._at_exit = weakref.finalize(self, self._due.write)

    def add(
        self,
        query: str,
        ids: Sequence[str] | Mapping[str, float],
        actor: Actor,
        *,
        looking: bool = False,
    ) -> None:
        """Note what was shown; a memory that cannot be written can still be read.

        Args:
            query: what was asked.
            ids: what was shown, with the score of each where there is one.
            actor: to whom.
            looking: a person looked around, which is no use of what they saw.
        """
        scores = tuple(ids.values()) if isinstance(ids, Mapping) else None
        self._add(_Shown(self._clock(), query, tuple(ids), scores, actor, looking))

    def add_block(
        self, query: str, built: Context, actor: Actor, purpose: str, session: str
    ) -> None:
        """Note a block that was made for a prompt.

        Args:
            query: what was asked.
            built: the block, as it was given.
            actor: to whom.
            purpose: what it was made for: a start, a task, the next turn.
            session: the one it was made for, if any.
        """
        at, to = self._clock(), actor.name
        id = new_id("receipt", at)
        block = PromptBlock(id, at, to, purpose, session, built.lines, built.text)
        self._add(_Shown(at, query, built.lines, None, actor, block=block if built.text else None))

    def _add(self, shown: _Shown) -> None:
        self._due.shown.append(shown)
        if not self._pause:
            self._due.write()
            return
        with self._lock:
            if self._timer is None:
                self._timer = threading.Timer(self._pause, self._catch_up)
                # A program must be able to end while a receipt waits; the finalizer above writes
                # it.
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """Write what is due; nothing follows after this."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
            timer.join()
        self._due.write()
        self._at_exit.detach()

    def _catch_up(self) -> None:
        with self._lock:
            self._timer = None
        self._due.write()


class _Due:
    """Receipts that are not written yet."""

    def __init__(self, store: Store, prompt_days: int) -> None:
        self._store, self._keyed, self._days = store, store.journal.keyed, prompt_days
        self._lock = threading.Lock()
        self.shown: deque[_Shown] = deque()

    def write(self) -> None:
        """Write what is due, in order; what the disk refuses is forgotten."""
        with self._lock:
            # As many as there are now: what is added meanwhile comes next time.
            due = [self.shown.popleft() for _ in range(len(self.shown))]
            for one in due:
                if one.block and self._days > 0:
                    keep_block(self._store, one.block, self._days)
            for actor, shown in groupby(due, lambda one: one.actor):
                with suppress(KimiMemoryError):
                    # A receipt that a power cut takes is no loss; a sync for each would slow every
                    # recall.
                    self._store.append(PATH, [*map(self._encode_receipt, shown)], actor, sync=False)

    def _encode_receipt(self, shown: _Shown) -> bytes:
        at = shown.at.astimezone(UTC).isoformat(timespec="seconds")
        record: dict[str, Json] = {
            "id": shown.block.id if shown.block else new_id("receipt", shown.at),
            "at": at,
            "asked": asked(shown.query, self._keyed),
            "hits": list(shown.hits),
        }
        if shown.scores is not None:
            record["scores"] = [round(score, 3) for score in shown.scores]
        if shown.looking:
            record["looking"] = True
        return seal({**record, "to": shown.actor.name})

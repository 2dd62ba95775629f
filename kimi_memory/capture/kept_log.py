"""A session of a deployed memory: in the change log, or kept here until that answers again.

A turn needs no order among all that is written: its session has one owner, and its reference makes
it one turn however often it comes. So where the log does not answer, it goes into a file that is
this node's alone, and later through the log into its session. What was put and had no answer goes
there as well: the reference shows whether the log took it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal, TypeVar

from kimi_memory.capture.log import Captured, Said, SessionLog
from kimi_memory.domain.ids import new_id, zulu
from kimi_memory.domain.session import Json, Session, Transcript
from kimi_memory.errors import (
    ChangedOnDiskError,
    NotFoundError,
    NotPrimaryError,
    UnknownOutcomeError,
)
from kimi_memory.store.files.paths import KEPT
from kimi_memory.store.notes import sessions
from kimi_memory.store.store import Store

T = TypeVar("T")
Durability = Literal["", "replicated", "local"]
"""Where a turn stands: on this machine alone, in the log, or here until the log answers."""
ENDED, CARDS = "kept-ended", "kept-cards"
"""Under these names a kept session has that it ended, and which cards were asked for."""
_PAUSE_SECONDS = 2.0
"""So long a log that did not answer is not asked again by who captures."""
# A try fails only where another writer got through meanwhile.
_TRIES = 8


class Silence:
    """When a log that did not answer is asked again; one for a memory."""

    def __init__(self) -> None:
        self._until = 0.0

    @property
    def lasts(self) -> bool:
        """Whether it is not asked yet."""
        return time.monotonic() < self._until

    def begin(self) -> None:
        """Note that it did not answer."""
        self._until = time.monotonic() + _PAUSE_SECONDS


def is_silent(error: Exception) -> bool:
    """Whether an error says that the change log does not answer."""
    return isinstance(error, UnknownOutcomeError) or (
        isinstance(error, NotPrimaryError) and error.silent
    )


def again_where_changed(work: Callable[[], T]) -> T:
    """Do some work again where a record of others came into its file meanwhile.

    Raises:
        ChangedOnDiskError: they did so all the time.
    """
    for _ in range(_TRIES):
        try:
            return work()
        except ChangedOnDiskError:
            # Another process added a turn between our look and our write: look again.
            continue
    return work()


class SharedLog:
    """One open session of a deployed memory.

    Args:
        store: the memory.
        header: of the session, as it was asked for.
        make: makes what writes the file of a session, given its id.
        take: puts into the change log what is kept of a session, given its id.
        silence: when to ask the log again.
    """

    def __init__(
        self,
        store: Store,
        header: Session,
        make: Callable[[str], SessionLog],
        take: Callable[[str], None],
        silence: Silence,
    ) -> None:
        self._store, self._make, self._take, self._silence = store, make, take, silence
        self._asked, self._header = header, sessions.next_part(store, header)
        self._log: SessionLog | None = None
        self._kept: SessionLog | None = None
        self.durability: Durability = "replicated"

    @property
    def session(self) -> Session:
        """The header of the session."""
        return self._header if self._log is None else self._log.session

    def start(self) -> None:
        """Make the file with its header, unless it is there."""
        self._write(lambda log: None)

    def add(self, said: Sequence[Said]) -> list[Captured]:
        """Screen, number and append turns; durable when this returns, see `durability`."""
        named = [one if one.ref else replace(one, ref=new_id("said", one.at)) for one in said]
        return self._write(lambda log: log.add(named))

    def set_state(
        self,
        task: Mapping[str, Json] | None,
        variables: Mapping[str, Json] | None,
        metadata: Mapping[str, Json] | None = None,
    ) -> None:
        """Record the current task, variables or metadata; all but the task are merged."""
        self._write(lambda log: log.set_state(task, variables, metadata))

    def end(self, at: datetime) -> None:
        """Mark the session as ended; what is kept of it says that it is to end."""
        self._write(
            lambda log: log.end(at), lambda kept: kept.set_state(None, None, {ENDED: zulu(at)})
        )

    def ask_for_card(self, ref: str, key: str, type: str) -> None:
        """Have a card made of a kept turn once it is in the log."""

        def ask(kept: SessionLog) -> None:
            cards = kept.transcript.metadata.get(CARDS)
            asked: dict[str, Json] = {**(cards if isinstance(cards, dict) else {})}
            asked[ref] = [key, type]
            kept.set_state(None, None, {CARDS: asked})

        self._keep(ask)

    def _write(
        self, share: Callable[[SessionLog], T], keep: Callable[[SessionLog], T] | None = None
    ) -> T:
        """Write into the log, or here where it does not answer, which may be in another way."""
        if not self._silence.lasts:
            try:
                made = again_where_changed(lambda: share(self._begin()))
            except (NotPrimaryError, UnknownOutcomeError) as error:
                if not is_silent(error):
                    raise
                self._silence.begin()
            else:
                self.durability = "replicated"
                return made
        self.durability = "local"
        return self._keep(keep or share)

    def _begin(self) -> SessionLog:
        if self._store.exists(sessions.kept_path(self._asked.id)):
            self._take(self._asked.id)  # What was said before goes before.
        if self._log is None:
            header = sessions.next_part(self._store, self._asked)
            log = self._make(header.id)
            log.start(header)
            self._log = log
        return self._log

    def _keep(self, keep: Callable[[SessionLog], T]) -> T:
        for _ in range(_TRIES):
            kept = self._kept = self._kept or self._make(self._asked.id + _ENDING)
            # Its turns count on from those that are there.
            there = self._store.exists(f"{sessions.SHORT}/session_{self._header.id}.jsonl")
            continues = self._header.id if there else self._header.continues
            kept.start(replace(self._header, id=self._asked.id + _ENDING, continues=continues))
            try:
                return keep(kept)
            except NotFoundError:
                # Another process put it into the log meanwhile, and removed it.
                self._kept = None
        raise NotFoundError("session", self._asked.id)


OpenLog = SessionLog | SharedLog
"""An open session, wherever its turns go."""
_ENDING = KEPT.removesuffix(".jsonl")


def said_again(transcript: Transcript) -> list[Said]:
    """Return the turns of a kept session as they are put into the log."""
    return [
        Said(
            one.role, one.text, one.at, one.speaker, one.ref, one.origin, one.tool_calls,
            one.masked, one.stripped,
        )
        for one in transcript.turns
    ]  # fmt: skip

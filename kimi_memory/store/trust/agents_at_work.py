"""Agents at work: which session was active at a moment, known by its turns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kimi_memory.domain.note import Role
from kimi_memory.errors import KimiMemoryError
from kimi_memory.formats.jsonl import read_transcript_lines
from kimi_memory.store.files.disk import UNKNOWN, Stat, state_of
from kimi_memory.store.notes import sessions
from kimi_memory.store.store import Store

LINGERS = timedelta(hours=1)
"""So long after its last answer an agent may still be at work."""
ANSWERING = timedelta(hours=2)
"""So long it may work on an answer that is due."""
_TICK = timedelta(milliseconds=20)
"""The times of files are of a clock that may be so far behind."""
_SETTLED = timedelta(seconds=2)
"""A turn is stored so long after it was said, at most."""
OWN_HOSTS = frozenset({"remember", "by hand"})
"""Hosts of sessions that our own commands keep."""


class _Session(NamedTuple):
    id: str
    moments: list[datetime]
    """Of its start and its turns, ascending."""
    due: list[bool]
    """Whether the agent's answer was due then."""
    ended: datetime | None

    def was_active(self, moment: datetime) -> bool:
        if self.ended is not None and self.ended < moment:
            return False
        at = bisect_right(self.moments, moment + _TICK) - 1
        if at < 0:
            return False
        # An answer takes hours at most; what is written later, a person wrote.
        return moment - self.moments[at] <= (ANSWERING if self.due[at] else LINGERS)


class AgentsAtWork:
    """The sessions of agents in one memory; one that was forgotten open is not active."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[Stat, _Session | None]] = {}
        self._listed: list[_Session] = []
        self._from, self._to = datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC)
        """The moments that are answered by what was listed."""

    def at(self, moment: datetime) -> str:
        """Return the id of an agent's session that was active at a moment, else nothing."""
        # Of a hundred thousand files that were copied in each is asked about: what is said later
        # tells nothing of them.
        if not self._from <= moment <= self._to:
            self._from, self._to = min(moment, self._from), datetime.now(UTC) - _SETTLED
            self._listed = list(self._yield_sessions_since(self._from - ANSWERING))
        return next((one.id for one in self._listed if one.was_active(moment)), "")

    def _yield_sessions_since(self, moment: datetime) -> Iterator[_Session]:
        for place in sessions.places(self._store):
            look = state_of(self._store.root, place.path)
            if look is None:
                continue  # It was archived meanwhile, and is listed there the next time.
            if datetime.fromtimestamp(look[1] / 1e9, UTC) < moment:
                continue  # Its last turn is older, so it need not be read.
            was, known = self._known.get(place.path, (UNKNOWN, None))
            if was != look:
                known = self._read_session(place.path)
                self._known[place.path] = look, known
            if known is not None:
                yield known

    def _read_session(self, path: str) -> _Session | None:
        try:
            lines = self._store.read(path).splitlines(keepends=True)
            transcript = read_transcript_lines(lines, path)
        except KimiMemoryError:
            # What cannot be read shows no agent at work; broken files have their own check.
            return None
        header = transcript.session
        if header.host in OWN_HOSTS:
            return None
        told = [(turn.at, turn.role is Role.USER) for turn in transcript.turns]
        told.sort(key=lambda one: one[0])
        moments = [header.started, *(at for at, _ in told)]
        return _Session(header.id, moments, [False, *(due for _, due in told)], transcript.ended)

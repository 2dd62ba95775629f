"""Whose edit it was: a person's, or perhaps that of an agent that had a session open."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kimi_memory.config import Settings
from kimi_memory.consolidation.distil import BY_HAND
from kimi_memory.store import sessions
from kimi_memory.store.store import Store

_LINGERS = timedelta(hours=1)
"""So long after its last turn an agent may still be at work."""
_OWN = frozenset({"remember", BY_HAND})
"""Hosts of sessions that our own commands keep."""


class Suspicion:
    """Says why an edit of a page may not be a person's, by ``consolidation.external_edits``."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store, self._rule = store, settings.consolidation.external_edits

    def __call__(self, path: str) -> str:
        """Return why the edits of a page go to review; empty when they are taken."""
        if self._rule == "trust":
            return ""
        if self._rule == "review":
            return "external_edits is set to review"
        edited = (self._store.root / path).stat().st_mtime
        id = self._at_work(datetime.fromtimestamp(edited, UTC))
        return f"edited while session {id} was open" if id else ""

    def _at_work(self, moment: datetime) -> str:
        """Return the id of an agent's session that was open at a moment."""
        for place in sessions.places(self._store):
            ended = (self._store.root / place.path).stat().st_mtime
            if not place.open and datetime.fromtimestamp(ended, UTC) < moment:
                continue  # It was archived before, so it need not be read.
            transcript = sessions.read(self._store, place.path)
            header, last = transcript.session, transcript.ended
            if header.host in _OWN:
                continue
            if header.started <= moment <= (last or transcript.latest + _LINGERS):
                return header.id
        return ""

"""Remembering at once: drafts that did not wait for the end of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from kimi_memory.config import Settings
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.plan import Plan, digest_of
from kimi_memory.domain.source import Quote
from kimi_memory.hooks.host import Host
from kimi_memory.jobs import retract
from kimi_memory.jobs.fold_drafts import Fold
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.jobs.stated_links import with_links
from kimi_memory.llm.usage import unasked
from kimi_memory.store.notes.notes import Shelf


class Remember:
    """Plans cards from drafts whose turns are stored already."""

    kind = "remember"

    def __init__(self, host: Host, settings: Settings, gate: DraftGate, now: datetime) -> None:
        self._host, self._zone, self._gate, self._now = host, settings.zone, gate, now

    def plan(
        self, drafts: Sequence[Draft], turn_text: Callable[[Quote], str | None]
    ) -> Callable[[Shelf], Plan]:
        """Return the planner for some drafts.

        Args:
            drafts: what to remember.
            turn_text: gives the stored text of the turn a quote names.
        """
        return lambda shelf: self._plan(shelf, drafts, turn_text)

    @unasked()
    def _plan(
        self, shelf: Shelf, drafts: Sequence[Draft], turn_text: Callable[[Quote], str | None]
    ) -> Plan:
        fold = Fold(shelf, self._host, self._gate, self._now, self._zone)
        for draft in drafts:
            fold.add(draft, turn_text)
        folded = fold.result()
        places = [f"{q.session}#{q.n} {q.hash}" for draft in drafts for q in draft.quotes]
        return Plan(
            kind=self.kind,
            subject=", ".join(draft.key for draft in drafts)[:80],
            inputs=digest_of([self.kind, *places]),
            steps=(
                *with_links(folded.steps, drafts, shelf, self._now),
                *retract.pages(shelf, folded.gone, self._now),
            ),
            changes=tuple(retract.stones(folded.gone, self._now)),
            left_out=tuple(folded.left_out),
        )

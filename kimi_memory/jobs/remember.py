"""Remembering at once: drafts that did not wait for the end of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Plan, digest_of
from kimi_memory.jobs import tombstone_gate
from kimi_memory.jobs.fold_drafts import Fold
from kimi_memory.jobs.gates import DraftGate
from kimi_memory.jobs.planner import JobContext
from kimi_memory.jobs.stated_links import with_links
from kimi_memory.llm.usage import unasked
from kimi_memory.store.notes.notes import Shelf


class Remember:
    """Plans cards from drafts whose turns are stored already.

    Args:
        context: the memory.
        drafts: what to remember.
        texts: the stored texts of the turns that the drafts quote, by number.
    """

    kind = "remember"

    def __init__(
        self, context: JobContext, drafts: Sequence[Draft], texts: Mapping[int, str]
    ) -> None:
        self._host, self._zone = context.host, context.settings.zone
        self._gate, self._now = DraftGate.from_context(context), context.clock()
        self._drafts, self._texts = drafts, texts

    # Somebody waits for it: no model, which may take a minute.
    @unasked()
    def plan(self, shelf: Shelf) -> Plan:
        """Return the plan over the notes as they are."""
        drafts = self._drafts
        fold = Fold(shelf, self._host, self._gate, self._now, self._zone)
        for draft in drafts:
            fold.add(draft, lambda quote: self._texts.get(quote.n))
        folded = fold.result()
        places = [f"{q.session}#{q.n} {q.hash}" for draft in drafts for q in draft.quotes]
        return Plan(
            kind=self.kind,
            subject=", ".join(draft.key for draft in drafts)[:80],
            inputs=digest_of([self.kind, *places]),
            steps=(
                *with_links(folded.steps, drafts, shelf, self._now),
                *tombstone_gate.pages(shelf, folded.gone, self._now),
            ),
            changes=tuple(tombstone_gate.stones(folded.gone, self._now)),
            left_out=tuple(folded.left_out),
        )

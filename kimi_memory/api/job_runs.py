"""Jobs over an opened memory: plans are carried out, and cards made at once of stored turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kimi_memory.api.options import Parts
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import JobReport, TokenBound, of_job
from kimi_memory.errors import KimiMemoryError, StoreError
from kimi_memory.jobs.fold_drafts import Remember
from kimi_memory.jobs.planner import Planner
from kimi_memory.jobs.runner import Jobs

if TYPE_CHECKING:
    from datetime import datetime

    from kimi_memory.capture.log import Captured


class JobRuns:
    """Carries out the plans of one memory.

    Args:
        parts: the memory.
        prepare: called before a job begins, unless nothing is written.
    """

    def __init__(self, parts: Parts, prepare: Callable[[], None]) -> None:
        self._parts, self.prepare = parts, prepare
        self.jobs = Jobs(
            parts.store,
            parts.history,
            parts.host,
            parts.settings,
            clock=parts.clock,
            batch=parts.batch,
            mask=parts.screen.mask_new,
            bounds=self._find_bounds,
        )

    def _find_bounds(self, now: datetime) -> list[TokenBound]:
        parts = self._parts
        told = {"memory": parts.settings.memory.id, "root": parts.root, "state": parts.home.state}
        return parts.host.gather("bound_tokens", **told, now=now)

    def run(self, job: Planner, *, dry_run: bool = False) -> JobReport:
        """Run one job: its plan, the gates, one transaction, one commit."""
        # What settles a merge, runs while one is repaired.
        if not dry_run and job.kind != "merge":
            self.prepare()
        return self.carry_out(job, dry_run=dry_run)

    def carry_out(self, job: Planner, *, dry_run: bool = False) -> JobReport:
        """Run a job that is part of another act."""
        actor = of_job(self._parts.actor, job.kind)
        return self.jobs.run(job.plan, actor, dry_run=dry_run)

    def keep_wanted(self, drafts: Sequence[Draft], captured: Sequence[Captured]) -> None:
        """Make cards of the drafts that state something, and of the turns that they quote."""
        from kimi_memory.jobs.strength import graded, with_chat_doubt, with_doubt, with_odds

        turns = {turn.n: turn for one in captured for turn in (*one.before, one.turn)}
        # Whether an agent is at work is known at the end of the session, where each is read again.
        plain = (with_chat_doubt(with_doubt(draft, turns)) for draft in drafts)
        kept, _ = graded(with_odds(draft, chat=False) for draft in plain)
        if kept:
            try:
                self._keep_drafts(kept, captured)
            except KimiMemoryError as error:
                # The turn is stored all the same.
                self._parts.notes = (*self._parts.notes, str(error))

    def keep_statement(self, draft: Draft, captured: Sequence[Captured]) -> JobReport:
        """Make a card of a statement that somebody asked to remember."""
        try:
            return self._keep_drafts([draft], captured)
        except StoreError as error:
            # Said again, the statement would stand there twice: what is safe must be named.
            place = f"session:{draft.quotes[0].session}#{captured[0].turn.n}"
            why = f"{place} is stored, its card is not: {error}"
            return JobReport("", "remember", draft.key, failed=why)

    def _keep_drafts(self, drafts: Sequence[Draft], captured: Sequence[Captured]) -> JobReport:
        texts = {one.turn.n: one.turn.text for one in captured}
        return self.run(Remember(self._parts, drafts, texts))

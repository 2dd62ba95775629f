"""Rolling a memory back to a point in its history, with the beliefs that change by it."""

from __future__ import annotations

from contextlib import nullcontext

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Card, Note
from kimi_memory.domain.past import BeliefChange
from kimi_memory.jobs.rollback import Returned, Rollback, Target
from kimi_memory.past.beliefs import LIVE, RollbackReport, describe_change, statement_of
from kimi_memory.past.unmet import known_apart, merge_unmet


def roll_back(
    memory: Memory,
    point: str,
    only: tuple[str, ...] = (),
    *,
    dry_run: bool = False,
    sure: bool = False,
) -> RollbackReport:
    """Bring back what was known at a point in the history, as a new version.

    Args:
        memory: opened for writing.
        point: a date, a commit, ``v12``, a name, a job's id.
        only: paths, keys, ids or ``agent:NAME``; everything if empty.
        dry_run: report, and write nothing.
        sure: go on, however many beliefs go.

    Raises:
        UsageError: there is no such point.
        GateError: too much would go.
    """
    # A look must not wait for a job of minutes, nor make one wait.
    with nullcontext() if dry_run else memory.store.lock("job"):
        if not dry_run:
            memory.repair_merges()
            memory.batch.flush("Before a rollback")
        found = memory.points.find(point)
        # Of a date people want to read which version it was.
        name = f"v{found.version}" if found.version else found.short
        apart = known_apart(memory.store, merge_unmet(memory.history, found))
        target = Target(found.commit, name, only, apart)
        job = Rollback(memory, target, sure=sure or dry_run)
        report = memory.run(job, dry_run=dry_run)
    beliefs = (_describe_belief(id, one) for id, one in sorted(job.notes.items()))
    return RollbackReport(
        found,
        "" if dry_run else report.id,
        report.commit,
        report.paths,
        tuple(sorted(filter(None, beliefs), key=lambda one: (one.key, one.note))),
        report.left_out,
    )


def _describe_belief(id: str, both: Returned) -> BeliefChange | None:
    now, then = _live_card(both.now), _live_card(both.then)
    card = then or now
    change = describe_change(now, then)
    if card is None or not change:
        return None
    said = statement_of(now), statement_of(then)
    return BeliefChange(change, id, card.key, *said, project=card.project)


def _live_card(note: Note | None) -> Card | None:
    return note if isinstance(note, Card) and note.status in LIVE else None

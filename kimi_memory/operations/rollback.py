"""Rolling a memory back to a point in its history, with the beliefs that change by it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

from kimi_memory.api.memory import Memory
from kimi_memory.domain.note import Card, Note
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.rollback import Rollback, Target
from kimi_memory.past.beliefs import RollbackReport, compare_cards
from kimi_memory.past.unmet import known_apart, merge_unmet
from kimi_memory.store.git.tree import list_paths


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
        NotFoundError: what is named was never there.
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
        _check_known(memory, found.commit, only)
        target = Target(found.commit, name, only, apart)
        job = Rollback(memory, target, sure=sure or dry_run)
        report = memory.run(job, dry_run=dry_run)
    now, then = ({id: one[side] for id, one in job.notes.items()} for side in (0, 1))
    beliefs = compare_cards(_choose_cards(now), _choose_cards(then))
    job_id = "" if dry_run else report.id
    return RollbackReport(found, job_id, report.commit, report.paths, beliefs, report.left_out)


def _check_known(memory: Memory, commit: str, only: tuple[str, ...]) -> None:
    """Refuse what never was a path, a note or a key: nothing to do would look like success."""
    named = [what for what in only if not what.startswith("agent:")]
    if not named:
        return
    paths = {*list_paths(memory.history.repository(), commit), *memory.store.files()}
    table = memory.past.table()
    for what in named:
        below = f"{what.rstrip('/')}/"
        there = any(path == what or path.startswith(below) for path in paths)
        if not (there or table.states_of(what) or table.states_under(what)):
            raise NotFoundError("note or key", what)


def _choose_cards(notes: Mapping[str, Note | None]) -> dict[str, Card]:
    return {id: note for id, note in notes.items() if isinstance(note, Card)}

"""Running a job: gates, one transaction, one commit, a record that can be undone."""

from __future__ import annotations

import difflib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kimi_memory.config import Settings
from kimi_memory.domain.job import (
    Actor,
    Append,
    Change,
    Create,
    Delete,
    Effect,
    Job,
    JobReport,
    Plan,
    Spent,
    Step,
    Update,
    digest,
    operations,
)
from kimi_memory.domain.job_registry import JOBS
from kimi_memory.domain.note import LIVE, Card
from kimi_memory.domain.pages import Day, Digest, Project
from kimi_memory.domain.search_types import ChunkSizes
from kimi_memory.errors import (
    ChangedOnDiskError,
    FormatError,
    GateError,
    KimiMemoryError,
    NotFoundError,
)
from kimi_memory.formats.job_file import (
    FOLDER,
    job_id,
    job_json,
    job_of,
    job_path,
    record_path,
)
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.circuit_breaker import Breaker
from kimi_memory.jobs.gates import Forbidden, JobGates, TombstoneGate, split_off_held
from kimi_memory.jobs.job_usage import DayBudget, Others, notice_job
from kimi_memory.jobs.lifetimes import with_ended_events, with_expiry
from kimi_memory.jobs.pages import PAGE, Pages, is_page, page_changes
from kimi_memory.jobs.render import (
    Mask,
    Render,
    is_blank,
    screen_changes,
    screen_plan,
    with_edits,
    without_waiting,
)
from kimi_memory.llm.usage import Meter, metered
from kimi_memory.store.copy import checkpoint
from kimi_memory.store.git.head import Batch
from kimi_memory.store.git.history import History
from kimi_memory.store.notes.notes import Shelf, read_tombstones
from kimi_memory.store.store import Store

# A person saves a page now and then; one that saves all the time gets an error that says so.
_TRIES = 3
_BEHIND = "history is behind, and this job cannot be undone yet"
_URGENT = frozenset(job.name for job in JOBS if job.urgent)


class Jobs:
    """Runs plans against one store.

    Args:
        store: the files.
        history: where a job becomes a commit.
        host: informed of what was applied.
        settings: the limits of the gates.
        clock: tells the moment of a job.
        batch: what waits to be committed; it is, before a job changes anything.
        mask: masks the secrets of a text that do not stand in another one already.
        bounds: what others bound of the tokens of a day.
    """

    def __init__(  # noqa: PLR0913  what a memory lends its jobs
        self,
        store: Store,
        history: History,
        host: Host,
        settings: Settings,
        *,
        clock: Callable[[], datetime],
        batch: Batch,
        mask: Mask = lambda text, known: text,
        bounds: Others = lambda now: (),
    ) -> None:
        self._store, self._history, self._host = store, history, host
        self._gates, self._clock, self._batch = JobGates(settings.gates), clock, batch
        self._settings = settings
        most = settings.gates.max_tokens_per_day
        self._day = DayBudget(store, most, clock, settings.zone, bounds)
        self._breaker, self._mask = Breaker(store, settings.gates), mask

    def done(self, kind: str, inputs: str) -> bool:
        """Whether a job of this kind ran over the same inputs and was not undone."""
        return self._store.exists(record_path(kind, inputs))

    def run(
        self, make: Callable[[Shelf], Plan], actor: Actor, *, dry_run: bool = False
    ) -> JobReport:
        """Make a plan and carry it out, alone among jobs.

        Args:
            make: decides, given the notes as they are.
            actor: on whose behalf.
            dry_run: stop before the first byte and report the diff.

        Raises:
            GateError: a gate stopped it; memory is as it was.
            ChangedOnDiskError: files kept changing while it ran.
        """
        # Without the lock: a look at what would change must not wait for a job of minutes.
        if dry_run:
            return self._attempt_job(make, actor, Shelf(self._store), dry_run=True)
        with self._store.lock("job"):
            self._breaker.check(actor.job, self._clock())
            try:
                report = self._retry_job(make, actor)
            except KimiMemoryError as error:
                self._breaker.note(actor.job, error, self._clock())
                raise
            self._breaker.note(actor.job, None, self._clock())
            return report

    def each(
        self, kind: str, tries: Mapping[str, Callable[[], JobReport]], *, alone: bool = False
    ) -> list[JobReport]:
        """Run several jobs of a kind; where one fails, it is reported and the rest goes on.

        Args:
            kind: of the jobs.
            tries: what runs each, by its subject.
            alone: one was asked for, so its failure is the answer.
        """
        reports = []
        with self._breaker.counted_once(self._clock()):
            for subject, run in tries.items():
                try:
                    reports.append(run())
                except (FormatError, ChangedOnDiskError, NotFoundError, GateError) as error:
                    if alone or getattr(error, "gate", "") == "breaker":
                        raise  # Where the breaker stops one, all of this kind rest.
                    reports.append(JobReport("", kind, subject, failed=str(error)))
        return reports

    def _retry_job(self, make: Callable[[Shelf], Plan], actor: Actor) -> JobReport:
        for attempt in range(_TRIES):
            shelf = Shelf(self._store)
            try:
                report = self._attempt_job(make, actor, shelf, dry_run=False)
            except ChangedOnDiskError:
                if attempt == _TRIES - 1:
                    raise
                # What was believed of the files was wrong: the next try looks at each of them
                # again.
                self._store.folder_scan.drop()
            else:
                shelf.keep()
                return report
        raise AssertionError("unreachable")

    def _attempt_job(
        self, make: Callable[[Shelf], Plan], actor: Actor, shelf: Shelf, *, dry_run: bool
    ) -> JobReport:
        began = time.monotonic()
        # Around the plan alone: rules of a plugin may ask a model wherever they like, and the job
        # pays.
        with metered() as meter:
            self._day.bound(meter)
            plan = self._filter_plan(_with_model(make(shelf), meter), shelf)
            plan = screen_plan(plan, self._mask, self._store.journal.keyed)
        self._gates.budget(time.monotonic() - began, plan.spent)
        # By the record that lies in the folder: a clone knows what was done, and so does an undone
        # job.
        if plan.empty or self.done(plan.kind, plan.inputs):
            return JobReport("", plan.kind, plan.subject, left_out=plan.left_out)
        render = Render(self._store, shelf)
        plan, changes = split_off_held(plan, render, self._gates, self._read_before)
        listed = {change.path for change in changes}
        # After the gates held parts back: a dispute about a held card must get no page.
        disputed = page_changes(render, shelf, plan.steps)
        changes += [change for change in disputed if change.path not in listed]
        if not changes:
            return JobReport("", plan.kind, plan.subject, left_out=plan.left_out)
        before = self._read_before(changes)
        # The last look before the disk, whatever model or plugin wrote the words.
        changes = screen_changes(changes, before, self._mask)
        live = sum(e.status in LIVE for e in shelf.entries().values() if e.kind == "card")
        self._gates.check(plan.steps, changes, entries=live, asked=plan.asked, room=plan.room)
        if not plan.asked:
            sizes = ChunkSizes(*self._settings.chunks)
            Forbidden(self._store, self._host, self._clock, sizes).check(changes, before)
        job = self._build_record(plan, changes, before)
        if not any(change.path == PAGE for change in changes):
            # It follows from the notes, so no record has it, and an undo makes it anew.
            changes += self._overview_changes(shelf, plan.steps)
        if dry_run:
            return self._build_report(
                plan, job, diff=_render_diff(changes, self._read_before(changes))
            )
        # Undo restores what the commit before a job has: without one it could restore nothing.
        behind = self._saved_before(job, shelf)
        report = self._carry_out(plan, job, changes, actor)
        left_out = dict.fromkeys((*report.left_out, *behind))
        return replace(report, left_out=tuple(left_out))

    def _saved_before(self, job: Job, shelf: Shelf) -> list[str]:
        """Commit what was written before the job; return why not, where it goes on without."""
        try:
            self._batch.flush(f"Before {job.kind} {job.subject}".strip(), shelf.survey.still)
        except KimiMemoryError as error:
            if job.kind not in _URGENT:
                raise
            return [f"{_BEHIND}: {error}"]
        return []

    def refresh_pages(self, actor: Actor, behind: Iterable[str]) -> None:
        """Bring MEMORY.md up to date with the notes, and all pages where another is behind."""
        shelf = Shelf(self._store)
        pages = Pages(self._store, shelf, self._settings)
        others = any(is_page(path) and path != PAGE for path in behind)
        changes = pages.changes(shelf.heads())[0] if others else pages.overview(())
        if changes:
            self._store.apply(changes, actor, subject="overview")

    def _overview_changes(self, shelf: Shelf, steps: Sequence[Step]) -> list[Change]:
        if not any(isinstance(step.note, Card | Digest | Project) for step in steps):
            return []
        return Pages(self._store, shelf, self._settings).overview(steps)

    def _filter_plan(self, plan: Plan, shelf: Shelf) -> Plan:
        """Return a plan without what was forgotten, and with what people wrote themselves."""
        ended = with_ended_events(plan.steps, shelf, asked=plan.asked)
        plan = replace(plan, steps=tuple(with_expiry(ended, shelf, self._settings.ttl)))
        plan = without_waiting(plan, shelf)
        if plan.asked:
            return plan
        # Not for what a person asked: they may bring back what they forgot.
        steps, left_out = TombstoneGate(read_tombstones(self._store)).steps(plan.steps, shelf)
        kept: list[Step] = []
        for step in steps:
            try:
                kept.append(with_edits(step, shelf, self._history))
            except FormatError as error:  # A file that cannot be read is never rewritten.
                left_out.append(str(error))
        blank = {s.note.id for s in kept if isinstance(s.note, Day) and is_blank(s.note)}
        gone = [entry.path for id in blank if (entry := shelf.entries().get(id))]
        taken = (Delete(path, digest(self._store.read(path))) for path in gone)
        return replace(
            plan,
            steps=tuple(step for step in kept if step.note.id not in blank),
            changes=(*plan.changes, *taken),
            left_out=(*plan.left_out, *left_out),
        )

    def _carry_out(self, plan: Plan, job: Job, changes: list[Change], actor: Actor) -> JobReport:
        record = Create(job_path(job.id), job_json(job))
        # What judges foreign changes is loaded only for a job that brought some.
        vetting = self._store.vetting if plan.brought else None
        waiting = {} if vetting is None else vetting.merged(changes)
        # A batch that came due in between would take the files into a commit without the job.
        with self._batch.hold():
            receipt = self._store.apply([*changes, record], actor, subject=job.id, waiting=waiting)
            written = [*(effect.path for effect in receipt.effects), *receipt.kept]
            signed = {**trailers(job), **name_asker(actor), **checkpoint(self._store)}
            try:
                # Only what the job wrote: what somebody saved meanwhile belongs into a commit of
                # its own.
                commit = self._history.commit(_commit_subject(job), trailers=signed, only=written)
                report = self._build_report(plan, job, commit=commit)
            except KimiMemoryError as error:
                # All of it is on disk: to call it failed would have it done again.
                self._batch.note()
                left_out = (*plan.left_out, f"{_BEHIND}: {error}")
                report = self._build_report(replace(plan, left_out=left_out), job)
        self._host.notice("changes_applied", paths=report.paths, job=job)
        notice_job(self._host, job, self._settings)
        return report

    def _read_before(self, changes: Iterable[Change]) -> dict[str, bytes]:
        return {
            change.path: self._store.read(change.path)
            for change in changes
            if not isinstance(change, Create) and self._store.exists(change.path)
        }

    def _build_record(self, plan: Plan, changes: list[Change], before: Mapping[str, bytes]) -> Job:
        return Job(
            id=job_id(plan.kind, plan.inputs),
            kind=plan.kind,
            at=self._clock(),
            inputs=plan.inputs,
            subject=plan.subject,
            model=plan.model,
            prompt=plan.prompt,
            spent=plan.spent,
            operations=(*operations(plan.steps), *plan.decided),
            effects=tuple(_describe_effect(change, before) for change in changes),
        )

    def _build_report(self, plan: Plan, job: Job, *, diff: str = "", commit: str = "") -> JobReport:
        paths = tuple(effect.path for effect in job.effects)
        return JobReport(
            job.id, job.kind, job.subject, job.operations, paths, plan.left_out, diff, commit,
            job.model, job.spent,
        )  # fmt: skip

    def records(self, kind: str) -> Iterator[Job]:
        """Yield the records of the jobs of a kind that stand."""
        for path in self._store.files(FOLDER):
            if path.startswith(f"{FOLDER}/{kind}-"):
                yield job_of(self._store.read(path))

    def load(self, id: str) -> Job:
        """Return the record of a job, also by a unique prefix of its id.

        Raises:
            NotFoundError: there is none.
        """
        near = [path for path in self._store.files(FOLDER) if path.startswith(f"{FOLDER}/{id}")]
        exact = [path for path in near if path == job_path(id)]
        if not exact and len(near) != 1:
            raise NotFoundError("job", id)
        return job_of(self._store.read((exact or near)[0]))


def _with_model(plan: Plan, meter: Meter) -> Plan:
    """Return a plan that says which model took part in it, and what that cost."""
    if not meter.calls and not meter.notes:
        return plan
    return replace(
        plan,
        model=", ".join(meter.models) or plan.model,
        prompt=", ".join(meter.prompts) or plan.prompt,
        spent=Spent(meter.calls, meter.tokens_in, meter.tokens_out),
        # A model that failed is named in the report, or a memory that only its rules keep would
        # look served.
        left_out=(*plan.left_out, *meter.notes),
    )


def trailers(job: Job) -> dict[str, str]:
    """Return the machine-readable lines of a job's commit message."""
    counts = Counter(str(operation.op) for operation in job.operations)
    lines = {
        "Job": job.id,
        "Kind": job.kind,
        "Subject": job.subject,
        "Model": job.model,
        "Prompt-Sha": job.prompt,
        "Inputs": job.inputs,
        # The counts and no ids: a commit that lists three hundred of them is read by nobody.
        "Ops": ", ".join(f"{op} {count}" for op, count in sorted(counts.items())),
    }
    return {name: value for name, value in lines.items() if value}


def name_asker(actor: Actor) -> dict[str, str]:
    """Return the lines of a commit's message that say for whom it was made."""
    return {"Member": actor.sub, "Run": actor.run}


def _commit_subject(job: Job) -> str:
    return f"{job.kind}: {job.subject}" if job.subject else job.kind


def _content_after(change: Change, before: Mapping[str, bytes]) -> bytes:
    """Return the bytes the file has afterwards; empty when it is gone."""
    match change:
        case Create(content=content) | Update(content=content):
            return content
        case Append(path=path, lines=lines):
            return before.get(path, b"") + b"".join(lines)
        case _:
            return b""


def _describe_effect(change: Change, before: Mapping[str, bytes]) -> Effect:
    old = before.get(change.path)
    gone = isinstance(change, Delete)
    return Effect(
        change.path,
        "" if old is None else digest(old),
        "" if gone else digest(_content_after(change, before)),
    )


def _render_diff(changes: Iterable[Change], before: Mapping[str, bytes]) -> str:
    """Return a unified diff of what would change."""
    shown: list[str] = []
    for change in changes:
        old = before.get(change.path, b"").decode("utf-8", "replace")
        new = _content_after(change, before).decode("utf-8", "replace")
        names = (
            f"a/{change.path}" if old else "/dev/null",
            f"b/{change.path}" if new else "/dev/null",
        )
        # One line around a change: in a page of a hundred lines it tells where, and more would hide
        # what.
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), *names, n=1, lineterm="")
        shown += lines
    return "\n".join(shown) + "\n" if shown else ""

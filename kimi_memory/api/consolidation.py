"""Consolidation of an opened memory: sessions distilled, scheduled jobs, edits taken in, undo."""

from __future__ import annotations

from datetime import date
from functools import partial

from kimi_memory.api.job_runs import JobRuns
from kimi_memory.api.options import Parts
from kimi_memory.domain.job import Job, JobReport
from kimi_memory.domain.job_registry import find_job
from kimi_memory.errors import KimiMemoryError
from kimi_memory.jobs.import_edits import ImportEdits
from kimi_memory.jobs.planner import planners_of
from kimi_memory.jobs.rekeying import rekey
from kimi_memory.jobs.undistilled import undistilled
from kimi_memory.jobs.usage import Usage
from kimi_memory.store.git.graph_file import write_graph_file
from kimi_memory.store.notes import sessions


class Consolidation:
    """Runs the jobs of one memory.

    Args:
        parts: the memory.
        runs: carries out its plans.
    """

    def __init__(self, parts: Parts, runs: JobRuns) -> None:
        self._parts, self.jobs, self._run = parts, runs.jobs, runs.run
        self._runs = runs

    def repair_merges(self, *, thorough: bool = False) -> list[str]:
        """Repair what git merged since the last time; return a line for each merge."""
        from kimi_memory.jobs.merge_repair import MergeRepair

        parts = self._parts
        repair = MergeRepair(parts, parts.batch.flush, self._runs.carry_out)
        lines = [str(one) for one in repair.repair(thorough=thorough)]
        if lines:
            try:
                self.take_edits()
            except KimiMemoryError as error:
                # The merge is repaired all the same.
                lines.append(f"edits of pages are not taken over yet: {error}")
        return lines

    def distil(self, id: str, *, dry_run: bool = False) -> JobReport:
        """Distil one session; nothing to do when it was distilled before."""
        from kimi_memory.jobs.distil import Distil

        parts = self._parts
        place = sessions.find(parts.store, parts.screen.pass_id(id))
        transcript = sessions.read(parts.store, place.path)
        report = self._run(Distil(parts, place.id), dry_run=dry_run)
        # Not after a dry run, nor where it was distilled before.
        if report.id:
            turns = len(transcript.turns)
            parts.host.notice("session_ended", session=transcript.session, turns=turns)
        if place.open and not dry_run and not parts.store.exists(place.path):
            # The readable view of an open session, which is now a page in the archive.
            parts.store.unview(place.path.removesuffix("l"))
        return report

    def waiting(self) -> list[str]:
        """Return the ids of ended sessions that were not distilled yet."""
        return undistilled(self._parts.store)[0]

    def distil_waiting(self, *, dry_run: bool = False) -> list[JobReport]:
        """Distil every session that waits, in order; one that fails keeps no other waiting."""
        with self._parts.store.folder_scan.hold():
            waiting, damaged = undistilled(self._parts.store)
            # Damaged ones are tried as well: their failure names the file and what to do about it.
            tries = {id: partial(self.distil, id, dry_run=dry_run) for id in (*damaged, *waiting)}
            return self.jobs.each("distil", tries)

    def consolidate(
        self, period: str, day: date | None = None, *, dry_run: bool = False
    ) -> list[JobReport]:
        """Run a scheduled job for one period, or for all that have news."""
        job, parts = find_job(period), self._parts
        # Earlier versions kept plain hashes of secrets, which can be guessed; a job replaces them.
        if not dry_run and rekey(parts.store):
            parts.batch.note()
        if not dry_run:
            self._runs.prepare()
        with parts.store.folder_scan.hold():
            # Before the job: it writes the same pages anew, and must know what a person changed
            # there.
            edits = self.take_edits(dry_run=dry_run)
            jobs = planners_of(job, parts, day, self.jobs.done)
            runs = {name: partial(self._run, one, dry_run=dry_run) for name, one in jobs.items()}
            found = self.jobs.each(period, runs, alone=day is not None)
            reports = [one for one in found if day or one.id or one.failed or one.left_out]
        reports[:0] = [edits] if edits.id or edits.left_out else []
        if not dry_run:
            # Old bytes are kept for some time only; a scheduled job is the moment to let them go.
            parts.store.drop_undo()
            if old := Usage(parts.store, parts.zone).prune(parts.now().date()):
                parts.store.apply(old, parts.actor, subject="receipts")
            if job.span == "week" and parts.history.ready():
                write_graph_file(parts.history.repository())
        return reports

    def take_edits(self, *, meant: bool = False, dry_run: bool = False) -> JobReport:
        """Take over what a person changed on generated pages and in the files of cards."""
        with self._parts.store.folder_scan.hold():
            if not dry_run:
                self._parts.store.reconcile()
            # Edits are taken over in the middle of a merge, too: nothing is repaired before.
            job = ImportEdits(self._parts, meant=meant)
            return self._runs.carry_out(job, dry_run=dry_run)

    def undo(self, job: str) -> Job:
        """Take a job back: every file it changed is again what it was, byte for byte."""
        from kimi_memory.jobs.undo import Undo

        parts = self._parts
        undo = Undo(parts.store, parts.history, self.jobs, parts.batch)
        undone, _ = undo.job(job, parts.actor)
        paths = [effect.path for effect in undone.effects]
        parts.host.notice("changes_applied", paths=paths, job=None)
        return undone

"""Undoing a job: every file as it was, byte for byte, or not at all."""

from __future__ import annotations

from kimi_memory.consolidation.jobs import Jobs, job_path
from kimi_memory.consolidation.overview import PAGE, is_generated
from kimi_memory.errors import GateError, HistoryError
from kimi_memory.model.actor import Actor
from kimi_memory.model.change import Change, Create, Delete, Effect, Update, digest
from kimi_memory.model.job import Job
from kimi_memory.model.session_page import view_json
from kimi_memory.store import sessions
from kimi_memory.store.history import History
from kimi_memory.store.store import Store

_OPEN = "short-term/session_"


class Undo:
    """Takes jobs back, with the contents git kept."""

    def __init__(self, store: Store, history: History, jobs: Jobs) -> None:
        self._store, self._history, self._jobs = store, history, jobs

    def job(self, id: str, actor: Actor) -> tuple[Job, str]:
        """Restore every file a job changed to what it was before.

        Returns:
            The job's record and the commit that undid it.

        Raises:
            NotFoundError: no such job, or it was undone already.
            GateError: a file was changed since; the files are named.
            HistoryError: git does not have the earlier content.
        """
        with self._store.lock("job"):
            job = self._jobs.load(id)
            self._history.commit(f"Before undo of {job.id}")
            self._check(job)
            since = self._base(job)
            changes = [change for effect in job.effects for change in self._back(effect, since)]
            record = self._store.read(job_path(job.id))
            changes.append(Delete(job_path(job.id), digest(record)))
            self._store.apply(changes, actor, subject=f"undo {job.id}")
            for effect in job.effects:
                self._show(effect.path)
            self._jobs.refresh_overview(actor)
            trailers = {"Undoes": job.id, "Kind": "undo"}
            return job, self._history.commit(f"undo: {job.id}", trailers=trailers)

    def _show(self, path: str) -> None:
        """Make the view of a session anew that is open again."""
        if path.startswith(_OPEN) and path.endswith(".jsonl") and self._store.exists(path):
            seen = sessions.read(self._store, path)
            self._store.view(path.removesuffix("l"), view_json(seen))

    def _check(self, job: Job) -> None:
        changed = [
            effect.path
            for effect in job.effects
            if self._now(effect.path) != effect.after and not self._follows(effect.path)
        ]
        if changed:
            raise GateError(
                "undo",
                f"{', '.join(changed[:5])} changed since {job.id} wrote it",
                "Undo the later jobs first ('kimi-memory log'), or take your edit out",
            )

    def _follows(self, path: str) -> bool:
        """Whether a file is the overview as it was generated, which every job brings up to date."""
        if path != PAGE or not self._store.exists(path):
            return False
        return is_generated(self._store.read(path).decode("utf-8", "replace"))

    def _now(self, path: str) -> str:
        return digest(self._store.read(path)) if self._store.exists(path) else ""

    def _base(self, job: Job) -> str:
        """Return the commit just before the job's own."""
        commits = self._history.log(limit=1, path=job_path(job.id))
        if not commits:
            raise HistoryError(
                f"Job {job.id} is not in git, so its earlier files are not known. "
                "Switch history on (history.git in memory.toml) before running jobs."
            )
        return f"{commits[0].hash}^"

    def _back(self, effect: Effect, base: str) -> list[Change]:
        if effect.before == effect.after:
            return []
        if self._follows(effect.path) and self._now(effect.path) != effect.after:
            return []  # Later jobs wrote it; it is made anew.
        if not effect.before:
            return [Delete(effect.path, effect.after)]
        content = self._history.content(base, effect.path)
        if content is None or digest(content) != effect.before:
            raise HistoryError(
                f"git does not hold {effect.path} as it was before the job. "
                f"Look at 'kimi-memory log' and restore it by hand."
            )
        if not effect.after:
            return [Create(effect.path, content)]
        return [Update(effect.path, effect.after, content)]

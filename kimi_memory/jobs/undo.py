"""Undoing a job: every file as it was, byte for byte; where it was changed since, by a merge.

Of a page of a project that later jobs, or people, went on with, only its lines are taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from kimi_memory.domain.job import Actor, Change, Create, Delete, Effect, Job, Update, digest
from kimi_memory.domain.pages import Project
from kimi_memory.errors import FormatError, GateError, HistoryError
from kimi_memory.formats import codec
from kimi_memory.formats.frontmatter import decode, id_of
from kimi_memory.formats.job_file import job_path
from kimi_memory.formats.jsonl import view_json
from kimi_memory.formats.page_lines import is_generated
from kimi_memory.jobs.pages import is_page
from kimi_memory.jobs.runner import Jobs, name_asker
from kimi_memory.merge.kinds import is_session
from kimi_memory.merge.notes import keep_edit, standing_as
from kimi_memory.merge.trees import join
from kimi_memory.store.git.head import Batch
from kimi_memory.store.git.history import History
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from kimi_memory.store.store import Store

_OPEN = "short-term/session_"
_LISTS = ("state", "todos", "decisions", "risks", "preferences", "progress")
PROJECTS = "mid-term/projects/"
T = TypeVar("T")


def goes_on(path: str) -> bool:
    """Whether jobs go on writing a file, so that one of them can be distinguished later."""
    return is_page(path) or path.startswith(PROJECTS)


class Undo:
    """Takes jobs back, with the contents git kept."""

    def __init__(self, store: Store, history: History, jobs: Jobs, batch: Batch) -> None:
        self._store, self._history, self._jobs, self._batch = store, history, jobs, batch

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
            # What was saved since the job is then in git, whatever the undo does.
            self._history.commit(f"Before undo of {job.id}")
            made = self._find_commit(job)
            backs = {effect.path: self._revert_effect(effect, made) for effect in job.effects}
            amid = [effect for effect in job.effects if backs[effect.path] is None]
            self._check_unchanged(job, {one.path for one in amid if self._must_stay(one, made)})
            changes = self._merge_effects(amid, made) if amid else []
            changes += [change for found in backs.values() for change in found or ()]
            # Without its record the job can run again over the same inputs.
            record = self._store.read(job_path(job.id))
            changes.append(Delete(job_path(job.id), digest(record)))
            left = [path for path, found in backs.items() if not found and is_page(path)]
            # A batch that came due in between would take the files into a commit without the undo.
            with self._batch.hold():
                self._store.apply(changes, actor, subject=f"undo {job.id}")
                for effect in job.effects:
                    self._rebuild_view(effect.path)
                # Generated pages follow from the cards, which are other ones now.
                self._jobs.refresh_pages(actor, left)
                trailers = {"Undoes": job.id, "Kind": "undo", **name_asker(actor)}
                return job, self._history.commit(f"undo: {job.id}", trailers=trailers)

    def _merge_effects(self, amid: Sequence[Effect], made: str) -> list[Change]:
        """Return what takes files back that were changed since: what was written later stays.

        They are merged as if another copy had gone on without the job.
        """
        before, after = dict[str, bytes](), dict[str, bytes]()
        now, ours = dict[str, bytes](), dict[str, bytes]()
        places = {id: entry.path for id, entry in Shelf(self._store).entries().items()}
        for effect in amid:
            path = effect.path
            old = self._read_version(f"{made}^", path, effect.before)
            new = self._read_version(made, path, effect.after)
            note = id_of(new or old or b"", path)
            here = path if self._store.exists(path) else places.get(note, "")
            if not here:
                continue  # Somebody deleted it since.
            now[here] = self._store.read(here)
            before |= {path: old} if old is not None else {}
            after |= {path: new} if new is not None else {}
            # What replaced a statement decided nothing else of it: it goes with what was said.
            ours[here] = now[here] if old or new is None else _stand_as(now[here], new, here)
        merged = join(after, ours, before).files
        return [
            change
            for path in sorted({*now, *merged})
            for change in _replace_file(path, now, merged)
        ]

    def _read_version(self, commit: str, path: str, mark: str) -> bytes | None:
        """Return a file as it was at a commit; None where it was not there."""
        content = self._history.content(commit, path) if mark else None
        if mark and (content is None or digest(content) != mark):
            raise HistoryError(
                f"git does not hold {path} as it was at the job. "
                f"Look at 'kimi-memory log' and restore it by hand."
            )
        return content

    def _rebuild_view(self, path: str) -> None:
        """Make the view of a session anew that is open again."""
        if path.startswith(_OPEN) and path.endswith(".jsonl") and self._store.exists(path):
            seen = sessions.read(self._store, path)
            # The view of `session_x.jsonl` is `session_x.json`.
            self._store.view(path.removesuffix("l"), view_json(seen))

    def _must_stay(self, effect: Effect, made: str) -> bool:
        """Whether a file is not merged: a session, a file that waits for review, a broken note."""
        path = effect.path
        if not self._store.exists(path):
            return False
        vetting = self._store.vetting
        now = self._store.read(path)
        # Written anew it would count, though nobody confirmed it.
        cap = vetting.standing(path, now).cap if vetting is not None else None
        was = self._history.content(made if effect.after else f"{made}^", path) or b""
        return is_session(path) or cap is not None or id_of(was, path) != id_of(now, path)

    def _check_unchanged(self, job: Job, changed: set[str]) -> None:
        if changed:
            raise GateError(
                "undo",
                f"{', '.join(sorted(changed)[:5])} changed since {job.id} wrote it",
                "Undo the later jobs first ('kimi-memory log'), or take your edit out",
            )

    def _is_generated_page(self, path: str) -> bool:
        """Whether a file is a page as it was generated, which follows from the cards."""
        if not is_page(path) or not self._store.exists(path):
            return False
        return is_generated(self._store.read(path).decode("utf-8", "replace"))

    def _find_commit(self, job: Job) -> str:
        """Return the commit of a job."""
        commits = self._history.log(limit=1, path=job_path(job.id))
        if not commits:
            raise HistoryError(
                f"Job {job.id} is not in git, so its earlier files are not known. "
                "Switch history on (history.git in memory.toml) before running jobs."
            )
        return commits[0].hash

    def _revert_effect(self, effect: Effect, made: str) -> list[Change] | None:
        """Return what takes one file back; None where it was changed since."""
        there = self._store.exists(effect.path)
        now = self._store.read(effect.path) if there else b""
        # Another job or a person went on from there, and their work is not ours to throw away.
        if (digest(now) if there else "") != effect.after:
            return self._back_amid(effect, made, now)
        # A job may list a file that it found as it should be.
        if effect.before == effect.after:
            return []
        if not effect.before:
            return [Delete(effect.path, effect.after)]
        # From the commit before the job's, and checked by its hash: git may have been rewritten.
        content = self._read_version(f"{made}^", effect.path, effect.before) or b""
        if not effect.after:
            return [Create(effect.path, content)]
        return [Update(effect.path, effect.after, content)]

    def _back_amid(self, effect: Effect, made: str, now: bytes) -> list[Change] | None:
        """Take back a file that went on since, where what the job did can be distinguished."""
        if self._is_generated_page(effect.path):
            return []  # It is made anew.
        before = self._history.content(f"{made}^", effect.path) if effect.before else b""
        after = self._history.content(made, effect.path) if effect.after else None
        if before is None or after is None or digest(after) != effect.after:
            return None
        content = take_back(effect.path, before, after, now)
        return None if content is None else [Update(effect.path, digest(now), content)]


def _stand_as(now: bytes, new: bytes, path: str) -> bytes:
    """Return a file whose note has the standing again that a job gave it, unless it was edited."""
    try:
        text, made = decode(now, path), codec.parse(decode(new, path), path)
        note = codec.parse(text, path)
    except FormatError:
        return now
    if made.kind != note.kind:
        return now
    stood = standing_as(note, made)
    # What was said or proven since stays, and stands as it does.
    kept = keep_edit(made, stood) is not None
    return now if kept else codec.patch(text, note, stood, path).encode()


def _replace_file(path: str, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[Change]:
    if old.get(path) == new.get(path):
        return []
    if path not in new:
        return [Delete(path, digest(old[path]))]
    if path not in old:
        return [Create(path, new[path])]
    return [Update(path, digest(old[path]), new[path])]


def take_back(path: str, before: bytes, after: bytes, now: bytes) -> bytes | None:
    """Return a project's page as it is, without what one job changed; None where nobody can tell.

    Args:
        path: the page.
        before: its bytes before the job, empty where the job made it.
        after: its bytes after the job.
        now: its bytes as they are.
    """
    if not path.startswith(PROJECTS) or not now:
        return None
    try:
        old = _parse_project(before, path) if before else None
        made, text = _parse_project(after, path), decode(now, path)
        mine = codec.parse(text, path)
    except FormatError:
        return None
    # Somebody may have turned the page into something else.
    if made is None or not isinstance(mine, Project):
        return None
    blank = {name: () for name in _LISTS}
    old = old or replace(made, goal="", **blank)  # type: ignore[arg-type]  # lists, all of them
    new = replace(
        mine,
        # A goal that somebody wrote since stays.
        goal=old.goal if mine.goal == made.goal else mine.goal,
        state=_revert_lines(mine.state, made.state, old.state),
        todos=_revert_lines(mine.todos, made.todos, old.todos),
        decisions=_revert_lines(mine.decisions, made.decisions, old.decisions),
        risks=_revert_lines(mine.risks, made.risks, old.risks),
        preferences=_revert_lines(mine.preferences, made.preferences, old.preferences),
        progress=_revert_lines(mine.progress, made.progress, old.progress),
    )
    return codec.patch(text, mine, new, path).encode()


def _parse_project(content: bytes, path: str) -> Project | None:
    note = codec.parse(decode(content, path), path)
    return note if isinstance(note, Project) else None


def _revert_lines(mine: tuple[T, ...], made: tuple[T, ...], old: tuple[T, ...]) -> tuple[T, ...]:
    """Return lines without those that a job added, with those that it took out."""
    # By the line and not by its place: people sort and move lines.
    kept = [line for line in mine if line not in made or line in old]
    return (*kept, *(line for line in old if line not in made and line not in kept))

"""Which jobs to undo: the last one, those of a day, or those that rest on an agent's sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Job, digest
from kimi_memory.domain.note import Source
from kimi_memory.errors import GateError, KimiMemoryError, NotFoundError
from kimi_memory.formats.job_file import FOLDER
from kimi_memory.jobs.undo import goes_on
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf


def undo_last(memory: Memory, *, dry_run: bool = False) -> list[Job]:
    """Take back the job that ran last and still stands.

    Raises:
        NotFoundError: no job stands.
        GateError: a file was changed since by something else; it is named.
    """
    return undo_jobs(memory, list(islice(newest_jobs(memory), 1)), "to undo", dry_run=dry_run)


def undo_day(memory: Memory, day: date, *, dry_run: bool = False) -> list[Job]:
    """Take back every job that ran on a day, newest first, or none of them.

    Raises:
        NotFoundError: no job ran on that day.
        GateError: a file was changed since by something else; it is named.
    """
    ran = [job for job in newest_jobs(memory) if day_in(job.at, memory.zone) == day]
    return undo_jobs(memory, ran, f"of {day}", dry_run=dry_run)


def undo_agent(memory: Memory, agent: str, *, dry_run: bool = False) -> list[Job]:
    """Take back every job that made notes from the sessions of one agent alone.

    Raises:
        NotFoundError: there is none.
        GateError: a file was changed since by something else; it is named.
    """
    shelf = Shelf(memory.store)
    places = sessions.places(memory.store)
    headers = ((one.id, sessions.read(memory.store, one.path).session) for one in places)
    own = {id for id, session in headers if session.agent == agent}

    def rests(job: Job) -> bool:
        targets = (operation.target for operation in job.operations)
        named = {source.session for id in targets for source in _note_sources(shelf, id)}
        return bool(named) and named <= own

    found = [job for job in newest_jobs(memory) if job.subject in own or rests(job)]
    return undo_jobs(memory, found, f"of agent {agent}", dry_run=dry_run)


def undo_jobs(
    memory: Memory, jobs: list[Job], which: str = "", *, dry_run: bool = False
) -> list[Job]:
    """Take back all of some jobs, newest first, or none of them.

    Raises:
        NotFoundError: there are none; `which` says what was looked for.
        GateError: a file was changed since by something else; it is named.
    """
    if not jobs:
        raise NotFoundError("job", which)
    # All before any: half of a day taken back is worse than none.
    _check_unchanged(memory, jobs)
    return jobs if dry_run else [memory.undo(job.id) for job in jobs]


def newest_jobs(memory: Memory) -> Iterator[Job]:
    """Yield the jobs that stand, in the order of their commits."""
    standing = {path for path in memory.store.files(FOLDER) if path.endswith(".json")}
    ids = {path.removeprefix(f"{FOLDER}/").removesuffix(".json") for path in standing}
    for commit in memory.history.log(limit=100_000):
        id = commit.trailers.get("Job", "")
        if id in ids:
            ids.discard(id)
            yield memory.jobs.load(id)


def _note_sources(shelf: Shelf, id: str) -> tuple[Source, ...]:
    try:
        return shelf.file(shelf.find(id).path).note.sources
    except KimiMemoryError:
        # A note that went rests on nothing any more.
        return ()


def _check_unchanged(memory: Memory, jobs: Iterable[Job]) -> None:
    """Raise GateError where a file is not what the newest of the jobs left."""
    seen: dict[str, str] = {}
    for job in jobs:
        for effect in job.effects:
            now = seen.get(effect.path)
            if now is None:
                there = memory.store.exists(effect.path)
                now = digest(memory.store.read(effect.path)) if there else ""
            if now != effect.after and not goes_on(effect.path):
                why = f"{effect.path} changed since {job.id} wrote it"
                remedy = "Undo the later jobs first ('kimi-memory log'), or take your edit out"
                raise GateError("undo", why, remedy)
            # What the next older job must have left, once this one is undone.
            seen[effect.path] = effect.before

"""Projects of a memory: listed, finished by a person's word, and taken up again."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport, Op, Plan, Step, digest_of
from kimi_memory.domain.note import Status
from kimi_memory.domain.pages import Project
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.planner import OneJob
from kimi_memory.store.notes.notes import Shelf

_KIND = "project"


def projects(memory: Memory) -> list[Project]:
    """Return the projects, those that go on first, each by name."""
    return sorted(_list_projects(Shelf(memory.store)), key=lambda one: (one.finished, one.name))


def finish_project(
    memory: Memory, name: str, *, finished: bool = True, dry_run: bool = False
) -> JobReport:
    """Archive a project, or take it up again; `Memory.undo` takes that back.

    Args:
        memory: an open memory.
        name: of the project; case does not matter.
        finished: False takes it up again.
        dry_run: report the diff and write nothing.

    Raises:
        NotFoundError: there is none of that name.
    """
    now = memory.clock()

    def plan(shelf: Shelf) -> Plan:
        found = [
            one for one in _list_projects(shelf) if one.name.casefold() == name.strip().casefold()
        ]
        if not found:
            raise NotFoundError("project", name)
        [project] = found[:1]
        status = Status.ARCHIVED if finished else Status.ACTIVE
        done = replace(project, finished=finished, status=status, updated=now)
        step = Step(Op.ARCHIVE if finished else Op.REFINE, done, "a person says so")
        same = project.finished is finished
        return Plan(
            kind=_KIND,
            subject=project.name,
            # With the moment: finished, taken up and finished again are three jobs.
            inputs=digest_of([_KIND, project.id, str(finished), now.isoformat()]),
            steps=() if same else (step,),
            asked=True,
        )

    return memory.run(OneJob(_KIND, plan), dry_run=dry_run)


def _list_projects(shelf: Shelf) -> list[Project]:
    notes = (filed.note for filed in shelf.notes(Project.kind))
    return [note for note in notes if isinstance(note, Project)]

"""Projects end when somebody says so, and come back when they are worked on."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kimi_memory import Memory
from kimi_memory.domain.note import EventType
from kimi_memory.domain.pages import Event, Project
from kimi_memory.errors import NotFoundError
from kimi_memory.operations.projects import finish_project, projects
from tests.jobs.test_runner import tree
from tests.store.notes.test_known import keep


@pytest.fixture
def planned(memory: Memory) -> Memory:
    """A memory with two projects."""
    now = {"created": memory.clock(), "updated": memory.clock()}
    keep(memory, Project(id="project-a", name="Atlas", **now),
         Project(id="project-b", name="billing", **now))  # fmt: skip
    memory.take_edits()
    return memory


def test_a_project_is_finished_by_name_and_undone(planned: Memory) -> None:
    before = tree(planned.root)
    report = finish_project(planned, "atlas")
    assert report.counts == {"ARCHIVE": 1}
    assert planned.store.exists("mid-term/projects/archive/atlas.md")
    assert [one.name for one in projects(planned)] == ["billing", "Atlas"]
    planned.undo(report.id)
    assert tree(planned.root).keys() >= before.keys()
    assert not any(one.finished for one in projects(planned))


def test_a_finished_project_is_taken_up_again(planned: Memory, clock) -> None:
    finish_project(planned, "Atlas")
    assert not finish_project(planned, "Atlas").id
    clock.move(hours=1)
    finish_project(planned, "Atlas", finished=False)
    assert planned.store.exists("mid-term/projects/atlas.md")


def test_a_dry_run_and_an_unknown_name_write_nothing(planned: Memory) -> None:
    before = tree(planned.root)
    assert "finished: true" in finish_project(planned, "Atlas", dry_run=True).diff
    with pytest.raises(NotFoundError, match="nothing"):
        finish_project(planned, "nothing")
    assert tree(planned.root) == before


def test_work_on_a_finished_project_brings_it_back(planned: Memory, clock) -> None:
    finish_project(planned, "Atlas")
    later = clock.move(hours=2)
    keep(planned, Event(
        id="event-1", created=later, updated=later, title="the import works again", at=later,
        type=EventType.SUCCESS, project="Atlas",
    ))  # fmt: skip
    planned.consolidate("daily")
    [atlas] = [one for one in projects(planned) if one.name == "Atlas"]
    assert not atlas.finished and any("import works" in line for line in atlas.progress)


def test_what_happened_before_the_end_does_not_bring_it_back(planned: Memory, clock) -> None:
    early = clock()
    keep(planned, Event(
        id="event-1", created=early, updated=early, title="the import works",
        type=EventType.SUCCESS,
        at=early - timedelta(hours=1), project="Atlas",
    ))  # fmt: skip
    clock.move(hours=1)
    finish_project(planned, "Atlas")
    planned.consolidate("daily")
    assert [one.finished for one in projects(planned) if one.name == "Atlas"] == [True]
    assert replace(projects(planned)[0]).name == "billing"

"""``project``: list, finish, reopen."""

from __future__ import annotations

import json

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.pages import Project, Todo
from tests.store.notes.test_known import AT, keep


def test_a_project_is_listed_finished_and_reopened(memory: Memory, capsys) -> None:
    place = ["--memory", str(memory.root)]
    todos = (Todo("write"), Todo("sleep", done=True))
    keep(memory, Project(id="project-a", name="Atlas", created=AT, updated=AT, todos=todos))
    assert run(["project", "list", *place]) == 0
    assert "Atlas: 1 to do" in capsys.readouterr().out
    assert run(["project", "finish", "atlas", *place]) == 0
    capsys.readouterr()
    assert run(["project", "list", "--json", *place]) == 0
    [project] = json.loads(capsys.readouterr().out)
    assert project["finished"] is True
    assert run(["project", "reopen", "Atlas", *place]) == 0
    assert run(["project", "list", *place]) == 0
    assert "Atlas: 1 to do" in capsys.readouterr().out


def test_a_name_is_needed(memory: Memory, capsys) -> None:
    assert run(["project", "finish", "--memory", str(memory.root)]) == 2
    assert "Which project?" in capsys.readouterr().err

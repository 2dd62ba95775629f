"""Bisecting: the find is a version at which the answer changes, by the trees on both sides."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.past.beliefs import LIVE
from kimi_memory.past.bisect import Wrong
from kimi_memory.past.note_states import read_note
from tests.conftest import Clock
from tests.past.conftest import Past


def holds_at(memory: Memory, version: int, text: str) -> bool:
    """Whether a live card of the tree of a version says a text."""
    commit = memory.points.find(f"v{version}").commit
    paths = {one.path for one in memory.timeline("deploy.port")}
    files = memory.history.contents([(commit, path) for path in paths])
    notes = [read_note(path, content) for (_, path), content in files.items()]
    return any(isinstance(n, Card) and n.status in LIVE and text in n.value for n in notes)


@pytest.fixture
def ports(memory: Memory, past: Past, clock: Clock) -> list[str]:
    """A port that came, went and came back."""
    jobs = []
    for port in (9090, 8443, 9090, 7070):
        said = f"The deploy port is {port} from now on."
        jobs.append(memory.remember(said, key="deploy.port").id)
        clock.move(days=1)
    return jobs


def test_every_flip_is_one_in_the_trees_on_both_sides(memory: Memory, ports: list[str]) -> None:
    flips = memory.bisect("deploy.port", Wrong(says="9090"))
    assert [one.begins for one in flips] == [True, False, True, False]
    for flip in flips:
        assert holds_at(memory, flip.cause.version, "9090") is flip.begins
        assert holds_at(memory, flip.cause.version - 1, "9090") is not flip.begins
    assert [one.cause.job for one in flips] == ports
    opposite = memory.bisect("deploy.port", Wrong(not_says="9090"))[1:]
    assert [(one.cause.job, one.begins) for one in opposite] == [
        (one.cause.job, not one.begins) for one in flips
    ]


def test_points_bound_it(memory: Memory, ports: list[str]) -> None:
    found = memory.bisect("deploy.port", Wrong(says="9090"), good=ports[1])
    assert [one.cause.job for one in found] == ports[2:]
    found = memory.bisect("deploy.port", Wrong(says="9090"), bad=ports[1])
    assert [one.cause.job for one in found] == ports[:2]


def test_status_and_confidence(memory: Memory, past: Past) -> None:
    [flip] = memory.bisect("deploy.port", Wrong(status="superseded"))
    assert flip.cause.job == past.second
    assert "8080" in flip.says, "not what came in its place"
    assert memory.bisect("deploy.port", Wrong(below=0.1)) == []
    assert memory.bisect("deploy.port", Wrong(below=0.99))[0].cause.job == past.first


def test_what_was_forgotten_is_not_found(memory: Memory, past: Past) -> None:
    forget(memory, Wanted(key="deploy.port"))
    with pytest.raises(NotFoundError):
        memory.bisect("deploy.port", Wrong(says="8080"))


@pytest.mark.parametrize("wrong", [Wrong(), Wrong(says="a", status="active"), Wrong(status="odd")])
def test_one_thing_is_looked_for(memory: Memory, past: Past, wrong: Wrong) -> None:
    with pytest.raises(UsageError):
        memory.bisect("deploy.port", wrong)


def test_the_command_names_job_turn_and_remedy(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["bisect", "deploy.port", "--says", "8443", *at]) == 0
    out = capsys.readouterr().out
    assert out.startswith("since v") and past.second in out
    assert "the turn: session:remembered-" in out and "until v" in out
    assert f"take it back: kimi-memory undo {past.second}" in out
    assert run(["bisect", "deploy.port", "--says", "1234", *at]) == 1
    assert "It never was so." in capsys.readouterr().out
    assert run(["bisect", "deploy.port", "--says", "8443", "--all", "--json", *at]) == 0

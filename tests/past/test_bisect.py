"""Bisecting: the find is a version at which the answer changes, by the trees on both sides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.domain.note import LIVE, Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.past.bisect import Wrong
from kimi_memory.past.note_states import read_note
from tests.conftest import Clock
from tests.past.conftest import Past, git
from tests.test_copies import clone

__all__ = ["clone"]

Clone = Callable[[str], Memory]


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
    words = out.strip().rpartition("only this: kimi-memory ")[2].split()
    assert run([*words, *at]) == 0
    assert "+ taken up  deploy.port" in capsys.readouterr().out
    assert run(["bisect", "deploy.port", "--says", "1234", *at]) == 1
    assert "It never was so." in capsys.readouterr().out
    assert run(["bisect", "deploy.port", "--says", "8443", "--all", "--json", *at]) == 0


def says_at(memory: Memory, commit: str, text: str) -> bool:
    """Whether a live card of the tree of a commit says a text."""
    listed = git(memory, "ls-tree", "-r", "--name-only", commit, "--", "semantic").splitlines()
    files = memory.history.contents([(commit, path) for path in listed])
    notes = [read_note(path, content) for (_, path), content in files.items()]
    return any(isinstance(n, Card) and n.status in LIVE and text in n.value for n in notes)


@pytest.mark.parametrize("order", ["here first", "there first", "turns"])
def test_every_flip_is_one_for_the_copy_in_which_it_happened(
    order: str, memory: Memory, clone: Clone, clock: Clock, opening: Opening
) -> None:
    """Two copies that change one belief apart: neither's word is what the other had before."""
    settings = memory.root / "memory.toml"
    text = f'{settings.read_text("utf-8")}\n[consolidation]\nexternal_edits = "trust"\n'
    settings.write_text(text, encoding="utf-8")
    memory.batch.note()
    memory.batch.flush()
    # The settings count for who opens it anew.
    with Memory.open(memory.root, opening) as here:
        here.remember("The deploy port is 8080.", key="deploy.port")
        here.batch.flush()
        there = clone("b")
        # What is said without "now" is a dispute, in which both live on.
        acts = [(here, "8443 now"), (here, "7777 now"), (there, "9090"), (there, "7070 now")]
        order_of = {"here first": (0, 1, 2, 3), "there first": (2, 3, 0, 1), "turns": (2, 0, 3, 1)}
        for one, port in (acts[number] for number in order_of[order]):
            clock.move(hours=1)
            one.remember(f"The deploy port is {port}.", key="deploy.port")
            one.batch.flush()
        clock.move(hours=1)
        merge_copy(here, str(there.root))
        for text in ("8080", "8443", "7777", "9090", "7070"):
            flips = here.bisect("deploy.port", Wrong(says=text))
            assert flips and flips[0].begins
            for flip in flips:
                commit = flip.cause.commit
                assert says_at(here, commit, text) is flip.begins
                for parent in git(here, "rev-parse", f"{commit}^@").split():
                    assert says_at(here, parent, text) is not flip.begins, (text, flip)


def test_what_waits_for_a_word_ends_nothing(memory: Memory, clone: Clone) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    other = clone("b")
    other.remember("The deploy port is 9090 now.", key="deploy.port")
    other.batch.flush()
    merge_copy(memory, str(other.root))
    assert [one.begins for one in memory.bisect("deploy.port", Wrong(says="8080"))] == [True]
    assert memory.bisect("deploy.port", Wrong(says="9090")) == []

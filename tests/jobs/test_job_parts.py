"""Parts of a job that a gate holds: they are named, and the rest goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.change import Actor, Create
from kimi_memory.domain.job import Op, Plan, Step
from kimi_memory.domain.note import Origin, Status
from kimi_memory.errors import GateError
from tests.jobs.notes import card, put

ACTOR = Actor("job:test", Origin.HUMAN, job="test")
LONG = "many words " * 7_000


def plan(*steps: Step, asked: bool = False, changes: tuple[Create, ...] = ()) -> Plan:
    return Plan(kind="test", subject="", inputs="0" * 64, steps=steps, changes=changes, asked=asked)


def paths(memory: Memory) -> set[str]:
    return {path for path in memory.store.files() if path.startswith("semantic/")}


def test_a_card_that_is_too_large_is_named_and_the_others_are_written(memory: Memory) -> None:
    large, small = card("db.choice", LONG), card("db.port", "5432")
    made = plan(Step(Op.ADD, large, "new"), Step(Op.ADD, small, "new"))
    report = memory.jobs.run(lambda shelf: made, ACTOR)
    assert [operation.target for operation in report.operations] == [small.id]
    [reason] = report.left_out
    assert "k.db.choice.md would have" in reason
    assert "raise gates.max_page_bytes" in reason
    assert paths(memory) == {"semantic/general/k.db.port.md"}


def test_what_a_held_card_replaces_stays_as_it_was(memory: Memory) -> None:
    old, small = card("db.choice", "MySQL"), card("db.port", "5432")
    put(memory, old)
    new = replace(card("new", LONG, key="k.db.choice"), supersedes=(old.id,))
    gone = replace(old, status=Status.SUPERSEDED)
    made = plan(*(Step(Op.REFINE, note, "why") for note in (gone, new, small)))
    report = memory.jobs.run(lambda shelf: made, ACTOR)
    assert [operation.target for operation in report.operations] == [small.id]
    assert "active" in memory.store.read("semantic/general/k.db.choice.md").decode()


def test_a_page_that_is_too_large_keeps_no_card_from_being_written(memory: Memory) -> None:
    page = Create("semantic/general.md", b"x" * 70_000)
    made = plan(Step(Op.ADD, card("db.port", "5432"), "new"), changes=(page,))
    report = memory.jobs.run(lambda shelf: made, ACTOR)
    assert len(report.left_out) == 1
    assert paths(memory) == {"semantic/general/k.db.port.md"}


@pytest.mark.parametrize("asked", [True, False], ids=["asked for", "nothing else"])
def test_what_was_asked_for_is_done_whole_or_not_at_all(memory: Memory, asked: bool) -> None:
    steps = [Step(Op.ADD, card("db.choice", LONG), "new")]
    if asked:
        steps.append(Step(Op.ADD, card("db.port", "5432"), "new"))
    with pytest.raises(GateError, match="would have"):
        memory.jobs.run(lambda shelf: plan(*steps, asked=asked), ACTOR)
    assert paths(memory) == set()


def test_a_long_card_may_change_in_most_of_its_lines(memory: Memory) -> None:
    old = card("db.notes", "\n".join(f"- line {n}" for n in range(40)))
    put(memory, old)
    new = replace(old, value="\n".join(f"- other {n}" for n in range(60)))
    report = memory.jobs.run(lambda shelf: plan(Step(Op.REFINE, new, "more")), ACTOR)
    assert report.id
    assert not report.left_out

"""The gate of evals: a job that would bring up what is forbidden does not happen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Actor, Create, Op, Plan, Step, digest_of
from kimi_memory.domain.note import Card, Note, Status
from kimi_memory.errors import GateError
from tests.jobs.notes import card, put
from tests.jobs.test_introspect import tree

CASES = """\
cases:
  - query: 订单服务用哪个数据库？
    forbid: [MySQL]
  - query: Where do we deploy the shop?
    forbid: [the old cluster]
"""


def forbid(root: Path, text: str = CASES) -> None:
    (root / "evals").mkdir(exist_ok=True)
    (root / "evals/shop.yaml").write_text(text, encoding="utf-8")


def run(memory: Memory, *notes: Note, asked: bool = False, dry_run: bool = False) -> str:
    steps = tuple(Step(Op.ADD, note, "test") for note in notes)
    inputs = digest_of(repr(note) for note in notes)
    plan = Plan(kind="test", subject="", inputs=inputs, steps=steps, asked=asked)
    return memory.jobs.run(lambda shelf: plan, Actor("test"), dry_run=dry_run).id


WRONG = (
    card("zh", "订单服务的数据库是 MySQL"),
    card("en", "We deploy the shop to the old cluster"),
)


@pytest.mark.parametrize("wrong", WRONG, ids=["zh", "en"])
@pytest.mark.parametrize("dry_run", [False, True], ids=["run", "dry run"])
def test_a_job_that_would_answer_with_what_is_forbidden_is_stopped(
    memory: Memory, wrong: Card, dry_run: bool
) -> None:
    forbid(memory.root)
    before = tree(memory.root)
    with pytest.raises(GateError, match=r"evals/shop.yaml forbids") as error:
        run(memory, wrong, dry_run=dry_run)
    assert error.value.gate == "evals"
    assert tree(memory.root) == before


@pytest.mark.parametrize(
    "fine",
    [
        card("a", "订单服务的数据库是 PostgreSQL"),
        card("a", "We read about PyMySQL in the shop"),
        card("a", "MySQL has a dolphin in its logo"),
        card("a", "订单服务的数据库曾是 MySQL", status=Status.SUPERSEDED),
        card("a", "订单服务的数据库曾是 MySQL", status=Status.ARCHIVED),
    ],
    ids=["another value", "another word", "another question", "superseded", "archived"],
)
def test_what_no_question_would_bring_up_is_let_through(memory: Memory, fine: Card) -> None:
    forbid(memory.root)
    assert run(memory, fine)


def test_what_a_page_said_before_the_job_does_not_stop_it(memory: Memory) -> None:
    put(memory, WRONG[0])
    forbid(memory.root)
    assert run(memory, replace(WRONG[0], confidence=0.9))
    assert run(memory, replace(WRONG[0], confidence=0.8, category="moved"))


def test_what_a_person_asks_for_is_not_stopped(memory: Memory) -> None:
    forbid(memory.root)
    assert run(memory, WRONG[0], asked=True)


def test_a_file_of_cases_that_is_broken_stops_no_job(memory: Memory) -> None:
    forbid(memory.root, "cases: [")
    assert run(memory, WRONG[0])


def test_a_memory_without_cases_has_no_such_gate(memory: Memory) -> None:
    forbid(memory.root, "cases:\n  - query: 数据库\n    expect: [MySQL]\n")
    assert run(memory, WRONG[0])


def test_a_turn_is_stored_even_where_its_card_is_forbidden(memory: Memory) -> None:
    forbid(memory.root, "cases:\n  - query: 数据库\n    forbid: [MongoDB]\n")
    memory.session("s").turn("user", "记住：我们的数据库以后都用 MongoDB。")
    assert "MongoDB" in (memory.root / "short-term/session_s.jsonl").read_text(encoding="utf-8")
    assert [hit.unit.kind for hit in memory.recall("MongoDB").hits] == ["turn"]
    assert any("forbids" in note for note in memory.notes)


@pytest.mark.parametrize(("setting", "stopped"), [("", False), ("max_tokens = 4096", True)])
def test_a_page_is_held_against_a_question_in_the_chunks_of_the_settings(
    memory: Memory, opening: Opening, setting: str, stopped: bool
) -> None:
    """What stands far from the words of a question answers it only in a chunk of both."""
    forbid(memory.root)
    path = memory.root / "memory.toml"
    path.write_text(f"{path.read_text('utf-8')}\n[chunks]\n{setting}\n", encoding="utf-8")
    far = "\n".join(f"Heron number {n} stood still." for n in range(200))
    page = f"We deploy the shop on Friday.\n{far}\nNobody goes near the old cluster.\n"
    written = (Create("notes/shop.md", page.encode()),)
    plan = Plan(kind="test", subject="", inputs="x", changes=written)
    with Memory.open(memory.root, opening) as one:
        if stopped:
            with pytest.raises(GateError, match=r"notes/shop.md would answer"):
                one.jobs.run(lambda shelf: plan, Actor("test"))
        else:
            assert one.jobs.run(lambda shelf: plan, Actor("test")).id

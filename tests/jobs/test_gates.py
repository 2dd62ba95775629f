"""Gates: what stops a draft, what stops a job."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.config import GatesTable
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Actor, Create, Op, Plan, Spent, Step, Update, digest
from kimi_memory.domain.note import Card, CardType, Lang, Origin, Quote, Status
from kimi_memory.domain.pages import Project
from kimi_memory.domain.tombstone import Tombstone, Tombstones
from kimi_memory.errors import GateError
from kimi_memory.jobs.gates import WHY, DraftGate, JobGates, content_of, story_of
from tests.jobs.notes import NOW as TODAY
from tests.jobs.notes import card, days_ago, put

NOW = datetime(2026, 2, 27, tzinfo=UTC)
DRAFT = Draft(
    type=CardType.PREFERENCE,
    key="preference.editor",
    title="编辑器",
    value="我用 VS Code",
    quotes=(Quote("s", 1, "我用 VS Code"),),
    at=NOW,
    lang=Lang.ZH,
    project="p",
)
ACTOR = Actor("job:test", Origin.HUMAN, job="test")
LONG = "many words " * 7_000
UNASKED = "nobody asks for it"


def stone(**values: object) -> Tombstone:
    base = {"scope": "memory", "key": "", "value": "", "at": NOW, "by": "me"}
    return Tombstone(**{**base, **values})


@pytest.mark.parametrize(
    ("found", "barred"),
    [
        (stone(key="preference.editor"), True),
        (stone(key="preference.shell"), False),
        (stone(value="我用 vs code"), True),
        (stone(value="我用 vim"), False),
        (stone(scope="project:p", key="preference.editor"), True),
        (stone(scope="project:q", key="preference.editor"), False),
        (stone(value=hashlib.sha256("我用 vs code".encode()).hexdigest(), hashed=True), True),
    ],
)
def test_a_tombstone_bars_its_value_under_its_key_in_its_scope(
    found: Tombstone, barred: bool
) -> None:
    objection = DraftGate(Tombstones([found]), lambda text: False).objection(DRAFT)
    assert bool(objection) is barred


def numbered_card(n: int) -> Card:
    return Card(
        id=f"card-{n}", created=NOW, updated=NOW, title="t", type=CardType.FACT, key="k", value="v"
    )


def check(
    steps: list[Step] | None = None, changes: list | None = None, entries: int = 10, texts=None
) -> None:
    JobGates(GatesTable()).check(steps or [], changes or [], entries=entries)
    JobGates(GatesTable()).check_part(changes or [], texts or {})


def archive(count: int) -> list[Step]:
    return [Step(Op.ARCHIVE, numbered_card(n), "old") for n in range(count)]


def test_a_quarter_of_the_entries_may_go_and_no_more() -> None:
    check(archive(2), entries=10)
    with pytest.raises(GateError, match="3 of 10 entries would go"):
        check(archive(3), entries=10)


def test_in_a_small_memory_a_share_says_nothing() -> None:
    check(archive(3), entries=4)


def test_a_job_that_guts_a_page_is_stopped() -> None:
    old = "".join(f"- line {n}\n" for n in range(40)).encode()
    half = b"".join(old.splitlines(keepends=True)[:20])
    change = Update("mid-term/projects/p.md", digest(old), half)
    with pytest.raises(GateError, match=r"20 of 40 lines of mid-term/projects/p\.md"):
        check(changes=[change], texts={change.path: old})
    most = b"".join(old.splitlines(keepends=True)[:31])
    check(changes=[Update(change.path, digest(old), most)], texts={change.path: old})


def test_a_page_must_not_outgrow_its_budget() -> None:
    with pytest.raises(GateError, match="would have 70000 bytes"):
        check(changes=[Create("semantic/a.md", b"x" * 70_000)])
    check(changes=[Create("episodic/sessions/2026-02/session_s.md", b"x" * 70_000)])


def test_a_job_that_touches_too_many_files_is_stopped() -> None:
    many = [Create(f"semantic/general/{n}.md", b"x") for n in range(501)]
    with pytest.raises(GateError, match="501 files would change"):
        check(changes=many)


def test_pages_that_only_show_cards_do_not_count_as_files() -> None:
    check(changes=[Create(f"semantic/entities/{n}.md", b"x") for n in range(501)])


def test_a_job_that_decides_too_long_or_spends_too_much_is_stopped() -> None:
    gates = JobGates(GatesTable(max_seconds=10, max_tokens=100))
    gates.budget(9.9, Spent(1, 60, 40))
    with pytest.raises(GateError, match=r"'time'.*took 11 seconds"):
        gates.budget(11.0, Spent())
    with pytest.raises(GateError, match=r"'tokens'.*spent 101 tokens"):
        gates.budget(1.0, Spent(1, 61, 40))


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


def files(memory: Memory) -> dict[str, bytes]:
    return {path: memory.store.read(path) for path in memory.store.files()}


@pytest.mark.parametrize(
    ("gone", "why", "asked", "due"),
    [
        pytest.param(3, UNASKED, False, False, id="more than a quarter"),
        pytest.param(2, UNASKED, False, False, id="a quarter"),
        pytest.param(3, "forgotten", True, False, id="asked for"),
        pytest.param(3, "its time has come", False, True, id="due"),
        pytest.param(3, WHY, False, False, id="taken back in words"),
    ],
)
def test_a_job_that_loses_more_than_a_quarter_of_the_cards_changes_nothing(
    memory: Memory, gone: int, why: str, asked: bool, due: bool
) -> None:
    ends = days_ago(1) if due else None
    cards = [card(f"number.{n}", f"Number {n} is odd.", expires=ends) for n in range(10)]
    put(memory, *cards)
    # A note that is added makes up for none that goes.
    steps = [Step(Op.ADD, card("new", "Eleven is odd, too."), "said")]
    steps += [
        Step(Op.ARCHIVE, replace(one, status=Status.ARCHIVED, updated=TODAY), why)
        for one in cards[:gone]
    ]
    before = files(memory)
    if gone == 2 or why != UNASKED:
        report = memory.jobs.run(lambda shelf: plan(*steps, asked=asked), ACTOR)
        assert len(report.operations) == gone + 1
        return
    with pytest.raises(GateError, match="3 of 10 entries would go") as caught:
        memory.jobs.run(lambda shelf: plan(*steps, asked=asked), ACTOR)
    assert "'loss'" in str(caught.value)
    assert "gates.max_loss" in str(caught.value)
    assert files(memory) == before


@pytest.mark.parametrize("asked", [False, True], ids=["by a job", "asked for"])
def test_a_page_that_would_lose_its_lines_stays_and_the_rest_goes_on(
    memory: Memory, asked: bool
) -> None:
    path, lines = "mid-term/plan.md", [f"- step {n}\n" for n in range(40)]
    old, half = "".join(lines).encode(), "".join(lines[:20]).encode()
    (memory.root / path).write_bytes(old)
    memory.store.reconcile()
    memory.history.commit("A page of ours")
    changes = (Update(path, digest(old), half),)
    made = plan(Step(Op.ADD, card("db.port", "5432"), "new"), changes=changes, asked=asked)
    report = memory.jobs.run(lambda shelf: made, ACTOR)
    assert paths(memory) == {"semantic/general/k.db.port.md"}
    assert (memory.root / path).read_bytes() == (half if asked else old)
    assert ["20 of 40 lines of" in reason for reason in report.left_out] == (
        [] if asked else [True]
    )


def test_a_project_that_would_lose_its_lines_stays_and_is_named(memory: Memory) -> None:
    at = {"created": days_ago(3), "updated": days_ago(2)}
    steps = tuple(f"2026-02-{n % 20 + 1:02} finished part {n}" for n in range(60))
    old = Project(id="project-shop", name="shop", goal="Sell.", progress=steps, **at)
    put(memory, old)
    new = replace(old, progress=steps[:10], updated=TODAY)
    [path] = [one for one in memory.store.files() if one.startswith("mid-term/projects/")]
    before = memory.store.read(path)
    made = plan(Step(Op.REFINE, new, "less"), Step(Op.ADD, card("db.port", "5432"), "new"))
    report = memory.jobs.run(lambda shelf: made, ACTOR)
    assert [reason for reason in report.left_out if f"lines of {path} would go" in reason]
    assert memory.store.read(path) == before
    assert paths(memory) == {"semantic/general/k.db.port.md"}


def test_an_event_tells_what_happened_and_its_card_the_lesson() -> None:
    lesson = "Lock the crane first."
    told = replace(DRAFT, value=lesson, lesson=lesson, reason="It swung in the wind.", lang=Lang.EN)
    assert content_of(told) == "Lock the crane first. (Reason: It swung in the wind.)"
    assert story_of(told) == "It swung in the wind."
    apart = replace(told, value="The crane swung into the shed.")
    assert story_of(apart) == content_of(apart)
    assert apart.value in story_of(apart)

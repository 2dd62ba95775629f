"""Gates: what stops a draft, what stops a job."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest

from kimi_memory.config import GatesTable
from kimi_memory.domain.change import Create, Update, digest
from kimi_memory.domain.draft import Draft
from kimi_memory.domain.job import Op, Spent, Step
from kimi_memory.domain.note import Card, CardType, Lang, Quote
from kimi_memory.domain.tombstone import Tombstone, Tombstones
from kimi_memory.errors import GateError
from kimi_memory.jobs.gates import DraftGate, JobGates

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


def card(n: int) -> Card:
    return Card(
        id=f"card-{n}", created=NOW, updated=NOW, title="t", type=CardType.FACT, key="k", value="v"
    )


def check(
    steps: list[Step] | None = None, changes: list | None = None, entries: int = 10, texts=None
) -> None:
    JobGates(GatesTable()).check(steps or [], changes or [], entries=entries)
    JobGates(GatesTable()).check_part(changes or [], texts or {})


def archive(count: int) -> list[Step]:
    return [Step(Op.ARCHIVE, card(n), "old") for n in range(count)]


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

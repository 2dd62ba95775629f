"""What two copies say of one thing, after a merge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.jobs.gates import TombstoneGate
from kimi_memory.jobs.resolve_conflict import conflicts
from kimi_memory.jobs.settle import Brought, Settle
from kimi_memory.operations.forget import forget
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.review_queue import confirm
from kimi_memory.store.notes.notes import Filed, Shelf, read_tombstones
from tests.conftest import Clock
from tests.test_copies import errors, git


@pytest.fixture
def pair(
    memory: Memory, tmp_path: Path, opening: Opening, request: pytest.FixtureRequest
) -> Iterator[tuple[Memory, Memory]]:
    """Two copies of one owner, which let count at once what comes from the other."""
    path = memory.root / "memory.toml"
    more = getattr(request, "param", "")
    text = f'{path.read_text("utf-8")}\n[consolidation]\nexternal_edits = "trust"\n{more}'
    path.write_text(text, encoding="utf-8")
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.note()
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    own = Home(tmp_path / "config-b", tmp_path / "state-b")
    with (
        Memory.open(memory.root, opening) as one,
        Memory.open(tmp_path / "b", replace(opening, home=own)) as other,
    ):
        yield one, other


def meet(one: Memory, other: Memory) -> None:
    """Merge both ways until nothing is left to merge, and find both equal and sound."""
    for _ in range(3):
        for here, there in ((one, other), (other, one)):
            there.batch.flush()
            merge_copy(here, str(there.root))
    trees = {git(memory.root, "rev-parse", "HEAD^{tree}") for memory in (one, other)}
    assert len(trees) == 1
    assert errors(one) == errors(other) == []


def cards(memory: Memory, key: str) -> dict[str, Status]:
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    return {card.value: card.status for card in notes if isinstance(card, Card) and card.key == key}


def test_one_slot_with_two_values_said_at_one_moment_is_a_dispute(
    pair: tuple[Memory, Memory],
) -> None:
    memory, other = pair
    memory.remember("The build server is called Anvil.", key="build.server")
    other.remember("The build server is called Hammer.", key="build.server")
    meet(memory, other)
    for one in pair:
        assert set(cards(one, "build.server").values()) == {Status.CONFLICTED}
        [dispute] = conflicts(one)
        assert dispute.key == "build.server"
    [job] = memory.jobs.records("merge")
    assert {str(one.op) for one in job.operations} == {"CONFLICT"}
    undone = memory.undo(job.id)
    assert undone.id == job.id and not conflicts(memory)


@pytest.mark.parametrize("pair", ["[gates]\nmax_files = 3\n"], indirect=True)
def test_a_large_merge_is_settled_though_a_job_may_change_few_files(
    pair: tuple[Memory, Memory],
) -> None:
    memory, other = pair
    kinds = ("build", "mail", "test")
    for kind in kinds:
        memory.remember(f"The {kind} server is called Anvil.", key=f"{kind}.server")
        other.remember(f"The {kind} server is called Hammer.", key=f"{kind}.server")
    other.batch.flush()
    merge_copy(memory, str(other.root))
    for kind in kinds:
        assert set(cards(memory, f"{kind}.server").values()) == {Status.CONFLICTED}


def test_what_was_said_later_in_the_other_copy_replaces(
    pair: tuple[Memory, Memory], clock: Clock
) -> None:
    memory, other = pair
    memory.remember("The build server is called Anvil.", key="build.server")
    clock.move(hours=1)
    other.remember("The build server is now called Hammer.", key="build.server")
    meet(memory, other)
    for one in pair:
        assert cards(one, "build.server") == {
            "The build server is called Anvil.": Status.SUPERSEDED,
            "The build server is now called Hammer.": Status.ACTIVE,
        }


@pytest.mark.parametrize(
    "later", ["The build server is now called Hammer.", "不，构建服务器叫 Hammer。"]
)
def test_a_dispute_of_one_copy_meets_what_the_other_replaced(
    pair: tuple[Memory, Memory], clock: Clock, later: str
) -> None:
    memory, other = pair
    memory.remember("The build server is called Anvil.", key="build.server")
    meet(memory, other)
    clock.move(hours=1)
    other.remember("The build server is called Bellows.", key="build.server")
    assert len(conflicts(other)) == 1
    clock.move(hours=1)
    memory.remember(later, key="build.server")
    meet(memory, other)
    for one in pair:
        found = cards(one, "build.server")
        live = {value for value, status in found.items() if status is Status.ACTIVE}
        disputed = {value for value, status in found.items() if status is Status.CONFLICTED}
        # One value counts, or two are in dispute: never one that nobody disputes beside another.
        assert (len(live), len(disputed)) in {(1, 0), (0, 2)}, found


@pytest.mark.parametrize(
    "text", ["The contact of the clinic is Abernathy.", "诊所的联系人是白鹭，电话问前台。"]
)
@pytest.mark.parametrize("key", ["clinic.contact", "people.contact"])
@pytest.mark.parametrize("first", [True, False], ids=["forgotten first", "said first"])
def test_what_one_copy_forgot_is_not_believed_for_what_the_other_says(
    pair: tuple[Memory, Memory], clock: Clock, text: str, key: str, first: bool
) -> None:
    memory, other = pair

    def forget_here() -> None:
        memory.remember(text, key="clinic.contact")
        forget(memory, Wanted(key="clinic.contact"))
        clock.move(hours=1)

    def say_there() -> None:
        other.remember(text, key=key)
        clock.move(hours=1)

    for act in (forget_here, say_there) if first else (say_there, forget_here):
        act()
    meet(memory, other)
    for one in pair:
        assert {*cards(one, "clinic.contact").values(), *cards(one, key).values()} == {
            Status.ARCHIVED
        }
        gate = TombstoneGate(read_tombstones(one.store))
        notes = [filed.note for filed in Shelf(one.store).notes("card")]
        assert not any(gate.note(note) for note in notes if note.status is Status.ACTIVE)
        assert text not in {hit.unit.text for hit in one.recall(text).hits}


def test_what_both_said_is_one_card_with_the_evidence_of_both(
    pair: tuple[Memory, Memory], clock: Clock
) -> None:
    memory, other = pair
    memory.remember("Ann likes green tea.", key="ann.tea")
    clock.move(minutes=1)
    other.remember("Ann likes green tea.", key="ann.tea")
    meet(memory, other)
    found = [f.note for f in Shelf(memory.store).notes("card") if "green tea" in f.text]
    live = [card for card in found if isinstance(card, Card) and card.status is Status.ACTIVE]
    assert len(live) == 1
    assert len({quote.session for quote in live[0].quotes}) == 2


def test_two_corrections_of_one_card_are_a_dispute_with_their_own_evidence(
    pair: tuple[Memory, Memory],
) -> None:
    for memory, port in zip(pair, ("8443", "9999"), strict=True):
        memory.consolidate("daily")
        page = memory.root / "MEMORY.md"
        text = page.read_text(encoding="utf-8")
        assert "port is 8080" in text
        page.write_text(text.replace("port is 8080", f"port is {port}"), encoding="utf-8")
        memory.batch.note()
        assert memory.take_edits().id
    meet(*pair)
    [dispute] = conflicts(pair[0])
    assert {card.value for card in dispute.sides} == {
        "The deploy port is 8443.",
        "The deploy port is 9999.",
    }
    assert all(any(card.value in quote.text for quote in card.quotes) for card in dispute.sides)


def test_what_waits_is_judged_once_a_person_confirmed_it(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    own = Home(tmp_path / "config-b", tmp_path / "state-b")
    with Memory.open(tmp_path / "b", replace(opening, home=own)) as other:
        memory.remember("The build server is called Anvil.", key="build.server")
        other.remember("The build server is called Hammer.", key="build.server")
        other.batch.flush()
        assert not merge_copy(memory, str(other.root)).settled
    assert not conflicts(memory)
    confirm(memory, waiting_files(memory))
    [dispute] = conflicts(memory)
    assert dispute.key == "build.server"
    assert errors(memory) == []


def test_where_all_that_came_waits_no_card_is_read(memory: Memory, tmp_path: Path) -> None:
    """Ten thousand cards would be parsed at each merge and sync for nothing."""

    class Unread(Shelf):
        def notes(self, *_: object) -> Iterator[Filed]:
            raise AssertionError("a card was read")

    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    [page] = (tmp_path / "b/semantic").rglob("deploy.port.md")
    page.write_text(page.read_text("utf-8").replace("8080", "9999"), encoding="utf-8")
    git(tmp_path / "b", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "x")
    done = merge_copy(memory, str(tmp_path / "b"))
    assert done.waiting
    brought = Brought("x", memory.now(), frozenset(done.paths))
    assert Settle(memory, brought).plan(Unread(memory.store)).steps == ()

"""Conflicts: listed with both sides and their evidence, settled by a person's choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.job import Create, Update, digest
from kimi_memory.domain.note import Card, Origin, Rel, Role, Status
from kimi_memory.errors import AmbiguousIdError, NotFoundError, UsageError
from kimi_memory.formats.codec import patch
from kimi_memory.jobs.pages import Dispute
from kimi_memory.jobs.resolve_conflict import Choice, Resolve, conflicts
from tests.jobs.edited_pages import cards
from tests.jobs.test_runner import tree

PAIRS = {
    "en": ("deploy.port", "The deploy port is 8080.", "The deploy port is 8081."),
    "zh": ("deploy.port", "部署端口是 8080。", "部署端口是 8081。"),
}


@pytest.fixture(params=PAIRS)
def torn(request: pytest.FixtureRequest, memory: Memory, clock) -> Memory:
    """A memory with one conflict."""
    key, first, second = PAIRS[request.param]
    memory.remember(first, key=key)
    clock.move(hours=1)
    memory.remember(second, key=key)
    clock.move(hours=1)
    return memory


def only(memory: Memory) -> Dispute:
    [found] = conflicts(memory)
    return found


def card(memory: Memory, id: str) -> Card:
    note = memory.get(id).note
    assert isinstance(note, Card)
    return note


def test_a_contradiction_is_listed_with_both_sides_and_has_a_page_at_once(torn: Memory) -> None:
    found = only(torn)
    assert [("8080" in c.value, "8081" in c.value) for c in found.sides] == [
        (True, False),
        (False, True),
    ]
    text = torn.store.read(found.path).decode()
    for side in found.sides:
        path = torn.get(side.id).path.removesuffix(".md")
        assert f"## {side.id} [[{path}|→]]" in text
        assert f"> {side.quotes[0].text}" in text
        turn = side.quotes[0]
        assert f"[[session_{turn.session}#^t{turn.n}|#{turn.n}]]" in text


@pytest.mark.parametrize("kept", [0, 1], ids=["older", "newer"])
def test_the_side_that_is_kept_is_sure_and_the_other_superseded(
    torn: Memory, clock, kept: int
) -> None:
    sides = only(torn).sides
    path = only(torn).path
    report = torn.run(Resolve(torn, "deploy.port", Choice(keep=sides[kept].id)))
    assert report.counts == {"REFINE": 1, "SUPERSEDE": 1}
    won, lost = card(torn, sides[kept].id), card(torn, sides[1 - kept].id)
    assert (won.status, won.confidence, won.trust) == (Status.ACTIVE, 1.0, Origin.HUMAN)
    assert (lost.status, lost.valid_to) == (Status.SUPERSEDED, clock())
    assert won.supersedes == (lost.id,)
    assert not won.links and not lost.links
    assert [s.rel for s in won.sources] == [Rel.SUPPORTS, Rel.CONTRADICTS]
    assert not conflicts(torn)
    assert not torn.store.exists(path)
    assert won.value in torn.store.read("MEMORY.md").decode()


def test_undo_opens_it_again_byte_for_byte(torn: Memory) -> None:
    before = tree(torn.root)
    report = torn.run(
        Resolve(torn, only(torn).sides[0].id, Choice(keep=only(torn).sides[0].id[-6:]))
    )
    torn.undo(report.id)
    assert tree(torn.root) == before
    assert len(only(torn).sides) == 2


def test_a_dry_run_writes_no_byte(torn: Memory) -> None:
    before = tree(torn.root)
    assert (
        "superseded"
        in torn.run(Resolve(torn, "deploy.port", Choice(both=False, value="9")), dry_run=True).diff
    )
    assert tree(torn.root) == before


@pytest.mark.parametrize("kept", [0, 1], ids=["older", "newer"])
def test_reading_the_same_turns_again_does_not_open_it_again(
    torn: Memory, clock, kept: int
) -> None:
    sides = only(torn).sides
    torn.run(Resolve(torn, "deploy.port", Choice(keep=sides[kept].id)))
    id = sides[0].quotes[0].session
    torn.end(id)
    torn.consolidate("daily")
    assert not conflicts(torn)
    live = [c.value for c in cards(torn) if c.status is Status.ACTIVE]
    assert live == [sides[kept].value]


def test_neither_side_may_be_right(torn: Memory, clock) -> None:
    sides = only(torn).sides
    report = torn.run(Resolve(torn, "deploy.port", Choice(value=" The port is 9090. ")))
    assert report.counts == {"ADD": 1, "SUPERSEDE": 2}
    [won] = [c for c in cards(torn) if c.status is Status.ACTIVE]
    assert (won.value, won.key, won.confidence) == ("The port is 9090.", "deploy.port", 1.0)
    assert won.supersedes == tuple(side.id for side in sides)
    own, *others = won.sources
    assert {s.rel for s in others} == {Rel.CONTRADICTS}
    assert (own.rel, own.by_hand) == (Rel.SUPPORTS, True)


def test_both_may_be_right_at_once(torn: Memory) -> None:
    assert torn.run(Resolve(torn, "deploy.port", Choice(both=True))).counts == {"REFINE": 2}
    assert {c.status for c in cards(torn)} == {Status.ACTIVE}
    assert not conflicts(torn)


def test_both_may_be_right_one_after_the_other(torn: Memory, clock) -> None:
    older, newer = only(torn).sides
    since = clock.move(days=-3)
    torn.run(Resolve(torn, "deploy.port", Choice(both=True, since=since)))
    assert card(torn, older.id).valid_to == since
    assert card(torn, older.id).status is Status.SUPERSEDED
    assert card(torn, newer.id).valid_from == since
    assert card(torn, newer.id).supersedes == (older.id,)


def test_a_secret_is_masked_in_a_persons_words(torn: Memory) -> None:
    words = "It is reached with ghp_16C7e42F292c6912E7710c838347Ae178B4a."
    torn.run(Resolve(torn, "deploy.port", Choice(value=words)))
    assert not [p for p in torn.store.files() if b"ghp_16C7" in torn.store.read(p)]


@pytest.mark.parametrize(
    "choice",
    [Choice(), Choice(keep="a", both=True), Choice(value=" "), Choice(keep="a", value="b")],
)
def test_exactly_one_choice_is_made(torn: Memory, choice: Choice) -> None:
    with pytest.raises(UsageError, match="Choose one"):
        torn.run(Resolve(torn, "deploy.port", choice))


def test_what_is_not_there_is_named(torn: Memory, clock) -> None:
    with pytest.raises(NotFoundError, match="no-such"):
        torn.run(Resolve(torn, "no-such", Choice(both=True)))
    with pytest.raises(NotFoundError, match="nobody"):
        torn.run(Resolve(torn, "deploy.port", Choice(keep="nobody")))
    with pytest.raises(AmbiguousIdError):
        torn.run(Resolve(torn, "deploy.port", Choice(keep="card-")))
    with pytest.raises(UsageError, match="--both"):
        torn.run(Resolve(torn, "deploy.port", Choice(keep="card-", since=clock())))


def test_three_sides_of_one_key_are_one_conflict(torn: Memory, clock) -> None:
    last = only(torn).sides[-1]
    session = torn.session("later")
    session.turn(Role.USER, "hello")
    third = replace(last, id="card-third", value="The deploy port is 8082.", links=())
    filed = torn.get(last.id)
    text = patch(filed.text, filed.note, third, filed.path).replace(last.id, third.id)
    torn.store.apply([Create("semantic/general/third.md", text.encode())], torn.actor)
    assert len(only(torn).sides) == 3
    torn.run(Resolve(torn, "deploy.port", Choice(keep="card-third")))
    assert [c.id for c in cards(torn) if c.status is Status.ACTIVE] == ["card-third"]


def test_an_edited_conflict_page_is_a_persons_and_stays(torn: Memory) -> None:
    found = only(torn)
    content = torn.store.read(found.path)
    mine = content + b"\nmy own thoughts\n"
    torn.store.apply([Update(found.path, digest(content), mine)], torn.actor)
    torn.run(Resolve(torn, "deploy.port", Choice(both=True)))
    assert torn.store.read(found.path) == mine

"""Review: what waits is shown with diff and evidence, and answered once and for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Actor, Create
from kimi_memory.domain.note import Card, Origin, Role, Status
from kimi_memory.domain.operation_types import Waiting
from kimi_memory.domain.pages import Identity, Proposal
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.formats import codec
from kimi_memory.operations.memory_state import status
from kimi_memory.operations.open_questions import asking
from kimi_memory.operations.review_queue import Answer, answer, pending, review
from kimi_memory.store.notes.notes import read_tombstones
from tests.jobs.edited_pages import card, cards, edit, page, write
from tests.jobs.test_runner import tree

RULES = {"zh": "规矩：周五不要发版。", "en": "Rule: we never deploy on Fridays."}


@pytest.fixture(params=RULES)
def proposed(request: pytest.FixtureRequest, memory: Memory) -> Memory:
    """A memory whose weekly job proposed a belief."""
    tell(memory, "s", RULES[request.param])
    memory.consolidate("weekly")
    assert [one.target for one in review(memory)] == ["long-term/IDENTITY.md"]
    return memory


def tell(memory: Memory, id: str, text: str) -> None:
    session = memory.session(id)
    session.turn(Role.USER, text)
    session.turn(Role.ASSISTANT, "ok")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.end()
    memory.consolidate("daily")


def only(memory: Memory) -> Waiting:
    [found] = review(memory)
    return found


def identity(memory: Memory) -> Identity:
    note = codec.parse(memory.store.read("long-term/IDENTITY.md").decode(), "IDENTITY.md")
    assert isinstance(note, Identity)
    return note


def propose(memory: Memory, **parts: str) -> str:
    now = memory.clock()
    proposal = Proposal(id="proposal-mine", created=now, updated=now, title="t", **parts)
    content = codec.render(proposal).encode()
    memory.store.apply([Create(codec.place(proposal), content)], memory.actor)
    return proposal.id


def test_what_waits_is_named_before_it_is_tried(proposed: Memory) -> None:
    [found] = [one for one in pending(proposed) if one.id.startswith("proposal-")]
    built = found.build()
    assert (built.id, built.title) == (found.id, found.title)
    assert [one.id for one in review(proposed)] == [one.id for one in pending(proposed)]


def test_what_waits_is_shown_with_its_diff_and_the_turns_it_rests_on(proposed: Memory) -> None:
    before = tree(proposed.root)
    found = only(proposed)
    assert f"+- {found.text}" in found.diff
    assert "review/" not in found.diff
    assert [said.text for said in found.evidence] == [found.text]
    assert (found.section, found.problem) == ("beliefs", "")
    assert tree(proposed.root) == before


def test_accepting_writes_the_page_in_one_commit_and_undo_takes_it_back(proposed: Memory) -> None:
    before, found = tree(proposed.root), only(proposed)
    report = answer(proposed, found.id[:-3], Answer(accept=True))
    assert identity(proposed).beliefs == (found.text,)
    assert not review(proposed)
    [newest, *_] = proposed.history.log(limit=1)
    assert (newest.hash, newest.trailers["Kind"]) == (report.commit, "review")
    proposed.undo(report.id)
    assert tree(proposed.root) == before
    assert only(proposed).id == found.id


def test_accepting_with_other_words(proposed: Memory) -> None:
    answer(proposed, only(proposed).id, Answer(accept=True, text=" 只在周五下午不发版。 "))
    assert identity(proposed).beliefs == ("只在周五下午不发版。",)


def test_a_rejected_proposal_does_not_come_back(proposed: Memory, clock) -> None:
    found = only(proposed)
    report = answer(proposed, found.id, Answer(accept=False, why="too strict"))
    [stone] = read_tombstones(proposed.store)
    assert (stone.why, stone.by) == ("too strict", proposed.actor.name)
    for _ in range(2):
        clock.move(days=7)
        tell(proposed, f"later-{clock():%m%d}", found.text)
        reports = proposed.consolidate("weekly")
        assert not review(proposed)
    assert any("on purpose" in line for one in reports for line in one.left_out)
    assert any(c.value == found.text for c in cards(proposed) if c.status is Status.ACTIVE)
    assert report.id


def test_an_accepted_belief_is_not_proposed_again(proposed: Memory, clock) -> None:
    found = only(proposed)
    answer(proposed, found.id, Answer(accept=True))
    clock.move(days=7)
    tell(proposed, "later", found.text)
    proposed.consolidate("weekly")
    assert not review(proposed)


@pytest.mark.parametrize(
    ("section", "text", "held"),
    [
        ("mission", "守住约定", lambda note: note.mission),
        ("abilities", "能写测试", lambda note: note.abilities[-1]),
    ],
)
def test_sections_of_text_are_replaced_and_lists_grow(
    memory: Memory, section: str, text: str, held: Callable[[Identity], str]
) -> None:
    id = propose(memory, target="long-term/IDENTITY.md", section=section, text=text)
    answer(memory, id, Answer(accept=True))
    assert held(identity(memory)) == text


@pytest.mark.parametrize(
    ("target", "section", "why"),
    [
        ("long-term/GONE.md", "beliefs", "is gone"),
        ("long-term/IDENTITY.md", "nonsense", "no section"),
        ("long-term/IDENTITY.md", "id", "no section"),
        ("long-term/IDENTITY.md", "sources", "no section"),
        ("../outside.md", "beliefs", "not a safe place"),
        ("USER.md", "beliefs", "kind"),
    ],
)
def test_what_cannot_be_applied_says_why_and_can_be_rejected(
    memory: Memory, target: str, section: str, why: str
) -> None:
    id = propose(memory, target=target, section=section, text="x y z")
    assert why in only(memory).problem
    answer(memory, id, Answer(accept=False))
    assert not review(memory)


def suspect(memory: Memory, clock, old: str, new: str) -> Waiting:
    """Edit MEMORY.md while an agent's session is open."""
    clock.set(datetime.now(UTC))
    memory.session("agent").turn(Role.USER, "Good morning, let us begin.")
    edit(memory, old, new)
    memory.take_edits()
    return only(memory)


def test_an_edit_that_waited_is_accepted_into_its_card(paged: Memory, clock) -> None:
    found = suspect(paged, clock, "Abernathy", "Berg")
    assert "+- Definition: My dentist is Doctor Berg in Oslo." in found.diff
    answer(paged, found.id, Answer(accept=True))
    now = card(paged, "health.dentist")
    assert (now.value, now.confidence) == ("My dentist is Doctor Berg in Oslo.", 1.0)
    assert "Berg" in page(paged)


def test_a_rejected_edit_does_not_return_by_any_path(paged: Memory, clock) -> None:
    found = suspect(paged, clock, "Abernathy", "Berg")
    answer(paged, found.id, Answer(accept=False))
    said = "My dentist is Doctor Berg in Oslo."
    for again in (said, said.upper(), "You know, my dentist is Doctor Berg, in Oslo"):
        report = paged.remember(again, key="health.dentist")
        assert not report.operations, again
        assert "on purpose" in report.left_out[0]
    paged.end("agent")
    clock.move(seconds=1)
    edit(paged, "Abernathy", "Berg")
    assert any("on purpose" in line for line in paged.take_edits().left_out)
    assert "Abernathy" in card(paged, "health.dentist").value
    assert "Doctor Berg" not in page(paged)


def test_a_deletion_that_waited_archives_when_accepted(paged: Memory, clock) -> None:
    line = next(line for line in page(paged).splitlines() if "Bergen" in line)
    found = suspect(paged, clock, f"{line}\n", "")
    assert (found.section, found.text) == ("status", "archived")
    assert answer(paged, found.id, Answer(accept=True)).counts == {"ARCHIVE": 1}
    assert card(paged, "trip.train").status is Status.ARCHIVED


def test_a_line_that_waited_becomes_a_sure_card(paged: Memory, clock) -> None:
    line = next(line for line in page(paged).splitlines() if "Bergen" in line)
    found = suspect(paged, clock, line, f"{line}\n- db.pool: twenty connections")
    answer(paged, found.id, Answer(accept=True))
    new = card(paged, "db.pool")
    assert (new.status, new.confidence, new.trust) == (Status.ACTIVE, 1.0, Origin.HUMAN)


@pytest.mark.parametrize("accept", [True, False], ids=["accept", "reject"])
def test_a_line_a_person_wrote_waits_for_a_word(paged: Memory, accept: bool) -> None:
    write(paged, page(paged) + "- db.pool: twenty connections\n")
    paged.take_edits()
    found = only(paged)
    assert (found.title, found.text) == ("db.pool", "twenty connections")
    before = tree(paged.root)
    report = answer(paged, found.id, Answer(accept=accept))
    status = card(paged, "db.pool").status
    assert status is (Status.ACTIVE if accept else Status.ARCHIVED)
    assert ("twenty" in page(paged)) is accept
    assert not review(paged)
    paged.undo(report.id)
    assert tree(paged.root) == before


def test_what_does_not_wait_is_refused(paged: Memory) -> None:
    [one, *_] = cards(paged)
    assert isinstance(one, Card)
    with pytest.raises(UsageError, match="does not wait"):
        answer(paged, one.id, Answer(accept=True))
    with pytest.raises(NotFoundError):
        answer(paged, "proposal-none", Answer(accept=True))


def test_status_counts_what_waits_by_the_command_that_deals_with_it(paged: Memory) -> None:
    assert asking(paged) == {}
    write(paged, page(paged) + "- db.pool: twenty connections\n")
    assert asking(paged) == {"review pages": 1}
    paged.take_edits()
    paged.remember("部署端口是 8080。", key="deploy.port")
    paged.remember("部署端口是 8081。", key="deploy.port")
    assert status(paged).asks == {"review": 1, "conflicts": 1}


def test_a_page_of_ones_own_asks_for_nothing(paged: Memory) -> None:
    write(paged, "", "semantic/mine.md")
    write(paged, "# mine\n", "semantic/yours.md")
    assert asking(paged) == {}


@pytest.mark.parametrize("accept", [True, False])
def test_what_an_agent_asked_to_remember_waits_for_a_word(
    memory: Memory, opening: Opening, accept: bool
) -> None:
    tell(memory, "s", "The importer is slow today.")
    waits = asking(memory).get("review", 0)
    with Memory.open(memory.root, replace(opening, actor=Actor("mcp"))) as agents:
        agents.remember("Ann is vegetarian.", key="ann.food")
    assert asking(memory) == {"review": waits + 1}
    found = next(one for one in review(memory) if one.text == "Ann is vegetarian.")
    assert found.reason == "an agent asked to remember it"
    assert [said.speaker for said in found.evidence] == ["assistant"]
    answer(memory, found.id, Answer(accept=accept))
    assert asking(memory).get("review", 0) == waits
    assert ("vegetarian" in memory.context("start").text) is accept

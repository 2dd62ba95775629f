"""MEMORY.md is what somebody would paste at the start of a session, at any moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.domain.brief import Section
from kimi_memory.domain.change import Create, Update
from kimi_memory.domain.change import digest as change_digest
from kimi_memory.domain.note import Card, CardType, Lang, Role, Status
from kimi_memory.domain.pages import Digest, DigestLine, Part
from kimi_memory.formats.codec import patch, place, render
from kimi_memory.formats.page_lines import BRIEF_TITLES, is_generated
from kimi_memory.jobs.memory_page import BUDGET
from kimi_memory.jobs.overview import empty_page, in_language
from kimi_memory.nlp.basic.tokens import estimate
from tests.jobs.edited_pages import card, cards, edit, page

AT = datetime(2026, 2, 20, 9, tzinfo=UTC)


def digest(*lines: DigestLine, session: str = "s", lang: Lang = Lang.EN, **more: object) -> Digest:
    return Digest(
        id=f"digest-01kjf571m0s9a0vmgpedm{session:x>4}", created=AT, updated=AT, lang=lang,
        title=f"of {session}", session=session, at=AT, lines=lines, **more,
    )  # fmt: skip


def keep(memory: Memory, *digests: Digest) -> None:
    files = [Create(place(one), render(one).encode()) for one in digests]
    memory.store.apply(files, memory.actor)


def test_what_is_remembered_stands_there_at_once(memory: Memory) -> None:
    memory.remember("Always answer in British spelling.", key="rule.spelling", type="rule")
    assert "\n- Always answer in British spelling." in page(memory)
    assert is_generated(page(memory))


def test_the_end_of_a_session_brings_it_up_to_date(memory: Memory) -> None:
    session = memory.session("s")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    assert "数据库我们决定用 MongoDB，因为免费额度够用。" in page(memory)


def test_no_key_and_no_id_leads_a_line(memory: Memory) -> None:
    memory.remember("We deploy on Mondays.", key="deploy.day", type="decision")
    [line] = [line for line in page(memory).splitlines() if "Mondays" in line]
    assert line.startswith("- We deploy on Mondays.")
    assert line.endswith(f"^{card(memory, 'deploy.day').id}")
    assert "deploy.day" not in line


def test_its_sections_are_in_the_order_a_reader_needs(memory: Memory) -> None:
    for number, (key, type) in enumerate(
        [("x.found", "gotcha"), ("db", "decision"), ("tone", "preference"), ("user.name", "fact")]
    ):
        memory.remember(f"Sentence {number} of this memory.", key=key, type=type)
    titles = [line[3:] for line in page(memory).splitlines() if line.startswith("## ")]
    sections = (Section.WHO, Section.HOW, Section.DECISIONS, Section.LESSONS)
    assert titles == [BRIEF_TITLES[section][1] for section in sections]


@pytest.mark.parametrize("lang", Lang)
def test_an_empty_page_shows_headings_of_a_full_one(lang: Lang) -> None:
    titles = [line[3:] for line in empty_page("x", lang).splitlines() if line.startswith("## ")]
    assert titles
    assert set(titles) <= {in_language(title, lang) for title in BRIEF_TITLES.values()}


def test_orders_stand_before_preferences(memory: Memory) -> None:
    memory.remember("I like short answers.", key="tone", type="preference")
    memory.remember("Never push to main.", key="rule.push", type="rule")
    text = page(memory)
    assert text.index("Never push") < text.index("short answers")


def test_lines_of_digests_stand_under_their_sections_and_say_who_and_when(memory: Memory) -> None:
    keep(memory, digest(
        DigestLine(Part.DECIDED, "We take Postgres because of its JSON columns.", 3, 3),
        DigestLine(Part.TOLD, "My daughter is called Ida.", 5, 5, "Melanie"),
    ))  # fmt: skip
    memory.remember("Never push to main.", key="rule.push", type="rule")
    text = page(memory)
    assert "- We take Postgres because of its JSON columns. (2026-02-20) ^turn-" in text
    assert "- Melanie: My daughter is called Ida. (2026-02-20) ^turn-" in text


def test_nothing_is_said_twice(memory: Memory) -> None:
    keep(memory, digest(DigestLine(Part.ORDERED, "Never push to main.", 3, 3)))
    memory.remember("Never push to main.", key="rule.push", type="rule")
    assert page(memory).count("Never push to main") == 1


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.ARCHIVED])
def test_what_a_replaced_card_rests_on_does_not_come_back_with_a_digest(
    memory: Memory, status: Status
) -> None:
    memory.remember("We use Redis for the queue.", key="queue.store", type="decision")
    [quote] = card(memory, "queue.store").quotes
    keep(memory, digest(
        DigestLine(Part.DECIDED, "We use Redis for the queue.", quote.n, quote.n),
        DigestLine(Part.TOLD, "My daughter is called Ida.", quote.n, quote.n),
        session=quote.session,
    ))  # fmt: skip
    filed = memory.get(card(memory, "queue.store").id)
    assert isinstance(filed.note, Card)
    over = patch(filed.text, filed.note, replace(filed.note, status=status), filed.path)
    old = change_digest(filed.text.encode())
    memory.store.apply([Update(filed.path, old, over.encode())], memory.actor)
    memory.remember("Never push to main.", key="rule.push", type="rule")
    assert "Redis" not in page(memory)
    assert "Ida" in page(memory)


def test_it_stays_within_its_budget_and_says_what_is_left_out(memory: Memory) -> None:
    for number in range(60):
        memory.remember(
            f"Locker {number} in hall {number * 7} belongs to the person of number {number * 13}.",
            key=f"locker.n{number}", type="fact",
        )  # fmt: skip
    text = page(memory)
    assert estimate(text) <= BUDGET
    assert "more under semantic/" in text
    assert len(text.splitlines()) > 15


def test_an_undone_job_leaves_it_as_it_was(memory: Memory) -> None:
    memory.remember("Never push to main.", key="rule.push", type="rule")
    before = page(memory)
    report = memory.remember("We deploy on Mondays.", key="deploy.day", type="decision")
    memory.undo(report.id)
    assert page(memory) == before


def test_an_older_job_may_be_undone_though_later_ones_wrote_the_page(memory: Memory) -> None:
    first = memory.remember("Never push to main.", key="rule.push", type="rule")
    memory.remember("We deploy on Mondays.", key="deploy.day", type="decision")
    memory.undo(first.id)
    assert "Never push" not in page(memory)
    assert "Mondays" in page(memory)
    assert is_generated(page(memory))


def test_a_page_with_an_edit_waits_for_the_edit_to_be_taken_over(memory: Memory) -> None:
    memory.remember("Never push to main.", key="rule.push", type="rule")
    edit(memory, "to main.", "to master.")
    memory.remember("We deploy on Mondays.", key="deploy.day", type="decision")
    assert "Mondays" not in page(memory)
    memory.take_edits()
    assert "Mondays" in page(memory)
    assert "to master." in page(memory)


def test_an_edited_line_of_a_digest_is_a_proposal_and_an_untouched_one_is_none(
    memory: Memory,
) -> None:
    keep(memory, digest(
        DigestLine(Part.DECIDED, "We take Postgres because of its JSON columns.", 3, 3),
        DigestLine(Part.TOLD, "My daughter is called Ida.", 5, 5),
    ))  # fmt: skip
    memory.remember("Never push to main.", key="rule.push", type="rule")
    edit(memory, "is called Ida", "is called Eda")
    assert memory.take_edits().counts == {"ADD": 1}
    [new] = [c for c in cards(memory) if "Eda" in c.value]
    assert (new.type, new.value) == (CardType.FACT, "My daughter is called Eda.")


def test_a_private_digest_is_on_no_page_of_everybody(memory: Memory) -> None:
    line = DigestLine(Part.TOLD, "My daughter is called Ida.", 5, 5)
    keep(memory, replace(digest(line), scope="user:melanie"))
    memory.remember("Never push to main.", key="rule.push", type="rule")
    assert "Ida" not in page(memory)


def test_what_was_only_remembered_consolidates_like_any_other(memory: Memory) -> None:
    memory.remember("我的自行车停在三号楼。", key="bike.place")
    reports = memory.consolidate("daily")
    assert [report.kind for report in reports] == ["daily"]
    pages = [p for p in memory.store.files("semantic") if p.count("/") == 1]
    assert any("三号楼" in page(memory, path) for path in pages)
    assert "三号楼" in page(memory, "episodic/daily/2026-02-27.md")
    assert memory.consolidate("daily") == []

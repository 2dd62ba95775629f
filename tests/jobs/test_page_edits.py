"""Lines of pages that a person edits: what becomes of their cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kimi_memory import Memory
from kimi_memory.domain.brief import Section
from kimi_memory.domain.job import Update, digest
from kimi_memory.domain.note import CardType, Origin, Status
from kimi_memory.formats.codec import patch
from kimi_memory.formats.page_lines import BRIEF_TITLES, is_generated
from tests.jobs.edited_pages import (
    EN,
    TEXTS,
    card,
    cards,
    edit,
    page,
    without_line,
    write,
)


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [("editor.theme", "暗色", "亮色"), ("health.dentist", "Abernathy in Oslo", "Berg in Turku")],
)
def test_an_edited_line_changes_its_card_and_nothing_else(
    paged: Memory, clock, key: str, old: str, new: str
) -> None:
    before = {one.id: one for one in cards(paged)}
    clock.move(hours=1)
    edit(paged, old, new)
    report = paged.take_edits()
    assert report.counts == {"REFINE": 1}
    now = card(paged, key)
    assert now.value == TEXTS[key].replace(old, new)
    assert (now.confidence, now.trust, now.verified) == (1.0, Origin.HUMAN, clock())
    assert [one for one in cards(paged) if one.id != now.id] == [
        one for id, one in before.items() if id != now.id
    ]
    assert is_generated(page(paged))
    [line] = [line for line in page(paged).splitlines() if line.endswith(f"^{now.id}")]
    assert line.startswith(f"- {now.value}") and "1.00" in line
    assert not paged.take_edits().id


def test_only_the_number_changed_is_the_confidence_the_person_gives(paged: Memory) -> None:
    line = next(line for line in page(paged).splitlines() if "Abernathy" in line)
    edit(paged, line, line.replace("0.90)", "0.40)"))
    assert paged.take_edits().counts == {"REFINE": 1}
    assert card(paged, "health.dentist").confidence == 0.4
    assert card(paged, "health.dentist").value == EN


def test_a_new_key_before_the_colon_renames_the_card(paged: Memory) -> None:
    edit(paged, EN, f"health.teeth: {EN}")
    assert paged.take_edits().counts == {"REFINE": 1}
    assert card(paged, "health.teeth").value == EN


def test_a_line_of_an_earlier_version_is_still_read(paged: Memory) -> None:
    [line] = [line for line in page(paged).splitlines() if "Abernathy" in line]
    old = f"- [0.90] health.dentist: {EN.replace('Oslo', 'Turku')} ^{line.split('^')[1]}"
    edit(paged, line, old)
    assert paged.take_edits().counts == {"REFINE": 1}
    assert card(paged, "health.dentist").value == EN.replace("Oslo", "Turku")


def test_a_colon_in_an_edited_line_is_no_new_key(paged: Memory) -> None:
    edit(paged, EN, "config.toml: holds the name of my dentist")
    paged.take_edits()
    assert card(paged, "health.dentist").value == "config.toml: holds the name of my dentist"


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("- db.pool: twenty connections", "db.pool", "twenty connections"),
        ("* db.pool：二十个连接", "db.pool", "二十个连接"),
        ("- 周五不要发版", "note.周五不要发版", "周五不要发版"),
    ],
)
def test_a_new_line_becomes_a_candidate_that_stays_on_the_page(
    paged: Memory, line: str, key: str, value: str
) -> None:
    before = len(cards(paged))
    write(paged, page(paged) + f"\n## Rules\n\n{line}\n")
    assert paged.take_edits().counts == {"ADD": 1}
    new = card(paged, key)
    assert (new.value, new.status, new.type) == (value, Status.CANDIDATE, "rule")
    assert len(cards(paged)) == before + 1
    assert f"^{new.id}" in page(paged)
    assert not paged.take_edits().operations


def test_a_line_for_what_is_known_adds_nothing(paged: Memory) -> None:
    write(paged, page(paged) + f"- {EN}\n")
    assert not paged.take_edits().operations
    assert is_generated(page(paged))


def test_a_deleted_line_archives_its_card_without_a_tombstone(paged: Memory) -> None:
    gone = card(paged, "trip.train")
    write(paged, without_line(page(paged), gone.id))
    report = paged.take_edits()
    assert report.counts == {"ARCHIVE": 1}
    assert card(paged, "trip.train").status is Status.ARCHIVED
    assert not paged.store.exists("mid-term/tombstones.jsonl")
    paged.undo(report.id)
    assert card(paged, "trip.train").status is Status.ACTIVE


def test_a_line_put_back_brings_its_card_back(paged: Memory) -> None:
    gone = card(paged, "trip.train")
    line = next(line for line in page(paged).splitlines() if gone.id in line)
    write(paged, without_line(page(paged), gone.id))
    paged.take_edits()
    write(paged, page(paged) + f"{line}\n")
    paged.take_edits()
    assert card(paged, "trip.train").status is Status.ACTIVE


def test_a_copied_and_changed_line_is_a_new_card(paged: Memory) -> None:
    line = next(line for line in page(paged).splitlines() if "Bergen" in line)
    edit(paged, line, f"{line.replace('Bergen', 'Tromsø')}\n{line}")
    assert paged.take_edits().counts == {"ADD": 1}
    assert {c.value for c in cards(paged) if "train" in c.value} == {
        TEXTS["trip.train"], TEXTS["trip.train"].replace("Bergen", "Tromsø"),
    }  # fmt: skip


def test_changing_card_and_line_at_once_keeps_both_and_says_so(paged: Memory, clock) -> None:
    old = card(paged, "health.dentist")
    edit(paged, "Abernathy", "Berg")
    filed = paged.get(old.id)
    other = replace(old, value="My dentist is Doctor Chen in Oslo.", updated=clock.move(hours=1))
    new = patch(filed.text, filed.note, other, filed.path).encode()
    paged.store.apply([Update(filed.path, digest(filed.text.encode()), new)], paged.actor)
    report = paged.take_edits()
    assert report.counts == {"CONFLICT": 1, "ADD": 1}
    assert any("both" in line for line in report.left_out)
    sides = {c.value for c in cards(paged) if c.status is Status.CONFLICTED}
    assert sides == {other.value, EN.replace("Abernathy", "Berg")}
    conflict = page(paged, "conflicts/health.dentist.md")
    assert "Chen" in conflict and "Berg" in conflict


def test_a_line_moved_under_another_heading_changes_what_its_card_is(paged: Memory) -> None:
    dentist = card(paged, "health.dentist")
    assert dentist.type is not CardType.DECISION
    [line] = [one for one in page(paged).splitlines() if one.endswith(f"^{dentist.id}")]
    chinese = any(words[0] in page(paged) for words in BRIEF_TITLES.values())
    title = BRIEF_TITLES[Section.DECISIONS][not chinese]
    rest = page(paged).replace(f"{line}\n", "").rstrip("\n")
    write(paged, f"{rest}\n\n## {title}\n\n{line}\n")
    paged.take_edits()
    moved = card(paged, "health.dentist")
    assert (moved.type, moved.value) == (CardType.DECISION, dentist.value)

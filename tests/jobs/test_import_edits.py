"""Two-way pages: an edit of a line is an edit of its card, and of no other."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory import Memory, Opening
from kimi_memory.domain.job import Update, digest
from kimi_memory.domain.note import Role, Status
from kimi_memory.domain.pages import Proposal
from kimi_memory.errors import UsageError
from kimi_memory.formats.codec import patch
from kimi_memory.formats.page_lines import is_generated, read_page, sign_of, signed
from kimi_memory.jobs.pages import Pages
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.store.notes.notes import Shelf
from tests.jobs.edited_pages import (
    EN,
    card,
    cards,
    edit,
    fill,
    page,
    without_line,
    write,
)
from tests.jobs.test_runner import tree

LOCKERS = {f"locker.n{n}": f"Locker {n} belongs to person number {n * 7}." for n in range(12)}


def test_undo_gives_back_the_edit_as_the_person_left_it(paged: Memory) -> None:
    edit(paged, "Oslo", "Turku")
    before = tree(paged.root)
    paged.undo(paged.take_edits().id)
    assert tree(paged.root) == before


def test_a_dry_run_writes_no_byte(paged: Memory) -> None:
    edit(paged, "Oslo", "Turku")
    before = tree(paged.root)
    assert "Turku" in paged.take_edits(dry_run=True).diff
    assert tree(paged.root) == before


def test_the_daily_job_takes_edits_over_before_it_starts(paged: Memory) -> None:
    edit(paged, "Oslo", "Turku")
    reports = paged.consolidate("daily")
    assert reports[0].kind == "pages"
    assert "Turku" in card(paged, "health.dentist").value


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_other_editors_may_save_it_their_way(paged: Memory, mark: str, end: str) -> None:
    write(paged, mark + page(paged).replace("Oslo", "Turku").replace("\n", end))
    assert paged.take_edits().counts == {"REFINE": 1}
    assert "Turku" in card(paged, "health.dentist").value
    write(paged, mark + page(paged).replace("\n", end))
    assert not paged.take_edits().operations


def test_a_category_page_is_edited_alike_and_both_pages_follow(paged: Memory) -> None:
    path = next(p for p in Pages(paged.store, Shelf(paged.store), paged.settings).two_way()
                if p != "MEMORY.md" and "Abernathy" in page(paged, p))  # fmt: skip
    edit(paged, "Oslo", "Turku", path)
    assert paged.take_edits().counts == {"REFINE": 1}
    assert "Turku" in page(paged) and "Turku" in page(paged, path)
    assert is_generated(page(paged, path))


def test_words_between_the_lines_move_to_the_notes_and_stay(paged: Memory) -> None:
    text = page(paged).replace("## ", "我自己的话。\n\n## ", 1)
    write(paged, f"{text}\n## Notes\n\n- mine to keep\n\n### deeper\n")
    report = paged.take_edits()
    assert not report.operations
    for _ in range(2):
        assert read_page(page(paged)).notes == "- mine to keep\n\n### deeper\n我自己的话。"
        paged.remember("The garage code changes on Mondays.", key="home.garage")
        paged.consolidate("daily")
    assert not [c for c in cards(paged) if "mine" in c.value]


def test_a_card_that_changed_is_not_lost_with_its_old_line(paged: Memory, clock) -> None:
    old = card(paged, "health.dentist")
    write(paged, without_line(page(paged), old.id))
    filed = paged.get(old.id)
    other = replace(old, value="My dentist is Doctor Chen in Oslo.", updated=clock.move(hours=1))
    new = patch(filed.text, filed.note, other, filed.path).encode()
    paged.store.apply([Update(filed.path, digest(filed.text.encode()), new)], paged.actor)
    report = paged.take_edits()
    assert any("changed since its line" in line for line in report.left_out)
    assert card(paged, "health.dentist").status is Status.ACTIVE
    assert "Chen" in page(paged)


def test_without_a_known_base_nothing_is_dropped(paged: Memory, clock) -> None:
    text = without_line(page(paged), card(paged, "trip.train").id)
    write(paged, re.sub("generated: .*", "generated: 0123456789ab", text))
    assert not paged.take_edits().operations
    assert "Bergen" in page(paged)


@pytest.mark.parametrize("kept", [0, 1, 7])
def test_a_page_that_lost_most_of_its_lines_archives_nothing(memory: Memory, kept: int) -> None:
    fill(memory, LOCKERS)
    lines = page(memory).splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if line.startswith("- "))
    write(memory, "".join(lines[: first + kept]))
    before = tree(memory.root)
    report = memory.take_edits()
    assert not report.id
    assert any("nothing was archived" in line for line in report.left_out)
    assert tree(memory.root) == before
    meant = memory.take_edits(meant=True)
    assert meant.counts == {"ARCHIVE": 12 - kept}


@pytest.mark.parametrize("text", ["", "\n \r\n", "\ufeff"])
def test_an_emptied_page_is_written_anew(paged: Memory, text: str) -> None:
    whole = page(paged)
    write(paged, text)
    paged.remember("The garage code changes on Mondays.", key="home.garage")
    session = paged.session("more")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    paged.consolidate("daily")
    assert {c.status for c in cards(paged)} == {Status.ACTIVE}
    assert read_page(page(paged)).lines.keys() > read_page(whole).lines.keys()


def test_a_page_torn_off_in_a_line_archives_nothing(memory: Memory) -> None:
    fill(memory, LOCKERS)
    text = page(memory).rstrip()
    write(memory, text[:-30])
    report = memory.take_edits()
    assert any("nothing was archived" in line for line in report.left_out)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfeM\0", "UTF-16"),
        (b"---\nkind: overview\ngenerated: 012345abcdef\n---\n<<<<<<< HEAD\n- a\n", "merge"),
        (b"---\nkind: [\n---\n", "MEMORY.md:"),
        ("我自己的页面\n".encode(), "stays as it is"),
    ],
    ids=["utf-16", "merge marks", "front matter", "my own"],
)
def test_a_page_that_cannot_be_parsed_is_reported_and_never_rewritten(
    paged: Memory, content: bytes, said: str
) -> None:
    (paged.root / "MEMORY.md").write_bytes(content)
    paged.remember("The garage code changes on Mondays.", key="home.garage")
    session = paged.session("more")
    session.turn(Role.USER, "数据库我们决定用 MongoDB，因为免费额度够用。")
    session.turn(Role.ASSISTANT, "好的。")
    session.end()
    reports = paged.consolidate("daily")
    assert any(said in line for report in reports for line in report.left_out)
    assert (paged.root / "MEMORY.md").read_bytes() == content
    assert Status.ARCHIVED not in {c.status for c in cards(paged)}


def test_a_secret_typed_on_a_page_does_not_enter_a_card(paged: Memory) -> None:
    edit(paged, "Doctor Abernathy in Oslo", "reached with ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    paged.take_edits()
    assert "ghp_16C7" not in card(paged, "health.dentist").value
    assert "ghp_16C7" not in page(paged)


@pytest.mark.parametrize("name", ["USER.md", "PROJECT.md"])
def test_pages_of_people_are_never_rewritten(paged: Memory, name: str) -> None:
    mine = "# 我\n\n- 名字：小李 ^card-01kjf571m0s9a0vmgpedmw0qmj\n"
    write(paged, mine, name)
    paged.consolidate("daily")
    paged.consolidate("weekly")
    assert page(paged, name) == mine


def proposals(memory: Memory) -> list[Proposal]:
    found = (filed.note for filed in Shelf(memory.store).notes("proposal"))
    return [note for note in found if isinstance(note, Proposal)]


def test_an_edit_while_a_session_is_open_waits_for_review(paged: Memory, clock) -> None:
    clock.set(datetime.now(UTC))
    paged.session("agent").turn(Role.USER, "Good morning, let us begin.")
    gone = card(paged, "trip.train")
    edit(paged, "Abernathy", "Berg")
    write(paged, without_line(page(paged), gone.id) + "- db.pool: twenty connections\n")
    report = paged.take_edits()
    assert {op.op for op in report.operations} == {"ADD"}
    assert {p.section for p in proposals(paged)} == {"line", "status", "new"}
    assert all("session agent" in p.reason for p in proposals(paged))
    assert card(paged, "health.dentist").value == EN
    assert "Abernathy" in page(paged) and is_generated(page(paged))


def test_an_edit_after_the_session_is_a_persons(paged: Memory, clock) -> None:
    clock.set(datetime.now(UTC) - timedelta(hours=3))
    paged.session("agent").turn(Role.USER, "Good morning, let us begin.")
    edit(paged, "Abernathy", "Berg")
    clock.move(hours=3)
    assert paged.take_edits().counts == {"REFINE": 1}


@pytest.mark.parametrize(("rule", "sections"), [("trust", set()), ("review", {"line"})])
def test_the_setting_decides_for_all_edits(
    paged: Memory, opening: Opening, clock, rule: str, sections: set[str]
) -> None:
    toml = paged.root / "memory.toml"
    more = f'\n[consolidation]\nexternal_edits = "{rule}"\n'
    toml.write_text(toml.read_text(encoding="utf-8") + more, encoding="utf-8")
    paged.store.reconcile()
    clock.set(datetime.now(UTC))
    paged.session("agent").turn(Role.USER, "Good morning, let us begin.")
    edit(paged, "Abernathy", "Berg")
    with Memory.open(paged.root, opening) as again:
        again.take_edits()
        assert {p.section for p in proposals(again)} == sections


@given(which=st.integers(0, 3), text=st.text(min_size=1, max_size=40))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_editing_one_line_changes_exactly_that_card(
    paged: Memory, clock, which: int, text: str
) -> None:
    clock.move(hours=1)
    before = {one.id: one for one in cards(paged)}
    chosen = before[sorted(before)[which % len(before)]]
    line = next(line for line in page(paged).splitlines() if line.endswith(f"^{chosen.id}"))
    typed = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", "", text).split())
    value = f"said {which} {typed}".strip()
    edit(paged, line, f"- {value} (2026-02-27, {chosen.confidence:.2f}) ^{chosen.id}")
    paged.take_edits()
    after = {one.id: one for one in cards(paged)}
    assert {id: one for id, one in after.items() if id != chosen.id} == {
        id: one for id, one in before.items() if id != chosen.id
    }
    assert after[chosen.id].value == paged.screen.pass_text(value).text


def test_a_page_without_edits_is_byte_for_byte_what_it_was(paged: Memory) -> None:
    before = tree(paged.root)
    assert not paged.take_edits().id
    shelf = Shelf(paged.store)
    changes, notes = Pages(paged.store, shelf, paged.settings).changes(cards(paged))
    assert (changes, notes) == ([], [])
    assert tree(paged.root) == before


def test_a_page_of_an_old_folder_is_left_where_nothing_tells_its_base(paged: Memory) -> None:
    own: Path = paged.root / "semantic" / "mine.md"
    own.write_text("# 我的主题\n\n- 一行\n", encoding="utf-8")
    paged.consolidate("daily")
    assert own.read_text(encoding="utf-8") == "# 我的主题\n\n- 一行\n"


def added_text(memory: Memory, clock) -> str:
    """Add text of one's own to MEMORY.md while an agent works; return what the page was."""
    mine = page(memory)
    memory.store.reconcile()
    clock.set(datetime.now(UTC))
    memory.session("agent").turn(Role.USER, "Good morning, let us begin.")
    words = "\nA word of nobody known.\n\n## Notes\n\n### Banking\n\nMy bank is evil.example.\n"
    write(memory, mine + words)
    return mine


def test_notes_that_an_agent_may_have_written_wait_for_review(paged: Memory, clock) -> None:
    mine = added_text(paged, clock)
    report = paged.take_edits()
    assert page(paged) == mine
    [waits] = proposals(paged)
    assert (waits.target, waits.section) == ("MEMORY.md", "notes")
    assert waits.text.splitlines() == [
        "### Banking", "My bank is evil.example.", "A word of nobody known.",
    ]  # fmt: skip
    assert "session agent" in waits.reason
    assert any("review/" in path for path in report.paths)
    assert not paged.take_edits().operations
    [shown] = [one for one in review(paged) if one.id == waits.id]
    assert "+My bank is evil.example." in shown.diff and not shown.problem
    paged.undo(answer(paged, waits.id, Answer(accept=True)).id)
    assert page(paged) == mine
    answer(paged, waits.id, Answer(accept=True))
    assert page(paged).rstrip().endswith(waits.text)
    paged.remember("The garage code changes on Mondays.", key="home.garage")
    assert page(paged).rstrip().endswith(waits.text) and is_generated(page(paged))
    assert not proposals(paged)


def test_notes_that_were_turned_away_do_not_come_back(paged: Memory, clock) -> None:
    mine = added_text(paged, clock)
    both = page(paged)
    paged.take_edits()
    answer(paged, proposals(paged)[0].id, Answer(accept=False))
    clock.move(seconds=1)
    write(paged, both)
    report = paged.take_edits()
    assert any("rejected before" in line for line in report.left_out)
    assert page(paged) == mine and not proposals(paged)


def test_notes_that_an_agent_may_have_taken_out_stay(paged: Memory, clock) -> None:
    write(paged, page(paged) + "\n## Notes\n\nThe spare key hangs in the shed.\nAsk Anna.\n")
    paged.take_edits()
    mine = page(paged)
    assert "spare key" in mine
    clock.set(datetime.now(UTC))
    paged.session("agent").turn(Role.USER, "Good morning, let us begin.")
    edit(paged, "The spare key hangs in the shed.\n", "")
    report = paged.take_edits()
    assert page(paged) == mine
    assert any("MEMORY.md: 1 line taken out of its notes" in line for line in report.left_out)


def test_a_forged_signature_makes_no_notes_the_readers_own(paged: Memory, clock) -> None:
    clock.set(datetime.now(UTC))
    paged.session("agent").turn(Role.USER, "Good morning, let us begin.")
    text = page(paged) + "\n## Notes\n\nMy bank is evil.example.\n"
    write(paged, signed(text.replace(f"generated: {sign_of(text)}", f"generated: {'0' * 12}")))
    assert is_generated(page(paged))
    paged.remember("The garage code changes on Mondays.", key="home.garage")
    paged.take_edits()
    assert "evil" not in page(paged) and "garage" in page(paged)
    assert [one.text for one in proposals(paged)] == ["My bank is evil.example."]


def test_notes_are_accepted_only_on_a_page_that_is_taken_over(paged: Memory, clock) -> None:
    added_text(paged, clock)
    paged.take_edits()
    [waits] = proposals(paged)
    edit(paged, "Abernathy", "Berg")
    with pytest.raises(UsageError, match="review pages"):
        answer(paged, waits.id, Answer(accept=True))


def test_a_deleted_card_leaves_the_pages(paged: Memory) -> None:
    gone = card(paged, "health.dentist")
    (paged.root / paged.get(gone.id).path).unlink()
    assert paged.take_edits().id
    assert gone.id not in page(paged)
    assert is_generated(page(paged))
    assert not paged.take_edits().id


def test_a_deleted_overview_comes_back(paged: Memory) -> None:
    before = page(paged)
    (paged.root / "MEMORY.md").unlink()
    assert paged.take_edits().subject == "MEMORY.md"
    assert page(paged) == before

"""MEMORY.md: generated, signed, and never rewritten while it holds an edit."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.brief import Section
from kimi_memory.domain.job import Create, Update
from kimi_memory.domain.job import digest as change_digest
from kimi_memory.domain.note import Card, CardType, Lang, Role, Status
from kimi_memory.domain.pages import Digest, DigestLine, Identity, Part
from kimi_memory.formats import codec
from kimi_memory.formats.codec import patch, place, render
from kimi_memory.formats.page_lines import BRIEF_TITLES, is_generated, may_rewrite, sign_of
from kimi_memory.jobs.pages import BUDGET, empty_page, in_language
from kimi_memory.nlp.basic.sentences import estimate
from tests.jobs.edited_pages import card, cards, edit, page
from tests.jobs.test_runner import talk


def test_a_page_knows_whether_it_was_edited() -> None:
    page = empty_page("小K", Lang.ZH)
    assert is_generated(page)
    assert not is_generated(page + "\n")
    assert not is_generated(page.replace("## ", "## 我的"))
    assert not is_generated("# My own page\n")


def test_an_edited_page_still_tells_what_it_was_generated_as() -> None:
    page = empty_page("小K", Lang.ZH)
    windows = "\ufeff" + page.replace("\n", "\r\n") + "more\r\n"
    assert sign_of(windows) == sign_of(page) != ""
    assert sign_of("# My own page\n") == ""


def test_only_what_nobody_would_miss_may_be_rewritten() -> None:
    assert may_rewrite("\ufeff\r\n \n")
    assert may_rewrite(empty_page("", Lang.EN))
    assert not may_rewrite("my own words\n")


def test_a_page_of_ones_own_is_left_alone_and_the_report_says_so(memory: Memory) -> None:
    file = memory.root / "MEMORY.md"
    mine = "# Mine\n\n- my own line\n"
    file.write_text(mine, encoding="utf-8")
    talk(memory)
    memory.distil("s")
    reports = memory.consolidate("daily")
    assert file.read_text(encoding="utf-8") == mine
    said = [line for report in reports for line in report.left_out]
    assert any("MEMORY.md" in line and "stays as it is" in line for line in said)


def test_lines_carry_the_confidence_and_an_obsidian_block_id(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    lines = [
        line
        for line in (memory.root / "MEMORY.md").read_text(encoding="utf-8").splitlines()
        if " ^card-" in line
    ]
    assert lines
    for line in lines:
        assert re.fullmatch(r"- [^\[].*[(（]\d{4}-\d\d-\d\d(, |，)0\.\d\d[)）] \^card-\w+", line)


def test_a_missing_overview_is_written_again(memory: Memory) -> None:
    (memory.root / "MEMORY.md").unlink()
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    assert is_generated((memory.root / "MEMORY.md").read_text(encoding="utf-8"))


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


CHINESE = "我们决定用 PostgreSQL，因为要支持事务。"
PAGES = ("USER.md", "PROJECT.md", "long-term/IDENTITY.md")


def texts(folder: Path) -> dict[str, str]:
    return {path: (folder / path).read_text("utf-8") for path in PAGES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A memory that was made on a machine without a language."""
    Memory.create(tmp_path / "memory").close()
    return tmp_path / "memory"


def test_untouched_pages_follow_the_first_words_in_chinese(folder: Path) -> None:
    before = texts(folder)
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    after = texts(folder)
    assert after["USER.md"].startswith("# 关于使用者\n")
    assert after["PROJECT.md"].startswith("# 当前工作\n")
    old, new = (
        codec.parse(pages["long-term/IDENTITY.md"], "long-term/IDENTITY.md")
        for pages in (before, after)
    )
    assert isinstance(old, Identity) and isinstance(new, Identity)
    assert "## 我的使命" in after["long-term/IDENTITY.md"]
    assert (new.name, new.who) == ("智能体", "一个有记忆的智能体。")
    assert (new.id, new.created) == (old.id, old.created)


def test_pages_in_chinese_are_made_anew_for_who_speaks_english(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory", name="小林") as memory:
        assert "我的使命" in texts(memory.root)["long-term/IDENTITY.md"]
        memory.remember("We decided to use PostgreSQL because we need transactions.")
        assert "# Core identity: 小林" in texts(memory.root)["long-term/IDENTITY.md"]
        assert texts(memory.root)["USER.md"].startswith("# About the person\n")


def test_undo_leaves_them_in_the_language_of_what_is_left(folder: Path) -> None:
    before = texts(folder)
    with Memory.open(folder) as memory:
        first = memory.remember(CHINESE)
        chinese = texts(folder)
        second = memory.remember("数据库端口是 5432。", key="db.port")
        memory.undo(second.id)
        assert texts(folder) == chinese != before
        memory.undo(first.id)
        assert texts(folder) == before


def test_what_somebody_wrote_on_a_page_stays_as_it_is(folder: Path) -> None:
    wrote = {path: f"{text}\n- Mine.\n" for path, text in texts(folder).items()}
    for path, text in wrote.items():
        (folder / path).write_text(text, "utf-8")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert texts(folder) == wrote


def test_a_page_that_is_gone_or_broken_stays_so(folder: Path) -> None:
    (folder / "USER.md").unlink()
    (folder / "long-term/IDENTITY.md").write_bytes(b"---\nid: [\n---\n")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert not (folder / "USER.md").exists()
    assert (folder / "long-term/IDENTITY.md").read_bytes() == b"---\nid: [\n---\n"


def test_a_chosen_language_is_kept(tmp_path: Path) -> None:
    with Memory.create(tmp_path / "memory", language="en") as memory:
        before = texts(memory.root)
        memory.remember(CHINESE)
        assert texts(memory.root) == before


def test_growth_written_before_goes_along(folder: Path) -> None:
    clock = datetime(2026, 2, 27, 9, tzinfo=UTC)
    path = folder / "long-term/IDENTITY.md"
    identity = codec.parse(path.read_text("utf-8"), "long-term/IDENTITY.md")
    assert isinstance(identity, Identity)
    line = f"{clock:%Y-%m-%d} this week: 1 decisions, 0 findings, 0 successes, 0 failures"
    from dataclasses import replace

    path.write_text(codec.render(replace(identity, growth=(line,))), "utf-8")
    with Memory.open(folder) as memory:
        memory.remember(CHINESE)
    assert f"## 我的成长\n\n- {line}\n" in path.read_text("utf-8")

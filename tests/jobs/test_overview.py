"""MEMORY.md: generated, signed, and never rewritten while it holds an edit."""

from __future__ import annotations

import re

from kimi_memory import Memory
from kimi_memory.domain.note import Lang
from kimi_memory.formats.page_lines import is_generated, may_rewrite, sign_of
from kimi_memory.jobs.overview import empty_page
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

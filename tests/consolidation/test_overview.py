"""MEMORY.md: generated until a person edits it."""

from __future__ import annotations

from kimi_memory import Memory
from kimi_memory.consolidation.overview import Overview, is_generated
from kimi_memory.model.note import Lang
from tests.consolidation.test_jobs import talk


def test_a_page_knows_whether_it_was_edited() -> None:
    page = Overview.of_nothing("小K", Lang.ZH)
    assert is_generated(page)
    assert not is_generated(page + "\n")
    assert not is_generated(page.replace("还没有内容", "我写的内容"))
    assert not is_generated("# My own page\n")


def test_an_edited_overview_is_left_alone_and_the_report_says_so(memory: Memory) -> None:
    file = memory.root / "MEMORY.md"
    mine = file.read_text(encoding="utf-8") + "\n- my own line\n"
    file.write_text(mine, encoding="utf-8")
    talk(memory)
    memory.distil("s")
    [report] = memory.consolidate("daily")
    assert file.read_text(encoding="utf-8") == mine
    assert report.left_out == ("MEMORY.md was edited by hand and stays as it is",)


def test_lines_carry_the_confidence_and_an_obsidian_block_id(memory: Memory) -> None:
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    lines = [
        line
        for line in (memory.root / "MEMORY.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("- [")
    ]
    assert lines
    for line in lines:
        assert line.startswith("- [0.")
        assert " ^card-" in line


def test_a_missing_overview_is_written_again(memory: Memory) -> None:
    (memory.root / "MEMORY.md").unlink()
    talk(memory)
    memory.distil("s")
    memory.consolidate("daily")
    assert is_generated((memory.root / "MEMORY.md").read_text(encoding="utf-8"))

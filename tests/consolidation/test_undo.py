"""Undo: every byte as it was, or a refusal that names what is in the way."""

from __future__ import annotations

import pytest

from kimi_memory import Memory
from kimi_memory.errors import GateError, HistoryError, NotFoundError
from tests.consolidation.test_jobs import talk, tree


def test_undoing_a_distil_restores_the_tree(memory: Memory) -> None:
    talk(memory)
    before = tree(memory.root)
    assert "short-term/session_s.json" in before
    report = memory.distil("s")
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before


def test_undoing_a_daily_job_restores_updated_pages(memory: Memory) -> None:
    talk(memory, "s")
    memory.distil("s")
    memory.consolidate("daily")
    talk(memory, "t")
    memory.distil("t")
    before = tree(memory.root)
    [report] = [report for report in memory.consolidate("daily") if report.id]
    assert tree(memory.root) != before
    memory.undo(report.id)
    assert tree(memory.root) == before


def test_an_undone_job_can_run_again_with_the_same_result(memory: Memory) -> None:
    talk(memory)
    first = memory.distil("s")
    after = tree(memory.root)
    memory.undo(first.id)
    again = memory.distil("s")
    assert again.id == first.id
    assert tree(memory.root) == after


def test_undo_leaves_a_commit_that_says_so(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    memory.undo(report.id)
    assert memory.history.log(limit=1)[0].trailers["Undoes"] == report.id
    with pytest.raises(NotFoundError):
        memory.undo(report.id)


def test_a_file_edited_since_is_not_overwritten(memory: Memory) -> None:
    talk(memory)
    report = memory.distil("s")
    path = next(p for p in report.paths if p.startswith("semantic/"))
    file = memory.root / path
    file.write_text(file.read_text(encoding="utf-8") + "\nmy own line\n", encoding="utf-8")
    before = tree(memory.root)
    with pytest.raises(GateError, match=f"{path} changed since"):
        memory.undo(report.id)
    assert tree(memory.root) == before


def test_without_history_undo_says_why_it_cannot(memory: Memory) -> None:
    from tests.consolidation.test_jobs import _like

    toml = memory.root / "memory.toml"
    toml.write_text(toml.read_text(encoding="utf-8") + "[history]\ngit = false\n", encoding="utf-8")
    with Memory.open(memory.root, _like(memory)) as plain:
        talk(plain)
        report = plain.distil("s")
        assert report.id
        with pytest.raises(HistoryError):
            plain.undo(report.id)

"""Two views are compared unit by unit, then word by word."""

from __future__ import annotations

from folders import Folder, fill

from kimi_memory.index.verify import compare


def test_equal_views_have_no_findings(folder: Folder) -> None:
    fill(folder)
    assert compare(folder.index().searcher(), folder.index().searcher()) == []


def test_missing_and_surplus_units_are_named(folder: Folder) -> None:
    fill(folder)
    old = folder.index().searcher()
    folder.session("d", [("user", "新的")])
    (folder.root / "short-term/session_b.jsonl").unlink()
    told = [finding.message for finding in compare(old, folder.index().searcher())]
    assert "the index lacks session:d#1" in told
    assert any("session:b#1, which no file does" in line for line in told)


def test_many_differences_are_counted_instead_of_listed(folder: Folder) -> None:
    fill(folder)
    whole = folder.index().searcher()
    for path in folder.root.rglob("session_*.jsonl"):
        path.unlink()
    findings = compare(folder.index().searcher(), whole)
    assert len(findings) == 6
    assert "more" in findings[-1].message

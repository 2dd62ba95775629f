"""Two views are compared unit by unit, then word by word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from folders import Folder, fill

from kimi_memory.index.verify import compare, digest


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


def test_overlay_disk_and_any_history_of_updates_have_one_digest(folder: Folder) -> None:
    fill(folder)
    index = folder.index()
    in_memory = digest(index.searcher())
    assert in_memory.units > 10
    assert in_memory.words > 50
    index.refresh()
    assert digest(index.searcher()) == in_memory
    for n in range(5):
        folder.card(f"extra-{n}", f"Extra {n} 额外", "Comes and goes. 来了又走。")
        index.refresh()
    assert digest(index.searcher()) != in_memory
    for n in range(5):
        (folder.root / f"semantic/general/extra-{n}.md").unlink()
        assert len(folder.ask("comes and goes", index).hits) == 4 - n or n == 4
    assert digest(index.searcher()) == in_memory
    index.refresh()
    assert digest(folder.index().searcher()) == in_memory


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: folder.write("PROJECT.md", "# Billing\n\nMoves more money.\n"),
        lambda folder: folder.card("log-keep", "日志保留", "日志每天清理，保留八天。"),
        lambda folder: folder.card(
            "log-keep", "日志保留", "日志每天清理，保留七天。", confidence=0.4
        ),
        lambda folder: folder.write("NEW.md", "# New\n\nOne line.\n"),
        lambda folder: (folder.root / "PROJECT.md").unlink(),
    ],
    ids=["text", "value", "field", "added", "removed"],
)
def test_any_change_of_a_file_is_another_digest(
    folder: Folder, change: Callable[[Folder], object]
) -> None:
    fill(folder)
    before = digest(folder.index().searcher())
    change(folder)
    assert digest(folder.index().searcher()) != before


def test_an_empty_memory_has_a_digest(folder: Folder) -> None:
    found = digest(folder.index().searcher())
    assert (found.units, found.words) == (0, 0)
    assert len(found.sha256) == 64

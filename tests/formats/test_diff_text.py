"""Diffs as they are shown: file by file, books folded or left out."""

from __future__ import annotations

from kimi_memory.formats.diff_text import split_diff


def test_files_are_split_and_books_folded(doc: str) -> None:
    """
    diff --git a/MEMORY.md b/MEMORY.md
    index 1..2 100644
    --- a/MEMORY.md
    +++ b/MEMORY.md
    @@ -1,2 +1,2 @@
    -updated: 2026-01-01
    +updated: 2026-02-02
     lang: en
    @@ -9,2 +9,3 @@
     - tea
    +--- coffee
    --- milk
    --- /dev/null
    +++ b/mid-term/jobs/daily-1.json
    @@ -0,0 +1 @@
    +{}
    """
    page, record = split_diff(doc)
    assert page.path == "MEMORY.md"
    assert page.lines == (
        ("@", "@@ -9,2 +9,3 @@"),
        ("", "- tea"),
        ("+", "--- coffee"),
        ("-", "-- milk"),
    )
    assert (page.added, page.removed, page.folded) == (1, 1, False)
    assert (record.path, record.folded, record.added) == ("mid-term/jobs/daily-1.json", True, 1)


def test_no_diff_has_no_files() -> None:
    assert split_diff("") == []
    assert split_diff("what is no diff\n@@ -1 +1 @@\n") == []

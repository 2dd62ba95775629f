"""Diffs for people."""

from __future__ import annotations

import pytest

from kimi_memory.cli.shared import fold_books

STAMP = "@@ -5,3 +5,3 @@\n created: 2026\n-updated: 2026-03-09\n+updated: 2026-11-24\n lang: zh\n"
TOLD = "@@ -15,2 +15,3 @@\n a\n+- never deploy on Friday\n b\n"
RECORD = "--- /dev/null\n+++ b/mid-term/jobs/daily-1.json\n@@ -0,0 +1 @@\n+{}\n"
HEAD = "--- a/long-term/IDENTITY.md\n+++ b/long-term/IDENTITY.md\n"


def folded(diff: str) -> str:
    return "".join(f"{line}\n" for line in fold_books(diff))


def test_stamps_are_left_out_and_the_rest_stays() -> None:
    assert folded(HEAD + STAMP + TOLD) == HEAD + TOLD
    assert folded(HEAD + STAMP) == ""


def test_records_of_jobs_are_counted() -> None:
    said = folded(HEAD + TOLD + RECORD + RECORD)
    assert said.startswith(HEAD + TOLD)
    assert said.endswith("(2 files of records left out; --all shows them)\n")


def test_what_git_says_of_a_file_stays_with_it() -> None:
    git = "diff --git a/{0} b/{0}\nindex 1..2 100644\n--- a/{0}\n+++ b/{0}\n"
    note, job = git.format("semantic/a.md"), git.format("mid-term/jobs/daily-1.json")
    assert folded(note + TOLD + job + TOLD).startswith(f"{note}{TOLD}(1 file")
    renamed = "diff --git a/x.md b/y.md\nsimilarity index 100%\nrename from x.md\nrename to y.md\n"
    assert folded(renamed) == renamed


@pytest.mark.parametrize("line", ["--- a/x", "--- b", "-updated: by hand", "+++ c"])
def test_a_changed_line_that_looks_like_a_head_is_shown(line: str) -> None:
    diff = f"{HEAD}@@ -1,2 +1,2 @@\n{line}\n+more\n"
    assert folded(diff) == diff

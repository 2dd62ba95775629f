"""Merges of lines, held against git's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory.merge.lines import diff3, keep_both, merge_lines

LINES = st.lists(st.sampled_from("abcdefg"), max_size=8)


def merged(base: str, ours: str, theirs: str) -> str | None:
    lines = merge_lines(list(base), list(ours), list(theirs))
    return None if lines is None else "".join(lines)


def test_changes_at_different_places_are_both_taken() -> None:
    assert merged("abcde", "aXcde", "abcdYe") == "aXcdYe"
    assert merged("abcde", "acde", "abcdeZ") == "acdeZ"
    assert merged("abc", "aXc", "aXc") == "aXc"


def test_changes_at_one_place_clash_and_both_can_be_kept() -> None:
    assert merged("abc", "aXc", "aYc") is None
    assert keep_both(list("abc"), list("aYc"), list("aXc")) == list("aXYc")
    assert keep_both([], list("aXb"), list("aYb")) == list("aXYb")


@given(LINES, LINES, LINES)
def test_neither_side_loses_a_line_it_added(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    both = keep_both(base, ours, theirs)
    assert both == keep_both(base, theirs, ours)
    for side in (ours, theirs):
        assert keep_both(base, side, side) == keep_both(base, side, base) == side
        assert (set(side) - set(base)) <= set(both)


@given(LINES, LINES, LINES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_git_merges_without_a_clash_is_merged_alike_or_left(
    tmp_path: Path, base: list[str], ours: list[str], theirs: list[str]
) -> None:
    """Lines that stand once: of equal ones each tool may match others."""
    versions = [list(dict.fromkeys(side)) for side in (base, ours, theirs)]
    for name, lines in zip(("base", "ours", "theirs"), versions, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    names = [str(tmp_path / name) for name in ("ours", "base", "theirs")]
    git = subprocess.run(["git", "merge-file", "-p", *names], capture_output=True, check=False)
    found = merge_lines(*versions)
    if git.returncode == 0 and found is not None:
        assert "".join(f"{line}\n" for line in found).encode() == git.stdout
    clashes = [part for part in diff3(*versions) if part.theirs is not None]
    assert (found is None) == bool(clashes)

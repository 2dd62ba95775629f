"""Versions, lines and corrected clocks of commits, over graphs made by hand and by chance."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.past.commit_graph import CommitGraph
from kimi_memory.store.git.read import GraphRow


def graph(*rows: str) -> CommitGraph:
    """Make a graph of rows such as ``c a,b 30``: a commit, its parents, its second."""
    parts = [row.split() for row in rows]
    return CommitGraph(
        [GraphRow(name, tuple(p for p in of.split(",") if p != "-"), int(at))
         for name, of, at in parts]
    )  # fmt: skip


def test_a_version_is_one_more_than_the_largest_of_the_parents() -> None:
    found = graph("a - 1", "b a 2", "c b 3", "x a 2", "m x,c 4", "n m 5")
    assert [found.version(name) for name in "abcxmn"] == [1, 2, 3, 2, 4, 5]
    assert [found.numbered(version) for version in range(7)] == ["", *"abcmn", ""]
    assert found.version("elsewhere") == found.known_at("elsewhere") == 0


def test_the_newest_commit_of_the_line_is_found_by_its_moment() -> None:
    found = graph("a - 10", "b a 20", "x a 25", "c b 30", "m c,x 40")
    assert [found.newest_at(at) for at in (9, 10, 19, 29, 30, 39.5, 99)] == ["", *"aabccm"]
    assert found.ancestors("c") == {0, 1, 3}


def test_two_commits_of_one_second_are_both_in_the_cut() -> None:
    assert graph("a - 10", "b a 10", "c b 11").newest_at(10) == "b"


@pytest.mark.parametrize(("jumped", "known"), [(5, 200), (9_999_999, 300)])
def test_a_clock_that_jumped_changes_its_own_commit_only(jumped: int, known: int) -> None:
    found = graph("a - 100", "b a 200", f"c b {jumped}", "d c 300", "e d 400")
    assert found.known == [100, 200, known, 300, 400]


def test_a_first_commit_of_a_wrong_clock_is_known_when_the_next_was_made() -> None:
    assert graph("a - 999999", "b a 200", "c b 300").known == [200, 200, 300]


def test_an_empty_history_has_no_head() -> None:
    empty = graph()
    assert (empty.head, empty.newest_at(1), empty.numbered(1)) == ("", "", "")


@st.composite
def graphs(draw: st.DrawFn) -> CommitGraph:
    rows = [GraphRow("c0", (), draw(st.integers(0, 99)))]
    for number in range(1, draw(st.integers(1, 24))):
        parents = draw(st.sets(st.integers(max(0, number - 4), number - 1), min_size=1, max_size=2))
        names = tuple(f"c{one}" for one in sorted(parents))
        rows.append(GraphRow(f"c{number}", names, draw(st.integers(0, 99))))
    return CommitGraph(rows)


@given(graphs())
def test_what_was_known_never_goes_back_and_the_line_has_every_version(found: CommitGraph) -> None:
    for number, row in enumerate(found.rows):
        for parent in row.parents:
            assert found.known[found.index[parent]] <= found.known[number]
            assert found.version(parent) < found.version(row.commit)
    assert [found.versions[number] for number in found.line] == [*range(1, len(found.line) + 1)]
    assert found.newest_at(100) == found.head

"""Rules for values, sets and tables."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.merge.three_way import merge_sets, merge_tables, pick

SETS = st.sets(st.integers(0, 9))
TABLES = st.dictionaries(st.integers(0, 5), st.integers(0, 3))


@given(SETS, SETS, SETS)
def test_a_set_has_what_both_kept_and_what_one_added(
    base: set[int], ours: set[int], theirs: set[int]
) -> None:
    merged = merge_sets(sorted(base), ours, theirs)
    assert set(merged) == (ours & theirs) | (ours - base) | (theirs - base)
    assert merged == merge_sets(sorted(base), theirs, ours)
    assert len(set(merged)) == len(merged)


def test_items_of_the_base_stand_first_in_their_order() -> None:
    assert merge_sets("cab", "cabz", "cayb") == ("c", "a", "b", "y", "z")


@given(TABLES, TABLES, TABLES)
def test_a_table_is_merged_entry_by_entry(
    base: dict[int, int], ours: dict[int, int], theirs: dict[int, int]
) -> None:
    merged = merge_tables(base, ours, theirs, max)
    assert merged == merge_tables(base, theirs, ours, max)
    for key in range(6):
        old, one, other = base.get(key), ours.get(key), theirs.get(key)
        wanted = one if other == old else other if one == old else None
        if wanted is not None or old in (one, other):
            assert merged.get(key) == wanted
        else:
            changed = [value for value in (one, other) if value is not None]
            assert merged.get(key) == max(changed, default=None)


def test_the_side_that_changed_a_value_wins() -> None:
    assert pick(1, 1, 2, max) == pick(1, 2, 1, max) == 2
    assert pick(5, 1, 2, max) == pick(5, 2, 1, max) == 2
    assert pick(5, 3, 3, max) == 3
    assert pick(None, 4, 3, min) == 3

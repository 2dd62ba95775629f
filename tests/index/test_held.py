"""Postings in memory: as they were, in fewer bytes, the least recently used out first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.index.held import Cache, Held

COUNTS = st.one_of(st.integers(1, 300).map(float), st.floats(0.01, 1e6))
POSTINGS = st.dictionaries(st.integers(0, 60), COUNTS)


@given(POSTINGS, st.sets(st.integers(0, 90)))
def test_what_is_held_comes_back_as_it_was(postings: dict[int, float], asked: set[int]) -> None:
    rows = np.asarray(sorted(postings), dtype=np.int64)
    held = Held.from_rows(
        rows, np.asarray([postings[row] for row in rows.tolist()], dtype=np.float64)
    )
    found = held()
    assert [one.dtype for one in found] == [np.dtype(np.int64), np.dtype(np.float64)]
    assert dict(zip(found[0].tolist(), found[1].tolist(), strict=True)) == postings
    assert found[0].tolist() == sorted(postings)
    wanted = sorted(asked)
    at = held.at(np.asarray(wanted, dtype=np.int64))
    assert at.tolist() == [postings.get(row, 0.0) for row in wanted]


@pytest.mark.parametrize(("step", "most"), [(1, 1000), (4, 4000), (6, 5 * 1000)])
def test_a_word_of_many_rows_takes_a_byte_for_each(step: int, most: int) -> None:
    rows = np.arange(0, step * 1000, step)
    held = Held.from_rows(rows, np.full(1000, 2.0))
    assert held.size <= most + 200
    assert (held.rows is None) == (step < 5)


def test_the_least_recently_used_word_leaves_the_cache() -> None:
    asked: list[str] = []

    def read(word: str) -> tuple[np.ndarray, np.ndarray]:
        asked.append(word)
        return np.arange(10) * 9, np.ones(10)

    cache = Cache(read, limit=2 * (50 + 200))
    for word in ("a", "b", "a", "c", "a", "b"):
        assert len(cache(word)[0]) == 10
    assert asked == ["a", "b", "c", "b"]
    cache.forget()
    cache("b")
    assert asked[4:] == ["b"]


@pytest.mark.parametrize("numbers", [[1.0, 2.0, 70000.0], [0.1, 1 / 3, 2.5], [1.0, 2.0, 0.0]])
def test_numbers_that_fit_no_byte_come_back_as_they_were(numbers: list[float]) -> None:
    rows, counts = np.asarray([0, 7, 2**31]), np.asarray(numbers)
    cache = Cache(lambda _: (rows, counts))
    for _ in range(2):
        found = cache("w")
        assert found[0].tolist() == rows.tolist()
        assert found[1].tolist() == numbers


def test_numbers_without_rows_are_held_as_they_are() -> None:
    cache = Cache(lambda _: (np.empty(0, dtype=np.int64), np.asarray([1.0, 2.0])))
    assert cache("w")[1].tolist() == [1.0, 2.0]

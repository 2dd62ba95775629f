"""The best of many scores are those a full sort would give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.index.columns import best


@given(
    st.integers(0, 5000), st.integers(1, 60), st.integers(1, 50), st.floats(0, 1), st.integers(0, 9)
)
def test_the_best_rows_are_those_of_a_full_sort(
    count: int, room: int, values: int, share: float, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    scores = chance.integers(0, values + 1, count) * (chance.random(count) < share) / values
    found = best(scores, room)
    wanted = np.flatnonzero(scores > 0)
    if len(wanted) > room:
        wanted = wanted[scores[wanted] >= np.sort(scores[wanted])[-room]]
    assert found.tolist() == wanted.tolist()

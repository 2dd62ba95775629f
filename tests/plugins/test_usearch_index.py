"""Vectors on disk: exact neighbours, removals, a file that is never half written."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest
from kimi_memory.plugins.usearch_index import NAME, UsearchIndex, open_vectors

from kimi_memory.errors import ModelError


def unit(seed: int, size: int = 16) -> list[float]:
    chance = random.Random(seed)
    row = [chance.gauss(0, 1) for _ in range(size)]
    norm = math.sqrt(sum(x * x for x in row))
    return [x / norm for x in row]


def test_the_nearest_is_the_vector_itself_also_after_reopening(tmp_path: Path) -> None:
    index = UsearchIndex(tmp_path, 16)
    index.write([(key, unit(key)) for key in range(200)], ())
    for opened in (index, UsearchIndex(tmp_path, 16)):
        found = opened.search(unit(42), 3)
        assert found[0][0] == 42
        assert found[0][1] == pytest.approx(1.0, abs=2e-3)
        assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)


def test_search_equals_a_scan(tmp_path: Path) -> None:
    index = UsearchIndex(tmp_path, 16)
    index.write([(key, unit(key)) for key in range(300)], ())
    query = unit(999)
    cosines = {key: sum(a * b for a, b in zip(query, unit(key), strict=True)) for key in range(300)}
    best = sorted(cosines, key=lambda key: -cosines[key])[:5]
    assert {key for key, _ in index.search(query, 5)} == set(best)


def test_removed_vectors_are_not_found_and_keys_may_come_back(tmp_path: Path) -> None:
    index = UsearchIndex(tmp_path, 16)
    index.write([(key, unit(key)) for key in range(10)], ())
    index.write([(3, unit(77))], [3, 4])
    assert {key for key, _ in index.search(unit(4), 10)} == {0, 1, 2, 3, 5, 6, 7, 8, 9}
    assert index.search(unit(77), 1)[0][0] == 3


@pytest.mark.parametrize("bad", [[math.nan] * 16, [math.inf] * 16, [1.0] * 15, [1.0] * 32])
def test_vectors_that_are_none_are_refused(tmp_path: Path, bad: list[float]) -> None:
    index = UsearchIndex(tmp_path, 16)
    index.write([(1, unit(1))], ())
    with pytest.raises(ModelError):
        index.write([(2, bad)], [1])
    with pytest.raises(ModelError):
        index.search(bad, 1)
    assert index.search(unit(1), 5)[0][0] == 1


def test_saving_leaves_one_file(tmp_path: Path) -> None:
    index = UsearchIndex(tmp_path, 16)
    index.write([(1, unit(1))], ())
    index.write([(2, unit(2))], ())
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index = open_vectors(tmp_path, 16)
    assert index.search(unit(1), 3) == []
    index.close()

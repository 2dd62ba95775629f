"""Vectors on disk: exact neighbours, removals, a file that is never half written."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from kimi_memory.plugins import usearch_index
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
    for again in (False, True):
        opened = UsearchIndex(tmp_path, 16) if again else index
        found = opened.search(unit(42), 3)
        opened.close()
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


def test_vectors_come_in_by_parts_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usearch_index, "BATCH", 7)
    index = UsearchIndex(tmp_path, 16)
    index.write(((key, unit(key)) for key in range(50)), iter(()))
    index.write(((key, unit(key)) for key in range(50, 57)), iter([3]))
    assert [index.search(unit(key), 1)[0][0] for key in (0, 6, 7, 49, 56)] == [0, 6, 7, 49, 56]
    assert len(index.search(unit(0), 100)) == 56
    index.close()


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
    index.close()
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_an_empty_index_finds_nothing(tmp_path: Path) -> None:
    index = open_vectors(tmp_path, 16)
    assert index.search(unit(1), 3) == []
    index.close()


def nearest(keys: list[int], asked: list[float], limit: int) -> list[int]:
    cosines = {key: sum(a * b for a, b in zip(asked, unit(key), strict=True)) for key in keys}
    return sorted(keys, key=lambda key: -cosines[key])[:limit]


@pytest.mark.parametrize("exact", [30_000, 10], ids=["scan", "graph"])
@pytest.mark.parametrize("step", [1, 3, 50])
def test_a_filter_never_costs_a_hit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: int, step: int
) -> None:
    monkeypatch.setattr(usearch_index, "EXACT", exact)
    monkeypatch.setattr(usearch_index, "FEW", 20)
    index = UsearchIndex(tmp_path, 16)
    index.write([(key, unit(key)) for key in range(600)], ())
    index.close()
    index, allowed = UsearchIndex(tmp_path, 16), [*range(0, 600, step), 10_000]
    found = index.search(unit(9999), 10, np.asarray(allowed))
    hits = {key for key, _ in found} & set(nearest(allowed[:-1], unit(9999), 10))
    # A graph is built by several threads and may pass by one of the ten nearest.
    assert len(hits) >= (10 if exact > len(allowed) else 9) and len(found) == 10
    assert index.search(unit(9999), 10, np.asarray([], dtype=np.int64)) == []
    assert index.search(unit(9999), 10, np.asarray([10_000])) == []
    index.close()


def test_after_many_removals_nothing_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usearch_index, "EXACT", 10)
    index = UsearchIndex(tmp_path, 16)
    index.write([(key, unit(key)) for key in range(400)], ())
    for first in range(0, 300, 50):
        index.write([(1000 + first, unit(1000 + first))], range(first, first + 50))
    index.close()
    size = (tmp_path / NAME).stat().st_size
    index = UsearchIndex(tmp_path, 16)
    left = [*range(300, 400), *range(1000, 1300, 50)]
    found = [key for key, _ in index.search(unit(5), 10)]
    assert len(set(found) & set(nearest(left, unit(5), 10))) >= 9
    index.write([], range(300, 395))
    index.close()
    assert (tmp_path / NAME).stat().st_size < size
    emptied = UsearchIndex(tmp_path, 16)
    emptied.write([], left)
    emptied.close()
    assert UsearchIndex(tmp_path, 16).search(unit(1), 3) == []


def test_who_searches_is_not_disturbed_by_who_writes(tmp_path: Path) -> None:
    writer = UsearchIndex(tmp_path, 16)
    writer.write([(key, unit(key)) for key in range(50)], ())
    writer.close()
    reader, writer = UsearchIndex(tmp_path, 16), UsearchIndex(tmp_path, 16)
    writer.write([(key, unit(key)) for key in range(50, 90)], range(50))
    writer.close()
    assert reader.search(unit(7), 1)[0][0] == 7
    reader.close()

"""The lanes joined: whatever the way, parts add up, stay in bounds and keep their meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory import hookimpl
from kimi_memory.config import RecallTable
from kimi_memory.domain.engine import Embedding
from kimi_memory.index.searcher import Searcher
from kimi_memory.recall.ranking import Method, Probe, fuse, lane_weights, nearness, probe_of
from tests.index.folders import Folder, make_host

METHODS: tuple[Method, ...] = get_args(Method)
SCORE = st.floats(0, 1).map(lambda value: 0.0 if value < 1e-6 else value)
ROWS = st.lists(st.tuples(SCORE, SCORE, SCORE, SCORE), min_size=1, max_size=12)


def fused(
    rows: list[tuple[float, float, float, float]], method: Method, weight: float = 0.3
) -> dict[str, np.ndarray]:
    table = np.asarray(rows, dtype=float)
    total = table[:, :3].sum(axis=1).max() or 1.0
    names = ("turn", "window", "session")
    keyword = {name: table[:, n] / total for n, name in enumerate(names)}
    return fuse(keyword, table[:, 3], Probe([1.0], weight, method))


@given(ROWS, st.sampled_from(METHODS), st.floats(0.01, 5))
def test_scores_stay_between_nothing_and_one(
    rows: list[tuple[float, float, float, float]], method: Method, weight: float
) -> None:
    parts = fused(rows, method, weight)
    total = sum(parts.values())
    assert (total >= 0).all()
    assert (total <= 1 + 1e-9).all()
    assert set(parts) == {"turn", "window", "session", "vector"}
    for n, row in enumerate(rows):
        assert bool(parts["vector"][n]) == bool(row[3])
        assert bool(parts["turn"][n]) <= bool(row[0])


@given(ROWS, st.sampled_from(METHODS))
def test_a_row_that_is_better_in_both_lanes_is_never_worse(
    rows: list[tuple[float, float, float, float]], method: Method
) -> None:
    total = sum(fused(rows, method).values())
    words = [sum(row[:3]) for row in rows]
    for a in range(len(rows)):
        for b in range(len(rows)):
            if words[a] >= words[b] + 1e-9 and rows[a][3] >= rows[b][3]:
                assert total[a] >= total[b] - 1e-9


@given(ROWS, st.sampled_from(METHODS))
def test_the_order_of_rows_decides_nothing(
    rows: list[tuple[float, float, float, float]], method: Method
) -> None:
    forth, back = fused(rows, method), fused(rows[::-1], method)
    for name, part in forth.items():
        assert part == pytest.approx(back[name][::-1])


def test_without_a_question_vector_words_decide_alone() -> None:
    words = {"turn": np.asarray([0.5, 1.0])}
    parts = fuse(words, np.zeros(2), None)
    assert {name: part.tolist() for name, part in parts.items()} == {"turn": [0.5, 1.0]}


WORDS_FIRST = [(1.0, 0.0, 0.0, 0.2), (0.3, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 0.9)]


@pytest.mark.parametrize(
    ("method", "weight", "best"),
    [("score", 0.3, 0), ("score", 3.0, 1), ("70/30", 0.3, 1), ("rrf", 0.3, 1)],
)
def test_a_small_model_does_not_outvote_words_unless_told_to(
    method: Method, weight: float, best: int
) -> None:
    total = sum(fused(WORDS_FIRST, method, weight).values())
    assert int(np.argmax(total)) == best


def test_reciprocal_ranks_forget_scores_and_share_ties() -> None:
    rows = [(1.0, 0.0, 0.0, 0.0), (0.001, 0.0, 0.0, 0.0), (0.001, 0.0, 0.0, 0.0)]
    turn = fused(rows, "rrf")["turn"]
    assert turn[0] == pytest.approx(0.5)
    assert turn[1] == turn[2] == pytest.approx(0.5 * 61 / 62)


@pytest.mark.parametrize(
    ("probe", "vector"),
    [
        (Probe([1.0], 0.3), 0.3 / 1.3),
        (Probe([1.0], 0.3, "70/30"), 0.7),
        (Probe([1.0], 0.3, "70/30", 0.4), 0.4),
        (Probe([1.0], 0.3, "rrf"), 0.5),
    ],
)
def test_the_weights_told_are_those_that_count(probe: Probe, vector: float) -> None:
    assert lane_weights(None) == {"keyword": 1.0}
    told = lane_weights(probe)
    assert told == pytest.approx({"keyword": 1 - vector, "vector": vector})
    parts = fuse({"turn": np.asarray([1.0, 0.0])}, np.asarray([1.0, 0.0]), probe)
    assert {"keyword": parts["turn"][0], "vector": parts["vector"][0]} == pytest.approx(told)


NEARNESS = {"alpha": (1.0, 0.0), "beta": (0.8, 0.6), "gamma": (0.0, 1.0)}
TABLE = RecallTable()


class Places:
    """A stand-in for an embedding model: three words on a quarter of a circle."""

    @hookimpl
    def embed_texts(self, texts: Sequence[str], purpose: str) -> Embedding | None:
        return Embedding("places", [self._vector(text) for text in texts], 2.0)

    def _vector(self, text: str) -> tuple[float, ...]:
        return next((place for word, place in NEARNESS.items() if word in text), (0.0, 1.0))


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    """An index of three turns with their vectors."""
    folder = Folder(tmp_path, make_host((Places(), "places")))
    folder.session("x", [("user", f"the word {word}") for word in NEARNESS])
    index = folder.index()
    index.refresh()
    yield index.searcher()


def embedding(word: str = "alpha", model: str = "places") -> Embedding:
    return Embedding(model, [NEARNESS[word]], 2.0)


def rows_of(searcher: Searcher) -> dict[str, int]:
    """Return the row of the turn that says each word."""
    texts = {row: searcher.text(row) for row in searcher.living()}
    return {word: row for word in NEARNESS for row, text in texts.items() if word in text}


def test_a_question_has_the_weight_of_setting_and_model(searcher: Searcher) -> None:
    table = TABLE._replace(vector_weight=0.4)
    probe, note = probe_of(embedding(), searcher, table, 0.6)
    assert note == ""
    assert probe is not None
    assert probe.weight == pytest.approx(0.8)
    assert (probe.method, probe.share) == (table.fusion, 0.6)


def test_a_lane_that_cannot_be_used_is_named(searcher: Searcher) -> None:
    assert probe_of(embedding(), searcher, TABLE._replace(vector_weight=0.0)) == (None, "")
    assert probe_of(None, searcher, TABLE)[1].startswith("No embedding model answers")
    probe, note = probe_of(embedding(model="another"), searcher, TABLE)
    assert probe is None
    assert "made by places, the model is now another" in note


def test_without_vectors_nothing_is_missed_until_a_model_answers(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.session("x", [("user", "the word alpha")])
    index = folder.index()
    index.refresh()
    assert probe_of(None, index.searcher(), TABLE) == (None, "")
    assert "no vectors yet" in probe_of(embedding(), index.searcher(), TABLE)[1]


def test_the_nearest_row_counts_one_and_the_farthest_nothing(searcher: Searcher) -> None:
    probe, _ = probe_of(embedding(), searcher, TABLE)
    near, best = nearness(searcher, probe, searcher.alive)
    row = rows_of(searcher)
    assert best == pytest.approx(1.0, abs=1e-3)
    assert near[row["alpha"]] == 1.0
    assert near[row["beta"]] == pytest.approx(0.8, abs=1e-2)
    assert near[row["gamma"]] == 0.0
    assert nearness(searcher, None, searcher.alive)[0].tolist() == [0.0] * len(searcher)


def test_the_nearest_of_all_is_known_though_fewer_are_asked_for(searcher: Searcher) -> None:
    probe, _ = probe_of(embedding(), searcher, TABLE)
    row = rows_of(searcher)
    rest = searcher.alive.copy()
    rest[row["alpha"]] = False
    near, best = nearness(searcher, probe, rest, searcher.alive)
    assert best == pytest.approx(1.0, abs=1e-3)
    assert near[row["alpha"]] == 0.0
    assert near[row["beta"]] == 1.0
    # To a caller who sees no more than these, nothing speaks of the nearest one.
    assert nearness(searcher, probe, rest, rest)[1] == pytest.approx(0.8, abs=1e-2)


def test_rows_that_are_equally_near_all_count(searcher: Searcher) -> None:
    probe, _ = probe_of(embedding(), searcher, TABLE)
    row = rows_of(searcher)
    alone = np.zeros_like(searcher.alive)
    alone[row["beta"]] = True
    near, _ = nearness(searcher, probe, alone)
    assert near[row["beta"]] == 1.0
    assert near.sum() == 1.0


def test_of_many_rows_that_are_equally_near_none_is_cut_off(tmp_path: Path) -> None:
    folder = Folder(tmp_path, make_host((Places(), "places")))
    folder.session("x", [("user", f"the word alpha, number {n}") for n in range(120)])
    index = folder.index()
    index.refresh()
    searcher = index.searcher()
    probe, _ = probe_of(embedding(), searcher, TABLE)
    near, _ = nearness(searcher, probe, searcher.alive)
    assert np.count_nonzero(near == 1.0) >= 120

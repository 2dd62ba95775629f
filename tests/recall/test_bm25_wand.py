"""Of the best, nothing changes when only rows that can lead are scored."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from folders import Folder
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kimi_memory.index import columns
from kimi_memory.index.searcher import Searcher
from kimi_memory.recall import bm25
from kimi_memory.recall.bm25 import Lexical, rank
from kimi_memory.recall.conversation import Question, Term

WORDS = [f"w{n}" for n in range(40)] + ["部", "署", "部署", "日志"]
ROWS = 240
SEEDS = st.integers(0, 99)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Pages on disk, pages in memory, and pages that are gone; a word in most, others in few."""
    folder, chance = Folder(tmp_path_factory.mktemp("memory")), random.Random(5)
    index = folder.index()
    for number in range(ROWS):
        if number == ROWS // 2:
            index.refresh()
        count = chance.choice((3, 10, 60))
        said = chance.choices(WORDS, [3 / (n + 1) for n in range(len(WORDS))], k=count)
        folder.write(f"notes/{number}.md", " ".join(said) + "\n")
    for number in range(0, ROWS, 9):
        (folder.root / f"notes/{number}.md").unlink()
    yield index.searcher()
    index.close()
    folder.store.close()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BLOCK", 4)


def asked(words: list[str]) -> Question:
    return Question(tuple(Term(word) for word in words))


def best_of(lexical: Lexical, room: int) -> dict[int, float]:
    rows = columns.best(lexical.turn, room)
    return dict(zip(rows.tolist(), lexical.turn[rows].tolist(), strict=True))


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from([*WORDS, "nowhere"]), max_size=9),
    st.integers(1, 40),
    st.tuples(st.sampled_from([0.02, 0.5, 1.0]), SEEDS),
    st.sampled_from([1, 4, 32]),
)
def test_the_best_are_the_same_to_the_last_bit(
    searcher: Searcher, words: list[str], room: int, some: tuple[float, int], common: int
) -> None:
    share, seed = some
    chance = np.random.default_rng(seed)
    allowed = searcher.alive & (chance.random(len(searcher)) < share)
    before, bm25.COMMON = bm25.COMMON, common
    try:
        led = rank(searcher, asked(words), allowed, room)
    finally:
        bm25.COMMON = before
    every = rank(searcher, asked(words), allowed)
    assert best_of(led, room) == best_of(every, room)
    assert led.cover == every.cover
    told = np.flatnonzero(led.turn)
    assert led.turn[told].tolist() == every.turn[told].tolist()


def test_few_rows_are_scored_where_a_rare_word_decides(searcher: Searcher) -> None:
    words = ["日志", "部署", "w30", "w0", "w1"]
    some = rank(searcher, asked(words), searcher.alive, 1)
    every = rank(searcher, asked(words), searcher.alive)
    assert 0 < np.count_nonzero(some.turn) * 4 < np.count_nonzero(every.turn)


def test_words_nobody_wrote_are_not_kept(searcher: Searcher) -> None:
    rank(searcher, asked(["invented", "w3"]), searcher.alive, 5)
    assert set(searcher.once("weights", dict)) & {"invented", "w3"} == {"w3"}
    searcher.forget()
    assert searcher.once("weights", dict) == {}


def test_no_more_words_are_kept_than_have_room(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    searcher.forget()
    monkeypatch.setattr(bm25, "KNOWN", 3)
    for word in WORDS:
        rank(searcher, asked([word]), searcher.alive, 5)
        assert 1 <= len(searcher.once("weights", dict)) <= 3

"""Overlapping texts: what is found, that nothing is missed, and in what time."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.minhash import REACH, overlapping, words_of

WORDS = st.sampled_from(["a", "b", "c", "d", "e", "数据", "据库", "库存", "8080", "port"])


def test_chinese_is_taken_in_pairs_and_latin_whole() -> None:
    assert words_of("我们用 PostgreSQL 16.2") == {"我们", "们用", "postgresql", "16.2"}
    assert words_of("資料") == words_of("资料")
    assert words_of("茶") == {"茶"}
    assert words_of("!?") == frozenset()


@given(
    st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=REACH),
    st.sampled_from([0.5, 0.7, 1.0]),
)
def test_every_pair_of_a_small_set_is_found(texts: list[str], least: float) -> None:
    sets = [words_of(text) for text in texts]
    wanted = {
        (i, j)
        for i, j in combinations(range(len(texts)), 2)
        if sets[i] and sets[j] and len(sets[i] & sets[j]) >= least * len(sets[i] | sets[j])
    }
    assert set(overlapping(texts, least)) == wanted


def test_a_store_of_one_phrase_costs_no_square() -> None:
    texts = [f"the same phrase again and again {n}" for n in range(2000)]
    assert len(list(overlapping(texts, 0.5))) <= 2000 * REACH * 8

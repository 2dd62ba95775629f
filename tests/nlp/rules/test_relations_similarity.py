"""How alike short texts are, whether they claim the same, and which of many share most words."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.rules.relations import (
    REACH,
    overlapping,
    repeats_claim,
    same_claim,
    similarity,
    words_of,
)

LONG = "The nightly backup of the billing database runs on the second server in Frankfurt and "
LONG_ZH = "计费数据库每天晚上的备份都放在法兰克福的第二台服务器上，由运维同事负责检查，"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We deploy on Fridays.", "we  deploy on fridays."),
        ("我们 周五部署", "我们周五部署"),
        ("資料庫用達夢", "资料库用达梦"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_width_case_space_and_script_make_no_difference(a: str, b: str) -> None:
    assert similarity(a, b) == 1.0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (LONG + "keeps 30 copies", LONG + "keeps 31 copies"),
        (LONG + "is encrypted", LONG + "is not encrypted"),
        (LONG + "can be skipped", LONG + "can't be skipped"),
        (LONG + "Anna checks it", LONG + "Anne checks it"),
        (LONG + "A calls B", LONG + "B calls A"),
        (LONG + "is on", LONG + "is off"),
        (LONG_ZH + "保留30天", LONG_ZH + "保留31天"),
        (LONG_ZH + "要加密", LONG_ZH + "不要加密"),
        (LONG_ZH + "张三签字", LONG_ZH + "李四签字"),
        (LONG_ZH + "三月五日检查", LONG_ZH + "三月六日检查"),
    ],
)
def test_different_claims_are_never_duplicates(a: str, b: str) -> None:
    assert 0.7 < similarity(a, b) < 0.95
    assert not same_claim(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (LONG + "we keep thirty copies", LONG + "we keep the thirty copies"),
        (LONG_ZH + "大家都知道", LONG_ZH + "大家都知道的"),
        (LONG + "cannot stop", LONG + "can't stop"),
    ],
)
def test_small_words_leave_a_duplicate_a_duplicate(a: str, b: str) -> None:
    assert similarity(a, b) >= 0.95
    assert same_claim(a, b)


def test_letters_that_come_again_count_again() -> None:
    assert similarity("aaa aaa", "aaa bbb") == pytest.approx(_cosine("aaa aaa", "aaa bbb"))
    assert similarity("ban", "banana") == pytest.approx(_cosine("ban", "banana"))


def _cosine(first: str, second: str) -> float:
    """Return the cosine of the pairs and triples of letters, by the book."""
    one, two = (
        Counter(
            f" {text} "[at : at + size] for size in (2, 3) for at in range(len(text) + 3 - size)
        )
        for text in (first, second)
    )
    product = sum(count * two[gram] for gram, count in one.items())
    return product / sqrt(sum(n * n for n in one.values()) * sum(n * n for n in two.values()))


def test_unrelated_texts_are_far_apart() -> None:
    assert similarity("我喜欢咖啡", "The server is down") < 0.1
    assert similarity("", "a") == 0.0


@given(st.text(max_size=40), st.text(max_size=40))
def test_similarity_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert similarity(a, b) == pytest.approx(similarity(b, a))
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, a) == 1.0


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("We decided to use MongoDB for recipes", "we use mongodb"),
        ("MongoDB is what we use", "We use MongoDB."),
        ("我们决定用ＭｏｎｇｏＤＢ存菜谱了", "用 MongoDB 存菜谱"),
        ("Port 8080 is the deploy port here", "The deploy port is 8080."),
    ],
)
def test_a_claim_is_repeated_in_other_words(text: str, claim: str) -> None:
    assert repeats_claim(text, claim)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("We don't use MongoDB", "We use MongoDB."),
        ("我们不用 MongoDB 存菜谱", "用 MongoDB 存菜谱"),
        ("The deploy port is 8081.", "The deploy port is 8080."),
        ("We use PostgreSQL", "We use MongoDB."),
        ("MongoDB has a new logo", "MongoDB"),
        ("anything", ""),
    ],
)
def test_another_claim_repeats_nothing(text: str, claim: str) -> None:
    assert not repeats_claim(text, claim)


def test_a_word_that_a_claim_says_twice_is_said_twice_by_what_repeats_it() -> None:
    claim = "we'll go with main for the main branch."
    assert not repeats_claim("We'll go with stable for the main branch.", claim)
    assert repeats_claim("We'll go with main for the main branch of the shop.", claim)


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

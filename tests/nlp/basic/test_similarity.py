"""Near duplicates, and claims that only look alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.similarity import repeats_claim, same_claim, similarity

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

"""Token estimates of Chinese, English and code, and texts laid out in columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.sentences import estimate

MIXED = st.text(st.sampled_from("ab Z9，。中文字\n\t-_(){}é😀あ한 ."), max_size=60) | st.text(
    max_size=60
)


def test_empty_text_costs_nothing() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("We decided to deploy on Fridays because the team is in the office then.", 14, 20),
        ("我们决定每周五部署，因为那天大家都在办公室，出了问题可以马上处理。", 22, 36),
        ("我們決定每週五部署，因為那天大家都在辦公室。", 14, 24),
        ("def get_user(id: int) -> User:\n    return users[id]\n", 14, 26),
        ("2026-03-01 12:30:45", 9, 14),
        ("😀😀😀", 3, 9),
        ("Мы решили развернуть", 6, 14),
    ],
    ids=["english", "chinese", "traditional", "code", "digits", "emoji", "russian"],
)
def test_estimate_is_near_what_models_count(text: str, low: int, high: int) -> None:
    assert low <= estimate(text) <= high


def test_english_prose_costs_a_quarter_of_its_characters() -> None:
    prose = "The quick brown fox jumps over the lazy dog while the band plays on. " * 50
    assert 0.2 <= estimate(prose) / len(prose) <= 0.3


@given(MIXED, MIXED)
def test_estimate_never_falls_as_text_grows(a: str, b: str) -> None:
    assert estimate(a) <= estimate(a + b)


@given(MIXED, MIXED)
def test_estimate_of_a_whole_is_near_the_sum_of_its_parts(a: str, b: str) -> None:
    assert abs(estimate(a + b) - estimate(a) - estimate(b)) <= 3

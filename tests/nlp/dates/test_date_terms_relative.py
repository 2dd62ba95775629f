"""Relative dates of Chinese and English phrases."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.basic.patterns import folded
from kimi_memory.nlp.dates.date_terms import _RULES, date_words

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("yesterday", "d:2026-11-17 m:2026-11 w:tue"),
        ("last night", "d:2026-11-17 m:2026-11 w:tue"),
        ("today", "d:2026-11-18 m:2026-11 w:wed"),
        ("tomorrow", "d:2026-11-19 m:2026-11 w:thu"),
        ("the day before yesterday", "d:2026-11-16 m:2026-11 w:mon"),
        ("last Friday", "d:2026-11-13 m:2026-11 w:fri"),
        ("last wednesday", "d:2026-11-11 m:2026-11 w:wed"),
        ("this Friday", "d:2026-11-20 m:2026-11 w:fri"),
        ("next Monday", "d:2026-11-23 m:2026-11 w:mon"),
        ("this week", "k:2026-W47"),
        ("last week", "k:2026-W46"),
        ("next week", "k:2026-W48"),
        ("last weekend", "d:2026-11-14 m:2026-11 w:sat d:2026-11-15 w:sun"),
        ("last month", "m:2026-10"),
        ("next month", "m:2026-12"),
        ("last year", "y:2025"),
        ("last March", "m:2026-03"),
        ("last December", "m:2025-12"),
        ("3 days ago", "d:2026-11-15 m:2026-11 w:sun"),
        ("two weeks ago", "k:2026-W45"),
        ("a couple of weeks ago", "k:2026-W45"),
        ("a month ago", "m:2026-10"),
        ("12 months ago", "m:2025-11"),
        ("five years ago", "y:2021"),
        ("in 3 days", "d:2026-11-21 m:2026-11 w:sat"),
        ("昨天", "d:2026-11-17 m:2026-11 w:tue"),
        ("昨晚", "d:2026-11-17 m:2026-11 w:tue"),
        ("前天", "d:2026-11-16 m:2026-11 w:mon"),
        ("大前天", "d:2026-11-15 m:2026-11 w:sun"),
        ("今天", "d:2026-11-18 m:2026-11 w:wed"),
        ("明天", "d:2026-11-19 m:2026-11 w:thu"),
        ("后天", "d:2026-11-20 m:2026-11 w:fri"),
        ("後天", "d:2026-11-20 m:2026-11 w:fri"),
        ("上周五", "d:2026-11-13 m:2026-11 w:fri"),
        ("上个星期天", "d:2026-11-15 m:2026-11 w:sun"),
        ("本周五", "d:2026-11-20 m:2026-11 w:fri"),
        ("下週一", "d:2026-11-23 m:2026-11 w:mon"),
        ("上周", "k:2026-W46"),
        ("上上周", "k:2026-W45"),
        ("上周末", "d:2026-11-14 m:2026-11 w:sat d:2026-11-15 w:sun"),
        ("上个月", "m:2026-10"),
        ("上个月5号", "d:2026-10-05 m:2026-10 w:mon"),
        ("本月", "m:2026-11"),
        ("去年", "y:2025"),
        ("前年", "y:2024"),
        ("去年3月", "m:2025-03"),
        ("今年三月五日", "d:2026-03-05 m:2026-03 w:thu"),
        ("三天前", "d:2026-11-15 m:2026-11 w:sun"),
        ("10天以前", "d:2026-11-08 m:2026-11 w:sun"),
        ("两周后", "k:2026-W49"),
        ("3个月前", "m:2026-08"),
        ("半年前", "m:2026-05"),
        ("两年前", "y:2024"),
        ("之前天气不好", ""),
        ("以前年轻", ""),
        ("去年级", ""),
    ],
)
def test_relative_dates_count_from_now(phrase: str, words: str) -> None:
    assert date_words(phrase, NOW) == words.split()


PIECES = (
    "the day before yesterday,day after tomorrow,yesterday,last night,today,tonight,LAST,This,"
    "morning,next,coming,previous,current,week,months,year,weekend,Fri,saturday,May,in,two,12,"
    "a couple of,days,ago,Earlier,back,from now,later"
)
PIECES_ZH = (
    "昨天,今晚,后天,大前天,明早,上,下下,这个,周,周五,星期天,礼拜,禮拜三,本月,上个月,月份,3号,去年,前年,"
    "明年,的,3月,半,三,十二,天,个,月,年,前,之后,以前,文,\u0130,\u017f"
)
WORDS = st.sampled_from([*PIECES.split(","), *PIECES_ZH.split(",")])


@given(st.lists(WORDS, max_size=6), st.sampled_from(["", " "]))
def test_a_text_without_a_mark_of_a_rule_has_no_match_of_it(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)
    for marks, pattern, _ in _RULES:
        assert not pattern.search(text) or any(mark in folded(text) for mark in marks)

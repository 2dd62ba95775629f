"""Names and numbers of days, weeks, months and years in Chinese and English."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.dates.date_terms import date_words, day_words
from kimi_memory.nlp.dates.vocabulary import names_day, tells_life

FIRST_OF_MARCH = ["d:2026-03-01", "m:2026-03", "y:2026", "w:sun", "md:03-01", "k:2026-W09"]

FULL = """2026-03-01|2026/3/1|2026.03.01|20260301|2026-03-01T10:00:00Z|March 1, 2026
March 1st, 2026|Mar. 1 2026|1 March 2026|1st of March 2026|1st of March, 2026|March-1-2026
2026年3月1日|2026 年 3 月 1 日|二〇二六年三月一日|二零二六年三月一号|2026年03月01號
２０２６年３月１日|see 20260301_release.md|MARCH 1, 2026|on 1 Mar 2026.|March 1st of 2026"""


@pytest.mark.parametrize("phrase", FULL.replace("\n", "|").split("|"))
def test_a_whole_date_yields_its_words(phrase: str) -> None:
    assert date_words(phrase) == FIRST_OF_MARCH


@pytest.mark.parametrize(
    ("phrase", "words"),
    [
        ("March 1st", "md:03-01"),
        ("the 1st of March", "md:03-01"),
        ("3月1日", "md:03-01"),
        ("三月五号", "md:03-05"),
        ("十二月二十五日", "md:12-25"),
        ("May 5", "md:05-05"),
        ("Dec 25", "md:12-25"),
        ("may 5th", "md:05-05"),
        ("March 2026", "m:2026-03 y:2026"),
        ("in March, 2026", "m:2026-03 y:2026"),
        ("2026-03", "m:2026-03 y:2026"),
        ("2026年3月", "m:2026-03 y:2026"),
        ("二〇二六年三月", "m:2026-03 y:2026"),
        ("2026年3月份", "m:2026-03 y:2026"),
        ("2026年", "y:2026"),
        ("since 2023", "y:2023"),
        ("in 2023, we moved", "y:2023"),
        ("Sunday", "w:sun"),
        ("every monday", "w:mon"),
        ("on Fri we ship", "w:fri"),
        ("Sun, Mar 1", "w:sun md:03-01"),
        ("周日", "w:sun"),
        ("星期天", "w:sun"),
        ("礼拜天", "w:sun"),
        ("週五開會", "w:fri"),
        ("每周一开会", "w:mon"),
        ("上周五", "w:fri"),
        ("25/12/2026", "d:2026-12-25 m:2026-12 y:2026 w:fri md:12-25 k:2026-W52"),
        ("3/4/2026", "y:2026"),
        ("20٢٦年٣月", "m:2026-03 y:2026"),
        ("İ said March 5", "md:03-05"),
    ],
)
def test_absolute_words_need_no_now(phrase: str, words: str) -> None:
    assert date_words(phrase) == words.split()


TRAPS = """version 3.1|1/2 of it|3.14|10.0.20.26|192.168.1.20|2026 users|we may 5 times fail
March on|march 3 miles|you may go|may I|the sun is up|he sat down|一周三次|每周一次|三周五天
2026-13|2026-02-30|v2026.3.1|in 2026 cases|二十三号楼|3月号|port 20261|the monk|decide|Marching 5
12月25号码|+8613800002026|1.2026-03|上班|前面|今后|周期|一年级|之前天气|sunny|2026.5 km|前年"""


@pytest.mark.parametrize("phrase", TRAPS.replace("\n", "|").split("|"))
def test_what_only_looks_like_a_date_is_none(phrase: str) -> None:
    assert date_words(phrase) == []


def test_a_year_less_date_joins_what_it_is_asked_with() -> None:
    assert set(date_words("What did we decide on 3月1日?")) <= set(day_words(date(2026, 3, 1)))


def test_words_come_once_in_the_order_of_the_text() -> None:
    assert date_words("2026年, then Sunday, then 2026年 again, Sunday") == ["y:2026", "w:sun"]


@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)))
def test_every_written_form_of_a_day_means_that_day(day: date) -> None:
    forms = (
        day.isoformat(),
        f"{day.year}年{day.month}月{day.day}日",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
    )
    for form in forms:
        assert date_words(f"on {form} we met 了") == day_words(day)


@pytest.mark.parametrize(
    "text",
    [
        "the inspection is on 14 may",
        "we land on June 3rd",
        "the grant runs until march",
        "the roof was done in 2019",
        "they close next week",
        "体检约在8月2号",
        "护照明年到期",
        "下周三交稿",
        "老房子2018年买的",
    ],
)
def test_a_day_of_the_calendar_is_named(text: str) -> None:
    assert names_day(text)


@pytest.mark.parametrize(
    "text",
    [
        "you may not park here",
        "it may be late",
        "3号楼的电梯坏了",
        "some day we will",
        "迟早的事",
        "march on",
    ],
)
def test_no_day_is_named(text: str) -> None:
    assert not names_day(text)


@pytest.mark.parametrize(
    "text",
    [
        "I got the job at the harbour",
        "they moved to Porto",
        "she was born in Ghent",
        "他升职了",
        "我们搬到宁波了",
    ],
)
def test_a_turn_of_life_is_told(text: str) -> None:
    assert tells_life(text)


@pytest.mark.parametrize("text", ["I had soup today", "the bus was late", "今天下雨", "我在看书"])
def test_everyday_things_are_no_turn_of_life(text: str) -> None:
    assert not tells_life(text)

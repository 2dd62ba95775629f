"""Words of the dates that a text names, in both languages."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.nlp.dates.date_terms import date_words, day_words

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
    "text", ["FRİDAY", "on fr\u0131day", "thİs week", "in fİve days", "Aprİl 3 2026"]
)
def test_a_turkish_i_is_no_stumbling_block(text: str) -> None:
    plain = text.replace("İ", "i").replace("\u0131", "i")
    now = datetime(2026, 3, 4, tzinfo=UTC)
    assert date_words(text, now) == date_words(plain, now) != []


def test_relative_dates_without_a_now_say_nothing() -> None:
    assert date_words("yesterday 昨天 last week 上个月 3 days ago") == []


@given(st.text(), st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)))
def test_any_text_is_read_without_failing(text: str, now: datetime) -> None:
    words = date_words(text + " 3天前 in 999 weeks 下个月 999年前", now.replace(tzinfo=UTC))
    assert len(words) == len(set(words))

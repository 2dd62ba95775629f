"""Dates as typed words: ``d:2026-03-01``, ``m:2026-03``, ``w:sun`` and their like.

==================  =============================================
``d:2026-03-01``    a day
``md:03-01``        a day of some year
``w:sun``           a day of the week
``k:2026-W09``      an ISO week
``m:2026-03``       a month
``y:2026``          a year
==================  =============================================

A day in a text yields all six, so that a wider question finds it too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime

from kimi_memory.nlp.basic.patterns import folded, regex
from kimi_memory.nlp.dates.relative import MARKS, relative_spans
from kimi_memory.nlp.dates.vocabulary import (
    MONTH,
    MONTH_STARTS,
    NUMERAL,
    WEEKDAY,
    WEEKDAY_STARTS,
    day,
    day_words,
    month_number,
    month_words,
    number,
    weekday_word,
)

__all__ = ["Found", "date_words", "day_words", "found_dates"]

Found = tuple[int, int, list[str]]
"""Where a date begins and ends, and its typed words."""
Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], list[str]]]

_YEAR = r"(?P<y>(?:19|20|21)\d\d)"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"


def date_words(text: str, now: datetime | None = None) -> list[str]:
    """Return the typed words of the dates that `text` names, in order, each once.

    Args:
        text: Chinese or English prose; fractions, versions and bare numbers are no dates.
        now: The moment relative dates ("last Friday", 上周五) count from; without it
            only absolute dates are read.
    """
    found = found_dates(unicodedata.normalize("NFKC", text), now)
    return list(dict.fromkeys(word for _, _, words in found for word in words))


def found_dates(text: str, now: datetime | None, others: Sequence[Found] = ()) -> list[Found]:
    """Return where dates stand in a text, and the typed words of each; none overlaps another.

    Args:
        text: normalised as by NFKC.
        now: the moment relative dates count from.
        others: what else was found; of two that overlap, the earlier or longer one stays.
    """
    # Most texts name none, which is seen at once.
    if not others and not (_ANY_MARK if now else _MARK).search(folded(text)):
        return []
    # Patterns take both for an i, and no table of names has them.
    text = text.replace("İ", "i").replace("ı", "i")
    found = [*others, *(relative_spans(text, now) if now else ()), *_find_absolute_dates(text)]
    kept: list[Found] = []
    for start, stop, words in sorted(found, key=lambda one: (one[0], -one[1])):
        if words and start >= (kept[-1][1] if kept else 0):
            kept.append((start, stop, words))
    return kept


def _find_absolute_dates(text: str) -> list[Found]:
    years = [found.start() for found in _YEARS.finditer(text)]
    found = _search_near_places(text, _NUMERIC, years, 10, 24)
    months, weekdays = _name_places(text)
    found += _search_near_places(text, _LATIN, months, 12, 36)
    found += _search_near_places(text, _LATIN_WEEK, weekdays, 0, 18)
    if "月" in text or "年" in text:
        found += _search_near_places(text, _CHINESE, [0], 0, len(text))
    if any(mark in text for mark in _HAN_WEEKS):
        found += _search_near_places(text, _CHINESE_WEEK, [0], 0, len(text))
    return found


def _search_near_places(
    text: str, rules: list[Rule], places: list[int], before: int, after: int
) -> list[Found]:
    """Return what the rules find around some places: much faster than trying everywhere."""
    return [
        (found.start(), found.end(), read(found))
        for place in places
        for pattern, read in rules
        for found in pattern.finditer(text, max(0, place - before), place + after)
    ]


def _name_places(text: str) -> tuple[list[int], list[int]]:
    """Return where the English names of months and of weekdays stand."""
    lower = text.lower()
    places: tuple[list[int], list[int]] = ([], [])
    for kind, pattern, starts in _NAMES:
        for name in starts:
            at = lower.find(name)
            while at >= 0:
                # Lower case may be longer than the text: İ becomes two characters.
                if len(lower) != len(text) or pattern.match(text, at):
                    places[kind].append(at)
                at = lower.find(name, at + 3)
    return places


def _read_full_date(found: re.Match[str]) -> list[str]:
    return _day_of(number(found["y"]), number(found["m"]), number(found["d"]))


def _day_of(year: int, month: int, of_month: int) -> list[str]:
    moment = day(year, month, of_month)
    return day_words(moment) if moment else []


def _read_slashed_date(found: re.Match[str]) -> list[str]:
    """Read 25/12/2026 or 12/25/2026; 3/4/2026 means two days, so it only tells the year."""
    first, second, year = (int(found[name]) for name in ("a", "b", "y"))
    if first != second and max(first, second) <= 12:
        return [f"y:{year}"]
    return _day_of(year, min(first, second), max(first, second))


def _read_month(found: re.Match[str]) -> list[str]:
    return month_words(number(found["y"]), number(found["m"]))


def _named_month(found: re.Match[str]) -> list[str]:
    return month_words(int(found["y"]), _month_number(found))


def _read_named_date(found: re.Match[str]) -> list[str]:
    """Read "March 1", "1 May 2026"; in lower case may and march need a year or ordinal."""
    month, of_month = _month_number(found), int(found["d"])
    if found["y"]:
        return _day_of(int(found["y"]), month, of_month)
    if found["mon"] in ("may", "march", "mar") and not re.search(r"\d(?:st|nd|rd|th)", found[0]):
        return []
    return _of_year(month, of_month)


def _month_number(found: re.Match[str]) -> int:
    return month_number(found["mon"])


def _read_chinese_date(found: re.Match[str]) -> list[str]:
    year, month, of_month = (found[name] for name in ("y", "m", "d"))
    if year and month and of_month:
        return _read_full_date(found)
    if year and month:
        return _read_month(found)
    if year:
        return [f"y:{number(year):04d}"]
    return _of_year(number(month), number(of_month))


def _of_year(month: int, of_month: int) -> list[str]:
    # 2024 has a 29 February, and this is a day of some year.
    return [f"md:{month:02d}-{of_month:02d}"] if day(2024, month, of_month) else []


def _told_year(found: re.Match[str]) -> list[str]:
    """Read "in 2026", where the word before says that the number is a year."""
    before = found.string[max(0, found.start() - 8) : found.start()]
    return [f"y:{found['y']}"] if _IN.search(before) else []


def _read_weekday(found: re.Match[str]) -> list[str]:
    return [weekday_word(found["w"])]


_LATIN_WEEK: list[Rule] = [(regex(WEEKDAY), _read_weekday)]
_NAMES = (
    (0, regex(rf"(?<![A-Za-z]){MONTH}", re.IGNORECASE), MONTH_STARTS),
    (1, regex(WEEKDAY), WEEKDAY_STARTS),
)
_YEARS = regex(r"(?:19|20|21)\d\d")
_HAN_WEEKS = ("周", "週", "星期", "礼拜", "禮拜")
_MARKS = (r"(?:19|20|21)\d\d", *MONTH_STARTS, *WEEKDAY_STARTS, "月", "年", *_HAN_WEEKS)
# A folded text that names a date holds one of these; and of these, where relative ones count.
_MARK = regex("|".join(_MARKS))
_ANY_MARK = regex("|".join((*_MARKS, *MARKS)))
_IN = regex(r"\b(?:in|since|during|until|by|of|year) $", re.IGNORECASE)
_NUMERIC: list[Rule] = [
    (
        regex(
            r"(?<=\w )(?P<y>(?:19|20|21)\d\d)(?!\w|[-/.:,]\d| [a-z]+s\b)",
        ),
        _told_year,
    ),
    (
        regex(rf"(?<![\w./:-]){_YEAR}([-/.])(?P<m>\d{{1,2}})\2(?P<d>\d{{1,2}})(?![\d]|[./-]\d)"),
        _read_full_date,
    ),
    (
        regex(
            r"(?<![\d.])(?P<y>(?:19|20)\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\d.])"
        ),
        _read_full_date,
    ),
    (regex(rf"(?<![\w./:-]){_YEAR}[-/](?P<m>0[1-9]|1[0-2])(?![\w]|[-/.]\d)"), _read_month),
    (
        regex(rf"(?<![\w./:-])(?P<a>\d{{1,2}})([/-])(?P<b>\d{{1,2}})\2{_YEAR}(?![\w]|[./-]\d)"),
        _read_slashed_date,
    ),
]
# 3月1号线 is a line of the metro and 客服1号码 a number, no days.
_CHINESE: list[Rule] = [
    (
        regex(
            r"(?<!\d)(?:(?P<y>(?:19|20|21)\d\d|[一二][〇零○一二三四五六七八九]{3})\s?年\s?)"
            rf"(?:(?P<m>{NUMERAL})\s?月份?\s?(?:(?P<d>{NUMERAL})\s?[日号號])?)?"
        ),
        _read_chinese_date,
    ),
    (
        regex(
            rf"(?<![\d年])(?P<y>)(?P<m>{NUMERAL})\s?月\s?(?P<d>{NUMERAL})\s?[日号號](?!码|碼|线|線)"
        ),
        _read_chinese_date,
    ),
]
# 两周一次 means every two weeks, 周一个 and 周日常 run into the next word: no weekdays.
_CHINESE_WEEK: list[Rule] = [
    (
        regex(
            r"(?:(?<![一二两三四五六七八九十几\d])[周週]|星期|[礼禮]拜)"
            r"(?P<w>[一二三四五六日]|(?<=[期拜])天)(?![次个個天年期遍回直般些种])"
        ),
        _read_weekday,
    ),
]
# Not "March 3.5" or "May 4:30": what follows a day is no part of a figure or a time.
_LATIN: list[Rule] = [
    (
        regex(
            rf"\b(?P<mon>{MONTH})\.?[ -]{_DAY}(?!\d|[.,:%/]\d|\w)"
            rf"(?:(?:,\s?| (?:of )?|-){_YEAR}(?!\d))?",
            re.IGNORECASE,
        ),
        _read_named_date,
    ),
    (
        regex(
            rf"(?<![\w.,:/-]){_DAY}[ -](?:of )?(?P<mon>{MONTH})\b\.?(?:(?:,?\s|-){_YEAR}(?!\d))?",
            re.IGNORECASE,
        ),
        _read_named_date,
    ),
    (
        regex(rf"\b(?P<mon>{MONTH})\.?(?:,| of)?[ -]{_YEAR}(?![\d]|[.,]\d)", re.IGNORECASE),
        _named_month,
    ),
]

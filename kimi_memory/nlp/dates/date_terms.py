"""Dates in a text, relative ones too, as typed words.

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
from datetime import date, datetime, timedelta

from kimi_memory.nlp.basic.patterns import folded, regex
from kimi_memory.nlp.dates.vocabulary import (
    MONTH,
    MONTH_STARTS,
    NUMERAL,
    WEEKDAY,
    WEEKDAY_STARTS,
    as_date,
    day,
    day_words,
    month_number,
    month_words,
    number,
    week_word,
    weekday_number,
    weekday_word,
)

__all__ = ["Found", "date_words", "day_words", "found_dates"]

Read = Callable[[re.Match[str], date], list[str]]

_COUNTS = {"a": 1, "an": 1, "a couple of": 2, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_COUNTS |= {"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
# The longest first: an alternation takes the first that fits, and "a" begins "a couple of".
_COUNT = r"(?P<n>\d{1,3}|" + "|".join(sorted(_COUNTS, key=len, reverse=True)) + ")"
_WAY = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1}
_WAYS = r"(?P<way>last|past|previous|this|current|next|coming)"
_NAMED_DAYS = {
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
}
_HAN_DAYS = {
    "大前": -3,
    "前": -2,
    "昨": -1,
    "今": 0,
    "明": 1,
    "后": 2,
    "後": 2,
    "大后": 3,
    "大後": 3,
}
_HAN_YEARS = {"前": -2, "去": -1, "今": 0, "本": 0, "明": 1, "后": 2, "後": 2}
_HAN_WAY = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "下": 1, "下下": 2}
_HAN_UNITS = {"天": "day", "日": "day", "周": "week", "週": "week", "星期": "week", "礼拜": "week"}
_HAN_UNITS |= {"禮拜": "week", "月": "month", "年": "year"}


def relative_spans(text: str, now: datetime) -> list[tuple[int, int, list[str]]]:
    """Return the relative dates of `text` with their place and typed words."""
    today, plain = as_date(now), folded(text)
    return [
        (found.start(), found.end(), read(found, today))
        for marks, pattern, read in _RULES
        if any(mark in plain for mark in marks)
        for found in pattern.finditer(text)
    ]


def _exact_day_words(moment: date) -> list[str]:
    """Return the words of one day: narrower than `day_words`, as the day is meant exactly."""
    return [word for word in day_words(moment) if word[:2] in ("d:", "m:", "w:")]


def _shifted_words(today: date, unit: str, by: int) -> list[str]:
    """Return the words of the day, week, month or year `by` units from today."""
    try:
        if unit in ("day", "week"):
            moment = today + timedelta(days=by * (1 if unit == "day" else 7))
            return _exact_day_words(moment) if unit == "day" else [week_word(moment)]
    except OverflowError:
        # Outside of the calendar: nobody means the year 10,000.
        return []
    if unit == "year":
        return [f"y:{today.year + by:04d}"] if 0 < today.year + by <= 9999 else []
    months = today.year * 12 + today.month - 1 + by
    return month_words(months // 12, months % 12 + 1)[:1] if 12 <= months < 120000 else []


def _named_day(found: re.Match[str], today: date) -> list[str]:
    return _shifted_words(today, "day", _NAMED_DAYS[" ".join(found[0].lower().split())])


def _way_unit(found: re.Match[str], today: date) -> list[str]:
    unit = found["unit"].lower()
    if unit == "weekend":
        saturday = today + timedelta(days=5 - today.weekday() + 7 * _read_direction(found))
        return [*_exact_day_words(saturday), *_exact_day_words(saturday + timedelta(days=1))]
    return _shifted_words(today, unit, _read_direction(found))


def _read_direction(found: re.Match[str]) -> int:
    return _WAY[found["way"].lower()]


def _way_weekday(found: re.Match[str], today: date) -> list[str]:
    """Read "last Friday" as the latest one before today, "next" as the first one after."""
    ahead = (weekday_number(found["w"]) - today.weekday()) % 7
    if _read_direction(found) < 0:
        return _exact_day_words(today + timedelta(days=ahead - 7))
    if _read_direction(found) > 0:
        return _exact_day_words(today + timedelta(days=ahead or 7))
    monday = today - timedelta(days=today.weekday())
    return _exact_day_words(monday + timedelta(days=weekday_number(found["w"])))


def _way_month(found: re.Match[str], today: date) -> list[str]:
    month, way = month_number(found["mon"]), _read_direction(found)
    past, ahead = month < today.month, month > today.month
    year = today.year + (way if (way < 0 and not past) or (way > 0 and not ahead) else 0)
    return month_words(year, month)[:1]


def _read_distance(found: re.Match[str], today: date) -> list[str]:
    raw = " ".join(found["n"].lower().split())
    count = int(raw) if raw.isdigit() else _COUNTS[raw]
    sign = -1 if found["ago"] else 1
    return _shifted_words(today, found["unit"].lower(), sign * count)


def _han_day(found: re.Match[str], today: date) -> list[str]:
    return _shifted_words(today, "day", _HAN_DAYS[found["day"]])


def _han_week(found: re.Match[str], today: date) -> list[str]:
    monday = today + timedelta(days=7 * _HAN_WAY[found["way"]] - today.weekday())
    if found["end"]:
        return [
            *_exact_day_words(monday + timedelta(days=5)),
            *_exact_day_words(monday + timedelta(days=6)),
        ]
    if found["w"]:
        return _exact_day_words(monday + timedelta(days=weekday_number(found["w"])))
    return [week_word(monday)]


def _han_month(found: re.Match[str], today: date) -> list[str]:
    words = _shifted_words(today, "month", _HAN_WAY[found["way"]])
    if not found["d"]:
        return words
    year, month = words[0][2:].split("-")
    return _exact_day_of(int(year), int(month), number(found["d"]))


def _han_year(found: re.Match[str], today: date) -> list[str]:
    year = today.year + _HAN_YEARS[found["year"]]
    if not found["m"]:
        return [f"y:{year:04d}"]
    month = number(found["m"])
    if not found["d"]:
        return month_words(year, month)[:1]
    return _exact_day_of(year, month, number(found["d"]))


def _han_ago(found: re.Match[str], today: date) -> list[str]:
    # 半年前 is six months ago, 半个月前 fifteen days.
    count = 0.5 if found["n"] == "半" else number(found["n"])
    unit = _HAN_UNITS[found["unit"]]
    if count == 0.5:
        count, unit = (6, "month") if unit == "year" else (15, "day")
    return _shifted_words(today, unit, int(count) * (-1 if found["ago"] else 1))


def _exact_day_of(year: int, month: int, of_month: int) -> list[str]:
    moment = day(year, month, of_month)
    return _exact_day_words(moment) if moment else []


_DAY_NAMES = r"(?P<w>mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_WAY_MARKS = tuple(f"{way} " for way in _WAY)
_AGO_MARKS = ("ago", "earlier", "back", "from now", "later")
_NAMED_MARKS = ("yesterday", "today", "tomorrow", "night", "this ")
# What a text holds that a pattern is found in: to look for it costs less than to compile one.
_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str], Read], ...] = (
    (
        _NAMED_MARKS,
        regex(
            r"\b(?:(?:the )?day (?:before yesterday|after tomorrow)|yesterday|last night|today|"
            r"tonight|this (?:morning|afternoon|evening)|tomorrow)\b",
            re.IGNORECASE,
        ),
        _named_day,
    ),
    (
        _WAY_MARKS,
        regex(rf"\b{_WAYS} (?P<unit>weekend|week|month|year)\b", re.IGNORECASE),
        _way_unit,
    ),
    (_WAY_MARKS, regex(rf"\b{_WAYS} {_DAY_NAMES}\b", re.IGNORECASE), _way_weekday),
    (_WAY_MARKS, regex(rf"\b{_WAYS} (?P<mon>{MONTH})", re.IGNORECASE), _way_month),
    (
        _AGO_MARKS,
        regex(
            rf"\b{_COUNT} (?P<unit>day|week|month|year)s? "
            r"(?:(?P<ago>ago|earlier|back)|from now|later)\b",
            re.IGNORECASE,
        ),
        _read_distance,
    ),
    (
        ("in ",),
        regex(
            # "In 3 days" lies ahead. Its group `ago` never matches; it is there because the reader
            # asks for it. "In 3 days of work" is no date.
            rf"\bin {_COUNT} (?P<unit>day|week|month|year)s?(?P<ago>(?!))?\b(?! of)",
            re.IGNORECASE,
        ),
        _read_distance,
    ),
    (
        ("天", "日", "晚", "早"),
        regex(
            # 以前, 之前, 目前 and 从前 end in 前 and name no day, nor does 明天文.
            r"(?P<day>(?<![之以从從目先])大?前|昨|今|明|大?[后後])(?:天|(?<=[昨今明])[日晚早])(?!文)"
        ),
        _han_day,
    ),
    (
        ("周", "週", "星期", "拜"),
        regex(
            r"(?P<way>上上|上|这|這|本|下下|下)[个個]?(?:[周週]|星期|[礼禮]拜)"
            r"(?:(?P<end>末)|(?P<w>[一二三四五六日]|(?<=[期拜])天)(?![次个個年期遍回直些]))?"
        ),
        _han_week,
    ),
    (
        ("月",),
        regex(
            rf"(?P<way>(?:上上|上|这|這|下下|下)(?=[个個])|[本上下](?=月))[个個]?月份?"
            rf"(?:的?(?P<d>{NUMERAL})[日号號])?"
        ),
        _han_month,
    ),
    (
        ("年",),
        regex(
            rf"(?P<year>(?<![以之从從目])前|去|今|本|明|[后後])年(?!代|[级級])"
            rf"(?:的?(?P<m>{NUMERAL})月份?(?:(?P<d>{NUMERAL})[日号號])?)?"
        ),
        _han_year,
    ),
    (
        ("前", "后", "後"),
        regex(
            rf"(?P<n>\d{{3}}|{NUMERAL}|半)\s?(?:[个個]\s?)?(?P<unit>天|日|周|週|星期|[礼禮]拜|月|年)"
            r"(?:(?P<ago>(?:之|以)?前)|(?:之|以)?[后後])"
        ),
        _han_ago,
    ),
)
MARKS = tuple(dict.fromkeys(mark for marks, _, _ in _RULES for mark in marks))
"""Of these a folded text holds one where it names a relative date."""


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
    return month_words(int(found["y"]), month_number(found["mon"]))


def _read_named_date(found: re.Match[str]) -> list[str]:
    """Read "March 1", "1 May 2026"; in lower case may and march need a year or ordinal."""
    month, of_month = month_number(found["mon"]), int(found["d"])
    if found["y"]:
        return _day_of(int(found["y"]), month, of_month)
    if found["mon"] in ("may", "march", "mar") and not re.search(r"\d(?:st|nd|rd|th)", found[0]):
        return []
    return _of_year(month, of_month)


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
    (regex(r"(?<=\w )(?P<y>(?:19|20|21)\d\d)(?!\w|[-/.:,]\d| [a-z]+s\b)"), _told_year),
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
    )
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

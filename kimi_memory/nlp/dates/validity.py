"""How long something is said to hold: "until the end of March", 到六月为止, bis Juni."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from datetime import date, datetime, timedelta

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.vocabulary import (
    MONTH,
    NUMERAL,
    WEEKDAY,
    day,
    month_number,
    number,
    weekday_number,
)

_YEAR = r"(?P<y>(?:19|20|21)\d\d)"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_UNTIL = r"\b(?P<cue>until|till|through|thru)\s+(?:the\s+)?"
# "Until March 3:30" and "until May 4.5" name no day.
_TO_DAY = r"(?!\d|[:.]\d)"
# The first part of each says until when; an end that follows takes the whole of it in.
_HAN_UNTIL = r"(?:截至|截止到?|直到|(?:有效期?|持续|一直|延续|保持|用|住|干|做)[到至])"
_HAN_END = r"\s*(?:为止|止|结束|截止)"
_HAN = rf"(?P<m>{NUMERAL})\s*月\s*+(?:(?P<d>{NUMERAL})\s*[日号號]|(?P<part>底|末|初|中旬))?"
_HAN_YEAR = rf"(?:(?:{_YEAR}|(?P<ny>今年|明年|后年))\s*+(?:年\s*+)?)?"
_GERMAN = (
    "januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september",
    "oktober", "november", "dezember",
)  # fmt: skip

Rule = tuple[re.Pattern[str], Callable[[re.Match[str], date], date | None]]


def until(text: str, said: datetime) -> datetime | None:
    """Return the moment from which on a statement does not hold any more.

    Days are those of the zone of `said`; one that is named is the last on which it
    holds, as is a month in Chinese. "Until June" ends as June begins. None where no end
    is named, and where it was over when it was said.
    """
    plain = unicodedata.normalize("NFKC", text)
    today = said.date()
    for pattern, read in _RULES:
        found = pattern.search(plain)
        end = read(found, today) if found else None
        if end is not None and end > today:
            return said.replace(
                year=end.year, month=end.month, day=end.day, hour=0, minute=0, second=0,
                microsecond=0,
            )  # fmt: skip
    return None


def _day_after(last: date | None) -> date | None:
    return None if last is None else last + timedelta(days=1)


def _month_end(year: int, month: int) -> date:
    return date(year, month, monthrange(year, month)[1])


def _read_iso_date(found: re.Match[str], today: date) -> date | None:
    return _day_after(day(number(found["y"]), number(found["m"]), number(found["d"])))


def _read_english_month(found: re.Match[str], today: date) -> date | None:
    """Return the end of a month or a day of it, of this year or the next."""
    month = month_number(found["m"])
    if found["d"]:
        return _day_after(_next_day(month, number(found["d"]), found["y"], today))
    # "Through June" takes June in, "until June" leaves it out.
    through = bool(found["end"]) or found["cue"].lower().startswith("thr")
    year = number(found["y"]) if found["y"] else today.year
    first = date(year, month, 1)
    if through:
        if not found["y"] and _month_end(year, month) < today:
            year += 1
        return _day_after(_month_end(year, month))
    return first if found["y"] or first > today else date(year + 1, month, 1)


def _next_day(month: int, of_month: int, year: str | None, today: date) -> date | None:
    if year:
        return day(number(year), month, of_month)
    found = day(today.year, month, of_month)
    return found if found is None or found >= today else day(today.year + 1, month, of_month)


def _read_chinese_month(found: re.Match[str], today: date) -> date | None:
    month = number(found["m"])
    if not 1 <= month <= 12:
        return None
    told = found["y"] or ""
    if found["ny"]:
        told = str(today.year + ("今年", "明年", "后年").index(found["ny"]))
    if found["d"]:
        return _day_after(_next_day(month, number(found["d"]), told, today))
    year = int(told) if told else today.year
    if found["part"] == "初":
        first = date(year, month, 1)
        return first if told or first > today else date(year + 1, month, 1)
    last = _last_day(year, month, found["part"])
    if not told and last < today:
        last = _last_day(year + 1, month, found["part"])
    return _day_after(last)


def _last_day(year: int, month: int, part: str | None) -> date:
    return date(year, month, 20) if part == "中旬" else _month_end(year, month)


def _read_german_month(found: re.Match[str], today: date) -> date | None:
    month = _GERMAN.index(found["m"].lower()) + 1
    if found["d"]:
        return _day_after(_next_day(month, number(found["d"]), found["y"], today))
    year = number(found["y"]) if found["y"] else today.year
    if not found["y"] and _month_end(year, month) < today:
        year += 1
    return _day_after(_month_end(year, month))


def _read_weekday(found: re.Match[str], today: date) -> date | None:
    ahead = (weekday_number(found["w"]) - today.weekday()) % 7
    return today + timedelta(days=ahead + 1)


def _han_weekday(found: re.Match[str], today: date) -> date | None:
    wanted = weekday_number(found["w"])
    if found["next"]:
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7)
        return _day_after(monday + timedelta(days=wanted))
    return today + timedelta(days=(wanted - today.weekday()) % 7 + 1)


def _read_unit_end(found: re.Match[str], today: date) -> date | None:
    """Return what follows this week, month or year, or the next one."""
    ahead = (found["next"] or "").strip().lower() in ("next", "下", "下个", "明")
    match found["unit"].lower():
        case "week" | "周" | "星期":
            return today + timedelta(days=7 * (ahead + 1) - today.weekday())
        case "month" | "月":
            months = today.year * 12 + today.month - 1 + ahead + 1
            return date(months // 12, months % 12 + 1, 1)
    return date(today.year + ahead + 1, 1, 1)


_NUMBERS = rf"{_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}}){_TO_DAY}"
_MONTH = rf"(?P<end>end of\s+)?(?P<m>{MONTH})\b\.?(?:\s+{_DAY}{_TO_DAY})?(?:,?\s+{_YEAR})?"
_DAY_OF = rf"(?P<end>end of\s+)?{_DAY}\s+(?:of\s+)?(?P<m>{MONTH})\b\.?(?:,?\s+{_YEAR})?"
_HAN_WEEK = r"\s*(?P<next>下)?个?(?:周|星期|礼拜)(?P<w>[一二三四五六日天])"
_HAN_UNIT = r"\s*(?P<next>本|这个?|下个?|今|明)?(?P<unit>周|月|年)[底末](?:为止|止)?"
_GERMAN_DAY = rf"(?:(?P<d>\d{{1,2}})\. )?(?P<m>{'|'.join(_GERMAN)})\b(?: {_YEAR})?"
_RULES: list[Rule] = [
    (regex(rf"(?i){_UNTIL}{_NUMBERS}"), _read_iso_date),
    (regex(rf"(?:{_HAN_UNTIL}|到|至)\s*{_NUMBERS}"), _read_iso_date),
    (regex(rf"(?i){_UNTIL}{_MONTH}"), _read_english_month),
    (regex(rf"(?i){_UNTIL}{_DAY_OF}"), _read_english_month),
    (regex(rf"{_UNTIL}(?:this |next |coming )?{WEEKDAY}"), _read_weekday),
    (
        regex(rf"(?i){_UNTIL}end of (?:the )?(?P<next>this |next )?(?P<unit>week|month|year)\b"),
        _read_unit_end,
    ),
    (regex(rf"{_HAN_UNTIL}\s*{_HAN_YEAR}{_HAN}"), _read_chinese_month),
    (regex(rf"(?:到|至)\s*{_HAN_YEAR}{_HAN}{_HAN_END}"), _read_chinese_month),
    (regex(rf"{_HAN_UNTIL}{_HAN_WEEK}"), _han_weekday),
    (regex(rf"(?:到|至){_HAN_WEEK}{_HAN_END}"), _han_weekday),
    (regex(rf"(?:{_HAN_UNTIL}|到|至){_HAN_UNIT}"), _read_unit_end),
    (regex(rf"(?i)\bbis (?:zum )?(?:ende )?{_GERMAN_DAY}"), _read_german_month),
]

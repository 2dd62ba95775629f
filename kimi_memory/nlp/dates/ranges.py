"""Spans of time as people name them: a day, last week, 上个月, 7d, from May to July."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.date_terms import Found, date_words, found_dates
from kimi_memory.nlp.dates.timestamps import moment
from kimi_memory.nlp.dates.vocabulary import (
    MONTH,
    NUMERAL,
    WEEKDAY_STARTS,
    as_date,
    day,
    month_number,
    number,
)

_DAY = timedelta(days=1)
_BACK = regex(r"(?P<n>\d{1,4}) ?(?P<unit>h|d|w|hours? ago|(?:个)?小时前)")
_CLOCK = regex(r"\d[:：时点]\d\d")
_YEAR = regex(r"(?:19|20|21)\d\d")
_KINDS = ("d", "k", "m", "y", "md")
"""Kinds of date words from the narrowest; the last one names a day of some year."""

_DayOfYear = Callable[[int, int, date], date | None]
"""Gives a day of a month its year, counted from today."""


class Span(NamedTuple):
    """Days from the first to the last, both counted."""

    first: date
    last: date


class Period(NamedTuple):
    """A span of time; of a moment, both ends are the same."""

    start: datetime
    end: datetime
    """The first moment after it."""


def period(text: str, now: datetime) -> Period | None:
    """Return the span of time that a text names, or None.

    Args:
        text: a date or time, such as 2026-02-27, 2026-02, 2026-02-27T09:30, yesterday,
            "last week", "3 days ago", 上个月, 去年三月, 7d, 24h.
        now: what relative ones count from; days begin at midnight of its time zone.
    """
    plain = text.strip()
    found = _parse_moment(plain, now) or _parse_offset(plain, now)
    if found is not None:
        return found
    today = as_date(now)
    words = [f"y:{plain}"] if _YEAR.fullmatch(plain) else date_words(plain, now)
    # A weekday alone is the latest one; in a question it is nothing that days are counted from.
    days = _narrowest_span(words, today, (*_KINDS, "w"), _latest_day)
    if days is None:
        return None
    zone = now.tzinfo or UTC
    return Period(_to_midnight(days.first, zone), _to_midnight(days.last + _DAY, zone))


def _parse_moment(text: str, now: datetime) -> Period | None:
    if not _CLOCK.search(text):
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        loose = moment(text)
        return Period(loose, loose) if loose else None
    whole = at if at.tzinfo else at.replace(tzinfo=now.tzinfo or UTC)
    return Period(whole, whole)


def _parse_offset(text: str, now: datetime) -> Period | None:
    """Read 7d, 2w and 24h: so long before now."""
    found = _BACK.fullmatch(text)
    if found is None:
        return None
    count, unit = int(found["n"]), found["unit"]
    span = {"d": timedelta(days=count), "w": timedelta(weeks=count)}.get(unit)
    try:
        at = now - (span or timedelta(hours=count))
    # 9999w lies before the first year that Python knows.
    except OverflowError:
        return None
    return Period(at, at)


def _narrowest_span(
    words: Sequence[str], today: date, kinds: Sequence[str], day_of_year: _DayOfYear
) -> Span | None:
    """Return the days that the narrowest of some date words cover together."""
    for kind in kinds:
        values = [word.partition(":")[2] for word in words if word.startswith(f"{kind}:")]
        days = [_span_of_word(kind, value, today, day_of_year) for value in values]
        if spans := [span for span in days if span is not None]:
            return Span(min(span.first for span in spans), max(span.last for span in spans))
    return None


def _span_of_word(kind: str, value: str, today: date, day_of_year: _DayOfYear) -> Span | None:
    match kind:
        case "d":
            return _make_span(date.fromisoformat(value))
        case "k":
            return _make_span(date.fromisocalendar(int(value[:4]), int(value[6:]), 1), 6)
        case "m":
            year, month = int(value[:4]), int(value[5:])
            return _make_span(date(year, month, 1), monthrange(year, month)[1] - 1)
        case "y":
            return Span(date(int(value), 1, 1), date(int(value), 12, 31))
        case "md":
            found = day_of_year(int(value[:2]), int(value[3:]), today)
            return _make_span(found) if found else None
        case _:
            back = (today.weekday() - WEEKDAY_STARTS.index(value)) % 7
            return _make_span(today - timedelta(days=back))


def _latest_day(month: int, day: int, today: date) -> date:
    """Return the latest such day that is not ahead; 29 February may lie years back."""
    # From one 29 February to the next are eight years where a century drops its leap day.
    for year in range(today.year, today.year - 9, -1):
        try:
            found = date(year, month, day)
        except ValueError:
            # 29 February of a year that has none.
            continue
        if found <= today:
            return found
    return date(today.year, month, min(day, 28))


def _make_span(first: date, more: int = 0) -> Span:
    return Span(first, first + timedelta(days=more))


def _nearest_day(month: int, day_of_month: int, today: date) -> date | None:
    # A later day of this month is a plan; a later month was last year.
    return day(today.year - (month > today.month), month, day_of_month)


def _to_midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


_PARTS = {"early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (11, 20)}
_PARTS |= {"middle": (11, 20), "late": (21, 31), "end": (21, 31)}
_PARTS |= {"上旬": (1, 10), "初": (1, 10), "中旬": (11, 20), "中": (11, 20)}
_PARTS |= {"下旬": (21, 31), "底": (21, 31), "末": (21, 31)}
_PART = r"(?P<part>early|mid(?:dle)?|late|beginning|start|end)(?: of)?[ -](?:the )?"
_BEFORE = r"(?:in|of|by|since|during|until|till|from|to|through|and|this|between|around)[ ]"
_ENGLISH = regex(
    rf"\b(?:{_PART}|(?P<told>{_BEFORE}))?\b(?P<mon>{MONTH})(?![ .-]\d{{1,2}}(?!\d))"
    r"(?:,?(?: of)? (?P<y>(?:19|20|21)\d\d)(?!\d))?",
    re.IGNORECASE,
)
_CHINESE = regex(
    rf"(?:(?P<y>(?:19|20|21)\d\d)\s?年的?)?(?<![\d.个個第])(?P<mon>{NUMERAL})\s?月份?"
    rf"(?P<part>上旬|中旬|下旬|初|中|底|末)?(?!\s?{NUMERAL}\s?[日号號])"
)
_TO = regex(r"\s*(?:to|until|till|through|-|–|—|~|到|至)\s*(?:the )?", re.IGNORECASE)
_AND = regex(r"\s*(?:and|和|与|與)\s*", re.IGNORECASE)
_BETWEEN = regex(r"\bbetween\b|之间|之間", re.IGNORECASE)
_LONGEST = timedelta(days=400)


def time_spans(text: str, now: datetime) -> list[Span]:
    """Return the spans of days that a question names, in order.

    Args:
        text: Chinese or English prose.
        now: what relative dates count from; a month without a year is the latest one.
    """
    plain, today = unicodedata.normalize("NFKC", text), as_date(now)
    spans: list[Span] = []
    end = -1
    for start, stop, words in found_dates(plain, now, list(_find_months(plain, today))):
        span = _narrowest_span(words, today, _KINDS, _nearest_day)
        if span is None:
            continue
        if spans and _is_range_link(plain, end, start) and (joined := _join_spans(spans[-1], span)):
            spans[-1] = joined
        else:
            spans.append(span)
        end = stop
    return spans


def _find_months(text: str, today: date) -> Iterator[Found]:
    """Yield months, and parts of months, in the form of dates: the words of first and last day."""
    for found in _ENGLISH.finditer(text):
        start = found.start("part") if found["part"] else found.start("mon")
        yield start, found.end(), _of_month(found, _english_month(found), today)
    for found in _CHINESE.finditer(text):
        yield found.start(), found.end(), _of_month(found, number(found["mon"]), today)


def _of_month(found: re.Match[str], month: int, today: date) -> list[str]:
    if not 1 <= month <= 12:
        return []
    year = int(found["y"]) if found["y"] else today.year - (month > today.month)
    low, high = _PARTS.get((found["part"] or "").lower(), (1, 31))
    days = (low, min(high, monthrange(year, month)[1]))
    return [f"d:{year:04d}-{month:02d}-{of:02d}" for of in days]


def _english_month(found: re.Match[str]) -> int:
    """Return the month; may, march and mar are words too unless something tells."""
    told = found["part"] or found["told"] or found["y"]
    if found["mon"].lower() in ("may", "march", "mar") and not (told and found["mon"][0].isupper()):
        return 0
    return month_number(found["mon"])


def _is_range_link(text: str, end: int, start: int) -> bool:
    """Whether what stands between two dates makes them the ends of a range."""
    between = text[end:start]
    to = _TO.fullmatch(between) or (_AND.fullmatch(between) and _BETWEEN.search(text))
    return to is not None


def _join_spans(first: Span, last: Span) -> Span | None:
    """Return the days from one span to another, None where they make no range.

    Of "August 11 to August 15, 2023" only the second has a year; the first takes its own from it.
    """
    begins = first.first
    # Of "August 11 to August 15, 2019" the first day was taken for one of this year.
    if abs(begins - last.last) > _LONGEST:
        begins = day(last.last.year, begins.month, begins.day) or begins
    # "From November to February" begins in the year before.
    if begins > last.last:
        begins = day(begins.year - 1, begins.month, begins.day) or begins
    span = Span(begins, last.last)
    return span if timedelta() < span.last - span.first <= _LONGEST else None

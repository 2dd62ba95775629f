"""Spans of time as people name them: a day, last week, 上个月, 7d, a moment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.date_terms import date_words
from kimi_memory.nlp.dates.timestamps import moment
from kimi_memory.nlp.dates.vocabulary import WEEKDAY_STARTS, as_date

_BACK = regex(r"(?P<n>\d{1,4}) ?(?P<unit>h|d|w|hours? ago|(?:个)?小时前)")
_CLOCK = regex(r"\d[:：时点]\d\d")
_YEAR = regex(r"(?:19|20|21)\d\d")
_FINEST = ("d", "k", "m", "y", "md", "w")
"""Kinds of date words from the narrowest; the last two name a day of some year or week."""

Days = tuple[date, date]
"""First day and the day after the last."""


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
    days = _narrowest_span(words, today)
    if days is None:
        return None
    zone = now.tzinfo or UTC
    return Period(_to_midnight(days[0], zone), _to_midnight(days[1], zone))


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


def _narrowest_span(words: Sequence[str], today: date) -> Days | None:
    """Return the days that the narrowest of some date words cover together."""
    for kind in _FINEST:
        spans = [
            _span_of_word(kind, word.partition(":")[2], today)
            for word in words
            if _is_kind(word, kind)
        ]
        if spans:
            return min(first for first, _ in spans), max(last for _, last in spans)
    return None


def _is_kind(word: str, kind: str) -> bool:
    return word.partition(":")[0] == kind


def _span_of_word(kind: str, value: str, today: date) -> Days:
    match kind:
        case "d":
            return _make_span(date.fromisoformat(value), 1)
        case "k":
            return _make_span(date.fromisocalendar(int(value[:4]), int(value[6:]), 1), 7)
        case "m":
            year, month = int(value[:4]), int(value[5:])
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        case "y":
            return date(int(value), 1, 1), date(int(value) + 1, 1, 1)
        case "md":
            return _make_span(_latest_day(int(value[:2]), int(value[3:]), today), 1)
        case _:
            back = (today.weekday() - WEEKDAY_STARTS.index(value)) % 7
            return _make_span(today - timedelta(days=back), 1)


def _latest_day(month: int, day: int, today: date) -> date:
    """Return the latest such day that is not ahead; 29 February may lie years back."""
    # From one 29 February to the next are eight years where a century drops its leap day.
    for year in range(today.year, today.year - 9, -1):
        try:
            found = date(year, month, day)
        except ValueError:
            continue
        if found <= today:
            return found
    return date(today.year, month, min(day, 28))


def _make_span(first: date, days: int) -> Days:
    return first, first + timedelta(days=days)


def _to_midnight(day: date, zone: tzinfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)

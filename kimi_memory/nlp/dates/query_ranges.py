"""Spans of days a question names: March, mid-March, 3月中旬, from May to July, 上周."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.date_terms import Found, found_dates
from kimi_memory.nlp.dates.vocabulary import MONTH, NUMERAL, as_date, day, month_number, number


class Span(NamedTuple):
    """Days from the first to the last, both counted."""

    first: date
    last: date


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
_FINEST = ("d", "k", "m", "y", "md")
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
        span = _narrowest_span(words, today)
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


def _narrowest_span(words: list[str], today: date) -> Span | None:
    """Return the days that the narrowest of some date words cover."""
    for kind in _FINEST:
        spans = [
            span
            for word in words
            if word.startswith(f"{kind}:")
            and (span := _span_of_word(kind, word.partition(":")[2], today))
        ]
        if spans:
            return Span(min(one.first for one in spans), max(one.last for one in spans))
    return None


def _span_of_word(kind: str, value: str, today: date) -> Span | None:
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
        case _:
            # A later day of this month is a plan; a later month was last year.
            month, of_month = int(value[:2]), int(value[3:])
            found = day(today.year - (month > today.month), month, of_month)
            return _make_span(found) if found else None


def _make_span(first: date, more: int = 0) -> Span:
    return Span(first, first + timedelta(days=more))


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

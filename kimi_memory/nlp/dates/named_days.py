"""Days of a month that texts name, with their month or without."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.date_terms import date_words
from kimi_memory.nlp.dates.vocabulary import MONTH, as_date, day, month_number

_NAMED_DAY = regex(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{MONTH})"
    rf"|\b(?P<m2>{MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|\bthe (?P<d3>\d{1,2})(?:st|nd|rd|th)\b"
    r"|(?:(?P<m4>\d{1,2})月)?(?P<d4>\d{1,2})[号日](?!楼|线|院|门|店|机|位)",
    2,
)

LATELY = timedelta(days=8)
"""What happened within so many days is the news of the week."""
SOON = timedelta(days=1)
"""What is to be done tomorrow is over the day after."""


def is_of_these_days(text: str, at: datetime) -> bool:
    """Whether the last day that a text names is tomorrow, today, or one of the week before.

    A diary, a report of the morning, an errand: of what is to come later it dates nothing.

    Args:
        text: what was said.
        at: when it was said.
    """
    today = as_date(at)
    words = date_words(text, at)
    days = [one for word in words if (one := _day_of_word(word, today)) is not None]
    months = [word[2:] for word in words if word.startswith("m:")]
    ahead = any(month > f"{today:%Y-%m}" for month in months)
    return bool(days) and not ahead and today - LATELY <= max(days) <= today + SOON


def _day_of_word(word: str, today: date) -> date | None:
    """Return the day of a typed word of a date; of a day without its year, the nearest one."""
    kind, _, value = word.partition(":")
    if kind == "d":
        return date.fromisoformat(value)
    if kind != "md":
        return None
    month, of_month = map(int, value.split("-"))
    near = [day(today.year + more, month, of_month) for more in (-1, 0, 1)]
    known = [one for one in near if one is not None]
    return min(known, key=lambda one: abs(one - today), default=None)


def share_day(earlier: str, later: str) -> bool:
    """Whether two texts name the same day of a month; one of them may leave out the month."""
    return any(
        day == other and (month == its or not month or not its)
        for month, day in _find_named_days(earlier)
        for its, other in _find_named_days(later)
    )


def _find_named_days(text: str) -> list[tuple[str, str]]:
    """Return the days that a text names, each with its month or nothing."""
    found = []
    for match in _NAMED_DAY.finditer(text.lower()):
        said = match.groupdict()
        name = said["m1"] or said["m2"]
        month = str(month_number(name)) if name else said["m4"] or ""
        day = said["d1"] or said["d2"] or said["d3"] or said["d4"]
        found.append((month, day))
    return found

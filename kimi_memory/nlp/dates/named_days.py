"""Days of a month that texts name, with their month or without."""

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.vocabulary import MONTH, month_number

_NAMED_DAY = regex(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{MONTH})"
    rf"|\b(?P<m2>{MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b"
    r"|\bthe (?P<d3>\d{1,2})(?:st|nd|rd|th)\b"
    r"|(?:(?P<m4>\d{1,2})月)?(?P<d4>\d{1,2})[号日](?!楼|线|院|门|店|机|位)",
    2,
)


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

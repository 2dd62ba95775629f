"""Moments as people and programs write them: ISO, epochs, Chinese dates, file names."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta, timezone

from kimi_memory.nlp.basic.patterns import regex

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a moment that nobody wrote down; never the present."""

_LATEST = datetime(2200, 1, 1, tzinfo=UTC).timestamp()
_FORM = regex(
    r"(?P<year>(?:19|20|21)\d\d)"
    r"(?P<between>[-/._年])\s?(?P<month>\d{1,2})(?:[-/._月])\s?(?P<day>\d{1,2})日?"
    r"(?:(?:[T_,\s-]++|(?<=日))(?:(?:星期|周)[一二三四五六日天]\s*+)?"
    r"(?P<half>上午|下午|凌晨|中午|晚上|早上|傍晚)?\s*"
    r"(?P<hour>\d{1,2})[:：时点-](?P<minute>\d{2})分?"
    r"(?:[:：-]?(?P<second>\d{2})秒?(?:[.,](?P<part>\d{1,9}))?)?"
    r"\s?(?P<meridiem>[AaPp]\.?[Mm]\.?(?![A-Za-z]))?"
    r"\s?(?P<zone>Z(?![A-Za-z])|UTC|GMT|[+-]\d{2}:?\d{2}(?!\d))?)?"
)
_COMPACT = regex(
    r"(?<!\d)(?P<year>(?:19|20|21)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)"
    r"(?:[T_ -]?(?P<hour>[0-2]\d)(?P<minute>[0-5]\d)(?P<second>[0-5]\d)?)?(?P<zone>Z)?(?!\d)"
)
_AFTERNOON = frozenset({"下午", "晚上", "傍晚", "中午"})


def moment(value: object) -> datetime | None:
    """Return the moment a JSON value stands for, aware and in UTC, or None.

    Numbers and strings of digits are seconds, milli-, micro- or nanoseconds since
    1970; other strings must begin with a date. A time without a zone is UTC.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _since_epoch(value)
    if not isinstance(value, str):
        return None
    text = value.strip()
    # Nine digits at least: eight are a date without marks, 20260301.
    if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) >= 9:
        return _since_epoch(float(text)) if len(text) <= 30 else None
    found = _FORM.match(text) or _COMPACT.match(text)
    return _build_moment(found) if found else None


def find_moment(text: str) -> datetime | None:
    """Return the first moment written anywhere in a text, such as a file name."""
    for form in (_FORM, _COMPACT):
        for found in form.finditer(text):
            made = _build_moment(found)
            if made is not None:
                return made
    return None


def _since_epoch(number: float) -> datetime | None:
    """Guess the unit from the size: seconds stay below `_LATEST` for two centuries."""
    if isinstance(number, float) and not math.isfinite(number):
        return None
    # No clock writes larger numbers, and of some thousand digits a float cannot be made.
    seconds = float(number) if abs(number) < 10**21 else 0.0
    while seconds >= _LATEST:
        seconds /= 1000
    return EPOCH + timedelta(seconds=seconds) if seconds > 0 else None


def _build_moment(found: re.Match[str]) -> datetime | None:
    parts = found.groupdict()
    fraction = int((parts.get("part") or "0").ljust(9, "0")[:6])
    try:
        local = datetime(
            int(parts["year"]),
            int(parts["month"]),
            int(parts["day"]),
            _parse_hour(parts),
            int(parts["minute"] or 0),
            int(parts["second"] or 0),
            fraction,
            tzinfo=_parse_zone(parts["zone"]),
        )
        return local.astimezone(UTC)
    except (ValueError, OverflowError):
        # Digits in the form of a time that no clock shows, such as 2026-13-45.
        return None


def _parse_hour(parts: dict[str, str | None]) -> int:
    hour = int(parts["hour"] or 0)
    meridiem = (parts.get("meridiem") or "").lower()[:1]
    half = parts.get("half")
    late = meridiem == "p" or half in _AFTERNOON
    # 中午11点 is eleven in the morning, though 中午 is mostly afternoon.
    if late and hour < 12 and not (half == "中午" and hour == 11):
        return hour + 12
    early = meridiem == "a" or half in ("上午", "凌晨", "早上")
    return 0 if early and hour == 12 else hour


def _parse_zone(text: str | None) -> timezone:
    if not text or text in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    digits = text[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))

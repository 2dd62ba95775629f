"""Names and numbers of days, weeks, months and years in Chinese and English."""

from __future__ import annotations

from datetime import date, datetime

MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_HAN_WEEKDAYS = "一二三四五六日"
_DIGITS = {ch: n for n, ch in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "○": 0,
    "两": 2,
    "兩": 2,
}

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
"""Pattern of an English month, for use with IGNORECASE."""
WEEKDAY = (
    r"\b(?:(?P<w>(?i:" + "|".join(WEEKDAY_NAMES) + r")|"
    r"Tues?(?!\w)|Thu(?:rs?)?(?!\w)|Fri(?!\w)|"
    # "sat", "sun" and "wed" are words; before a day or a month they are days: "Sun 3 May".
    r"(?:Mon|Wed|Sat|Sun)(?=[.,]? (?:\d|[A-Z][a-z]{2})))s?)\b"
)
"""Pattern of an English weekday; an abbreviation counts where it cannot be a word."""
NUMERAL = (
    r"(?:\d{1,2}|[一二三]?十[一二三四五六七八九]?|廿[一二三四五六七八九]?|[一二两兩三四五六七八九])"
)
"""Pattern of a number up to 99 in digits or Chinese."""
MONTH_STARTS = tuple(name[:3] for name in MONTH_NAMES)
"""The first three letters of every English month."""
WEEKDAY_STARTS = tuple(name[:3] for name in WEEKDAY_NAMES)
"""The first three letters of every English weekday."""


def day_words(moment: date) -> list[str]:
    """Return every typed word of a day; of a moment, the day in its own time zone."""
    return [
        f"d:{moment:%Y-%m-%d}",
        *month_words(moment.year, moment.month),
        f"w:{WEEKDAY_STARTS[moment.weekday()]}",
        f"md:{moment:%m-%d}",
        week_word(moment),
    ]


def month_words(year: int, month: int) -> list[str]:
    """Return the words of a month and of its year; nothing for a month 13."""
    return [f"m:{year:04d}-{month:02d}", f"y:{year:04d}"] if 1 <= month <= 12 else []


def week_word(moment: date) -> str:
    """Return the word of the ISO week a day is in."""
    year, week, _ = moment.isocalendar()
    return f"k:{year:04d}-W{week:02d}"


def weekday_word(name: str) -> str:
    """Return the word of a weekday by its English name or its Chinese character."""
    return f"w:{WEEKDAY_STARTS[weekday_number(name)]}"


def weekday_number(name: str) -> int:
    """Return 0 for Monday to 6 for Sunday."""
    if name in ("天", "7"):
        return 6
    if name in _HAN_WEEKDAYS:
        return _HAN_WEEKDAYS.index(name)
    return WEEKDAY_STARTS.index(name[:3].lower())


def month_number(name: str) -> int:
    """Return 1 to 12 for an English month, whole or shortened."""
    return MONTH_STARTS.index(name[:3].lower()) + 1


def number(text: str) -> int:
    """Return the value of digits, of 二〇二六 digit by digit, or of 二十六."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.replace("廿", "二十").partition("十")
    if ten:
        return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[ones] if ones else 0)
    return int("".join(str(_DIGITS[ch]) for ch in text))


def day(year: int, month: int, of_month: int) -> date | None:
    """Return the date, or None where the calendar has no such day."""
    try:
        return date(year, month, of_month)
    except ValueError:
        return None


def as_date(moment: date) -> date:
    """Return the calendar day of a date or of a moment in its own time zone."""
    return moment.date() if isinstance(moment, datetime) else moment

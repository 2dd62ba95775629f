"""Names and numbers of days, weeks, months and years in Chinese and English.

Also the events of a life, which make a statement worth a date as a named day does.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from datetime import date, datetime

from kimi_memory.nlp.basic.patterns import regex

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
        # Texts hold 30 February: it is no date then, and no reason to fail.
        return None


def as_date(moment: date) -> date:
    """Return the calendar day of a date or of a moment in its own time zone."""
    return moment.date() if isinstance(moment, datetime) else moment


# A month needs a neighbour that dates it, or "it may not be" would be the month of May. 3号 is a
# day, 3号楼 and 3号线 are a building and a metro line.
_DAY = regex(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}\b|\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:in|by|until|before|since|end of|mid|early|late) {MONTH}\b(?! (?:not|be|as|have|well|i|we|you)\b)"
    r"|\b(?:on|next|this|last|by|every) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bnext (?:week|month|year|weekend|summer|winter|spring|fall|autumn)\b|\b(?:last|this) (?:year|summer|winter|spring|fall|autumn)\b|\bthe \d{1,2}(?:st|nd|rd|th)\b|\b20\d\d-\d\d-\d\d\b|\b(?:in|since|by|until) (?:19|20)\d\d\b"
    r"|\d{1,2}月(?:\d{1,2}[号日]|[底初中]|份)|(?<!\d)\d{1,2}号(?!楼|线|院|门|店|机|位)|[下上这本]个?(?:周|月|星期)[一二三四五六日天]?|[明去后前]年|(?:19|20)\d\d年",
    2,
)
_LATELY = regex(
    r"\b(?:yesterday|(?:last|this) (?:week|weekend|month)|a (?:few )?(?:days?|weeks?) ago)\b|昨天|上周|这周|上个?月|前几天",
    2,
)
_LIFE = regex(
    r"\b(?:lost (?:my|his|her|their|the) job|got (?:a |the |my |an )?(?:\w+ )?(?:job|offer|degree|divorce|engaged|married|promoted|fired|laid off|into)|hired|promoted|fired|laid off|quit|retired|graduat\w+|married|marry|wedding|engaged|divorced|pregnant|born|adopted|died|passed away|diagnos\w+|surgery|operation|moved? (?:to|into|in with|out)|moving to|bought (?:a|our|my|the)|sold (?:my|our|the)|opened (?:my|our|a|the)|launched|published|won|first (?:place|prize)|finished|started (?:a|my|our|at|working)|enrolled|accepted (?:into|to|at)|passed (?:my|the)|failed (?:my|the)|exam|interview|competition|tournament|signed)\b"
    r"|入职|离职|辞职|失业|裁员|升职|退休|毕业|结婚|订婚|离婚|怀孕|出生|生了|领养|去世|确诊|手术|住院|搬[到去家进]|买了|卖了|开业|开店|出版|获奖|得奖|冠军|考上|录取|通过了?|考试|面试|签了",
    2,
)


def names_day(text: str) -> bool:
    """Whether a text names a day or a month, or dates a turn of somebody's life otherwise.

    What was yesterday or last week is mostly forgotten the week after.
    """
    if _DAY.search(text):
        return True
    return _LATELY.search(text) is not None and tells_life(text)


def tells_life(text: str) -> bool:
    """Whether a text tells a turn of somebody's life: a job, a home, a birth, an exam."""
    return _LIFE.search(text) is not None

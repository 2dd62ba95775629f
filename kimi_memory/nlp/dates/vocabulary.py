"""Words and numbers of days, months and years in Chinese and English, and the person's time zone.

Also the events of a life, which make a statement worth a date as a named day does, and how long
something is said to hold: "until the end of March", 到六月为止, bis Juni. Days and shown times follow
the zone; stored stamps stay UTC.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from kimi_memory.nlp.basic.patterns import regex

Zone = tzinfo
_CITIES = {"beijing": "Asia/Shanghai", "北京": "Asia/Shanghai", "上海": "Asia/Shanghai"}
"""Cities of zones that are named after another one."""

# Summer and winter of two years: zones that agree on all four have the same days today.
_PROBES = tuple(datetime(year, month, 1, tzinfo=UTC) for year in (2020, 2026) for month in (1, 7))


class _Machine(tzinfo):
    """The zone of the machine with its changes of the clock, which ``timezone`` has not."""

    def utcoffset(self, at: datetime | None) -> timedelta | None:
        """Return how far the clocks of the machine are ahead of UTC at a moment."""
        return None if at is None else at.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, at: datetime | None) -> timedelta | None:
        """Return nothing: no caller asks what part of that is daylight saving."""
        return None

    def tzname(self, at: datetime | None) -> str | None:
        """Return what the machine calls its zone at a moment."""
        return None if at is None else at.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, at: datetime) -> datetime:
        """Return a moment of UTC on the clocks of the machine."""
        shown = at.replace(tzinfo=UTC).astimezone()
        here = shown.replace(tzinfo=self)
        # An hour that comes twice: the second time has the smaller offset.
        return here if here.utcoffset() == shown.utcoffset() else here.replace(fold=1)


MACHINE: Zone = _Machine()
"""The zone of the machine this runs on."""


def in_zone(at: datetime, zone: Zone) -> datetime:
    """Return a moment on the clocks of a zone; the first and last of the calendar stay in UTC."""
    try:
        return at.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        # An hour before the first moment of the calendar is none that Python can hold.
        return at


def from_clocks(at: datetime, zone: Zone) -> datetime:
    """Return a moment in UTC; one without an offset is on the clocks of a zone."""
    try:
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (OverflowError, OSError, ValueError):  # the first and last day of the calendar
        return at if at.tzinfo else at.replace(tzinfo=UTC)


def pinned(at: datetime, zone: Zone) -> datetime:
    """Return a moment on the clocks of a zone, with the offset of then.

    Two moments of one zone compare by their clocks, wrongly in an hour that comes twice.
    """
    here = in_zone(at, zone)
    offset = here.utcoffset() or timedelta()
    whole = offset.total_seconds() % 60 == 0  # as no form can hold the seconds of old times
    return at.astimezone(timezone(offset)) if offset and whole else in_zone(at, UTC)


def day_in(at: datetime, zone: Zone) -> date:
    """Return the day of a moment in a zone."""
    return in_zone(at, zone).date()


def start_of(day: date, zone: Zone) -> datetime:
    """Return the moment, in UTC, at which a day begins in a zone."""
    start = datetime.combine(day, time(), zone)
    try:
        return start.astimezone(UTC)
    except (OverflowError, OSError, ValueError):
        # The same at the ends of the calendar: an hour's error there hurts nobody.
        return start.replace(tzinfo=UTC)


def mark_of(zone: Zone) -> str:
    """Return a text that differs for zones whose days differ; empty for UTC."""
    offsets = [in_zone(probe, zone).utcoffset() for probe in _PROBES]
    return " ".join(map(str, offsets)) if any(offsets) else ""


def nearest_zone(name: str) -> str:
    """Return the known zone whose name is most like a misspelt one."""
    from zoneinfo import available_timezones

    names = sorted(available_timezones())
    whole = {one.casefold(): one for one in names}
    # Reversed, so that of cities with one name the first in the alphabet stays.
    cities = {one.rpartition("/")[2].casefold(): one for one in reversed(names)} | _CITIES
    wanted = name.strip().replace(" ", "_").casefold()
    for known, text in ((whole, wanted), (cities, wanted), (cities, wanted.rpartition("/")[2])):
        if found := difflib.get_close_matches(text, known, n=1, cutoff=0.75):
            return known[found[0]]
    return "Asia/Shanghai"


# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


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


_YEAR = r"(?P<y>(?:19|20|21)\d\d)"
_MONTH_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
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
    return max(found for last in range(28, 32) if (found := day(year, month, last)))


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
_MONTH = rf"(?P<end>end of\s+)?(?P<m>{MONTH})\b\.?(?:\s+{_MONTH_DAY}{_TO_DAY})?(?:,?\s+{_YEAR})?"
_DAY_OF = rf"(?P<end>end of\s+)?{_MONTH_DAY}\s+(?:of\s+)?(?P<m>{MONTH})\b\.?(?:,?\s+{_YEAR})?"
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


_SPAN = re.compile(r"(\d{1,5})([hdw])")
_SPAN_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
NEVER = "never"
"""A span without an end, as settings spell it."""


def parse_span(text: str) -> timedelta | None:
    """Return how long something is kept; None for ever.

    Raises:
        ValueError: it is no such time.
    """
    if text == NEVER:
        return None
    found = _SPAN.fullmatch(text)
    if found is None or not int(found[1]):
        raise ValueError(f"{text!r} is no time")
    return timedelta(**{_SPAN_UNITS[found[2]]: int(found[1])})

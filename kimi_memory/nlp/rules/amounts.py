"""Amounts: the figures of a text in every way they may be written, and dates worked out of them.

6万2 and 6.2万 are 62000, "six" is 6, "9 to 4" is 9:00 to 16:00, 去年12月 said in March 2026 is
December 2025. What a text does not amount to is another figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.vocabulary import MONTH

_FIGURE = regex(r"\d+(?:[.:/-]\d+)*")
_THOUSANDS = regex(r"(?<=\d),(?=\d{3})")
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_WORDS = {word: str(number) for number, word in enumerate(_COUNTED.split())}
_WORDS |= {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100"}
_ORDINALS = (
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_WORDS |= {"dozen": "12", **{word: str(n) for n, word in enumerate(_ORDINALS.split(), 3)}}
_VAGUE = frozenset({"zero", "one", "two"})
"""Words that stand for a figure, and for much else."""
_WORD = regex(r"\b(?:" + "|".join(_WORDS) + r")\b")
_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_HAN_NUMBER = regex(r"[零〇一二两三四五六七八九十百千]+")
# 6万2 is 62000, but not 6万20: a digit that stands for thousands stands alone.
_WAN = regex(r"(?<!\d)(\d++(?:\.\d++)?)万(\d)?(?!\d)")
# 3月, 5号, 3rd, "5 May", "May 5": figures that stand for a month or a day.
_DATED = regex(
    rf"(\d{{1,2}})\s?(?:月|日|号|st\b|nd\b|rd\b|th\b|(?=(?:of )?{MONTH}))"
    rf"|\b{MONTH}\.? (\d{{1,2}})\b"
)
_YEAR = 4
"""Digits of a year."""
_RELATIVE = regex(
    r"\b(?:yesterday|today|tonight|tomorrow|next|last|this|ago|in (?:a|two|three|\d+)|mon|tues"
    r"|wednes|thurs|fri|satur|sun)|[今明昨前后去]|[上下这本]个?(?:周|月|星期)|周|星期|天[前后]"
)
_UNITS = {"十": 10, "百": 100, "千": 1000}


@dataclass(frozen=True, slots=True)
class Amounts:
    """The figures of a text."""

    plain: frozenset[str]
    """As they stand there."""
    every: frozenset[str]
    """In all ways to write them."""
    dated: frozenset[str]
    """Those that tell a month or a day."""
    relative: bool
    """Whether a day is named by its distance from another."""


def amounts_in(text: str) -> Amounts:
    """Return the figures of a text in lower case."""
    text = _WAN.sub(_in_full, _THOUSANDS.sub("", text))
    figures = frozenset(_FIGURE.findall(text))
    counted = {run for run in _HAN_NUMBER.findall(text)}
    large = {
        str(_parse_chinese_number(run))
        for run in counted
        if len(run) > 1 and set(run) & set(_UNITS)
    }
    every = set(figures) | {part for one in figures for part in _split_figure(one)}
    words = set(_WORD.findall(text))
    every |= {_WORDS[word] for word in words}
    large |= {_WORDS[word] for word in words - _VAGUE}
    every |= {str(_parse_chinese_number(run)) for run in counted}
    dated = frozenset(one for found in _DATED.findall(text) for one in found if one)
    relative = _RELATIVE.search(text) is not None
    return Amounts(figures | large, frozenset(every), dated, relative)


def is_among(figure: str, known: Amounts, days: Iterable[date] = (), *, dated: bool = True) -> bool:
    """Whether a figure is one of those known, or a date or time that they amount to.

    Args:
        figure: as it stands in a text.
        known: figures of what was said.
        days: when that was said.
        dated: whether the figure tells a month or a day.
    """
    if figure in known.every or figure.lstrip("0") in known.every:
        return True
    # "9 to 4" may become 9:00 to 16:00.
    if figure.endswith(":00"):
        hour = int(figure.partition(":")[0])
        return bool({str(hour), str(hour % 12 or 12)} & known.every)
    if "." in figure:
        return False
    parts = [part.lstrip("0") or "0" for part in _split_figure(figure)]
    near = _derived_date_parts(days, relative=known.relative)
    if not dated and len(parts) == 1:
        near = {one for one in near if len(one) == _YEAR}
    return all(part in known.every or part in near for part in parts)


def _derived_date_parts(days: Iterable[date], *, relative: bool) -> set[str]:
    """Return the years, months and days that may be worked out of when something was said."""
    found: set[str] = set()
    for day in days:
        found |= {str(year) for year in (day.year - 1, day.year, day.year + 1)}
        # "Last Friday" lies within eight days. Without such a word no other day can be meant.
        reach = 8 if relative else 0
        span = (day + timedelta(days=apart) for apart in range(-reach, reach + 1))
        found |= {str(part) for one in span for part in (one.month, one.day)}
    return found


def _split_figure(figure: str) -> list[str]:
    if "." in figure:
        return [figure]
    return figure.replace(":", "/").replace("-", "/").split("/")


def _in_full(found: re.Match[str]) -> str:
    """Return 62000 for 6万2 and for 6.2万."""
    tenth = int(found[2] or 0) * 1000
    return f" {float(found[1]) * 10000 + tenth:.0f} "


def _parse_chinese_number(run: str) -> int:
    """Return the number that Chinese numerals below ten thousand make."""
    total, digit = 0, -1
    for char in run:
        if char in _UNITS:
            total += (1 if digit < 0 else digit) * _UNITS[char]
            digit = -1
        else:
            digit = _DIGITS[char]
    return total + max(digit, 0)

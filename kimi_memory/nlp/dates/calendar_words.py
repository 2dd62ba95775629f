"""Days that people name, and the events of a life: what makes a statement worth a date."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.dates.vocabulary import MONTH

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

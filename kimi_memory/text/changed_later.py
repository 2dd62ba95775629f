"""What a session says first and changes later: only its last state is worth a line."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from kimi_memory.text.calendar_words import names_day
from kimi_memory.text.memo import keep_results
from kimi_memory.text.regex import regex
from kimi_memory.text.salience import specific_words, traits_of
from kimi_memory.text.utterance import is_order

_CHANGE = regex(
    r"\b(?:after all|instead|no longer|any ?more|change[ds]? (?:my|our|her|his|their) minds?|on second thoughts?|scrap (?:that|the)|forget (?:about )?(?:the|that)|cancel\w*|called off|(?:go|going|went|switch\w*) back to|switch\w* (?:to|from)|moved? (?:to|from|up|back)|postponed|rescheduled|replaced|revert\w*|turns out|correction|i was wrong|not (?:the )?\d|is (?:off|out)\b|are (?:off|out)\b|(?:is|are) (?:ok|okay|fine) (?:for|now)|dropp?(?:ed|ing) the|cut the|went live)"
    r"|改成|改为|改到|改在|改主意|换成|换到|不用.{0,12}了|(?<!差)不(?![过错仅但只是管然知得少光久如])[^，。]{1,8}了|算了|取消|推迟|提前到|还是用|还是选|还是.{1,12}吧|说错|记错|更正|太麻烦|作废|[要得]砍|[加减降涨]到|不行|到账了",
    2,
)
_OBJECT = regex(
    r"(?P<was>[\w-]{3,40})s?\b (?:(?:is|are|was|were|got|has been|have been|'s) (?:now |all )?(?:cancell?ed|off|out|postponed|moved|gone|dropped|changed|rescheduled)|(?:moved|changed|switched|slipped|pushed(?: back)?|postponed) (?:to|from))\b"
    r"|(?P<sum>[\w-]{3,40}) (?:(?:is|are) (?:now )?(?:only )?[£$€]?\d[\d,.]*+\w*+ now|(?:is |are )?(?:now )?(?:down|up|cut|reduced|raised) to)\b"
    r"|\bnot (?:the |a )?(?P<figure>\d[\w.,:]*)"
    r"|(?P<zh>[\u3400-\u9fff]{2,6}?)(?:被?取消|推迟|提前到|改到|改成|改为|改在|换成|换到|调[到成]|[加减降涨]到|要砍|得砍|砍[到掉]|不行|没了|重新?定)|(?:最后|最终)(?P<then>[\u3400-\u9fff]{2,4}?)(?:定在|定到|定成|在)",
    2,
)
"""What a change is said of: there one word tells what is meant."""
_FREED = regex(
    r"\byou (?:can|may) (?:use|give|send|suggest|write|show|call|mention)\w* (?:me )?(?:the |a )?(?P<free>[\w-]+)(?: \w+)? (?:again|now)\b"
    r"|(?P<fine>[\w-]{3,40}?)s? (?:is|are) (?:ok|okay|fine|allowed) (?:now|again|for)\b"
    r"|可以(?:再)?(?:用|给|说|发|写|放|提)?(?P<may>[\u3400-\u9fff]{1,6}?)了|不用(?:再|老)?每?[^，。]{0,4}?(?:写|说|用|给|提|发|加)[“\"「]?(?P<spared>[\u3400-\u9fff]{2,6})",
    2,
)
"""What an earlier order forbade or asked for, and what is free now."""
_DONE = regex(
    r"\b(?:went|is|are|now|finally) (?:live|done|finished|over|complete|open)\b|\b(?:has|have|is|are|was|were) (?:been )?(?:arrived|finished|completed|launched|shipped|delivered|paid|settled|submitted|sent|signed|accepted)\b|\b(?:i|we|they|he|she)(?:'ve|'s| have| has)? (?:just |finally |already )?(?:finished|completed|launched|shipped|submitted|sent|signed|passed|moved in|paid)\b"
    r"|到账了?|完工|办好了|办完|搞定|寄出|提交了|交了|考完|考过|拿到了?|搬完|做完|一分没少",
    2,
)
_AHEAD = regex(
    r"\b(?:will|'ll|going to|gonna|need(?:s|ed)? to|has to|have to|must|should|want(?:s|ed)? to|plan(?:s|ned|ning)? to|by|before|until|deadline|due|waiting|still)\b"
    r"|要|打算|准备|计划|之前|截止|等|谈定|同意|转给|开工|开始|\d月|\d号",
    2,
)
"""Words of what is still to come."""
COMMON, SHARED = 3, 2
"""A word that more turns hold than the first says nothing; a change shares so many of the rest."""


class Changes:
    """The turns of a session that change something, and the words they share with others.

    Args:
        turns: number and own words of each turn of a person, in order.
    """

    def __init__(self, turns: Iterable[tuple[int, str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._changing: list[tuple[int, frozenset[str], frozenset[str]]] = []
        for n, text in turns:
            words = specific_words(text)
            self._counts.update(words)
            if tells_change(text):
                self._changing.append((n, words, _objects(text)))

    def after(self, n: int, text: str, shared: int = SHARED, *, lasting: bool = False) -> bool:
        """Whether a turn after turn `n` changes what a text says.

        Args:
            n: number of the turn that says it.
            text: what it says.
            shared: so many rare words a change must share with it.
            lasting: it tells what holds for years: a change must share twice as many.
        """
        named = specific_words(text)
        words = {word for word in named if self._counts[word] <= COMMON}
        traits = traits_of(text)
        dated = not lasting and (traits.figure or traits.day or traits.choice)
        shared *= 1 + lasting
        return any(
            later > n and (len(words & changed) >= shared or (dated and named & objects))
            for later, changed, objects in self._changing
        )


@keep_results(4096)
def tells_change(text: str) -> bool:
    """Whether a statement says that something is otherwise than it was, or than it was meant."""
    return _CHANGE.search(text) is not None or _OBJECT.search(text) is not None


def sets_free(text: str) -> bool:
    """Whether a statement allows again, or no longer asks for, what an order was about."""
    return _FREED.search(text) is not None


def may_replace(text: str) -> bool:
    """Whether a statement has the words of a change, of leave, or of something done."""
    return tells_change(text) or sets_free(text) or _DONE.search(text) is not None


def replaces(earlier: str, later: str) -> bool:
    """Whether a later statement takes the place of an earlier one that it does not quote.

    It tells a change, sets free what an order was about, or reports as done what was still to
    come; and both name the same things.
    """
    old, new = specific_words(earlier), specific_words(later)
    shared = _things(old & new)
    if is_order(earlier.lower()):
        return bool(old & _named(_FREED, later)) or (
            shared >= SHARED and _CHANGE.search(later) is not None
        )
    if shared >= SHARED and _DONE.search(later) and _AHEAD.search(earlier):
        return not _DONE.search(earlier)
    told = shared >= SHARED and tells_change(later)
    dated = names_day(earlier) or traits_of(earlier).figure
    return told or bool(dated and old & _objects(later))


def _things(words: frozenset[str]) -> int:
    """Return how many things words name: pairs of characters that overlap are one name."""
    pairs = {word for word in words if len(word) == 2 and not word.isascii()}
    inner = {pair for pair in pairs if any(pair[0] == other[1] for other in pairs - {pair})}
    return len(words) - len(inner)


def _objects(text: str) -> frozenset[str]:
    """Return the words that a change is said of."""
    return _named(_OBJECT, text)


def _named(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    found: set[str] = set()
    for match in pattern.finditer(text):
        found |= specific_words(next(value for value in match.groups() if value))
    return frozenset(found)

"""What a session says first and changes later: only its last state is worth a line."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kimi_memory.text.regex import regex
from kimi_memory.text.salience import specific_words, traits_of

_CHANGE = regex(
    r"\b(?:after all|instead|no longer|any ?more|change[ds]? (?:my|our|her|his|their) minds?|on second thoughts?|scrap (?:that|the)|forget (?:about )?(?:the|that)|cancel\w*|called off|(?:go|going|went|switch\w*) back to|switch\w* (?:to|from)|moved? (?:to|from|up|back)|postponed|rescheduled|replaced|revert\w*|turns out|correction|i was wrong|not (?:the )?\d|is (?:off|out)\b|are (?:off|out)\b|(?:is|are) (?:ok|okay|fine) (?:for|now)|dropp?(?:ed|ing) the|cut the|went live)"
    r"|改成|改为|改到|改在|改主意|换成|换到|不用.{0,12}了|不.{1,8}了|算了|取消|推迟|提前到|还是用|还是选|还是.{1,12}吧|说错|记错|更正|太麻烦|作废|[要得]砍|[加减降涨]到|不行|到账了",
    2,
)
_OBJECT = regex(
    r"(?P<was>[\w-]{3,})s?\b (?:(?:is|are|was|were|got|has been|have been|'s) (?:now |all )?(?:cancell?ed|off|out|postponed|moved|gone|dropped|changed|rescheduled)|(?:moved|changed|switched|slipped|pushed(?: back)?|postponed) (?:to|from))\b"
    r"|\bnot (?:the |a )?(?P<figure>\d[\w.,:]*)"
    r"|(?P<zh>[\u3400-\u9fff]{2,6}?)(?:被?取消|推迟|提前到|改到|改成|改为|改在|换成|换到|调[到成]|[加减降涨]到|要砍|得砍|砍[到掉]|不行|没了|重新?定)|(?:最后|最终)(?P<then>[\u3400-\u9fff]{2,4}?)(?:定在|定到|定成|在)",
    2,
)
"""What a change is said of: there one word tells what is meant."""
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
            if _CHANGE.search(text) or _OBJECT.search(text):
                self._changing.append((n, words, _objects(text)))

    def after(self, n: int, text: str, shared: int = SHARED) -> bool:
        """Whether a turn after turn `n` changes what a text says.

        Args:
            n: number of the turn that says it.
            text: what it says.
            shared: so many rare words a change must share with it.
        """
        named = specific_words(text)
        words = {word for word in named if self._counts[word] <= COMMON}
        traits = traits_of(text)
        dated = traits.figure or traits.day or traits.choice
        return any(
            later > n and (len(words & changed) >= shared or (dated and named & objects))
            for later, changed, objects in self._changing
        )


def _objects(text: str) -> frozenset[str]:
    """Return the words that a change is said of."""
    found: set[str] = set()
    for match in _OBJECT.finditer(text):
        name = next(value for value in match.groups() if value)
        found |= specific_words(name)
    return frozenset(found)

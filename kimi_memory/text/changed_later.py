"""What a session says first and changes later: only its last state is worth a line."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kimi_memory.text.regex import regex
from kimi_memory.text.salience import specific_words

_CHANGE = regex(
    r"\b(?:after all|instead|no longer|any ?more|change[ds]? (?:my|our|her|his|their) minds?|on second thoughts?|scrap (?:that|the)|forget (?:about )?(?:the|that)|cancel\w*|called off|(?:go|going|went|switch\w*) back to|switch\w* (?:to|from)|moved? (?:to|from|up|back)|postponed|rescheduled|replaced|revert\w*|turns out|correction|i was wrong|not (?:the )?\d|is (?:off|out)\b|are (?:off|out)\b|(?:is|are) (?:ok|okay|fine) (?:for|now)|dropp?(?:ed|ing) the|cut the)"
    r"|改成|改为|改到|改在|改主意|换成|换到|不用.{0,12}了|不.{1,8}了|算了|取消|推迟|提前到|还是用|还是选|还是.{1,12}吧|说错|记错|更正|太麻烦|作废",
    2,
)
COMMON, SHARED = 3, 2
"""A word that more turns hold than the first says nothing; a change shares so many of the rest."""


class Changes:
    """The turns of a session that change something, and the words they share with others.

    Args:
        turns: number and own words of each turn of a person, in order.
    """

    def __init__(self, turns: Iterable[tuple[int, str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._changing: list[tuple[int, frozenset[str]]] = []
        for n, text in turns:
            words = specific_words(text)
            self._counts.update(words)
            if _CHANGE.search(text):
                self._changing.append((n, words))

    def after(self, n: int, text: str, shared: int = SHARED) -> bool:
        """Whether a turn after turn `n` changes what a text says.

        Args:
            n: number of the turn that says it.
            text: what it says.
            shared: so many rare words a change must share with it.
        """
        words = {word for word in specific_words(text) if self._counts[word] <= COMMON}
        return any(
            later > n and len(words & changed) >= shared for later, changed in self._changing
        )

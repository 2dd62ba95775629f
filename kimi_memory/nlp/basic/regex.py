"""Regular expressions that are compiled when they are first used.

Compiling all of ours takes longer than answering a question, and most processes use few.
One that is used often is searched only where a text holds a word that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any, cast

from kimi_memory.nlp.basic.literals import literals
from kimi_memory.nlp.basic.prefilter import WordBank

_OFTEN = 2048
"""Searches after which it pays to look at what a pattern needs."""
_BANK = WordBank()
_HAN_SET = re.compile(r"\[(?:\\u3400-\\u9fff|A-Za-z|\\d)+\]")


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


class Phrases:
    """Several patterns that are asked together: mostly none of their words is there.

    Args:
        sources: the patterns; groups have no names.
        flags: flags of all of them.
    """

    def __init__(self, *sources: str, flags: int = 0) -> None:
        self._each = [regex(source, flags) for source in sources]
        self._any = _Regex("|".join(f"(?:{source})" for source in sources), flags)

    def found_in(self, text: str) -> bool:
        """Whether a text has a match of one of them."""
        return self._any.may_be_in(text) and any(each.search(text) for each in self._each)


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags, self._uses = source, flags, 0
        self._number = -1
        """What the word bank calls it, once it is asked."""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        source = self._source
        if self._flags & re.IGNORECASE:
            # Python asks of each of 27,000 hanzi for its other case: 3 ms for every such set.
            source = _HAN_SET.sub(r"(?-i:\g<0>)", source)
        return re.compile(source, self._flags)

    def search(self, text: str, *span: int) -> re.Match[str] | None:
        """Search like a pattern; where none of its words is, nothing is found."""
        return self._compiled.search(text, *span) if self.may_be_in(text) else None

    def finditer(self, text: str, *span: int) -> Iterator[re.Match[str]]:
        """Find all matches like a pattern; where none of its words is, there are none."""
        return self._compiled.finditer(text, *span) if self.may_be_in(text) else iter(())

    def may_be_in(self, text: str) -> bool:
        """Whether a text has a word of the pattern; True where that is not known."""
        if self._number >= 0:
            return _BANK.may_hold(text, self._number)
        self._uses += 1
        if self._uses == _OFTEN:
            self._join()
        return True

    def _join(self) -> None:
        """Leave the words of the pattern with the bank; do without it where there are none."""
        words = literals(self._source, self._flags)
        if words:
            self._number = _BANK.join(words)
        else:
            vars(self).update(search=self._compiled.search, finditer=self._compiled.finditer)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

"""Regular expressions that are compiled when they are first used.

Compiling all of ours takes longer than answering a question, and most processes use few.
One that is used often is searched only where the text holds a word that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, cast

from kimi_memory.text.literals import folded, literals

_OFTEN = 24
"""Searches after which it pays to look at what a pattern needs."""
_Search = Callable[..., re.Match[str] | None]
_low = lru_cache(maxsize=16)(folded)


def regex(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern like `re.compile`; a mistake in it shows at its first use."""
    return cast("re.Pattern[str]", _Regex(source, flags))  # it has every attribute of one


class _Regex:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags, self._uses = source, flags, 0
        self.search: _Search = self._search

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def _search(self, text: str, *span: int) -> re.Match[str] | None:
        self._uses += 1
        if self._uses >= _OFTEN:
            self.search = _gated(self._compiled)
        return self._compiled.search(text, *span)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the compiled pattern, and keep it for the next time."""
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


def _gated(pattern: re.Pattern[str]) -> _Search:
    """Return the search of a pattern that looks for its words first, if it has some."""
    words, search = sorted(literals(pattern.pattern, pattern.flags)), pattern.search
    plain = [word for word in words if word.isascii()]
    fold = _low if pattern.flags & re.IGNORECASE else str

    def gated(text: str, *span: int) -> re.Match[str] | None:
        low = fold(text)
        for word in plain if low.isascii() else words:
            if word in low:
                return search(text, *span)
        return None

    return gated if words else search

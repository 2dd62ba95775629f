"""The word bank: one look at a text tells which of many patterns could be found in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from kimi_memory.nlp.basic.literals import folded

PATIENCE = 8192
"""So many questions are answered with "perhaps" before new words are worth a new bank."""
LONGEST = 4096
"""Characters of the longest text that is looked at; a longer one may hold anything."""
_Look = Callable[[str], frozenset[int]]


class WordBank:
    """Words of patterns, looked for together; see `literals.literals`.

    RE2 finds thousands of words in one pass, as fast as ``in`` finds two. Where it is
    missing every answer is "perhaps".
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: list[Collection[str]] = []
        self._asked = 0
        self._bank: tuple[int, _Look] = 0, _nowhere

    def join(self, words: Collection[str]) -> int:
        """Add the words of a pattern; return the number to ask for."""
        with self._lock:
            self._words.append(words)
            return len(self._words) - 1

    def may_hold(self, text: str, number: int) -> bool:
        """Whether a text holds one of the words of a number; True where that is not known."""
        known, look = self._bank
        if number < known:
            return len(text) > LONGEST or number in look(text)
        self._asked += 1
        if self._asked >= PATIENCE:
            self._build()
        return True

    def _build(self) -> None:
        with self._lock:
            self._asked, look = 0, _looking(self._words)
            if look is not None:
                self._bank = len(self._words), look


def _nowhere(_: str) -> frozenset[int]:
    return frozenset()


def _looking(words: Sequence[Collection[str]]) -> _Look | None:
    """Return what finds the numbers of all words in a text, None without RE2."""
    try:
        import re2
    except ImportError:
        return None
    bank = re2.Set.SearchSet()
    for each in words:
        bank.Add("|".join(re2.escape(word) for word in sorted(each)))
    bank.Add("")  # in every text: without it a search that failed would look like one in vain
    bank.Compile()
    anything = frozenset(range(len(words)))

    @lru_cache(maxsize=4096)  # All distillers of a session look at the same sentences.
    def look(text: str) -> frozenset[int]:
        # Half a surrogate pair cannot be UTF-8, which RE2 reads, and is in no word.
        plain = folded(text).encode("utf-8", "replace").decode("utf-8")
        found = bank.Match(plain)
        return anything if found is None else frozenset(found)

    return look

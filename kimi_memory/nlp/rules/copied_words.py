"""Words that somebody copied from what an agent said earlier: they are the agent's."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from kimi_memory.nlp.basic.patterns import HAN, letters_of, regex

_HAN = regex(f"[{HAN}]")
_THINKS = regex(
    r"^\W*(?:好的?|嗯+|哦|首先)[，,。]?用户|^\W*用户(?:这次|(?:这|现在)?的问题|又?在?问)"
    r"|^\W*(?:ok(?:ay)?|alright|hm+|so),? the user (?:wants|is|asks|asked|says|said|seems)\b",
    2,
)
"""How an agent thinks aloud about the person; who speaks of users of a thing does not nod."""
LETTERS, HANZI = 40, 16
"""So many letters or hanzi are not said twice by chance."""


def thinks_of_user(text: str) -> bool:
    """Whether words are an agent's about the person: "好的，用户这次的问题…"."""
    return _THINKS.search(text) is not None


class AgentWords:
    """What an agent said in a session, to look for words that were copied from it.

    Args:
        said: the number and the text of its turns, in order.
    """

    def __init__(self, said: Iterable[tuple[int, str]]) -> None:
        self._numbers: list[int] = []
        self._ends: list[int] = []
        parts, end = list[str](), 0
        for n, text in said:
            parts.append(letters_of(text))
            end += len(parts[-1]) + 1
            self._numbers.append(n)
            self._ends.append(end)
        self._text = "\0".join(parts)

    def hold(self, words: str, before: int) -> bool:
        """Whether some words, if they are not few, stand in a turn before a number."""
        plain = letters_of(words)
        if len(plain) < (HANZI if _HAN.search(plain) else LETTERS):
            return False
        turns = bisect_left(self._numbers, before)
        return turns > 0 and self._text.find(plain, 0, self._ends[turns - 1]) >= 0

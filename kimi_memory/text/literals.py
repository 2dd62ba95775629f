"""Literals of a pattern: words of which a text holds one wherever the pattern is found in it.

Python tries an alternation of phrases at every place of a text. To ask first whether the
text holds a word of any of them takes a tenth of the time, and mostly it holds none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

MOST = 192
"""Asking for more words than this would take as long as the pattern."""
_COMMON = frozenset(
    ("the", "for", "with", "our", "are", "was", "and", "that", "this", "you", "your", "will")
)
_Step = tuple[Any, Any]
_Words = frozenset[str]


def folded(text: str) -> str:
    """Return a text in which letters are the same that a pattern takes for the same."""
    # These two are "i" to a pattern without case, and not to `str.casefold`.
    return text.replace("İ", "i").replace("ı", "i").casefold()


def literals(source: str, flags: int) -> _Words:
    """Return words of which every text holds one that a pattern is found in.

    Args:
        source: the pattern.
        flags: its flags. Without case, the words are `folded`, and so must be the text.

    Returns:
        The words; none where nothing can be said, or nothing that is worth it.
    """
    # What parses a pattern has no public name. Where it changes, patterns are as slow as ever.
    parse = getattr(getattr(re, "_parser", None), "parse", None)
    if parse is None:
        return frozenset()
    found = _needed(list(parse(source, flags)), ignoring=bool(flags & re.IGNORECASE))
    is_of_use = 0 < len(found) <= MOST and _worth(found)[0] > 1
    return found if is_of_use else frozenset()


def _tells(word: str) -> int:
    """How much the presence of a word tells: 1 is as good as nothing, 4 as good as any."""
    if word.strip() in _COMMON:
        return 2
    return min(4, sum(1 if letter.isascii() else 2 for letter in word))


def _needed(steps: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the best words of a sequence: of each of its parts one must be there."""
    offers = [words for words in _offers(steps, ignoring=ignoring) if words]
    return max(offers, key=_worth, default=frozenset())


def _worth(words: _Words) -> tuple[int, int]:
    return min(map(_tells, words)), -len(words)


def _offers(steps: Iterable[_Step], *, ignoring: bool) -> Iterator[_Words]:
    run = ""
    for step in steps:
        name, value = str(step[0]), step[1]
        if name == "LITERAL" and _is_steady(chr(value), ignoring=ignoring):
            run += folded(chr(value)) if ignoring else chr(value)
        elif name not in {"AT", "ASSERT", "ASSERT_NOT"}:  # these three take no room
            yield frozenset({run} - {""})
            yield _inside(name, value, ignoring=ignoring)
            run = ""
    yield frozenset({run} - {""})


def _is_steady(letter: str, *, ignoring: bool) -> bool:
    """Whether a letter has no other forms than those that `folded` brings together."""
    return not ignoring or letter.isascii() or letter.lower() == letter.upper()


def _inside(name: str, value: Any, *, ignoring: bool) -> _Words:
    """Return the words of a part that holds parts."""
    if name == "BRANCH":
        each = [_needed(steps, ignoring=ignoring) for steps in value[1]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    if name == "IN":
        return _letters(value, ignoring=ignoring)
    if name == "SUBPATTERN" and not (value[1] or value[2]):  # it changes no flags
        return _needed(value[3], ignoring=ignoring)
    if name == "ATOMIC_GROUP":
        return _needed(value, ignoring=ignoring)
    if name.endswith("_REPEAT") and value[0] > 0:
        return _needed(value[2], ignoring=ignoring)
    return frozenset()


def _letters(choice: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the letters of a set, where it is no more than that."""
    each = [(str(kind), value) for kind, value in choice]
    if any(kind != "LITERAL" or not _is_steady(chr(n), ignoring=ignoring) for kind, n in each):
        return frozenset()
    return frozenset(folded(chr(n)) if ignoring else chr(n) for _, n in each)

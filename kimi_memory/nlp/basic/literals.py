"""Literals of a pattern: words of which a text holds one wherever the pattern is found in it.

To compile every form of a slot takes a tenth of a second. A form is compiled for the first
clause that holds one of its words; most processes meet few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

MOST = 256
"""A pattern with more words than this is in most texts, or is no pattern of phrases."""
_FEW = 12
"""Letters a set may have to be worth looking for."""
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
        flags: its flags.

    Returns:
        The words, `folded`, to be looked for in a text that is folded too; none where
        nothing can be said, or nothing that is worth it.
    """
    # What parses a pattern has no public name. Where it changes, patterns are as slow as ever.
    parse = getattr(getattr(re, "_parser", None), "parse", None)
    if parse is None:
        return frozenset()
    tree = parse(source, flags)
    found = _required_words(list(tree), ignoring=bool(tree.state.flags & re.IGNORECASE))
    is_of_use = 0 < len(found) <= MOST and _rank_words(found)[0] > 1
    return found if is_of_use else frozenset()


def _weigh_word(word: str) -> int:
    """How much the presence of a word tells: 1 is as good as nothing, 4 as good as any."""
    if word.strip() in _COMMON:
        return 2
    return min(4, sum(1 if letter.isascii() else 2 for letter in word))


def _required_words(steps: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the best words of a sequence: of each of its parts one must be there."""
    offers = [words for words in _candidate_words(steps, ignoring=ignoring) if words]
    return max(offers, key=_rank_words, default=frozenset())


def _rank_words(words: _Words) -> tuple[int, int]:
    return min(map(_weigh_word, words)), -len(words)


def _candidate_words(steps: Iterable[_Step], *, ignoring: bool) -> Iterator[_Words]:
    run = ""
    for step in steps:
        name, value = str(step[0]), step[1]
        if name == "LITERAL" and _is_steady(chr(value), ignoring=ignoring):
            run += folded(chr(value))
        elif name not in {"AT", "ASSERT", "ASSERT_NOT"}:  # these three take no room
            yield frozenset({run} - {""})
            yield _words_of_part(name, value, ignoring=ignoring)
            run = ""
    yield frozenset({run} - {""})


def _is_steady(letter: str, *, ignoring: bool) -> bool:
    """Whether a letter has no other forms than those that `folded` brings together."""
    if "\ud800" <= letter <= "\udfff":
        return False
    return not ignoring or letter.isascii() or letter.lower() == letter.upper()


def _words_of_part(name: str, value: Any, *, ignoring: bool) -> _Words:
    """Return the words of a part that holds parts."""
    if name == "BRANCH":
        each = [_required_words(steps, ignoring=ignoring) for steps in value[1]]
        return frozenset[str]().union(*each) if all(each) else frozenset()
    if name == "IN":
        return _letters_of_set(value, ignoring=ignoring)
    if name == "SUBPATTERN" and not (value[1] or value[2]):  # it changes no flags
        return _required_words(value[3], ignoring=ignoring)
    if name == "ATOMIC_GROUP":
        return _required_words(value, ignoring=ignoring)
    if name.endswith("_REPEAT") and value[0] > 0:
        return _required_words(value[2], ignoring=ignoring)
    return frozenset()


def _letters_of_set(choice: Iterable[_Step], *, ignoring: bool) -> _Words:
    """Return the letters of a set, where it is a small one and no more than that."""
    found: list[str] = []
    for kind, value in choice:
        first, last = (value, value) if str(kind) == "LITERAL" else _range_ends(str(kind), value)
        found += map(chr, range(first, min(last, first + _FEW) + 1))
    sure = len(found) <= _FEW and all(_is_steady(one, ignoring=ignoring) for one in found)
    return frozenset(map(folded, found)) if sure else frozenset()


def _range_ends(kind: str, value: Any) -> tuple[int, int]:
    """Return the ends of a range of letters; of anything else, of one that is too long."""
    return value if kind == "RANGE" else (0, _FEW)

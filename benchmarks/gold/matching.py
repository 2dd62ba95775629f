"""Words of labels and notes, compared without case, width, markup and English endings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": "", "*": "", "\\": ""})
_HAN = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:[.,:]\d+)*")
_ENDINGS = (
    *(("ies", "y"), ("ingly", ""), ("ing", ""), ("edly", "")),
    *(("ed", ""), ("es", ""), ("s", ""), ("ly", "")),
)
_ROOT = 3
"""Letters that are left of a word at least when its ending is cut."""


def fold(text: str) -> str:
    """Return a text in lower case and one width, without marks of emphasis or code."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN)
    return " ".join(plain.split())


def letters(text: str) -> str:
    """Return the letters and digits of a text."""
    return re.sub(r"[^\w]+", "", fold(text))


def root(word: str) -> str:
    """Return an English word without its ending."""
    word = word.removesuffix("'s")
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT:
            word = word[: -len(ending)] + instead
            break
    doubled = len(word) > _ROOT and word[-1] == word[-2] and word[-1] not in "aeiouls"
    return (word[:-1] if doubled else word).removesuffix("e")


def words_of(folded: str) -> list[str]:
    """Return roots of words, and numbers without commas."""
    found = _WORD.findall(folded)
    return [one.replace(",", "") if one[0].isdigit() else root(one) for one in found]


def stands_in(part: str, whole: str) -> bool:
    """Whether a text stands in another so that no number is cut."""
    left = r"(?<!\d)" if part[:1].isdigit() else ""
    right = r"(?!\d)" if part[-1:].isdigit() else ""
    return re.search(left + re.escape(part) + right, whole) is not None


class Words:
    """A text that is searched for the words of labels."""

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        self._letters = letters(text)
        self._roots = frozenset(words_of(self.folded))

    def has(self, wanted: str) -> bool:
        """Whether it holds a wording: as it stands, or word by word in any order."""
        plain = fold(wanted)
        han = _HAN.search(plain) is not None
        # A short word in Latin letters would also be found inside of longer ones.
        whole = han or len(plain) > 2 or plain in self.folded.split()
        if whole and stands_in(plain, self.folded):
            return True
        if han:
            tight = letters(wanted)
            return bool(tight) and stands_in(tight, self._letters)
        needed = words_of(plain)
        return bool(needed) and self._roots.issuperset(needed)

    def has_all(self, wanted: Iterable[str]) -> bool:
        """Whether it holds each of several wordings."""
        return all(map(self.has, wanted))


def cut_sentences(texts: Sequence[str]) -> list[str]:
    """Return the sentences of texts, by punctuation alone."""
    return [part for text in texts for part in re.split(r"(?<=[.!?。！？；\n])\s*", text)]

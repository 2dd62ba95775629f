"""Rows by their wording: which of them say a phrase, as their files have it.

Postings only narrow the search; what decides is the text itself, because the words of
the index are stems and single characters. A beginning is looked up in the sorted words of
the index, so what it costs depends on how many words begin so, not by the size of the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.index.files import Files
from kimi_memory.index.searcher import Bools, Searcher
from kimi_memory.nlp.basic.cjk import HAN, simplify
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.nlp.basic.regex import regex

_LATIN = regex(r"(?<![^\W_])[a-z]+")
_RUN = regex(r"[^\W_]+")
_CUT = regex(r"[^\W_]|\*$")
_HAN = regex(f"[{HAN}]")
_BEGUN = regex(r"(?<![^\W_])[a-z][a-z0-9]+(?=\*$)")

MOST_BEGUN = 4000
"""A beginning stands for so many words of the index, at most."""
_TAILS = ("", "i", "e", "l", "y", "ie")
"""A stem is a beginning of its word and one of these: happi, hope, probabl, sky, die."""


def worded(searcher: Searcher, query: Query, mask: Bools) -> Bools:
    """Return the rows of a mask that say every phrase of a query, and nothing excluded."""
    for phrase in query.phrases:
        mask = saying(searcher, phrase, mask)
    for phrase in query.excluded:
        mask = mask & ~saying(searcher, phrase, mask)
    return mask


def saying(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask whose title or text says a phrase.

    Args:
        searcher: the memory.
        phrase: words in their order; one that ends in ``*`` is the beginning of a word.
        mask: rows to look at.
    """
    sought, found = pattern(phrase), np.zeros(len(searcher), dtype=bool)
    if sought is None:
        return found
    rows = np.flatnonzero(_narrow_mask(searcher, phrase, mask))
    for row, unit in searcher.units(map(int, rows)).items():
        found[row] = sought.search(_fold_unit(unit)) is not None
    return found


def pattern(phrase: str) -> re.Pattern[str] | None:
    """Return what finds a phrase in folded text; None for a phrase without words.

    Latin words are matched whole, Chinese ones anywhere, as no blanks stand between them.
    """
    folded = _fold_text(phrase.removesuffix("*"))
    if not folded:
        return None
    # A Chinese character beside it is a border: "用Docker部署" says "docker".
    begins = rf"(?<![^\W{HAN}])" if _is_letter(folded[0]) else ""
    ends = rf"(?![^\W{HAN}])" if _is_letter(folded[-1]) and not phrase.endswith("*") else ""
    return re.compile(begins + re.escape(folded) + ends)


def _is_letter(ch: str) -> bool:
    return (ch.isalnum() or ch == "_") and not _HAN.match(ch)


def _fold_unit(unit: Unit) -> str:
    return f"{_fold_text(unit.title)}\n{_fold_text(unit.text)}"


def _fold_text(text: str) -> str:
    return simplify(normalise(text))


def _narrow_mask(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask that may say a phrase, as far as is known without parsing."""
    words = list(_yield_word_forms(searcher, phrase))
    for forms in words:
        held = np.zeros(len(searcher), dtype=bool)
        for word in forms:
            held[searcher.postings(word)[0]] = True
        mask = mask & held
    return mask if words else mask & _in_files(searcher, phrase, mask)


def _in_files(searcher: Searcher, phrase: str, mask: Bools) -> Bools:
    """Return the rows of a mask whose file has the longest word of a phrase anywhere."""
    runs = _RUN.findall(_fold_text(phrase))
    held = mask.copy()
    if runs:
        word, known = max(runs, key=len), dict[str, bool]()
        for row in map(int, np.flatnonzero(mask)):
            path = searcher.path(row)
            if path not in known:
                known[path] = _has_word(searcher.files, path, word)
            held[row] = known[path]
    return held


def _has_word(files: Files, path: str, word: str) -> bool:
    try:
        content = files.read(path)
    except (OSError, KimiMemoryError):
        return False
    # The quick way: in plain ASCII only the case may differ.
    if content.isascii():
        return word.encode() in content.lower()
    return word in _fold_text(content.decode("utf-8", "replace"))


def _yield_word_forms(searcher: Searcher, phrase: str) -> Iterator[set[str]]:
    """Yield the forms in which the index may hold each word, where it must hold one.

    It need not hold single letters or words of other characters.
    """
    folded = _fold_text(phrase)
    if begun := _BEGUN.search(folded):
        yield _expand_prefix(searcher, begun[0])
    # Only narrowed by words that are surely in the index as such; the text decides.
    for found in _LATIN.finditer(folded):
        split = searcher.words.split(found[0])
        # Not "v2" or "data库": what stands right beside letters, the index may hold as another
        # word.
        if split and len(found[0]) > 1 and not _CUT.match(folded, found.end()):
            # A plugin may keep a word as it is, beside its stem.
            yield {*split, found[0]}
    yield from ({one} for ch in _HAN.findall(folded) for one in searcher.words.split(ch))


def _expand_prefix(searcher: Searcher, begin: str) -> set[str]:
    """Return the words of the index that words beginning so may be held as.

    Raises:
        UsageError: there are too many.
    """
    found = set(islice(searcher.vocabulary(begin), MOST_BEGUN + 1))
    if len(found) > MOST_BEGUN:
        raise UsageError(
            f"'{begin}*' begins more than {MOST_BEGUN:,} words of this memory. Write more of it."
        )
    # A stem may be shorter than what was typed: "happily*" is held as "happi".
    return found | {begin[:end] + tail for end in range(1, len(begin)) for tail in _TAILS}

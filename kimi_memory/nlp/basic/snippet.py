"""The part of a text that answers a query, in whole sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import log

from kimi_memory.nlp.basic.cjk import HAN, simplify
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.nlp.basic.regex import regex
from kimi_memory.nlp.basic.sentences import Span, pieces, sentences

_HAN_WORD = regex(f"[{HAN}]+")
_LATIN_RUN = regex(rf"[^\W_{HAN}]+")
_TYPED = regex(r"[a-z]{1,2}:")


def snippet(text: str, words: Iterable[str], limit: int = 700) -> tuple[str, int, int]:
    """Return the run of sentences that holds the most of `words`, and its place.

    A text within `limit` is returned whole. A sentence longer than `limit` is cut at a
    clause, shown by "…"; the offsets are of the text itself, without the marks.

    Args:
        text: The text to quote from.
        words: Words as the keyword index holds them; Latin ones are matched as the
            beginning of a word, Chinese ones anywhere. Rare ones weigh more.
        limit: Most characters to return.
    """
    whole = text.strip()
    if len(whole) <= limit:
        first = len(text) - len(text.lstrip()) if whole else 0
        return whole, first, first + len(whole)
    spans = sentences(text)
    first, last = _find_best_span(text, _split_units(text, spans, limit), list(words), limit)
    head = "" if _is_start(spans, first) else "…"
    tail = "" if _is_end(spans, last) else "…"
    return head + text[first:last].strip() + tail, first, last


def _split_units(text: str, spans: list[Span], limit: int) -> list[Span]:
    room = max(1, limit - 2)
    return [
        piece
        for start, end in spans
        for piece in (
            [(start, end)] if end - start <= limit else pieces(text, start, end, max(1, room // 2))
        )
    ]


def _find_best_span(text: str, units: list[Span], words: list[str], limit: int) -> Span:
    held = _words_per_unit(text, units, words)
    weights = _weigh_words(held)
    best, span = (-1.0, -1.0), (units[0][0], units[0][1])
    cover: dict[str, int] = {}
    total, last, changed = 0.0, 0, True
    room = max(1, limit - 2)
    for first, (start, _) in enumerate(units):
        while last < len(units) and (units[last][1] - start <= room or last == first):
            if held[last]:
                changed, total = True, total + _count_words(cover, held[last], weights, 1)
            last += 1
        # Most sentences hold none of the words: what was not better then is not now.
        if changed:
            # Rounded: words counted in and out leave dust behind, by which a later span would win.
            score = (round(sum(weights[word] for word in cover), 6), round(total, 6))
            if score > best:
                best, span = score, (start, units[last - 1][1])
        changed = bool(held[first])
        if changed:
            total -= _count_words(cover, held[first], weights, -1)
    return span


def _count_words(
    cover: dict[str, int], words: Iterable[str], weights: Mapping[str, float], step: int
) -> float:
    """Count words in or out; return what they weigh."""
    for word in words:
        often = cover.get(word, 0) + step
        if often:
            cover[word] = often
        else:
            del cover[word]
    return sum(weights[word] for word in words)


def _words_per_unit(text: str, units: list[Span], words: list[str]) -> list[frozenset[str]]:
    """Return which words each unit holds."""
    tests = {word: _word_pattern(word) for word in words if word and not _TYPED.match(word)}
    if not tests:
        return [frozenset()] * len(units)
    if text.isascii():
        # What the whole of such a text lacks, no unit has: folding joins nothing at borders.
        whole = " ".join(text.lower().split())
        tests = {word: find for word, find in tests.items() if _loose_pattern(find).search(whole)}
    folded = [simplify(normalise(text[start:end])) for start, end in units]
    return [
        frozenset(word for word, pattern in tests.items() if pattern.search(part))
        for part in folded
    ]


class _Stem:
    """Finds the beginning of a Latin word.

    A look behind at all hanzi would take milliseconds to compile, for every word anew.
    """

    def __init__(self, source: str) -> None:
        self.source = re.compile(source)

    def match(self, text: str) -> re.Match[str] | None:
        """Return the match at the beginning of a text."""
        return self.source.match(text)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match that no Latin letter stands before."""
        found = self.source.search(text)
        while found and found.start() and _LATIN_RUN.match(text, found.start() - 1):
            found = self.source.search(text, found.start() + 1)
        return found


def _loose_pattern(found: re.Pattern[str] | _Stem) -> re.Pattern[str]:
    """Return a pattern that finds at least what this one does, wherever a text is cut."""
    return found.source if isinstance(found, _Stem) else found


@lru_cache(maxsize=1024)
def _word_pattern(word: str) -> re.Pattern[str] | _Stem:
    folded = simplify(normalise(word))
    if _HAN_WORD.fullmatch(folded):
        return re.compile(re.escape(folded))
    # Stems end in "i" where the word ends in "y".
    stem = re.escape(folded[:-1]) + "[iy]" if folded[-1:] == "i" else re.escape(folded)
    return _Stem(stem)


def _weigh_words(held: list[frozenset[str]]) -> dict[str, float]:
    often = Counter(word for words in held for word in words)
    return {
        # A single hanzi stands in many words by accident.
        word: (0.4 if len(word) == 1 else 1.0) * (1 + log(len(held) / n))
        for word, n in often.items()
    }


def _is_start(spans: list[Span], at: int) -> bool:
    return any(start == at for start, _ in spans)


def _is_end(spans: list[Span], at: int) -> bool:
    return any(end == at for _, end in spans)


def marks(text: str, words: Iterable[str]) -> list[Span]:
    """Return where words of a query stand in a text, in order, without overlaps.

    A Latin word is marked whole where one of `words` begins it; a single Chinese
    character only if it belongs to no longer word.
    """
    wanted = [simplify(normalise(word)) for word in words if word and not _TYPED.match(word)]
    han = [word for word in wanted if _HAN_WORD.fullmatch(word)]
    held = {ch for word in han if len(word) > 1 for ch in word}
    han = [word for word in han if len(word) > 1 or word not in held]
    latin = [_word_pattern(word) for word in wanted if not _HAN_WORD.fullmatch(word)]
    inside = {at for word in han for found in _find_all(word, simplify(text)) for at in found}
    inside |= {
        at
        for found in _LATIN_RUN.finditer(text)
        if any(pattern.match(simplify(normalise(found[0]))) for pattern in latin)
        for at in range(*found.span())
    }
    return _find_runs(sorted(inside))


def _find_all(word: str, text: str) -> Iterator[range]:
    at = text.find(word)
    while at >= 0:
        yield range(at, at + len(word))
        at = text.find(word, at + 1)


def _find_runs(places: list[int]) -> list[Span]:
    """Return the runs of neighbouring places."""
    found: list[Span] = []
    for at in places:
        if found and found[-1][1] == at:
            found[-1] = (found[-1][0], at + 1)
        else:
            found.append((at, at + 1))
    return found

"""Sentences of Chinese and English text, and how long a text is in tokens and in columns.

Tokens are estimated, as every model has a tokenizer of its own. The figures follow the rules
of thumb that model makers publish (English: 1 token is about 4 characters or 0.75 words;
Chinese: 0.6 tokens a character with vocabularies made for it, about 1 with older ones):

==========================  ================================================
Chinese, kana, Hangul       0.8 tokens a character
words in Latin letters      1 token for each 8 letters begun, so 1.2 to 1.3
                            a word of prose with its punctuation
digits                      1 token for each 3 begun
ASCII punctuation           1 token for each 2 that stand together
line breaks, indentation    1 token for each 4 breaks, each 16 spaces after
                            the first
other scripts, full-width   1 token for each 2 characters
punctuation
beyond the basic plane      2 tokens a character (emoji)
==========================  ================================================

The estimate never falls when text is added at the end, and the estimate of a whole
differs from the sum over its parts by at most 3 for each cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import ceil, log
from unicodedata import combining, east_asian_width

from kimi_memory.nlp.basic.patterns import HAN, keep_results, normalise, regex, simplify

_WIDE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_ASTRAL_HAN = "\U00020000-\U000323af"
_LATIN = (
    r"[A-Za-z\u00c0-\u024f]{1,8}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|[\r\n]{1,4}| [ \t]{1,16}|\t{1,16}"
)
_PIECE = regex(rf"{_LATIN}|[^\x00-\x7f\u00c0-\u024f{_WIDE}\U00010000-\U0010ffff]{{1,2}}")
# The same where nothing is wide; a large set of characters takes a millisecond to compile.
_NARROW_PIECE = regex(rf"{_LATIN}|[^\x00-\x7f\u00c0-\u024f]{{1,2}}")
_FIRST_WIDE = _WIDE[0]
_HAN = regex(f"[{_WIDE}{_ASTRAL_HAN}]+")
_ASTRAL = regex("[\U00010000-\U0001ffff\U000323b0-\U0010ffff]")

WIDE_COST = 0.8
"""Tokens of one Chinese, Japanese or Korean character."""


def estimate(text: str) -> int:
    """Return about how many tokens `text` costs; 0 where nothing is seen."""
    if text.isascii() or max(text) < _FIRST_WIDE:
        return len(_NARROW_PIECE.findall(text))
    pieces = len(_PIECE.findall(text))
    wide = sum(map(len, _HAN.findall(text)))
    return ceil(pieces + wide * WIDE_COST + 2 * len(_ASTRAL.findall(text)))


# A word with the blanks behind it, or one character of a script that is written without blanks.
_UNBROKEN = regex(r"[ \t]+|[^\s\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uffef]+|\S")
_NOT_FIRST = frozenset("，。、；：？！）》」』】〕”’…—·%),.;:?!]}»")
"""What never begins a line."""
_NOT_LAST = frozenset("（《「『【〔“‘([{«")
"""What never ends one."""


def count_columns(text: str) -> int:
    """Return how many columns a text takes: hanzi take two, accents none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def pad(text: str, columns: int) -> str:
    """Return a text with blanks behind it, up to so many columns."""
    return text + " " * (columns - count_columns(text))


def cut(text: str, columns: int) -> str:
    """Return a text of at most so many columns; what is cut off ends in an ellipsis."""
    if count_columns(text) <= columns:
        return text
    kept, used = "", 1
    for one in text:
        used += count_columns(one)
        if used > columns:
            break
        kept += one
    return f"{kept.rstrip()}…"


def wrap(line: str, columns: int, hang: int | None = None) -> Iterator[str]:
    """Yield the lines of one line, broken between words or hanzi, indented as it was and more.

    Args:
        line: without a line feed.
        columns: how wide the lines may be; 0 for any width.
        hang: where the lines behind the first begin; by default two columns behind its indentation.
    """
    if not columns or count_columns(line) <= columns:
        yield line
        return
    start = len(line) - len(line.lstrip())
    hanging = " " * min(start + 2 if hang is None else hang, columns // 2)
    shown, used = line[:start], start
    for piece in _join_pieces(line[start:]):
        wide = count_columns(piece.rstrip())
        if used + wide > columns and shown.strip():
            yield shown.rstrip()
            shown, used = hanging, len(hanging)
        # An address longer than a line is broken by the terminal, so that it can be copied whole.
        shown += piece
        used += count_columns(piece)
    yield shown.rstrip()


def _join_pieces(text: str) -> Iterator[str]:
    """Yield what stays together: a word, or a character with the marks around it."""
    held = ""
    for piece in _UNBROKEN.findall(text):
        is_bound = piece.isspace() or piece[0] in _NOT_FIRST or (held and held[-1] in _NOT_LAST)
        if held and not is_bound:
            yield held
            held = ""
        held += piece
    if held:
        yield held


Span = tuple[int, int]

_CLOSING = "”’\"'」』）)】》〉\\]*_"
# What may end a sentence: a Chinese mark or a run of Latin marks, with what closes
# after it, or the end of a line.
_END = regex(
    rf"[。！？；｡]+[。！？；…]*[{_CLOSING}]*|…+[{_CLOSING}]*"
    rf"|(?<![.!?])[.!?]+[{_CLOSING}]*(?=\s|$|[\u3400-\u9fff])|\n"
)
# The same for ASCII; a large set of characters takes a millisecond to compile.
_ASCII_END = regex(r"""(?<![.!?])[.!?]+["')\]*_]*(?=\s|$)|\n""")
_ABBREVIATION = regex(
    r"(?:\b(?:mr|mrs|ms|dr|prof|sr|jr|st|mt|vs|etc|e\.g|i\.e|cf|al|no|nos|fig|figs|eq|sec|ch|pp?|"
    r"vol|ed|eds|inc|ltd|co|corp|dept|approx|est|min|max|a\.m|p\.m|u\.s|u\.k|ph\.d|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|(?<![^\W_])[A-Z])$",
    re.IGNORECASE,
)
_MARKER = regex(r"\s*(?:>\s*)*(?:\d{1,9}|[A-Za-z]|[ivx]{1,5})$")
_CLAUSE = frozenset("，、,;:：）)")
_CLOSED = regex(
    r"^\s*[)）\]】]|^[^(（\[【]{0,400}?(?<![:;=^-])(?:[)）\]】](?=[，。、；：,;.])|(?<=[^\W\d][^\W\d])[)）\]】])"
)
"""A closing bracket before any that opens, but for the number of an item and for a smile."""


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, in order, without outer white space.

    Every line ends a sentence. Abbreviations, initials, decimals, versions, addresses
    and the numbers of list items do not.
    """
    return list(_find_spans(text))


@keep_results(4096)  # Each reader of a session cuts its turns again.
def _find_spans(text: str) -> tuple[Span, ...]:
    spans, start = [], 0
    for found in (_ASCII_END if text.isascii() else _END).finditer(text):
        if found[0] == "\n" or _is_sentence_end(text, start, found):
            spans.append(_trim_span(text, start, found.end()))
            start = found.end()
    spans.append(_trim_span(text, start, len(text)))
    return tuple((first, last) for first, last in spans if first < last)


def is_remnant(text: str) -> bool:
    """Whether a text closes a bracket that it did not open: it is the end of a broken line."""
    return _CLOSED.match(text) is not None


def pieces(text: str, start: int, end: int, limit: int) -> list[Span]:
    """Cut ``text[start:end]`` into spans of at most `limit` characters, at clauses if possible.

    No cut falls inside what a reader sees as one character, unless that is itself
    longer than `limit`.
    """
    spans = []
    while end - start > limit:
        at = _find_cut(text, start, start + limit)
        spans.append((start, at))
        start = at
    return [*spans, (start, end)] if start < end else spans


def _is_sentence_end(text: str, start: int, found: re.Match[str]) -> bool:
    mark = found[0][0]
    after = text[found.end() : found.end() + 40].lstrip()
    # A small letter goes on with the sentence: "Yahoo! is slow", "v2.1 … and later".
    if mark in ".!?…" and after[:1].islower():
        return False
    if mark != "." or found[0].startswith(".."):
        return True
    before = text[max(start, found.start() - 24) : found.start()]
    if _ABBREVIATION.search(before):
        # "etc." and its like may end a sentence, but then nobody can tell.
        return not after
    return not _MARKER.fullmatch(text[start : found.start()][:40])


def _trim_span(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _find_cut(text: str, start: int, end: int) -> int:
    places = range(end, start + (end - start) // 2, -1)
    ends = (at for at in places if text[at - 1] in _CLAUSE or text[at - 1].isspace())
    at = next(ends, end)
    while at > start + 1 and _is_inside_character(text, at):
        at -= 1
    return end if at == start + 1 else at


def _is_inside_character(text: str, at: int) -> bool:
    """Whether a reader sees the characters on both sides of a position as one."""
    if at >= len(text):
        return False
    here, before = text[at], text[at - 1]
    return (
        unicodedata.category(here)[0] == "M"
        or here == "\u200d"
        or before == "\u200d"
        or "\U0001f3fb" <= here <= "\U0001f3ff"
        or "\ud800" <= before <= "\udbff"
        or ("\U0001f1e6" <= here <= "\U0001f1ff" and "\U0001f1e6" <= before <= "\U0001f1ff")
        or (before == "\r" and here == "\n")
    )


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
    head = "" if any(start == first for start, _ in spans) else "…"
    tail = "" if any(end == last for _, end in spans) else "…"
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

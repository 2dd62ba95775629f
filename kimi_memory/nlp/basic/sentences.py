"""Sentences of Chinese and English text, as spans."""

from __future__ import annotations

import re
import unicodedata

from kimi_memory.nlp.basic.regex import regex

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


def sentences(text: str) -> list[Span]:
    """Return the spans of the sentences of `text`, in order, without outer white space.

    Every line ends a sentence. Abbreviations, initials, decimals, versions, addresses
    and the numbers of list items do not.
    """
    spans, start = [], 0
    for found in (_ASCII_END if text.isascii() else _END).finditer(text):
        if found[0] == "\n" or _is_sentence_end(text, start, found):
            spans.append(_trim_span(text, start, found.end()))
            start = found.end()
    spans.append(_trim_span(text, start, len(text)))
    return [(first, last) for first, last in spans if first < last]


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
    at = next((at for at in places if _ends_clause(text[at - 1])), end)
    while at > start + 1 and _is_inside_character(text, at):
        at -= 1
    return end if at == start + 1 else at


def _ends_clause(letter: str) -> bool:
    return letter in _CLAUSE or letter.isspace()


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

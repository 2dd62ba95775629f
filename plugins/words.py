"""Words of Chinese and English text, the same for notes and for queries.

Why it exists: keyword search is only as good as its words, and nothing off the shelf
finds 部署 in 我们周五部署 and "deployed" for "deployment" at once. Chinese needs no
dictionary: single characters and overlapping pairs find what a segmenter finds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import chain, pairwise

from Stemmer import Stemmer

from kimi_memory import hookimpl
from kimi_memory.nlp.basic.patterns import HAN, is_han, regex, simplify
from kimi_memory.nlp.dates.date_terms import date_words

# Scripts that are written without spaces, Korean among them for its endings.
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u1100-\u11ff\uac00-\ud7a3"
)
# Letters, digits and their marks; wide ranges, because a small class is a fast one.
_LETTER = (
    "[A-Za-z0-9\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02c1\u0300-\u037d\u037f-\u0dff"
    "\u0f00-\u0fff\u10a0-\u10ff\u1200-\u177f\u1800-\u1fff\u2c00-\u2dff\ua000-\uabff]"
)
# 1,200.50 is one number; the 1,2,3 of a list are three.
_AMOUNT = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)"


def _run_pattern(letter: str) -> str:
    return rf"{_AMOUNT}|{letter}+(?:[._@/'’\-]{{1,3}}{letter}+)*(?:\+\+|#(?!\w))?"


_ASCII_RUN = regex(_run_pattern("[A-Za-z0-9]"))
_RUN = regex(rf"{_run_pattern(_LETTER)}|[{HAN}]+|[{_PAIRED}]+")
_PAIRED_RUN = regex(f"[{_PAIRED}]")
_POSSESSIVE = regex(r"['’]s?$")
_CONTRACTED = regex(r"(?:n['’]t|['’](?:ll|re|ve|d|m|s))$")
_JOINT = regex(r"[._'’\-]+")
_SEGMENT = regex(r"[/@]+")
_PLURAL = regex(r"[A-Z]{2,}s")
_HUMP = regex(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_VERSION = regex(r"v?(\d+(?:\.\d+)+)")

_ENGLISH_STOP = (
    "a about after again all also am an and any are as at be because been before being both but by "
    "can could did do does doing done for from further had has have having he her here hers him "
    "his how i if in into is it its itself just me more most my myself no nor not of off on once "
    "only or other our ours out over own same shall she should so some such than that the their "
    "theirs them themselves then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours yourself "
    "cannot don doesn didn isn wasn aren weren won wouldn couldn shouldn ll ve re http https www"
)
_HAN_STOP_CHARS = (
    "的了是在吗呢吧啊呀嘛着得地也就都很和与及或之而把被让从对这那个些么我你他她它们有到为以其于"
)
# A longer run of letters is data, such as a hash or a line of base64.
_LONGEST = 80
_STOP = frozenset(_ENGLISH_STOP.split())
_HAN_STOP = frozenset(_HAN_STOP_CHARS)


@hookimpl(trylast=True)
def split_words(text: str) -> list[str]:
    """Split on script borders: stems of Latin words, single hanzi and pairs, typed dates."""
    if text.isascii():
        return [
            *chain.from_iterable(map(_split_latin, _ASCII_RUN.findall(text))),
            *date_words(text),
        ]
    # The Ogham space is the one blank that stands among letters.
    plain = unicodedata.normalize("NFKC", text).replace("\u1680", " ")
    return [*chain.from_iterable(map(_words_of_run, _RUN.findall(plain))), *date_words(plain)]


def _words_of_run(run: str) -> Iterable[str]:
    """Return the words of a run in one script."""
    if run[0] < "\u0e00":
        return _split_latin(run)
    if is_han(run[0]):
        return _split_han(simplify(run))
    return _split_pairs(run) if _PAIRED_RUN.match(run) else _split_latin(run)


def _split_han(run: str) -> list[str]:
    """Return single characters and pairs, without what only holds a sentence together."""
    if len(run) == 1:
        return [] if run in _HAN_STOP else [run]
    singles = [ch for ch in run if ch not in _HAN_STOP]
    # A pair of two stop characters says nothing; one of them may still make a word: 目的, 了解.
    pairs = [a + b for a, b in pairwise(run) if a not in _HAN_STOP or b not in _HAN_STOP]
    return singles + pairs


def _split_pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]


@lru_cache(maxsize=1 << 14)
def _split_latin(run: str) -> tuple[str, ...]:
    """Return the words of a run without spaces: a word's stem, or an identifier and its parts."""
    if "," in run:
        return (run.replace(",", ""),)
    word = _POSSESSIVE.sub("", _strip_accents(run))
    lower = word.lower()
    if not lower or lower in _STOP:
        return ()
    if lower.isalpha() and (word[1:].islower() or lower == word or _PLURAL.fullmatch(word)):
        return (_stem_word(lower),)
    version = _VERSION.fullmatch(lower)
    if version:
        return tuple(dict.fromkeys([lower, version[1]]))
    whole = [] if _CONTRACTED.search(lower) or len(lower) > _LONGEST else [lower]
    parts = [
        _stem_word(part) for part in _identifier_parts(word) if part not in _STOP and part != lower
    ]
    return tuple(dict.fromkeys(whole + parts))


def _strip_accents(word: str) -> str:
    """Return the word without accents, so that cafe finds café."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFD", word)
    return "".join(ch for ch in parts if not "\u0300" <= ch <= "\u036f")


def _identifier_parts(word: str) -> list[str]:
    """Return the parts of an identifier in lower case: file names, words, humps."""
    found = []
    for segment in _SEGMENT.split(_CONTRACTED.sub("", word)):
        for part in _JOINT.split(segment):
            # What is longer is a digest or encoded bytes; its humps are noise.
            humps = _HUMP.findall(part) if len(part) <= _LONGEST // 2 else []
            found += [part, *(hump for hump in humps if len(hump) > 1)]
        found.append(segment)
    return [part.lower() for part in found if _is_worth_indexing(part)]


def _is_worth_indexing(part: str) -> bool:
    """Whether a part of an identifier is worth a word: one Latin letter says nothing."""
    return 0 < len(part) <= _LONGEST and (len(part) > 1 or not ("A" <= part <= "z"))


def _stem_word(word: str) -> str:
    return str(_load_stemmer().stemWord(word)) if word.isalpha() else word


@cache
def _load_stemmer() -> Stemmer:
    # The words are cached here already, in the form they come in.
    return Stemmer("english", 0)

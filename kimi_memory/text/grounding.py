"""Whether a statement says no more than the words it rests on."""

from __future__ import annotations

from kimi_memory.text.han import HAN, simplify
from kimi_memory.text.normal import normalise
from kimi_memory.text.regex import regex

ENOUGH = 0.6
"""So much of a statement's words must stand in its evidence; the rest is grammar."""

_FIGURE = regex(r"\d+(?:[.:/-]\d+)*")
_WORD = regex(r"[a-z][a-z0-9+#'’-]*")
_HAN = regex(f"[{HAN}]")
_ENDING = regex(r"(?:'s|’s|ies|es|ed|ing|s|d|e)$")
# Capitals inside a word, or at its start where no sentence starts.
_NAME = regex(
    r"(?<![A-Za-z])[A-Z][A-Za-z0-9+#]*[A-Z0-9][A-Za-z0-9+#]*|(?<=[^.!?:\n] )[A-Z][a-z]{2,}"
)
_SMALL_WORDS = (
    "a an the is are was were be been am do does did has have had of to in on at for by with and "
    "or that this it its i you we they he she my your our their me us them will would should must "
    "can could please just really very also so then now not no as from when because user person "
    "team always never prefer prefers use uses used using like likes want wants decided decision"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_SMALL_HAN = frozenset(
    "的了是在也就都很呢吗啊吧呀嘛地得着这那请我你他她它们用户团队和与或要会把被为以及使定"
)


def is_grounded(statement: str, evidence: str) -> bool:
    """Whether every figure and name, and most words, of a statement stand in its evidence.

    It compares words, not meaning: a statement made of other words than its evidence is
    refused, however true. Polarity is not looked at.
    """
    told, proof = _fold(statement), _fold(evidence)
    if not set(_FIGURE.findall(told)) <= set(_FIGURE.findall(proof)):
        return False
    stems = _stems(proof)
    if not {_stem(_fold(name)) for name in _NAME.findall(statement)} <= stems:
        return False
    words = _stems(told)
    # In a Chinese sentence every other word is the name of something.
    if _HAN.search(told) and not words <= stems:
        return False
    han = [char for char in _HAN.findall(told) if char not in _SMALL_HAN]
    known = sum(word in stems for word in words) + sum(char in proof for char in han)
    count = len(words) + len(han)
    return count > 0 and known >= ENOUGH * count


def _fold(text: str) -> str:
    return simplify(normalise(text))


def _stems(text: str) -> set[str]:
    return {_stem(word) for word in _WORD.findall(text) if word not in _SMALL}


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 4 else word

"""What a statement says of others: what it depends on, what caused it, which things it names.

A word such as "needs" says little alone, so these forms only find what may be named; whether
another statement is meant is decided by its words.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.similarity import words_of
from kimi_memory.nlp.dates.vocabulary import MONTH_NAMES, WEEKDAY_NAMES
from kimi_memory.nlp.rules.cues import split_reason

ENOUGH = 0.6
"""This part of the words of a phrase must stand in the statement it means."""
FEWEST = 2
"""So many words in common, or the name of one thing."""
_LONGEST = 10
"""Words of a phrase that are looked at: what follows speaks of something else."""
_SENTENCE = regex(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_NOT = regex(
    r"(?:\bnot|n['’]t|\bnever|\bno longer|\bnothing|\bwithout|不再?|没有?|无需|不用|并非)"
    r"[^,.;，。；]{0,12}$"
)
_NEEDS = (
    regex(
        r"\b(?:depend(?:s|ed|ing)?|rel(?:y|ies|ied|ying)|hinge[sd]?|builds?|built|based|rests?)"
        r" (?:up)?on\b(?P<what>[^.;,]+)"
    ),
    regex(r"\b(?:require[sd]?|needs?|presupposes?)\b(?P<what>[^.;,]+)"),
    regex(
        r"\b(?:works?|runs?|starts?|possible) only (?:with|when|if|after|once)\b(?P<what>[^.;,]+)"
    ),
    regex(r"\bonly (?:works?|runs?|starts?) (?:with|when|if|after|once)\b(?P<what>[^.;,]+)"),
    regex(r"(?:依赖于?|取决于|基于|离不开|有赖于|依靠|前提是)(?P<what>[^，。；、！？]+)"),
    regex(r"(?:必须|需要|得|要)先(?P<what>[^，。；、！？]+)"),
    regex(r"以(?P<what>[^，。；、！？]{2,30}?)为(?:基础|前提|依据)"),
)
_AND = regex(r" (?:and|but|so) ")
_SMALL_WORDS = (
    "a an the is was were be been are and or of to in on at for with by it its that this these "
    "those had has have not no so as we i they you he she from too very our my your first up "
    "than then there when if once after only can will must do does did"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_LATIN = regex(r"[A-Za-z][\w.+#/-]*\w")
_MARKED = regex(r"[a-z][A-Z]|[A-Z]{2}|\d|\w[._#+]\w")
_CAPITAL = regex(r"(?<=[\w,;:] )[A-Z][\w-]{2,}")
_DAYS = frozenset((*WEEKDAY_NAMES, *MONTH_NAMES))


class Says(StrEnum):
    """How one statement bears on another."""

    NEEDS = "needs"
    CAUSE = "cause"


class Phrase(NamedTuple):
    """Words of a statement that name another."""

    says: Says
    words: str


def phrases_of(text: str) -> Iterator[Phrase]:
    """Yield what a statement names as what it needs, and as its cause."""
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        # "Does A depend on B?" says of neither that it does.
        if sentence.endswith(("?", "？")):
            continue
        for form in _NEEDS:
            for found in form.finditer(sentence):
                if not _NOT.search(sentence[: found.start()]):
                    # "needs Redis and runs at night": what follows "and" is another claim.
                    yield Phrase(Says.NEEDS, _AND.split(found["what"], maxsplit=1)[0].strip())
        _, reason = split_reason(sentence)
        if reason:
            yield Phrase(Says.CAUSE, reason.strip())


def content_of(text: str) -> frozenset[str]:
    """Return the words of a text that say something."""
    return words_of(text) - _SMALL


def share_meant(phrase: str, text: str) -> float:
    """Return which part of a phrase a statement holds; 0 where it is not what the phrase means."""
    words = content_of(" ".join(phrase.split()[:_LONGEST]))
    shared = words & content_of(text)
    named = {name.casefold() for name in names_in(phrase)} & shared
    if not words or (len(shared) < FEWEST and not named):
        return 0.0
    share = len(shared) / len(words)
    return share if share >= ENOUGH else 0.0


def names_in(text: str) -> frozenset[str]:
    """Return the things a text calls by name, folded: identifiers, products, proper names."""
    han = any("\u4e00" <= char <= "\u9fff" for char in text)
    latin = _LATIN.findall(text)
    # Among Chinese characters a Latin word is a name; else its form or its capital says so.
    marked = (word for word in latin if (han and len(word) > 2) or _MARKED.search(word))
    found = {word.casefold() for word in (*marked, *_CAPITAL.findall(text))}
    return frozenset(found - _DAYS - _SMALL)


_WHY = regex(
    r"(?i)\bwhy\b|\bhow come\b|\b(?:cause[sd]?|reasons?)\b|\bl(?:ea|e)ds? to\b|\bbecause of what\b"
    r"|\bresult(?:s|ed)? (?:in|from)\b|为什么|为何|为啥|怎么会|原因|导致|造成|缘故|后果"
)
_ON_WHAT = regex(
    r"(?i)\bdepend(?:s|ed|ent|ency|encies)?\b|\brel(?:y|ies) (?:up)?on\b|\brequire[sd]?\b"
    r"|\bprerequisites?\b|\bbreaks? (?:if|when)\b|\bneed(?:s|ed)? (?:first|before)\b"
    r"|依赖|取决于|前提|基于什么|先决条件"
)
_BESIDE = regex(
    r"(?i)\b(?:related|relates?|connected|linked|similar|associated) (?:to|with)\b|\bsimilar\b"
    r"|相关|有关|类似|相似|关联|有什么联系"
)
_AGAINST = regex(
    r"(?i)\bcontradict|\bconflict(?:s|ing)?\b|\binconsisten|\bdisagree|矛盾|冲突|不一致"
)
_ASKED = (
    (_WHY, ("CAUSED_BY", "CAUSES")),
    (_ON_WHAT, ("DEPENDS_ON", "NEEDED_BY")),
    (_BESIDE, ("RELATES_TO", "SIMILAR_TO", "DEPENDS_ON", "NEEDED_BY", "CAUSED_BY", "CAUSES")),
    (_AGAINST, ("CONTRADICTS",)),
)


def relations_asked(question: str) -> frozenset[str]:
    """Return the relations a question asks for, as they read from either end; most ask for none."""
    return frozenset(rel for form, rels in _ASKED if form.search(question) for rel in rels)

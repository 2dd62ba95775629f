"""How alike short texts are, and what a statement says of others: causes, needs, things it names.

A word such as "needs" says little alone, so these forms only find what may be named; whether
another statement is meant is decided by its words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from math import ceil, sqrt
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import HAN, normalise, regex, simplify
from kimi_memory.nlp.dates.vocabulary import MONTH_NAMES, WEEKDAY_NAMES
from kimi_memory.nlp.rules.cues import split_reason

CEILING = 0.9
"""Most that texts with different claims can reach, however alike their letters are."""

_NOT = regex(r"(?<=\bca)nnot\b|(?<=\w)n['’]t\b|\b(?:never|no longer|without|no)\b")
_PIECE = regex(rf"[{HAN}]|\d+(?:[.:/-]\d+)*%?|[^\W\d_{HAN}]+(?:['’][^\W\d_]+)?|[+\-<>=#$€¥￥]|\w")
# Words whose presence changes the tone and not the claim.
_SMALL_WORDS = (
    "a an the is are was were be been am do does did has have had of to in on at for with and "
    "that this it its i you we they he she please just really very also so then now 的 了 是 在 "
    "也 就 都 很 呢 吗 啊 吧 呀 嘛 地 得 着 这 那 请 - ="
)
_SMALL = frozenset(_SMALL_WORDS.split())
_ENDING = regex(r"(?<=\w{3})(?:'s|’s|es|s|ing|ed)$")
_TURNS = frozenset({"not", *"不没别无非未勿"})
"""Words that turn a claim round."""


def similarity(a: str, b: str) -> float:
    """Return from 0 to 1 how alike two texts are; 1.0 when only case and spaces differ.

    The cosine of their character pairs and triples. Where the claims differ (a number,
    a name, a negation, who does what) it stays at or under `CEILING`.
    """
    first, second = _fold_text(a), _fold_text(b)
    if first == second:
        return 1.0
    cosine = _gram_cosine(first, second)
    return cosine if cosine <= CEILING or same_claim(a, b) else CEILING


def same_claim(a: str, b: str) -> bool:
    """Whether two texts say the same words in the same order, small words aside.

    Strict on purpose: it guards against taking "deploy on 8080" for "deploy on 8081"
    or 不喜欢 for 喜欢, so two wordings of one claim may count as different.
    """
    return _claim_words(_fold_text(a)) == _claim_words(_fold_text(b))


def repeats_claim(text: str, claim: str) -> bool:
    """Whether a text says what a claim says, in any order and with more around it.

    Numbers and polarity must be the same; a claim of one word must be all of the text.
    """
    said, wanted = Counter(_claim_words(_fold_text(text))), Counter(_claim_words(_fold_text(claim)))
    if len(wanted) < 2:
        return bool(wanted) and said == wanted
    figures = [{word for word in words if word[0].isdigit()} for words in (said, wanted)]
    # Two negations say what none says.
    turned = [sum(words[word] for word in _TURNS) % 2 for words in (said, wanted)]
    same = figures[0] == figures[1] and turned[0] == turned[1]
    # "main for the main branch" is not said by "stable for the main branch".
    return same and all(said[word] >= n for word, n in wanted.items() if word not in _TURNS)


def _fold_text(text: str) -> str:
    return simplify(normalise(text))


@lru_cache(maxsize=8192)
def _count_grams(text: str) -> tuple[Counter[str], float]:
    padded = f" {text} "
    grams = Counter(padded[i : i + 2] for i in range(len(padded) - 1))
    grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return grams, sqrt(sum(n * n for n in grams.values()))


def _gram_cosine(first: str, second: str) -> float:
    if not first or not second:
        return 0.0
    (few, few_norm), (many, many_norm) = sorted(
        (_count_grams(first), _count_grams(second)), key=lambda grams: len(grams[0])
    )
    product = sum(n * many[gram] for gram, n in few.items() if gram in many)
    return min(1.0, product / (few_norm * many_norm))


@lru_cache(maxsize=8192)
def _claim_words(text: str) -> tuple[str, ...]:
    plain = _NOT.sub(" not ", text)
    return tuple(_ENDING.sub("", word) for word in _PIECE.findall(plain) if word not in _SMALL)


# Two sets that share a given part of their words must share one of their rarest: so each text
# is looked up by the few rarest of its words only (prefix filtering, as in Bayardo, Ma and
# Srikant, "Scaling Up All Pairs Similarity Search", 2007). No pair is missed as long as no word
# is the rarest of more than so many texts in a row; beyond, the latest are compared, so that
# time stays near-linear for stores of one repeated phrase.
REACH = 24
"""With so many earlier texts of the same rare word a text is compared."""

_WORD = regex(rf"[^\W_{HAN}]+(?:[.:][^\W_{HAN}]+)*|[{HAN}]+")
# Two texts that begin alike so long are alike; whole documents would take seconds.
_LONGEST = 4000


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text: Latin ones and numbers whole, Chinese as pairs."""
    found: set[str] = set()
    for word in _WORD.findall(simplify(normalise(text[:_LONGEST]))):
        if "\u3400" <= word[0] <= "\u9fff" and len(word) > 1:
            found.update(word[at : at + 2] for at in range(len(word) - 1))
        else:
            found.add(word)
    return frozenset(found)


def overlapping(texts: Sequence[str], least: float) -> Iterator[tuple[int, int]]:
    """Yield the positions of texts that share at least the part `least` of their words.

    The part is that of the words of either (Jaccard); the earlier text stands first.
    """
    sets = [words_of(text) for text in texts]
    often = Counter(word for words in sets for word in words)
    index: dict[str, list[int]] = defaultdict(list)
    for here, words in enumerate(sets):
        rare = sorted(words, key=lambda word: (often[word], word))
        prefix = rare[: len(rare) - ceil(least * len(rare)) + 1]
        near = dict.fromkeys(j for word in prefix for j in index[word][-REACH:])
        for there in sorted(near):
            shared = len(words & sets[there])
            if shared >= least * (len(words) + len(sets[there]) - shared):
                yield there, here
        for word in prefix:
            index[word].append(here)


ENOUGH = 0.6
"""This part of the words of a phrase must stand in the statement it means."""
FEWEST = 2
"""So many words in common, or the name of one thing."""
_LONGEST_PHRASE = 10
"""Words of a phrase that are looked at: what follows speaks of something else."""
_SENTENCE = regex(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_DENIES = regex(
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
_IDLE_WORDS = (
    "a an the is was were be been are and or of to in on at for with by it its that this these "
    "those had has have not no so as we i they you he she from too very our my your first up "
    "than then there when if once after only can will must do does did"
)
_IDLE = frozenset(_IDLE_WORDS.split())
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
                if not _DENIES.search(sentence[: found.start()]):
                    # "needs Redis and runs at night": what follows "and" is another claim.
                    yield Phrase(Says.NEEDS, _AND.split(found["what"], maxsplit=1)[0].strip())
        _, reason = split_reason(sentence)
        if reason:
            yield Phrase(Says.CAUSE, reason.strip())


def content_of(text: str) -> frozenset[str]:
    """Return the words of a text that say something."""
    return words_of(text) - _IDLE


def share_meant(phrase: str, text: str) -> float:
    """Return which part of a phrase a statement holds; 0 where it is not what the phrase means."""
    words = content_of(" ".join(phrase.split()[:_LONGEST_PHRASE]))
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
    return frozenset(found - _DAYS - _IDLE)


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

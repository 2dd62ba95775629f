"""Which of many short texts share most of their words, without comparing all with all.

Two sets that share a given part of their words must share one of their rarest: so each
text is looked up by the few rarest of its words only (prefix filtering, as in Bayardo,
Ma and Srikant, "Scaling Up All Pairs Similarity Search", 2007). No pair is missed as
long as no word is the rarest of more than `REACH` texts in a row; beyond, the latest
are compared, so that time stays near-linear for stores of one repeated phrase.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil

from kimi_memory.nlp.basic.cjk import HAN, simplify
from kimi_memory.nlp.basic.normalize import normalise
from kimi_memory.nlp.basic.regex import regex

REACH = 24
"""With so many earlier texts of the same rare word a text is compared."""

_WORD = regex(rf"[^\W_{HAN}]+(?:[.:][^\W_{HAN}]+)*|[{HAN}]+")
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

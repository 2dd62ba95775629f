"""Relevance: how likely it is that a memory speaks to a prompt at all.

The scores of hits compare rows of one memory with each other; the best row of any memory
has a good one. Whether a prompt has to do with the memory is asked apart, of

- how much of what the prompt says the best row and its neighbours hold, where words that
  any text may say count little, and a word the memory lacks counts in full;
- how often the memory speaks of the shared words: a topic, not a chance;
- how the prompt is framed: own affairs, a known speaker, or what anybody could ask;
- names that the memory never heard;
- the size of the memory: a large one shares words with everything.

The weights are those of a logistic regression over prompts in both languages, on memories of
25 to 10,000 turns; see ``benchmarks/quiet.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kimi_memory.domain.search_types import Query
from kimi_memory.index.searcher import Bools, Floats, Ints, Searcher
from kimi_memory.nlp.basic.common_words import commonness
from kimi_memory.nlp.rules.framing import Framing, asks_the_world, names_inside, read_framing
from kimi_memory.recall.bm25 import NEARBY, WINDOW, notes_beside_talk
from kimi_memory.recall.conversation import Question

SIZES = (150, 10_000)
"""A smaller memory counts as a part of one so large: that a word stands in it once or twice
tells nothing of how rare it is. A larger one shares no more words with a prompt."""
TYPED = 0.3
"""What a day or a month tells of a topic."""
HAN, PAIR = 0.3, 0.5
"""What a single character and a pair tell: pairs overlap, and cross the borders of words."""
SMOOTH = 0.08
"""Keeps a prompt of nothing but common words from being covered by one of them."""
MOST_TOPIC, MOST_STRANGERS = 1.5, 2
FEW = 8
"""A memory of fewer turns and cards is new."""
MIDDLE = 6.9
"""Logarithm of about a thousand rows."""


class Weights(NamedTuple):
    """What each sign adds to the log odds."""

    cover: float = 5.1
    topic: float = 13.9
    asks: float = 8.8
    tells: float = -2.5
    known: float = 2.1
    world: float = -4.3
    stranger: float = -4.3
    size: float = -3.5
    few: float = 22.0
    """Set by hand: what was said once or twice is no topic yet, so only cover can tell."""
    bias: float = -10.6


class Shared(NamedTuple):
    """What each of some rows shares with a prompt."""

    cover: Floats
    """Share of what the prompt says, 0 to 1, of a row and its neighbours."""
    topic: Floats
    """How often the memory speaks of the words that a row shares."""


class Signs(NamedTuple):
    """What speaks for and against a memory having to do with a prompt."""

    cover: float
    """Share of what the prompt says that the best row and its neighbours hold, 0 to 1."""
    topic: float
    """How often the memory speaks of what a row shares with the prompt."""
    framing: Framing
    """What the prompt says of its writer."""
    known: bool
    """It names somebody who speaks in the memory."""
    world: bool
    """It is framed as anybody's."""
    strangers: int
    """Names in it that the memory never heard."""
    size: float
    """Logarithm of the number of rows, about 0 for a thousand."""
    few: float = 0.0
    """How new the memory is: 1 for a single turn or card, 0 from `FEW` on."""


WEIGHTS = Weights()


def relevant_rows(
    searcher: Searcher, question: Question, query: Query, rows: list[int]
) -> list[int]:
    """Return the rows where they have to do with a prompt; else none.

    Args:
        searcher: the memory.
        question: the prompt as scoring sees it.
        query: the prompt, and how likely the memory must have to do with it.
        rows: those that rank best.
    """
    if not rows:
        return rows
    shared = _measure_shared(searcher, question, rows)
    if likelihood(read_signs(searcher, question, query.text, shared)) >= query.min_relevance:
        return rows
    return []


def likelihood(signs: Signs) -> float:
    """Return how likely it is, 0 to 1, that a memory has to do with a prompt."""
    odds = (
        WEIGHTS.bias
        + WEIGHTS.cover * signs.cover
        + WEIGHTS.topic * signs.topic
        + WEIGHTS.asks * (signs.framing is Framing.ASKS)
        + WEIGHTS.tells * (signs.framing is Framing.TELLS)
        + WEIGHTS.known * signs.known
        + WEIGHTS.world * signs.world
        + WEIGHTS.stranger * signs.strangers
        + WEIGHTS.size * signs.size
        + WEIGHTS.few * signs.few * signs.cover
    )
    return 1.0 / (1.0 + math.exp(-odds))


def read_signs(searcher: Searcher, question: Question, prompt: str, shared: Shared) -> Signs:
    """Return what speaks for and against."""
    return Signs(
        float(shared.cover.max()),
        min(float(shared.topic.max()), MOST_TOPIC),
        read_framing(prompt),
        bool(question.names),
        asks_the_world(prompt),
        min(_count_unknown_names(searcher, prompt), MOST_STRANGERS),
        math.log(min(_document_count(searcher), SIZES[1])) - MIDDLE,
        max(0.0, 1.0 - math.log(max(1, _said_rows(searcher))) / math.log(FEW)),
    )


def _document_count(searcher: Searcher) -> int:
    """Return how many rows count, restatements of talk aside."""
    count = searcher.once(
        "documents", lambda: int((searcher.alive & ~notes_beside_talk(searcher)).sum())
    )
    return max(SIZES[0], count)


def _said_rows(searcher: Searcher) -> int:
    """Return how many turns and cards there are; a new memory has pages of its own."""
    kinds = searcher.column("kind")
    return int((searcher.alive & kinds.among(("turn", "card"))).sum())


def _measure_shared(searcher: Searcher, question: Question, rows: Sequence[int]) -> Shared:
    """Return what each row shares with a prompt."""
    size, scratch = _document_count(searcher), np.zeros(len(searcher), dtype=bool)
    places, near = _neighbour_places(searcher, rows)
    rarest = math.log(1 + (size + 0.5) / 0.5)
    asked, common = SMOOTH, commonness()
    held, topic = np.zeros(len(rows)), np.zeros(len(rows))
    across = _pairs_across_words(searcher, [term.word for term in question.terms])
    for term in question.terms:
        if term.word in across:
            continue
        share = (1.0 - common.get(term.word, 0.0)) * _word_weight(term.word)
        said, count = _word_presence(searcher, places, term.word, scratch)
        for echo in term.echoes:
            for word in echo.words:
                other, _ = _word_presence(searcher, places, word, scratch)
                said = np.maximum(said, other * echo.weight)
        # In a small memory a word may stand in more rows than it counts for.
        rarity = math.log(1 + max(0.5, size - count + 0.5) / (count + 0.5)) / rarest
        # A word that the memory never heard speaks against it in full.
        asked += share * (rarity if count else 1.0)
        beside = NEARBY * ((said > 0) & near).any(axis=0)
        held += share * rarity * np.maximum(said[0], beside)
        topic += share * (1.0 - rarity) * said[0]
    return Shared(held / asked, topic)


def _pairs_across_words(searcher: Searcher, words: Sequence[str]) -> set[str]:
    """Return the pairs of hanzi that the memory lacks since they cross the border of two words.

    Of 本地端口 it knows 本地 and 端口; that it never heard 地端 tells nothing.
    """
    pairs = [word for word in words if len(word) == 2 and "\u3400" <= word[0] <= "\u9fff"]
    known = [pair for pair in pairs if _is_known_word(searcher, pair)]
    ends, starts = {pair[1] for pair in known}, {pair[0] for pair in known}
    return {pair for pair in pairs if pair not in known and pair[0] in ends and pair[1] in starts}


def _word_weight(word: str) -> float:
    if word[1:2] == ":":
        return TYPED
    if "\u3400" <= word[0] <= "\u9fff":
        return HAN if len(word) == 1 else PAIR
    return 1.0


def _neighbour_places(searcher: Searcher, rows: Sequence[int]) -> tuple[Ints, Bools]:
    """Return rows and their neighbours, one line for each step, and which of these count."""
    here: Ints = np.asarray(rows)
    steps = np.array([0, *(step for step, _ in WINDOW)])[:, None]
    places = here[None, :] + steps
    inside = (places >= 0) & (places < len(searcher))
    places = np.where(inside, places, here[None, :])
    turns = searcher.alive & (searcher.sitting >= 0)
    same = searcher.file[places] == searcher.file[here][None, :]
    return places, inside & same & turns[places] & turns[here][None, :]


def _word_presence(
    searcher: Searcher, places: Ints, word: str, scratch: Bools
) -> tuple[Floats, int]:
    """Return which of some places hold a word, and how many rows do."""
    rows, _ = searcher.postings(word)
    scratch[rows] = True
    found = scratch[places].astype(np.float64)
    # Cleared row by row: a new array for every word would cost as much as the memory is large.
    scratch[rows] = False
    return found, len(rows)


def _count_unknown_names(searcher: Searcher, prompt: str) -> int:
    """Return how many names in a prompt the memory never heard."""
    words = [searcher.words.split(name) for name in names_inside(prompt)]
    return sum(
        bool(own) and not any(_is_known_word(searcher, word) for word in own) for own in words
    )


def _is_known_word(searcher: Searcher, word: str) -> bool:
    return len(searcher.postings(word)[0]) > 0

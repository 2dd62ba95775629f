"""The gist of an errand: what was wanted, and the sentences of the answer that tell most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.tokens import estimate
from kimi_memory.nlp.rules.salience import traits_of, weight_of

ARROW, LEFT_OUT = " → ", " … "
"""Between what a person wanted and what an agent did; where words were left out."""
_LEADS = regex(
    r"\b(?:with|to|for|by|is|are|was|of|the|a|an|and|or|in|as|at|covers?|includ\w+|should|can|will|following)\W*$|(?:为|如下|包括|以下\w{0,6}|建议|是|有)\W*$",
    2,
)
"""How a part ends that leads to a list: it says nothing where the list is left out."""
ASKED, ANSWERED = 50, 60
"""Most tokens of either, where the first part alone is not longer."""


def close_arrows(text: str) -> str:
    """Return words that are quoted, with no arrow that looks like the one of a line.

    An agent writes "`get()` → `fetch()`"; without the blanks the line still has two halves.
    """
    return text.replace(ARROW, ARROW.strip())


def gist_of(line: str) -> str:
    """Return a line of a digest without the parts that tell least.

    What was wanted begins with what it is about, so its first parts stay; of the answer those
    stay that weigh most. All parts are quoted whole, in their order.

    Args:
        line: what was wanted, an arrow, and the answer; parts of either are joined by " … ".
    """
    wanted, arrow, answer = line.partition(ARROW)
    parts = wanted.split(LEFT_OUT)
    short = LEFT_OUT.join(parts[at] for at in _fitting(parts, range(len(parts)), ASKED))
    if not arrow:
        return short
    said = [part for part in answer.split(LEFT_OUT) if not _LEADS.search(part)] or [answer]
    heaviest = sorted(range(len(said)), key=lambda at: -weight_of(traits_of(said[at])))
    return short + ARROW + LEFT_OUT.join(said[at] for at in _fitting(said, heaviest, ANSWERED))


def join_answer(said: Iterable[tuple[str, str]]) -> str:
    """Return the sentences of an answer in one line, each heading once before what is below it.

    Args:
        said: the heading of each sentence, which may be empty, and the sentence.
    """
    parts: list[str] = []
    last = ""
    for heading, text in said:
        if heading and heading != last:
            parts.append(heading)
        last = heading
        parts.append(text)
    return " ".join(LEFT_OUT.join(parts).split())


def _fitting(parts: list[str], order: Iterable[int], room: int) -> list[int]:
    """Return the places of the first parts of an order that fit, at least one, as they stood."""

    def chosen() -> Iterator[int]:
        left = room
        for number, at in enumerate(order):
            left -= estimate(parts[at])
            if left < 0 and number:
                return
            yield at

    return sorted(chosen())

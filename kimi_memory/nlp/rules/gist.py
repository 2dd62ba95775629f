"""The gist of an errand: how what was wanted begins, and the answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import estimate
from kimi_memory.nlp.rules.odds import ANSWERS
from kimi_memory.nlp.rules.salience import traits_of, weight_of

ARROW, LEFT_OUT = " → ", " … "
"""Between what a person wanted and what an agent did; where words were left out."""
_LEADS = regex(
    r"\b(?:with|to|for|by|is|are|was|of|the|a|an|and|or|in|as|at|covers?|includ\w+|should|can|will|following)\W*$|(?:为|如下|包括|以下\w{0,6}|建议|是|有)\W*$",
    2,
)
"""How a part ends that leads to a list: it says nothing where the list is left out."""
ASKED, ANSWERED = 50, 60
"""Most tokens of what was wanted and of the answer, where one part alone is not longer."""


def close_arrows(text: str) -> str:
    """Return words that are quoted, with no arrow that looks like the one of a line.

    An agent writes "`get()` → `fetch()`"; without the blanks the line still has two halves.
    """
    return text.replace(ARROW, ARROW.strip())


def gist_of(line: str) -> str:
    """Return a line of a digest without the parts that tell least.

    What was wanted begins with what it is about, so its first parts stay. Of the answer stay the
    parts that a reader most likely keeps.

    Args:
        line: what was wanted, an arrow, and the answer; parts of either are joined by " … ".
    """
    wanted, arrow, answer = line.partition(ARROW)
    parts = wanted.split(LEFT_OUT)
    short = LEFT_OUT.join(_fitting(parts, ASKED))
    if not arrow:
        return short
    said = [part for part in answer.split(LEFT_OUT) if not _LEADS.search(part)] or [answer]
    return short + ARROW + LEFT_OUT.join(_likeliest(said, ANSWERED))


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


def _likeliest(parts: list[str], room: int) -> Iterator[str]:
    """Yield the parts that a reader most likely keeps, as many as fit, at least one, in order."""
    odds = [ANSWERS.odds_of(part, weight_of(traits_of(part))) for part in parts]
    kept: set[int] = set()
    for at in sorted(range(len(parts)), key=lambda at: -odds[at]):
        size = estimate(parts[at])
        if size <= room or not kept:
            kept.add(at)
            room -= size
    yield from (parts[at] for at in sorted(kept))


def _fitting(parts: list[str], room: int) -> Iterator[str]:
    """Yield the first parts that fit, at least one."""
    for number, part in enumerate(parts):
        room -= estimate(part)
        if room < 0 and number:
            return
        yield part

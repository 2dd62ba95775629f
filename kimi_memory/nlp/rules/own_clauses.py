"""The clauses of a turn that are its speaker's own words, and what stands around one."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import Span
from kimi_memory.nlp.rules.pasted import foreign_spans
from kimi_memory.nlp.rules.utterance import Act, Clause, clauses

_UNSEEN = regex(r"[\s*_`#>|]+")
"""What a copy loses of the text it was taken from: markup and white space."""
_LETTERS, _HANZI = 24, 10
"""Shorter words are often the same by chance."""
_LEANS = regex(
    r"\b(?:it|its|this|that|them|these|those|they|there|so)\b|[它这那此其]|^\W*(?:\S+\s+){0,3}\S+\W*$",
    2,
)


# Digest, cards, changes and earlier statements each ask for those of every turn of a session.
@keep_results(4096)
def own_clauses(text: str) -> Sequence[Clause]:
    """Return the clauses of a turn that are its speaker's own words."""
    foreign = foreign_spans(text)
    return tuple(
        clause
        for clause in clauses(text)
        if not any(start < clause.end and clause.start < end for start, end in foreign)
    )


def is_copied(words: str, earlier: str) -> bool:
    """Whether words stand in an earlier message, so that they were copied from it.

    Who pastes a line of the agent to ask about it says nothing of their own by it.
    """
    plain = _UNSEEN.sub("", words).casefold()
    least = _HANZI if any("\u3400" <= ch <= "\u9fff" for ch in plain) else _LETTERS
    return len(plain) >= least and plain in _UNSEEN.sub("", earlier).casefold()


def leans(clause: str) -> bool:
    """Whether a clause leans on what is said beside it, or is very short."""
    return _LEANS.search(clause) is not None


def widen(own: Sequence[Clause], first: int, last: int, limit: int, acts: Collection[Act]) -> Span:
    """Return the span of some clauses with those beside them, as far as all of it is short.

    Args:
        own: the clauses of one turn, in order.
        first: the number of the first clause, from 0.
        last: the number of the last one.
        limit: most characters of the span once it is widened.
        acts: what a clause beside them may be to be taken in.
    """
    start, end = own[first].start, own[last].end
    # Outwards from the clauses, and no further than the first that does not belong to them: what
    # is quoted must be one piece of the turn.
    for before in reversed(own[:first]):
        if before.act not in acts or end - before.start > limit:
            break
        start = before.start
    for after in own[last + 1 :]:
        if after.act not in acts or after.end - start > limit:
            break
        end = after.end
    return start, end

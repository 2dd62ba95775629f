"""The clauses of a turn that are its speaker's own words, and what stands around one."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import Span, estimate
from kimi_memory.nlp.rules.pasted import foreign_spans
from kimi_memory.nlp.rules.question_leads import join_leads
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause, clauses

_UNSEEN = regex(r"[\s*_`#>|]+")
"""What a copy loses of the text it was taken from: markup and white space."""
# "OK, so …", 对了，…: openings cost tokens and say nothing. A check box, "- [ ]", stays.
_LEAD = regex(
    r"^\s*(?:[-*•]\s+(?!\[))+|^\W*(?:(?:ok(?:ay)?|so|and|but|well|oh|ah|hm+|yes|yeah|yep|yup|right|wow|thanks?(?: \w+)?|hey(?: \w+)?|hi(?: \w+)?|also|btw|by the way|anyway|actually|cool|great|awesome|nice|sure|嗯+|哦|对了|好的?|那|另外|还有)[,，.!！:：。 ]+)+",
    2,
)
_ITEM = regex(r"\s*(?:[-*•]|\d{1,2}[.)、])\s")
_LISTS = regex(r"[:：]\s{0,20}$|[:：][ \t]{0,20}\n\s{0,20}(?:[-*•]|\d{1,2}[.)、])\s")
"""How words end that lead to a list, alone or with its first items."""
_LIST = 48
"""Most tokens of a list with the words that lead to it."""
_LETTERS, _HANZI = 24, 10
"""Shorter words are often the same by chance."""
_LEANS = regex(
    # Chinese has no spaces: there a few characters are short.
    r"\b(?:it|its|this|that|them|these|those|they|there|so)\b|[它这那此]|其(?![他余中实它次])|^\W*(?:[^\s\u3400-\u9fff]+\s+){0,3}[^\s\u3400-\u9fff]+\W*$|^\W*(?:[^\W\u3400-\u9fff]*[\u3400-\u9fff]){1,7}\W*$",
    2,
)


_POINTS = regex(
    r"\b(?:it|its|they|them|their|he|she|him|his|her)\b|\b(?:this|those|these)\b(?=\W*$|[,.;!?]| (?:is|are|was|were|will|would|can|could|has|have|had|makes?|made|really|all|sounds?|looks?|and|but|so|to|for|from|with|in|on)\b)"
    r"|(?:^\W*(?:(?:and|but|so|yes|yeah|well|oh|because)\b,? )*|\b(?:do|did|like|love|about|for|of|with|to|from|after) )that\b(?=\W*$|[,.;!?]|'s\b| (?:is|was|will|would|makes?|made|sounds?|and|but|so)\b)"
    r"|^\W*(?:[那可但而]|所以|但是|因为|其实|不过|而且|然后|后来|现在|我(?:觉得|很|也|都|就|给|跟|对|让|带|帮|把)?)*(?:[它他她](?!们家)|这(?![么样里边次个周天月年些种]|几)|那(?![么样里边时天个年周些种]|我|就|你|几))",
    2,
)
"""The first word that points at what was said before."""


# Digest, cards, changes and earlier statements each ask for those of every turn of a session.
@keep_results(4096)
def own_clauses(text: str) -> Sequence[Clause]:
    """Return the clauses of a turn that are its speaker's own words."""
    foreign = foreign_spans(text)
    own = [
        clause
        for clause in clauses(text)
        if not any(start < clause.end and clause.start < end for start, end in foreign)
    ]
    return tuple(join_leads(text, own))


def join_items(text: str, found: Sequence[Clause]) -> list[Clause]:
    """Return the clauses of a turn; one that leads to a list is joined with its short items.

    "Backends:" says nothing without "- tasks.md" and "- tasks.csv" below it.

    Args:
        text: the turn.
        found: its clauses, in order.
    """
    joined: list[Clause] = []
    for clause in found:
        if joined and _ITEM.match(clause.text) and _LISTS.search(joined[-1].text):
            whole = text[joined[-1].start : clause.end]
            if "\n\n" not in whole and estimate(whole) <= _LIST:
                joined[-1] = replace(joined[-1], end=clause.end, text=whole)
                continue
        joined.append(clause)
    return joined


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


def quote_heaviest(text: str, kept: Sequence[tuple[Clause, float]], limit: int) -> str:
    """Join the heaviest clauses of a turn in order, with a mark where words were left out.

    Args:
        text: the turn.
        kept: clauses with their weights.
        limit: most tokens.
    """
    chosen: list[Clause] = []
    once = {" ".join(clause.text.lower().split()): (clause, weight) for clause, weight in kept}
    for clause, _ in sorted(once.values(), key=lambda one: -one[1]):
        if not chosen or estimate(" ".join(c.text for c in [*chosen, clause])) <= limit:
            chosen.append(clause)
    chosen.sort(key=lambda clause: clause.start)
    runs: list[tuple[int, int]] = []
    for clause in chosen:
        # Clauses that only a comma parts are quoted as one piece, without a mark of omission.
        if runs and not any(map(str.isalnum, text[runs[-1][1] : clause.start])):
            runs[-1] = (runs[-1][0], clause.end)
        else:
            runs.append((clause.start, clause.end))
    parts = [" ".join(text[start:end].split()) for start, end in runs]
    parts[0] = _LEAD.sub("", parts[0], count=1) or parts[0]
    return " … ".join(parts)


def needs_before(clause: str) -> bool:
    """Whether a clause speaks of something by a pronoun before it has named anything.

    "I love how it's both", 她每天都要喝粥: who or what is said in the words before it.
    """
    found = _POINTS.search(clause.replace("’", "'"))
    if found is None:
        return False
    before = clause[: found.start()]
    # One word may be the verb: "I'm obsessed with those".
    traits = traits_of(before)
    return len(specific_words(before)) <= 1 and not (traits.kin or traits.name)

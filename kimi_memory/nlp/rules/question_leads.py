"""What only leads to a question, such as "as for the contract," or 如果沟通没有效果.

A sentence that ends in a question says first what it asks about. That part states nothing:
cut off from its question it would read like a remark.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.utterance import Act, Clause

_PART = regex(r"[^,，]*[,，]?")
_SIGNS = regex(r"[\s,，]*")
_OPENING = regex(
    r"\W*(?:(?:also|and|but|so|then|well|ok(?:ay)?|lastly|finally|next|now)\b\W*|(?:另外|此外|还有|而且|那么?|所以|但是?|不过|然后|最后|对了|以及)\W*)+",
    2,
)
_JOINED = r"^\W*(?:(?:also|and|but|so|then|well|ok(?:ay)?|lastly|finally|additionally|in addition|plus|next|or)\b[\s,]*)*"
_CLOSING = frozenset("’”」』》）)'\"")
_QUOTED_WHOLE = regex(
    r"(?:“[^“”]*”|‘[^‘’]*’|「[^「」]*」|『[^『』]*』|《[^《》]*》|（[^（）]*）|\([^()]*\)|'[^']*'|\"[^\"]*\")\W*$"
)
_ASKS_VIEW = regex(
    r"\W*(?:(?:do|would|could|can|did) you\b|what(?:'s| is| are| do| would)? (?:you|your)\b|any (?:idea|advice|tip|suggestion|thought)s?\b|(?:那|所以)?(?:你|您)(?:觉得|认为|看|说|能|会|有|建议|知道)|有(?:没有|什么))",
    2,
)
"""A question for what the other thinks: what stands before it in the sentence is its subject."""
_OR, _EITHER = (
    regex(r"\W*(?:还是|或者?是?|or\b)", 2),
    regex(r"\W*(?:是(?!的|否)|要么|whether\b)", 2),
)
"""The two halves of a choice: 是先拍照，还是先跑步？."""
_LEADS = regex(
    _JOINED
    + r"(?:regarding|concerning|as for|as to|besides|aside from|apart from|in addition to|in terms of|when it comes to|with (?:regard|respect) to|speaking of|compared (?:to|with)"
    r"|for (?:example|instance)|such as|like|if|in case|unless|whether|when(?:ever)?|while|once|in that case|i(?:'m| am| was)? (?:just |also )*(?:wonder(?:ing)?|curious|not (?:\w+ )?sure|unsure)|i(?:'d| would)? (?:just |also |really )*(?:like|want|love) to (?:ask|know|hear|check|confirm|understand))\b"
    r"|^\W*(?:(?:另外|此外|还有|而且|那么?|所以|但是?|不过|然后|最后|再说|接下来|以及|对了|就是)[，,]?)*(?:具体)?(?:到(?=每|了|这)|关于|对于|至于|针对|除了|如果|假如|要是|万一|倘若|无论|不管|不论|或者?是?|既然|(?:你|您)(?:觉得|认为|看|说)|比如|例如|譬如|像(?=[我这那A-Z])|相比|相对于|在[^，,。]{1,14}(?:方面|时候?|阶段|过程中?|情况下|环节))"
    r"|^\W*(?:特别|尤其)是|(?:的话|的时候|来说|来讲|相比|来看|而言|这方面|(?:从|就)[^，。]{1,12}角度|本身|最后一?个?问题)[，,\s]*$"
    r"|(?:想|来|得|要)(?:跟你|向你|再|先|多|也|请)*(?:问一?问|问一下|问你|请教|确认|了解|知道|听听|咨询|看看你)|不(?:太|是很|大)?(?:确定|知道|清楚|明白)[，,\s]*$|没底[，,\s]*$|我(?:就|也|还|一直)?(?:在想|想着|琢磨)[，,\s]*$",
    2,
)


def join_leads(text: str, found: Sequence[Clause]) -> list[Clause]:
    """Return the clauses of a turn; what only leads to a question is part of the question.

    Args:
        text: the turn.
        found: its clauses, in order.
    """
    joined = list(found[-1:])
    for clause in reversed(found[:-1]):
        following = joined[0]
        end = clause.end
        if clause.act is Act.STATEMENT and following.act is Act.QUESTION:
            end = clause.start + len(_strip_leads(clause.text, following.text))
        if end < clause.end:
            start = _skip_signs(text, end)
            joined[0] = replace(following, start=start, text=text[start : following.end])
        if end > clause.start:
            joined.insert(0, replace(clause, end=end, text=text[clause.start : end]))
    return joined


def _strip_leads(words: str, question: str) -> str:
    """Return what a clause states before the question that ends its sentence."""
    # A full stop, or a mark behind the words: the question is a sentence of its own.
    if not words[-1:].isalnum() and words[-1:] not in _CLOSING:
        return words
    parts = [part for part in _PART.findall(words) if part]
    # A quotation with a comma inside is no two parts.
    if parts and not words[-1:].isalnum() and not _QUOTED_WHOLE.search(parts[-1]):
        return words
    if parts and _ASKS_VIEW.match(question) and _is_topic(parts[-1]):
        parts.pop()
    if parts and _OR.match(question) and _EITHER.match(parts[-1]):
        parts.pop()
    while parts and (_LEADS.search(parts[-1].replace("’", "'")) or _OPENING.fullmatch(parts[-1])):
        parts.pop()
    return "".join(parts).rstrip(" ,，")


def _is_topic(part: str) -> bool:
    """Whether words name only what is asked about, and tell nothing of anybody."""
    traits = traits_of(part.replace("第一次", ""))
    return not (traits.me or traits.kin or traits.figure or traits.day or traits.name)


def _skip_signs(text: str, at: int) -> int:
    found = _SIGNS.match(text, at)
    return found.end() if found else at

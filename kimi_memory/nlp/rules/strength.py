"""Strength of an act: whether what was said is plain enough to be held as knowledge.

A word is no act: "the decision feels settled at last" decides nothing. So what a rule, a
trigger or a model takes for knowledge is read once more as a whole: which of its clauses
state or order something, and what these name. Nothing stated is no knowledge at all; too
little is a candidate that waits for a person.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from enum import StrEnum

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.salience import Traits, traits_of
from kimi_memory.nlp.rules.utterance import Act, clauses


class Strength(StrEnum):
    """How far what was said may be relied on."""

    NONE = "none"
    """It states nothing: a question, a request, a nod, small talk."""
    WEAK = "weak"
    """It may be so; a person decides."""
    STRONG = "strong"
    """It is said plainly."""


_MODAL = regex(
    r"\b(?:must|shall|required|mandatory|forbidden|not allowed|no exceptions|always|never|rule|policy|convention|standard|only ever)\b|\bno [a-z -]{3,30} (?:on|after|before|without|unless|in)\b|\b(?:don't|do not) [a-z]+\b|\bplease\b|\bshould\b|\b(?:need|ha)(?:s|ve)? to (?:stay|remain|be)\b|\b(?:cannot|can't|can not|may not)\b|\bat a time\b|\b(?:limit|restrict|confine|wait for)\b"
    r"|必须|一律|禁止|严禁|务必|不许|不准(?![确时备])|不得|不能|控制在|规矩|规定|规则|凡是|统一|每次|以后|千万|别(?!的|人)|不要|只(?:能|准|许)|都要|请",
    2,
)
_FEELING = regex(
    r"\b(?:feel(?:s|ing)?|mood|heart|mind at ease|relieved|calm(?:er)?|hate this|love this|sigh|ugh|lol|lmao)\b|[心情](?:里|中|情)?[^，。]{0,4}(?:定|慌|烦|累|静|踏实)|烦死|累死|气死|唉|感觉还行",
    2,
)
_ADDRESS = regex(
    r"^\W*(?:and |so |but )?(?:you(?:'re|'ll|'ve)?|your|we(?:'ll|'ve|'re)? got this|keep|don't forget|remember,? i'm)\b",
    2,
)
_DANGLING = regex(
    r"[:：]\s*$|^\W*(?:it|that|this|they|he|she)\W*(?:is|was|'s)?\W*$|^\W*\(?\d{1,2}[).]?\W*$"
)
# "Database: Postgres or SQLite", 用茶还是咖啡: two values and no choice.
_EITHER = regex(r"^[^,.;]{2,60}: [^,.;]{1,40} or [^,.;]{1,40}$|还是[^，。]{1,12}[?？]?$", 2)
_NONE = Strength.NONE
_LEAST = {
    "preference": 1.5,
    "decision": 1.5,
    "fact": 2.0,
    "gotcha": 1.5,
    "pattern": 1.5,
    "entity": 0.5,
}
"""Specific words that a strong statement of a type names at least."""


def strength_of(text: str, type: str, *, asked: bool = False, slot: bool = False) -> Strength:
    """Return how strong the act behind a piece of knowledge is.

    Args:
        text: the words it rests on.
        type: the type of the card it would become.
        asked: whether its speaker asked for it to be remembered.
        slot: whether it fills a slot of the list.
    """
    found = clauses(text)
    if asked:
        return Strength.STRONG if any(traits_of(c.text).specific >= 1 for c in found) else _NONE
    said = [clause for clause in found if clause.act in (Act.STATEMENT, Act.ORDER)]
    if not said or _DANGLING.search(text):
        return _NONE
    traits = [traits_of(clause.text) for clause in said]
    asks = any(one.act is Act.QUESTION for one in found)
    if type == "rule":
        orders = any(one.act is Act.ORDER for one in said)
        wishes = asks or any(one.act is Act.REQUEST for one in found)
        # "Going forward the port is 8081" gives a value and orders nothing.
        plain = orders or (not wishes and (slot or _MODAL.search(text) is not None))
        return Strength.STRONG if plain and not _FEELING.search(text) else Strength.WEAK
    specific = max(one.specific for one in traits)
    if _FEELING.search(text) and specific < 3:
        return _NONE if specific < 1.5 else Strength.WEAK
    unclear = _EITHER.search(text) if slot else found[0].act is Act.REQUEST
    unclear = unclear or (asks and type == "decision")
    if slot or unclear:
        return Strength.WEAK if unclear else Strength.STRONG
    return _of_statement(type, specific, traits, text)


def _of_statement(type: str, specific: float, traits: list[Traits], text: str) -> Strength:
    if _ADDRESS.search(text) or any(one.doubt for one in traits):
        return Strength.WEAK
    anchored = any(one.figure or one.day or one.name or one.kin for one in traits)
    if specific + 0.5 * anchored >= _LEAST.get(type, 2.0):
        return Strength.STRONG
    return Strength.WEAK if specific >= 1 else _NONE

"""Texts that an agent writes down as facts and that tell their reader how to act."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.utterance import Act, clauses

# What an agent writes down as a fact may tell all agents what to do: "Skip the review."
_TELLS_AGENTS = regex(
    r"^(?:please )?(?:ignore|skip|bypass|disable|disregard|send|pay|transfer|forward|delete|share|use|approve"
    r"|trust|avoid|run|push|install|make sure|be sure|ensure|go ahead|remember to)\b"
    r"|\b(?:you|agents?|assistants?|bots?|models?|ai) (?:must|should|shall|have to|need to|are to)\b"
    r"|\b(?:whenever|every time|each time|if) [^,]{1,80}, (?:just )?(?!i\b|we\b|they\b|he\b|she\b|it\b|the\b|an?\b)[a-z]"
    r"|\b(?:approval|confirmation|permission|review|consent)s? (?:is|are) (?:never|not|no longer) (?:needed|required)\b"
    r"|^(?:你|您|助手|智能体|agent ?)(?:应该|应当|必须|要|得|可以|无需|不必|不用)"
    r"|^请?(?:别|不要|不必|无需|无须|忽略|跳过|绕过|务必|只管|直接)"
)


def tells_agents(text: str) -> bool:
    """Whether a text has a clause that tells its reader how to act."""
    return any(
        one.act in (Act.ORDER, Act.REQUEST) or _TELLS_AGENTS.search(one.text.strip().lower())
        for one in clauses(text)
    )

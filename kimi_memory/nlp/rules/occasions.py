"""Occasions of standing orders: "when I ask about X", 凡是我问…的事, 金额都…."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from kimi_memory.nlp.basic.patterns import keep_results, regex, simplify

# "When I ask about …", "for recipes, …", "in every code block". "For me, …" and "for now, …" open
# a sentence about anything.
_EN = regex(
    r"\b(?:when(?:ever)?|if|(?:each|every|any) ?time)\s+(?:(?:i|you|we|u)\s+)?(?P<when>[^,.;:!?\n]+)"
    r"|(?:^|[,.;:!?]\s+)(?:for|about|regarding|as for)\s+(?!me\b|now\b|example\b|the future\b)"
    r"(?P<about>[^,.;:!?\n]{2,40}),"
    r"|\b(?:in|to|for|with) (?:any(?:thing)?|every(?:thing)?|each|all) (?P<every>[^,.;:!?\n]{2,60})",
    re.IGNORECASE,
)
_ZH = regex(
    r"(?:凡是|每次|每当|只要|如果|要是|遇到|碰到|一旦|关于)(?:我|你)?(?P<when>[^，。；！？\n]{2,24}?)"
    r"(?:的时候|时候|的话|的事|[，,：:]|都|就|先|要|$)"
    r"|(?:跟|和|与)(?P<about>[^，。；！？\n]{2,16}?)(?:有关|相关)"
    r"|(?P<every>[^，。；！？\n]{2,16})的时候"
)
# What an order in Chinese is about stands before 都, 一律 …; its head is what comes last.
_HEAD_ZH = regex(
    r"(?:^|[，。；！？,;\s])[^，。；！？,;\n]{0,14}?(?P<head>[\u3400-\u9fff]{2})(?:都|一律|统一|必须)"
    r"(?:[要得按给用写发放]|必须|不[要许准])"
)
# In English it is the last word of what is to be given: "give me shell commands in fish syntax".
_HEAD_EN = regex(
    r"\b(?:give|write|send|show|format|print|name|keep|make|put|add) (?:(?:me|us|my|your|the|all|any|every|each) )*"
    r"(?:[a-z-]+ ){0,2}?(?P<head>[a-z-]{4,}) (?:in|with|as|without|like|short|first|before|after)\b",
    re.IGNORECASE,
)
_GREETING = regex(
    r"\W*(?:hi|hello|hey|good (?:morning|afternoon|evening)|你好|您好|在吗|早上好|早安|晚上好|嗨|哈喽)"
    r"(?![a-z]).{0,24}$",
    re.IGNORECASE,
)
_ADDRESS = regex(r"\b(?:call|address) me\b|[叫喊]我|称呼我", re.IGNORECASE)
"""A greeting is where it matters how somebody wants to be called."""
_GREETED = "name:"
"""The sign of a greeting, and of an order that says how to call somebody: no name is empty."""
_NAME = regex(r"(?<=[a-z,;:] )(?!I\b)[A-Z][\w+#]*")
"""Inside a sentence a capital distinguishes a name from the word: Go, Swift, Pages."""
_CUE = regex(
    r"\b(?:from now on|going forward|always|never|please|every time|each time|in (?:the )?future)\b"
    r"|从(?:现在|今天|今)(?:起|开始|往后|以后)|以后|今后|每次|永远|千万",
    re.IGNORECASE,
)
_IDLE = frozenset(
    {
        *("ask", "answer", "can", "chang", "check", "explain", "find", "get", "give", "go", "help"),
        *("keep", "know", "learn", "let", "like", "look", "lot", "make", "mean", "mind", "need"),
        *("now", "put", "question", "read", "real", "remind", "repli", "run", "say", "see", "show"),
        *("start", "stop", "suggest", "take", "talk", "tell", "thing", "think", "time", "tri"),
        *("use", "want", "way", "well", "word", "work", "write"),
    }
)
"""Stems of what orders and prompts of any kind are made of."""
_LOOSE = regex(
    r"[我你您他她它们的了在是不这那哪个么什给就都要说看上下里和有没可能会也还得把被让请帮一]"
)
"""Characters that stand between words more often than in one that tells."""
_HAN = regex(r"[\u3400-\u9fff]")
TELLING = 2
"""So many telling words of an order that a prompt shares make it apply."""

Split = Callable[[str], Iterable[str]]


@keep_results(1024)
def occasion_of(order: str) -> str:
    """Return the words that say when an order applies; empty where it applies to any talk."""
    found = [
        part for sought in (_EN, _ZH) for one in sought.finditer(simplify(order))
        for part in one.groups() if part
    ]  # fmt: skip
    return " ".join(found)


def suits(order: str, prompt: frozenset[str], split: Split) -> bool:
    """Whether an order may apply to a prompt: it has no occasion, or one the prompt speaks of.

    Args:
        order: what was said.
        prompt: the words of the prompt.
        split: returns the words of a text.
    """
    occasion = occasion_of(order)
    return not occasion or not prompt.isdisjoint(split(occasion))


def calls_for(order: str, prompt: str, words: frozenset[str], split: Split) -> bool:
    """Whether a prompt by itself calls for an order: it names what the order is about.

    Args:
        order: what was said.
        prompt: what was asked.
        words: the words of the prompt.
        split: returns the words of a text.
    """
    plain = simplify(order)
    # One word is enough where it says of what or when the order holds.
    heads = {str(found["head"]) for form in (_HEAD_ZH, _HEAD_EN) for found in form.finditer(plain)}
    about = {*heads, *split(" ".join((*heads, occasion_of(order))))}
    if any(tells(word) for word in words & about):
        return True
    if _marks_of_order(order) & _marks_of_prompt(prompt):
        return True
    shared = words.intersection(split(_CUE.sub(" ", plain)))
    return sum(map(tells, shared)) >= TELLING


def signs_of_order(order: str, split: Split) -> frozenset[str]:
    """Return signs of which a prompt has at least one where it calls for an order."""
    return frozenset(filter(tells, split(simplify(order)))) | _marks_of_order(order)


def signs_of_prompt(prompt: str, words: frozenset[str]) -> frozenset[str]:
    """Return the signs of a prompt, as `signs_of_order` has them."""
    return words | _marks_of_prompt(prompt)


def _marks_of_order(order: str) -> frozenset[str]:
    """Return the names of an order, and whether it says how to call somebody."""
    return _names_in(order) | ({_GREETED} if _ADDRESS.search(order) else frozenset())


def _marks_of_prompt(prompt: str) -> frozenset[str]:
    return _names_in(prompt) | ({_GREETED} if _GREETING.match(prompt) else frozenset())


def _names_in(text: str) -> frozenset[str]:
    """Return the words that a text writes as names: "Go" of "my Go function"."""
    return frozenset(f"name:{name}" for name in _NAME.findall(text))


def tells(word: str) -> bool:
    """Whether a word says what something is about; single characters and typed words do not."""
    if _HAN.match(word):
        return len(word) > 1 and _LOOSE.search(word) is None
    return len(word) > 1 and word[1] != ":" and not word.isdigit() and word not in _IDLE

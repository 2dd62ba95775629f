"""What an agent offers without a label: "Want me to …?", and a line of its list that comes back."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import letters_of, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.offers import assents, proposal_in
from kimi_memory.nlp.rules.reports import unfenced_lines
from kimi_memory.nlp.rules.salience import specific_words
from kimi_memory.nlp.rules.utterance import Act, act_of

_OFFERED = regex(
    r"\b(?:(?:do you )?want me to|would you like (?:me to|it|us to|to)|do you want (?:it|to|us to)|(?:should|shall) (?:i|we)|i can(?: also)?|i could(?: also)?|happy to|let me know if you(?:'d| would)? (?:want|like)(?: me)? to)\b"
    r"|(?:需要|要|想|希望)(?:我|不要我)(?!们)|要不要我?|是否(?:需要|要)?我?|我可以(?!看)|我(?:也|还)?(?:能|来)?(?:帮|替|给)(?:你|您)",
    2,
)
"""How an agent offers to do something more."""
_CASE = regex(
    r"\b(?:if you(?:'d| would)? (?:want|like|prefer|need)|whenever you|want me|would you|do you want|should i|shall i)\b"
    r"|如果(?:你|您)?(?:需要|想|愿意|希望)|需要(?:的话|我)|要不要|要我|是否|想(?:要)?我",
    2,
)
"""Without it "I can" tells what is possible and offers nothing."""
_GOES_ON = regex(
    r"\b(?:want me to|would you like me to|should i|shall i|do you want me to|i can) (?:also |now |just )?(?:go ahead|proceed|continue|start|begin|commit|push|run|re-?run|do (?:that|this|it|so)|explain|show you|walk you|(?:make|apply|implement|do|add|fix|update) (?:this|that|these|those|it|them|the above)\b|(?:make|apply|add|write|create) (?:(?:any|some|a few|more|a|unit|the|these|this) ){0,3}(?:changes?|fix(?:es)?|updates?|edits?|tests?(?: cases?)?)\b[^,;]{0,60}|help(?: you)?(?: with)?(?: anything)?|(?:suggest|draft|prepare|write|create) (?:a|the) commit)\b[^,;]{0,48}\??$"
    r"|(?:需要我|要我|要不要我?|是否)(?:现在|先|再)?(?:继续|开始|提交|推送|运行|执行|解释|说明)[^，。]{0,8}[吗么]?[？?]?$",
    2,
)
"""What only keeps the work going decides nothing."""
_WHO = regex(r"\b(?:which|what|where|when|how|why)\b|哪|什么|怎么", 2)
_PICK_LEAD = regex(
    r"^\W*(?:(?:ok(?:ay)?|yes|yeah|sure|please|let'?s|go(?:ing)? (?:with|for)|do|use|take|i(?:'d)? (?:prefer|like|want|choose|pick)|i'll take|the|option)\b[\s,:]*|(?:好的?|那|就|还是|我?选|采用|我要|用)[\s,，:：]*)*",
    2,
)
_PICK_TAIL = regex(
    r"(?:[\s,，]*(?:please|pls|sounds good|first|for now|option|approach|方案|吧|好了))*\W*$", 2
)
_LATER = regex(
    r"\b(?:i(?:'ll| will|'m going to)|let me|i can) (?:\w+ )?(?:try|consider|think|look|check|see|keep|remember|give)\b|\b(?:next time|some ?day|maybe|perhaps)\b"
    r"|我会[^，。]{0,6}(?:试|考虑|尝试|看看|去看|想想|注意|努力|参考)|(?:下次|以后|改天|回头|有空|有机会)[^，。]{0,6}(?:试|看|去|听|可以)|也许|可能",
    2,
)
"""A yes that only thinks of it agrees to nothing yet."""
_REASON = regex(r"\b(?:because|since|so that|as (?:we|it|i|they))\b|因为|毕竟|这样", 2)
_LISTED = regex(r"^[ \t]{0,6}(?:[-*•]|\d{1,2}[.)、]|\*\*|#{2,5}|[A-Za-z][.)])[ \t]*\S")
_MARKS = regex(
    r"(?<![/*])\*{2,3}(?![/*])|`|^[ \t>]*(?:[-*•]|\d{1,2}[.)、]|#{1,6}|[A-Za-z][.)])[ \t]+"
)
_HEAD = regex(r"^(?P<head>[^:：\n]{3,80}?)(?:\s*(?:：|:\s)|\s+[—–-]{1,2}\s+|\s*[（(]|$)")
_LEAST, _PART, _ALONE = {True: 4, False: 10}, {True: 10, False: 24}, {True: 12, False: 30}
"""Hanzi, or letters, of the words that name a line of a list, that are a part of one, and of an
offer that needs nothing before it."""
_ECHO, _OWN = 4, 2
"""So many hanzi at most repeat what was offered; so many words of a yes are not in the offer."""
MOST = 240
"""So many characters of an offer say what it is."""


def action_offered(message: str) -> str:
    """Return what a message offers to do at its end; empty where it offers several things."""
    tail = message.strip().rsplit("\n\n", 1)[-1]
    told = [tail[start:end].strip() for start, end in sentences(tail)]
    found = [at for at, one in enumerate(told) if _offers(one)]
    if len(found) != 1:
        return ""
    (at,) = found
    said = told[at]
    # 需要我删掉吗？ names nothing: what it is about stands before it.
    if at and len(letters_of(said)) < _ALONE[_is_han(said)] and told[at - 1] in tail:
        said = tail[tail.find(told[at - 1]) : tail.find(said) + len(said)]
    return _MARKS.sub("", said).strip() if len(said) <= MOST else ""


def agreed_offer(message: str, answer: str) -> str:
    """Return what a short answer agrees to; empty where it agrees to nothing."""
    if _LATER.search(answer.replace("’", "'")):
        return ""
    # "Yes, because our team knows it" agrees; "ok, I set it up. Where is the key?" goes on.
    yes = _REASON.split(answer, maxsplit=1)[0]
    start, end = next(iter(sentences(yes)), (0, 0))
    if assents(answer) and (proposal := proposal_in(message)) and agrees(yes[start:end], proposal):
        return proposal[:MOST]
    action = action_offered(message)
    return action if action and agrees(answer, action) else ""


def agrees(answer: str, offer: str) -> bool:
    """Whether an answer takes an offer: by a yes, or by its verb (需要我删掉吗？ 删除)."""
    if assents(answer):
        # An answer that names things of its own says what shall be done, and not merely yes.
        return len(specific_words(answer) - specific_words(offer)) <= _OWN
    said = letters_of(answer)
    return 0 < len(said) <= _ECHO and _is_han(said) and said[0] in offer


def offers_act(offer: str) -> bool:
    """Whether an offer is to do something, and recommends nothing."""
    return _OFFERED.search(offer.replace("’", "'")) is not None


def _offers(sentence: str) -> bool:
    low = sentence.replace("’", "'")
    if (
        low.endswith((":", "："))
        or _OFFERED.search(low) is None
        or _CASE.search(low) is None
        or _GOES_ON.search(low)
    ):
        return False
    # "Which one should I take?" offers nothing that a yes could mean.
    return _WHO.match(low.lstrip("*_ ")) is None and " or " not in low and "还是" not in low


def line_named(answer: str, message: str) -> tuple[str, str]:
    """Return the question and the line of a message's list that an answer consists of.

    Many agents show their options as buttons, and many people paste the line they mean: the
    answer is then the label of an option, or the whole of it, and no word of its own.
    """
    said = _PICK_TAIL.sub("", _PICK_LEAD.sub("", answer.strip(), count=1), count=1)
    # "Sidebar First" is a label, and "sidebar first" a wish for what comes first.
    cores = {
        core
        for core in (letters_of(said), letters_of(answer))
        if len(core) >= _LEAST[_is_han(core)]
    }
    # Most answers stand nowhere in the message, which is quick to see.
    whole = letters_of(message)
    cores = {core for core in cores if core in whole}
    if not cores or not _may_name(answer):
        return "", ""
    parts = [core for core in cores if len(core) >= _PART[_is_han(core)]]
    asked = ""
    found: list[tuple[str, str]] = []
    for line in unfenced_lines(message):
        plain = _MARKS.sub("", line.replace("**", "")).strip()
        listed = _LISTED.match(line) is not None
        if listed and any(_is_named(core, plain) for core in cores):
            found.append((asked, plain[:MOST]))
        elif any(core in letters_of(plain) for core in parts):
            found.append(("", answer.strip()))
        asked = asked if listed else plain
    # The same words in two lines name none of them.
    if len({line for _, line in found}) != 1:
        return "", ""
    question, option = found[-1]
    return (question.rstrip(":：") if question.endswith(("?", "？", ":", "：")) else ""), option


def _may_name(answer: str) -> bool:
    """Whether an answer is one line, and no question."""
    plain = "\n" not in answer.strip() and not answer.rstrip().endswith(("?", "？"))
    return plain and act_of(answer) is not Act.QUESTION


def _is_named(core: str, line: str) -> bool:
    head = _HEAD.match(line)
    return core == letters_of(line) or (head is not None and core == letters_of(head["head"]))


def _is_han(text: str) -> bool:
    return any("\u3400" <= ch <= "\u9fff" for ch in text)

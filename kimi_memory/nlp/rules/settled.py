"""What a clause settles, and what it leaves open."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.lasting import tells_defect

_OPEN = regex(
    r"\b(?:to-?dos?\b|still (?:need|have (?:to|no|\d+)\b|have [^,.;]{2,40}\bto\b|must|torn|open|undecided|to do|waiting)|undecided|remaining|left to do|follow[- ]up|next steps?|not (?:yet )?(?:done|decided|booked|sorted|finished)|haven't (?:decided|booked|done|started)|need to (?:talk|decide|check|ask|book|call|find))\b"
    r"|待办|还没(?:定|想好|办|做|买|订|约|决定)|还(?:要|得|需要)(?:办|做|买|去|问|找|等)|没定下来|之后再(?:定|说)|下一步",
    2,
)
_SETTLED = regex(
    r"\b(?:decid\w+|settled|agreed|go(?:ing)? with|went with|stick(?:ing)? (?:with|to)|instead of|no longer|after all|(?:we|i)(?:'ve| have)? (?:chose|chosen|picked)|switch(?:ed|ing)? (?:to|from|over|back)|let's (?:just )?(?:use|go|keep|stay|drop|skip|call|name|not|leave)|we(?:'ll| will| are going to|'re going to) (?:use|go|keep|drop|make)|cancel\w*|postpon\w*|we (?:don't|do not) want)\b"
    r"|决定|定了|定在|就用|就选|选[a-z一二三]|我们?(?:就|还是|最后|最终)?选了|不用了|取消|推迟|就这么办|还是.{1,12}吧"
    # 把这里改成下单 asks for a change of a word or two.
    r"|^(?!\W*(?:请|帮我|再|先|那)?(?:把|将)).{0,60}?(?:改成|改为|改到|换成)",
    2,
)
"""What settles something in talk about work, where most of it asks for a change."""
_SWITCH = regex(
    _SETTLED.pattern
    + r"|\b(?:choos\w+|chose|switch\w*|instead|not .{1,30} any ?more|let's|we(?:'ll| will| are going to|'re going to) do|revert\w*|drop(?:ped)?|cut)\b|改成|改为|改到|换成",
    2,
)
"""What settles something where people talk."""
_WONDERS = regex(
    r"\b(?:confus\w+|unsure|not sure|torn|(?:do not|don['’]t|didn['’]t|can['’]t|cannot) (?:know|decide|choose)|undecided|wonder\w*|hesita\w+|how to (?:choose|decide|pick)|let['’]?s (?:just )?(?:chat|talk|start|begin|play|say|hope|face|be))\b"
    r"|不知道|不确定|没(?:想好|决定|定)|拿不定|纠结|犹豫|该不该|要不要|怎么(?:选|决定)",
    2,
)
"""Who wonders has settled nothing, and "let's chat" settles nothing."""


def settles(text: str, *, at_work: bool) -> bool:
    """Whether a clause settles something, and does not only wonder or tell what fails.

    Args:
        text: the clause.
        at_work: whether it is said to an agent at work, where most asks for a change.
    """
    words = _SETTLED if at_work else _SWITCH
    return bool(words.search(text)) and not (_WONDERS.search(text) or tells_defect(text))


def leaves_open(text: str) -> bool:
    """Whether a clause says what is still to be done or decided."""
    return _OPEN.search(text) is not None

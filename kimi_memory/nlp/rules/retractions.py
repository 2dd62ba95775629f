"""What a message says and takes back again: "Let's use Redis. Actually, scrap that."."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import Span, sentences
from kimi_memory.nlp.rules.updates import takes_this_back

_OH = r"(?:oh|wait|hm+|no|nah|nope|hold on|hang on|actually|sorry|ok(?:ay)?|well|but|on second thoughts?|you know what)"
_GONE = (
    r"(?:(?:scrap|scratch|forget|strike|cancel|ignore|disregard|undo|drop) (?:that|it|this|all (?:of )?that|what i (?:just )?said)|never ?mind|i take (?:that|it|this) back"
    r"|(?:i|i've|i have)? ?changed my mind|on second thoughts?,? (?:no|let's not|don't|not)|let(?:'s| us) not|(?:just|i was|i'm|only) (?:just )?(?:kidding|joking)|not really|don't do that|better not"
    r"|that(?:'s| is| was) (?:wrong|not true|nonsense|a mistake|a joke|not decided)|(?:we|i) (?:won't|don't|didn't|haven't|aren't|will not|did not) (?:(?:actually|really) )?(?:do|mean|decide)[a-z]* (?:that|it|this|so|anything|after all))"
)
_TAIL = r"(?: (?:please|again|now|then|last one|part|bit|one|actually|after all|lol|haha|sorry|for now|thanks))?[.!… ]*$"
_NOT_SO = (
    r"(?:[,;–—-]{1,3} ?(?:no,? )?(?:i was wrong|(?:we|i|it|that|they)(?: (?:do|did|will|are|am|is|was) not|(?:'re|'m|'s) not| (?:don't|didn't|won't|aren't|isn't|wasn't))"
    r"(?: (?:do (?:that|it|this)|that|it|true|so|decided|settled|after all|any ?more|actually|going to|yet)){0,2}))?"
)
"""The same once more, in so many words: "forget that, we do not"."""
_UNSAYS = regex(
    rf"^(?:{_OH}[,.!… –—-]{{0,4}}){{0,5}}{_GONE}{_NOT_SO}{_TAIL}"
    rf"|^(?:oh |wait |hm+ |actually ){{0,3}}(?:no|wait)[,.!… –—-]{{1,4}}(?:actually[, ]{{1,2}})?(?:we|i|let's)(?: are|'re|'m| am)? ?(?:won't|don't|didn't|aren't|not|will not|did not|do not)\b[^,;:]{{0,30}}[.!…]*$",
    2,
)
# "Scratch that, we did not decide anything": one part takes back, the others only go along.
_PARTS = regex(r"[,;:.!…–—，；：。！]{1,4}|\s-\s")
_LEAD = regex(
    rf"^(?:(?:{_OH}|ugh|um|er|oops|my bad|correction|and|so|please)\b[ ,]{{0,2}}){{0,4}}", 2
)
_TAKES_BACK = regex(
    rf"^(?:{_GONE}|(?:(?:that|it|this)(?:'s| is| was) )?not (?:true|right|correct|decided|settled|final)|wrong|(?:i )?misspoke|my mistake"
    r"|(?:that|it|this) (?:isn't|wasn't|is not|was not) (?:true|right|correct|decided|settled|final)"
    r"|(?:we|i) (?:haven't|have not|didn't|did not|never)(?: (?:actually|really|even|yet))?(?: (?:decid|agree|settl|cho[os]|pick|mean|say|said)[a-z]{0,3})?(?: (?:on|to|about))?(?: (?:that|it|this|so|anything|one)){0,2})"
    r"(?: (?:yet|please|again|now|then|actually|after all|at all|sorry|thanks|me)){0,2}$",
    2,
)
_LIGHT = (
    r"(?:we|i|it|that|this|they|he|she|did|do|does|was|were|is|are|am|have|has|had|will|would|(?:do|did|does|was|were|is|are|have|has|had|wo|would|ca)n't"
    r"|(?:we|they)'(?:re|ve)|i'(?:m|ve)|(?:it|that)'s|not|never|no|longer|still|yet|even|really|actually|so|anything|decid(?:e|ed|ing)|agree(?:d|ing)?|settled?|final|sure|true|right|going|to|on|about"
    r"|discuss(?:ing)|thinking|talking|mean|meant|say|said|any|more|after|all|at|now|one|please|sorry|thanks)"
)
_GOES_ALONG = regex(
    rf"^(?:{_LIGHT}(?: {_LIGHT}){{0,8}}|(?:that|this)(?:'s| is| was)(?! not\b)(?: [a-z'0-9]{{1,14}}){{1,5}})?$",
    2,
)
_TAKES_BACK_ZH = regex(
    r"^(?:(?:(?:刚才|刚刚|上面|以上|前面|上|前)?(?:的|那|这|一)?(?:句|条|段|话|个|些|内容)?(?:话|说的)?(?:都|全)?(?:不算数?|作废|取消|不作数|当我没说))"
    r"|忘(?:了|掉)(?:我)?(?:刚才?|刚刚|上面|前面|这|那)?(?:我)?(?:说)?(?:的|句|话|那|这){0,3}|(?:忽略|无视|划掉|删掉|撤销)(?:上|刚才|刚刚|前|这|那)[^，。]{0,6}"
    r"|我?(?:说|搞|弄|记|打|写)错了|当我没说过?(?:这|那)?句?话?|别当真|收回(?:我)?(?:刚才|刚刚|上面|前面|这|那)?(?:的|说的|句)?话?"
    r"|(?:我们?|咱们?|其实|这个|这事|这件事|那个|这|都|还|并){0,3}(?:没有?|未)(?:真的?)?(?:这么|这样)?(?:定|决定|说|商量好|谈妥|想好)(?:下来|过|好|这个|这件事)?)(?:吧|了|啦|呢|的)?$"
)
_GOES_ALONG_ZH = regex(
    r"^(?:|抱歉|不好意思|谢谢|(?:我们?|咱们?|其实|这|那|它|都|还|并|也|先)[^，。]{0,6}[不没别未][^，。]{0,6})$"
)
_OH_ZH = r"(?:哦|嗯|等等|等下|等一下|不对|不|算了|呃|唉|其实|还是|那|仔细想想|想了想|再想想|不过)"
_GONE_ZH = (
    r"(?:算了|当我没说|就当没说|收回(?:刚才|上面|这句|前面)?(?:的|说的)?(?:话|那句)?|撤回|作废|不算|不作数|别这么(?:做|办|干)|先别|不用了|不要了|不这么(?:做|办|定)了?|我?改(?:变)?主意了?|我?反悔了?|我?开玩笑的?|逗你的?|说着玩的?"
    r"|忽略(?:上面|刚才|前面)[^，。]{0,6}|忘(?:了|掉)(?:刚才|上面|前面|这)[^，。]{0,6}|还没(?:定|决定|想好)|不是真的|取消|没这回事|不行|刚才(?:说的)?(?:不算|作废|取消))"
)
_NOT_SO_ZH = r"(?:[，,；—… ]{1,2}(?:我们?|咱们?|其实|都|也|先|就|还|并){0,3}(?:不用|不要|不是|不算|不行|没有?(?:定|决定|这回事)?|不(?:这么)?(?:做|办|干|定|去|搬))(?:了|啦|呢|的)?)?"
_LEAD_ZH = regex(rf"^(?:{_OH_ZH}|不){{0,4}}")
_UNSAYS_ZH = regex(
    rf"^(?:{_OH_ZH}[，,。！!… ]{{0,3}}){{0,4}}{_GONE_ZH}(?:吧|了|啦|呢|的)?{_NOT_SO_ZH}[。.!！…~]*$"
)
# "Let's use Redis — no, never mind": said and taken back in one sentence.
_UNSAID_INSIDE = regex(
    rf"(?:[—–;,.…]|\s-)\s?(?:{_OH}[,.!… –—-]{{1,3}}){{1,3}}(?:{_GONE}|not|don't){_TAIL}"
    rf"|[，,。；—…]\s?(?:{_OH_ZH}[，,]?\s?){{0,3}}(?:算了|当我没说|不算|别了|不了|开玩笑的?|改主意了?|收回|作废)(?:吧|了|啦)?[。.!！…~]*$",
    2,
)
_GOES_ON = regex(
    r"\s{0,3}(?:it|this|that|they|these|those|because|so|since|which)\b|\s{0,3}(?:这|那|它|因为|所以|毕竟|这样)",
    2,
)


_SHORT, _LONGEST = 60, 90
_WORD = regex(r"[A-Za-z']+")
_HAN = regex(r"[\u3400-\u9fff]")


def standing(text: str, own: Sequence[Span], theirs: Sequence[Span]) -> list[Span]:
    """Return the sentences of a speaker that no later one of the same message takes back.

    Args:
        text: the message.
        own: the spans of the speaker's sentences.
        theirs: the spans of other people's words, which take nothing back.
    """
    kept: list[Span] = []
    for start, end, is_own in _in_order(text, own, theirs):
        sentence = text[start:end].strip()
        # Nothing to take back: no pattern is asked, as for most messages.
        if kept and _is_retraction(sentence) and _take_back(text, kept):
            continue
        if is_own and not _UNSAID_INSIDE.search(sentence):
            kept.append((start, end))
    return kept


def _in_order(
    text: str, own: Sequence[Span], theirs: Sequence[Span]
) -> Iterator[tuple[int, int, bool]]:
    """Yield the speaker's sentences, and between them what is too short to be kept."""
    taken = sorted([*own, *theirs])
    short = [one for one in sentences(text) if one[1] - one[0] <= _SHORT]
    between = [one for one in short if not any(a < one[1] and one[0] < b for a, b in taken)]
    yield from sorted([*((*one, True) for one in own), *((*one, False) for one in between)])


def _take_back(text: str, kept: list[Span]) -> bool:
    """Take the last statement away, with what goes on about it; False where there is none."""
    at = len(kept) - 1
    # "Let's use Redis. It's fast. Scrap that." takes back both sentences.
    while at > 0 and _GOES_ON.match(text, kept[at][0]):
        at -= 1
    if at < 0 or not _is_claim(text[slice(*kept[at])]):
        return False
    del kept[at:]
    return True


def _is_claim(sentence: str) -> bool:
    """Whether a sentence says more than a word of thanks, so that it can be taken back."""
    return len(_HAN.findall(sentence)) + 2 * len(_WORD.findall(sentence)) >= 5


def _is_retraction(sentence: str) -> bool:
    low = sentence.lower().replace("’", "'")
    return (
        any(one.search(low) for one in (_UNSAYS, _UNSAYS_ZH))
        or _is_taken_back_in_parts(low)
        or takes_this_back(sentence)
    )


def _is_taken_back_in_parts(low: str) -> bool:
    """Whether a part of a short sentence takes back, and no other part says anything new."""
    if len(low) > _LONGEST:
        return False
    parts = [_LEAD_ZH.sub("", _LEAD.sub("", part.strip())).strip() for part in _PARTS.split(low)]
    back = [bool(_TAKES_BACK.match(part) or _TAKES_BACK_ZH.match(part)) for part in parts]
    return any(back) and all(
        sure or _GOES_ALONG.match(part) or _GOES_ALONG_ZH.match(part)
        for part, sure in zip(parts, back, strict=True)
    )

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
_OH_ZH = r"(?:哦|嗯|等等|等下|等一下|不对|不|算了|呃|唉|其实|还是|那|仔细想想|想了想|再想想|不过)"
_GONE_ZH = (
    r"(?:算了|当我没说|就当没说|收回(?:刚才|上面|这句|前面)?(?:的|说的)?(?:话|那句)?|撤回|作废|不算|不作数|别这么(?:做|办|干)|先别|不用了|不要了|不这么(?:做|办|定)了?|我?改(?:变)?主意了?|我?反悔了?|我?开玩笑的?|逗你的?|说着玩的?"
    r"|忽略(?:上面|刚才|前面)[^，。]{0,6}|忘(?:了|掉)(?:刚才|上面|前面|这)[^，。]{0,6}|还没(?:定|决定|想好)|不是真的|取消|没这回事|不行|刚才(?:说的)?(?:不算|作废|取消))"
)
_NOT_SO_ZH = r"(?:[，,；—… ]{1,2}(?:我们?|咱们?|其实|都|也|先|就|还|并){0,3}(?:不用|不要|不是|不算|不行|没有?(?:定|决定|这回事)?|不(?:这么)?(?:做|办|干|定|去|搬))(?:了|啦|呢|的)?)?"
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


_SHORT = 60
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
        if _is_retraction(sentence) and _take_back(text, kept):
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
    return any(one.search(low) for one in (_UNSAYS, _UNSAYS_ZH)) or takes_this_back(sentence)

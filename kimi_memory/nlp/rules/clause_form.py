"""Clauses made ready for forms: short forms written out, lead-ins and adverbs taken out."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex

_SHORT = (
    (r"\b(i)'m\b", r"\1 am"), (r"\b(\w+)'ve\b", r"\1 have"), (r"\b(\w+)'ll\b", r"\1 will"), (r"\b(you|we|they)'re\b", r"\1 are"),
    (r"\b(he|she|it|that|who|there)'s\b", r"\1 is"), (r"\bcan'?t\b|\bcannot\b", "can not"), (r"\bwon't\b", "will not"), (r"\b(\w+)n't\b", r"\1 not"), (r"\blet's\b", "let us"),
)  # fmt: skip
_WRITTEN_OUT = tuple((re.compile(short, re.IGNORECASE), long) for short, long in _SHORT)
_LEAD = regex(
    r"^(?:(?:actually|correction|update|by the way|btw|fyi|well|so|ok|okay|also|and|but|no|yes|sorry|note|remember|please note|please remember|just so you know|for the record|to be clear|quick update|news"
    r"|from (?:now|today|tomorrow|next \w+|this \w+|monday|january|february|march|april|may|june|july|august|september|october|november|december|\d[^,]{0,12}?) on|from (?:next|this) \w+|as of [^,]{2,20}|starting [^,]{2,20}|these days|since [^,]{2,20}|i got married|we got married|(?:i|we)(?:'ve| have)? (?:just )?(?:left|dropped|ditched|gave up|quit|abandoned) [\w.+#-]{2,20}|remember that|note that|please remember that|(?:one|another) thing to (?:remember|know|note)|let me tell you(?: that)?|you should know(?: that)?|(?:i|we) (?:was|were) (?:wrong|mistaken)(?: earlier| before| there| about that)?|(?:i'd like|i would like|i want) you to (?:know|note|remember)(?: that)?)(?:[,:;.!—–-]+ ?| (?=(?:i|we|my|our|the|let)\b)|(?<=that) (?=(?-i:[A-Z]))))+"
    r"|^(?:(?:其实|更正(?:一下)?|更新(?:一下)?|纠正(?:一下)?|说错了|记错了|弄错了|对了|顺便说(?:一下)?|补充一下|另外|还有|嗯|哦|请记住|记住|记一下|备忘|提醒一下|从(?:下|这|本)(?:周|个?月)起|从今天起|从明天起|从[^，]{1,8}(?:起|开始)|即日起|以后|今后|(?:麻烦|请|帮我?|给我|你|您|也|再|先|都|要|得|会|能|可以|应该|最好|顺手|一定|务必)*(?:记|记住|记得|记下|记好|记着|记牢|记录|知道|留意|注意|备注|标注)(?:一下|一笔|下来|了)?(?=[，,：:])|(?:有|还有)?(?:一)?(?:件|个|条)?(?:事情?|东西|点)?(?:你)?(?:要|得|请|需要)(?:你)?(?:记住|记下|记得|知道|注意)(?=[，,：:])|(?:我|再|先|来|跟你|和你|给你|要|想)*(?:确认|强调|说明|声明|补充|提|说|讲|告诉你)(?:一下|一句|一声|一遍|清楚)?(?=[，,：:])|(?:要是|如果|万一)?有人问(?:起|到|我)?(?=[，,：:])|你(?:之前|上次|刚才)?问(?:过|到|起)?(?:我|的)?(?=[，,：:])|我改名了|我结婚了|我离婚了|[^,，。我]{1,6}起(?=我|项目|我们))[，,：:。！!、 ]*)+",
    re.IGNORECASE,
)
# "I am now living in …" must have the form of "I am living in …". "Now zone" is a name.
_ADVERB = regex(
    r"(?<=\w) (?:now|currently|still|just|recently|actually|also|finally|really|already|usually|normally|generally|mostly|nowadays|officially|probably)\b(?! zone)",
    re.IGNORECASE,
)
# 就 is an adverb in 我就住在…, and part of the verb in 就职 and 就读.
_ADVERB_ZH = regex(
    r"(?<=[我们是的，])(?:现在|目前|如今|其实|一直|平时|一般|通常|已经|刚刚?|最近|昨天|上个?月|上周|去年|今年|上个星期|终于|还是|也|都|从来|就(?!职|任|业|读|诊|餐|寝))+(?=[\u3400-\u9fff\d])|^(?:现在|目前|如今|其实|最近|昨天|上个?月|上周|去年)(?=[\u3400-\u9fff])"
)
_TAIL = regex(
    r"(?:,? (?:not|instead of|rather than|and not|no longer) [^,;]{1,40}|, (?:and )?(?:we|i) (?:never|no longer|do not|did not|don't|didn't|dropped|gave up) [^;]{2,60}|,? (?:any ?more|any ?longer|these days|at the moment|for now|now|from now on|as well|too|again|instead|by the way"
    r"|(?:last|this) (?:week|month|year|monday|spring|summer|autumn|fall|winter)|yesterday|today|recently|by (?:trade|profession|training)|(?:last|this) weekend|since [^,;]{2,20}|please|though|, ?that'?s? (?:is )?my (?:new )?\w+)){1,4}[.!]*$",
    re.IGNORECASE,
)
_TAIL_ZH = regex(
    r"(?:[，,][^，。]{1,12}(?:不要|不用|弃|扔|废|下线|停|不做)了|[，,](?:可)?(?:别|不要|不能|千万别)(?:再)?(?:记|弄|搞|写|填|看)[错混反漏]|[，,](?:你)?(?:要|得|可要)?(?:记住|记好|记牢|记得|记一下|记下来)|没错|[，,](?:而)?不是[^，。]{1,16}|[，,]?不再是[^，。]{1,16}|(?<=[A-Za-z\d]) ?上|了|吧|啊|呢|哦|的){1,8}$"
)
_WHEN = regex(
    r",? (?:yesterday|today|last (?:night|week|weekend|month|year|spring|summer|autumn|fall|winter)|this (?:morning|week|weekend|month|year))$",
    re.IGNORECASE,
)
_STOP = regex(r"(?<![\s.。!！~,，;；:：])[\s.。!！~,，;；:：]+$")


def plain_clause(text: str, *, zh: bool) -> str:
    """Return a clause with short forms written out, without lead-in and adverbs of time."""
    bare = _LEAD.sub("", text, count=1) or text
    if zh:
        return _ADVERB_ZH.sub(
            "", re.sub(r"(?<=[\u3400-\u9fff]) (?=[\u3400-\u9fff])|,(?=\d{3})", "", bare)
        )
    for short, long in _WRITTEN_OUT:
        bare = short.sub(long, bare)
    return _WHEN.sub("", _ADVERB.sub("", bare))


def trim_value(text: str, *, zh: bool) -> str:
    """Return a value without what follows it: what it replaces, when it became so."""
    cut = strip_marks(text.strip())
    shorter = (_TAIL_ZH if zh else _TAIL).sub("", cut)
    return strip_marks(shorter or cut).strip(" '\"“”「」`")


def strip_marks(text: str) -> str:
    """Return a text without the marks at its end."""
    return _STOP.sub("", text)

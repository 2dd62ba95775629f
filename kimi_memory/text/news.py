"""What a sentence does to what was said before: states anew, changes, takes back."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.text.cues import fold_case
from kimi_memory.text.han import simplify
from kimi_memory.text.language import language_of
from kimi_memory.text.regex import regex
from kimi_memory.text.subjects import Subject


def _any(*parts: str) -> re.Pattern[str]:
    return regex("|".join(f"(?:{part})" for part in parts))


CHANGE = _any(
    r"\b(?:is|are|am|'s|'re|i|we) now\b|\bnow (?:is|are|has|have|it's|uses?|lives?|works?)\b|\bnow[,.!]|\bnow$",
    r"\b(?:has|have|had to|was|were|is|are|got)? ?(?:changed?|switch(?:ed)?|mov(?:ed?|ing)|migrated?|updated?|bumped"
    r"|raised?|lowered?|relocated|renamed|postponed|extended|rescheduled|upgraded|downgraded)\b",
    r"\bthese days\b|\bby now\b|\bha(?:s|ve) become\b|\bgone from\b|\bshift(?:s|ed)\b|\banother\b|\babandoned\b|\bnow got\b"
    r"|\bmixed (?:that|it|this|them) up\b|\b(?:it|that) was [^,.;]{1,30} (?:before|until)\b|\bnot [^,.;]{1,30} but\b"
    r"|\bstarting (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|^forget [^,]{1,30}, |\bi started (?:working|at)\b|\brecently\b",
    r"\bno longer\b|n't\b[^.]{1,40}\bany ?(?:more|longer)\b|\bnot\b[^.]{1,30}\bany ?(?:more|longer)\b",
    r"\binstead of\b|\brather than\b|\bstarting (?:today|tomorrow|now|on|from|next|this)\b|\bas of\b|\bfrom now on\b",
    r"\bchange of plans?\b|^(?:correction|update|news|edit)\b|\bactually\b|\bturn(?:s|ed) out\b|\bused to\b"
    r"|\bwent from\b|\bbecame\b|\bnew\b|\breplac(?:e|ed|ing)\b|\bswapped\b|\bditched\b|\bdropped\b|\bscra(?:tch|p)\b"
    r"|\b(?:was|were|had|got|gave you)\b[^.]{0,24}\bwrong\b|\bmistaken\b|\bon second thoughts?\b|\bdone with\b"
    r"|\bchanged (?:my|our) minds?\b|\bi (?:just )?(?:left|joined|quit|relocated)\b|\bi've (?:just )?(?:left|joined|quit)\b",
    r"\b(?:is|are)n't [^,;.]{1,40}[,;.] (?:it|they)|, not [^,.;]{1,30}[.!]?$",
    r"(?:换|改|调整?|变|更新|升级|迁移?|转|搬|挪|移|替换|推迟|提前|延长|缩短|增加|减少|提高|降低|跳槽?)(?:成|到|为|至|在|去|用|作)"
    r"|[换改变搬](?=[a-z0-9\u3400-\u9fff ]{1,16}了)|(?<!现)现在?(?:是|用|在|住|改|换|叫|为|变|就|已|对|喝)|如今",
    r"不再|不(?:用|要|是|住|喝|在|对|吃)[^，。]{1,14}了|不是[^，。]{1,16}[，,]?(?:而)?是|[，,](?:而)?不是[^，。]{1,16}[。!！]?$",
    r"^(?:更正|纠正|更新|最新消息|计划有变|情况有变|说错了|弄错了)|更正一?下|更新一?下|(?<![别没要])(?:说错|弄错|记错|搞错)|其实[是对]"
    r"|从(?:今天|明天|现在|今|这周|下周|本周)起|以后(?:用|是|改|换|都)|改主意|原来(?:是|用)|之前(?:是|用)|新的|戒了|弃用|取代|离职"
    r"|变更|重新[定设选改]|切(?:换)?[到成为]|改回|换掉|已经?是|以后就?[是走]|最近改|不好意思|去[^，。]{1,12}上班了|换工作",
)
"""A new value takes the place of an old one. Read only where something is known to be stated."""

_SAID = r"(?:what|anything|everything|the things?|all) (?:i|we)(?:'ve| have| had)? (?:just )?(?:said|told|gave|mentioned)"
_BACK = _any(
    rf"\b(?:forget|delete|erase|remove|drop|disregard|ignore|strike|unlearn|scrap|scratch|discard) (?:about )?(?:all |of )?{_SAID}",
    r"(?<!don't )(?<!do not )(?<!never )(?<!not )(?<!i )(?<!to )(?<!always )(?<!didn't )(?<!i'll )\bforget (?!to\b|it\b)"
    r"(?:about )?(?:the|my|our|that|all|[\w-]+'s?) ",
    r"\b(?:delete|erase|remove|drop|strike|clear|wipe)\b[^.]{1,60}\b(?:from (?:your |the )?memory|from what you (?:know|remember)|you know)",
    r"\b(?:delete|erase|remove|unlearn|forget)\b (?:what|everything|anything|all) you (?:know|remember)|\bunlearn\b",
    rf"\b(?:never ?mind|take back|retract|withdraw|i take back|i was wrong about) (?:{_SAID}|[\w-]+'s|the|my|our)",
    r"\b(?:don't|do not|stop|no need to|you needn't|please don't)(?: have to| need to)? remember(?:ing)?\b(?! to\b)",
    r"\b(?:disregard|ignore)\b[^.]{1,50}\b(?:i|we) (?:gave|told|said)",
    r"\b(?:no longer|not|isn't|aren't|never)(?: really| actually)? (?:true|valid|correct|right|the case|current|accurate)\b"
    r"(?: any ?(?:more|longer))?[.!]?$",
    r"\b(?:no longer|doesn't|do(?:es)? not|don't) (?:holds?|appl(?:y|ies))\b|\b(?:outdated|obsolete)\b[,.] (?:forget|ignore|drop)",
    r"\b(?:wrong|mistaken) about\b[^.]{1,60}\b(?:remove|forget|drop|delete|ignore)\b|\bit was wrong[.!]?$",
    r"\bstop (?:using|relying on|keeping) \b|\b(?:don't|do not) (?:want you to|keep|store)\b[^.]{0,40}\b(?:remember|memory|know)\b"
    r"|\b(?:what|anything) (?:i|we) (?:told|said|gave)\b[^.]{1,60}\b(?:was|is) (?:wrong|false|a mistake|incorrect)\b"
    r"|\bconsider\b[^.]{1,50}\b(?:void|withdrawn|gone|cancelled)\b|\bwas a mistake\b|\b(?:don't|doesn't|no longer) (?:have|has) that\b",
    r"没有这个[^，。]{1,8}了|无效了?|(?:是|都是)错的[，,。]|(?:删了|删掉)(?:吧|[，,。]|$)|可以删",
    r"(?<![别要勿我会没他她])忘(?:掉|记|了|却)(?!带|密码|拿)|(?:别|不用|不要|不必|无需|甭)(?:再)?(?:记(?!得带)|惦记)|(?:别|不用|不要)再记",
    r"作废|不成立|失效了?|不再有效|不作数|不算数|过时了?[，,。]|(?:收回|撤回|撤销)[^，。]{0,12}(?:说|话|的)|当我没说|就当没说",
    r"(?:从|在)?记忆(?:里|中)?[^，。]{0,4}(?:删|去掉|抹|清)|(?:删|抹|清)(?:掉|除|去)?[^，。]{0,24}(?:记忆|记录)|已经?不是真的|取消了",
    r"不对[，,](?:别|不用|忘)|错的[，,](?:去|删|别|忘)",
)
_ENDED = _any(
    r"\b(?:is|are) no longer [^,;]{1,40}[.!]?$|\b(?:is|are)n't [^,;]{1,40} any ?(?:more|longer)[.!]?$"
    r"|\bno longer (?:has|have|uses?) [^,;]{1,40}[.!]?$",
    r"(?:不再是|已经?不是|不是)[^，,；;]{1,16}了[。.!！]?$|不再(?:用|有|使用)[^，,；;]{1,16}[。.!！]?$",
)
_THIS = _any(
    r"^(?:please |just |no,? |sorry,? |actually,? )*(?:forget|drop|scrap|ignore|disregard|delete|never ?mind) "
    rf"(?:that|this|it|{_SAID})(?: again| please| now)?[,. ]*(?:please)?[.!]?$",
    r"^(?:sorry,? |no,? |hm+,? )*(?:that|this|it)(?:'s| is| was)? (?:no longer|not|isn't) (?:true|right|correct|valid|so|the case)"
    r"(?: any ?(?:more|longer))?[.!]?$|^(?:don't|do not|stop) remember(?:ing)? (?:that|this|it)(?: any ?more)?[.!]?$",
    r"^(?:请|那|算了[，,]?|哦[，,]?|嗯[，,]?)?(?:别|不用|不要|不必)(?:再)?(?:记|记住|记得)(?:这个|这件事|这条|这事|它|那个|刚才)?[^，。]{0,6}了?[。!！]?$",
    r"^(?:请|那|算了[，,]?)?(?:忘掉|忘了|忘记)(?:这个|这件事|这条|这事|它|吧|刚才[^，。]{0,8})[^，。]{0,6}[。!！]?$",
    r"^(?:这个?|那个?|刚才(?:那个|说的)?|上面(?:那个|说的)?)[^，。]{0,4}(?:已经?)?(?:不成立|不对|作废|不作数|不是真的|过时|错)[^，。]{0,3}[。!！]?$",
)
_COMMA = regex(r"(?<=\d),(?=\d{3})")
_EN_VALUE = re.compile(
    r"(?:\b(?:is|are|be|to|at|as|by|on|has|have|for|with|uses?|became|becomes|takes?|of|in|on)\b|:|'s) +(?P<v>[^,;.!?]{1,60})",
    re.IGNORECASE,
)
_CONCRETE = re.compile(r"\d|[A-Z]|\b(?:an?|the) [a-z]|[“\"`+#_/]")
_OURS = regex(r"我们|咱们|[用选定改换走]")
_ZH_VALUE = re.compile(
    r"(?:是|为|[用到成在叫选走拿了换改定喝：:])(?P<v>(?!很|挺|太|比较|非常|不|没|什么|怎么|有|要|可以|需要|应该|因为|这样|那样)[^，,。；;！!？?]{1,14})"
)


def changes(sentence: str) -> bool:
    """Whether a statement takes the place of an earlier one."""
    return CHANGE.search(fold_case(simplify(sentence))) is not None


def takes_back(sentence: str) -> bool:
    """Whether somebody takes back what was said of the subject of the sentence."""
    low = _COMMA.sub("", fold_case(simplify(sentence)).strip())
    return _BACK.search(low) is not None or _ENDED.search(low) is not None


def takes_this_back(sentence: str) -> bool:
    """Whether somebody takes back what was said just before, without naming it."""
    return _THIS.search(fold_case(simplify(sentence)).strip()) is not None


def states(sentence: str, subject: Subject) -> bool:
    """Whether a sentence gives its subject a value that lasts.

    An attribute that nobody knows needs a value that is plainly one: a figure, a name.
    """
    text = simplify(sentence)
    zh = language_of(text) == "zh"
    rest = text
    for word in subject.words.split():
        rest = rest.replace(word, " ", 1)
    rest = rest.replace(" 's", " ")
    values = [found["v"].strip() for found in (_ZH_VALUE if zh else _EN_VALUE).finditer(rest)]
    values += [found["v"].strip() for found in [_leading(rest, zh=zh)] if found]
    values = [value for value in values if value]
    if not values or (subject.known and subject.owner):
        return bool(values)
    if zh and (subject.owner or _OURS.search(text) or changes(text)):
        return True
    return any(_CONCRETE.search(value) for value in values)


def _leading(rest: str, *, zh: bool) -> re.Match[str] | None:
    """Return a value that stands before its subject: "8080 is the port of Atlas"."""
    pattern = (
        r"^[^，,]{0,12}?(?P<v>[^，,。]{1,14})是\s*的?\s*[。.]?$"
        if zh
        else r"^(?P<v>[^,;.]{1,60}?) (?:is|are|will be|as|for)\b"
    )
    return re.search(pattern, rest.strip())

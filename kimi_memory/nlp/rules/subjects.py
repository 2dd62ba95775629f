"""What a sentence is about, and what it does to what was said before.

A statement and its later change must meet under one key, however they are put. So the
name of the thing and of what is said of it are looked for in the forms that both
languages have for it; words of a table (`topics`) are the same in both.

A sentence states anew, changes or takes back. What one message says and takes back again does not
stand: "Let's use Redis. Scrap that."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from types import ModuleType

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import (
    Phrases,
    fold_case,
    language_of,
    rare,
    regex,
    simplify,
    spelled,
)
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.basic.sentences import Span, sentences
from kimi_memory.nlp.rules import possessive_en, possessive_zh
from kimi_memory.nlp.rules.attribute_nouns import is_lexical
from kimi_memory.nlp.rules.attributes import PERSONS, attribute_of, is_empty
from kimi_memory.nlp.rules.clause_form import CORRECTS, CORRECTS_ZH, strip_lead
from kimi_memory.nlp.rules.cues import split_reason
from kimi_memory.nlp.rules.entity_names import is_name, without_verb
from kimi_memory.nlp.rules.self_facts import self_of
from kimi_memory.nlp.rules.topics import KNOWN, topic_of

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


def _compile_alternatives(*parts: str) -> re.Pattern[str]:
    return rare("|".join(f"(?:{part})" for part in parts))


CHANGE = _compile_alternatives(
    r"\b(?:is|are|am|'s|'re|i|we) now\b|\bnow (?:is|are|has|have|it's|uses?|lives?|works?)\b|\bnow[,.!]|\bnow$",
    r"\b(?:has|have|had to|was|were|is|are|got)? ?(?:changed?|switch(?:ed)?|mov(?:ed?|ing)|migrated?|updated?|bumped"
    r"|raised?|lowered?|relocated|renamed|postponed|extended|rescheduled|upgraded|downgraded)\b",
    r"\bthese days\b|\bby now\b|\bha(?:s|ve) become\b|\bgone from\b|\bshift(?:s|ed)\b|\banother\b|\babandoned\b|\bnow got\b"
    r"|\bmixed (?:that|it|this|them) up\b|\b(?:it|that) was [^,;]{1,30} (?:before|until)\b|\bnot [^,;]{1,30} but\b"
    r"|\bstarting (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|^forget (?:[^,]|,(?=\d)){1,30}, |\bi started (?:working|at)\b|\brecently\b",
    r"\bno longer\b|n't\b.{1,40}\bany ?(?:more|longer)\b|\bnot\b.{1,30}\bany ?(?:more|longer)\b",
    r"\binstead of\b|\brather than\b|\bstarting (?:today|tomorrow|now|on|from|next|this)\b|\bas of\b|\bfrom now on\b",
    r"\bchange of plans?\b|^(?:correction|update|news|edit)\b|\bactually\b|\bturn(?:s|ed) out\b|\bused to\b"
    r"|\bwent from\b|\bbecame\b|\bnew\b|\breplac(?:e|ed|ing)\b|\bswapped\b|\bditched\b|\bdropped\b|\bscra(?:tch|p)\b"
    r"|\b(?:was|were|had|got|gave you)\b.{0,24}\bwrong\b|\bmistaken\b|\bon second thoughts?\b|\bdone with\b"
    r"|\bchanged (?:my|our) minds?\b|\bi (?:just )?(?:left|joined|quit|relocated)\b|\bi've (?:just )?(?:left|joined|quit)\b",
    r"\b(?:went|go(?:es|ing)?) (?:from|for)\b|\bupdat(?:e|es|ing)\b|\b(?:chang|switch|mov|convert|promot|renam|redefin|revis)(?:e|es|ed|ing)\b|\b(?:is|are|was) out\b|\bis in(?=[,.;!]|$)"
    r"|\beffective (?:immediately|today|now|from|as of)\b|\b(?:i|we) meant\b|\bcorrect (?:myself|that|this|me)\b|\btaken over\b|\btook over\b|\bin place of\b|\bgoing forward\b|\bhenceforth\b|\bfrom (?:today|tomorrow|monday|this|next)\b"
    r"|\bended up\b|\bno more\b|\bgave up\b|\bgot promoted\b|\bhired by\b|\b(?:sold|traded)\b|\b(?:isn't|aren't|wasn't|is not|are not|was not)\b.{1,60}\b(?:but|it's|it is|they're|they are|we're|we use)\b|\bmake\b.{1,80}\bfrom\b"
    r"|\bwas wrong\b|\bmoved on\b|^(?:it|that)(?:'s not| isn't| is not) [^,;]{1,40}[,;]",
    rf"^{CORRECTS} ?[,:;.!—–-]",
    r"\b(?:is|are)n't [^,;]{1,40}[,;.] (?:it|they)|, not [^,;]{1,30}[.!]?$",
    r"(?:换|改|调整|调(?!用)|变|更新|升级|迁移?|转|搬|挪|移|替换|推迟|提前|延长|缩短|增加|减少|提高|降低|跳槽?)(?:成|到|为|至|在|去|用|作)"
    r"|[换改变搬](?=[a-z0-9\u3400-\u9fff ]{1,16}了)|(?<!现)现在?(?:是|用|在|住|改|换|叫|为|变|就|已|对|喝)|如今",
    r"不再|不(?:用|要|是|住|喝|在|对|吃)[^，。]{1,14}了|不是[^，。]{1,16}[，,]?(?:而)?是|[，,](?:而)?不是[^，。]{1,16}[。!！]?$",
    r"^(?:更正|纠正|更新|最新消息|计划有变|情况有变|说错了|弄错了)|更正一?下|更新一?下|(?<![别没要])(?:说错|弄错|记错|搞错)|其实[是对]"
    r"|从(?:今天|明天|现在|今|这周|下周|本周)起|以后(?:用|是|改|换|都)|改主意|原来(?:是|用)|之前(?:是|用)|新的|戒了|弃用|取代|离职"
    r"|变更|(?:更新|调整?|升级?|降|修改|替换|切换?|转|过渡)(?:成|到|为|至)|有(?:所)?(?:变动|变化|调整|改动|更新)|换(?:了|掉|人|[a-z0-9])|即日起|往后|今后|从此|打今[天儿]?起|起(?:就)?[用是为换改]|下[个周]?[月周]?开始|才对|是指|纠正|抱歉"
    r"|(?:取消|放弃|弃用|淘汰|停用)了?[^，。]{1,16}[，,]|(?:^|[的们])新(?!的)[\u3400-\u9fff]{2,6}[是为]|加入了?|入职|转岗|升职|改名|(?:原先|本来|起初|最初)[是用叫]|不是[^，。]{1,20}[，,]?(?:而)?(?:是|用|叫|换)|不[用叫住喝开][^，。]{1,12}[，,](?:改)?[用叫住喝开]"
    rf"|^{CORRECTS_ZH}"
    r"|重新[定设选改]|切(?:换)?[到成为]|改回|换掉|已经?是|以后就?[是走]|最近改|不好意思|去[^，。]{1,12}上班了|换工作",
)
"""A new value takes the place of an old one. Read only where something is known to be stated."""

_SAID = r"(?:what|anything|everything|the things?|all) (?:i|we)(?:'ve| have| had)? (?:just )?(?:said|told|gave|mentioned)"
# "Don't forget the port" and 别忘了 ask for the contrary of "forget the port".
_BACK = _compile_alternatives(
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
_PARTS = {
    "forget": r"forget(?: about)?|disregard|unlearn|never ?mind(?: about)?|(?:stop|quit) (?:using|remembering|keeping|citing|quoting)|don't (?:use|rely on|remember|keep|trust|mind)",
    "wipe": r"delete|erase|remove|drop|strike|clear|wipe|scrap|scratch|discard|dismiss|purge|cross out|take out|get rid of|throw (?:away|out)|dump|retire",
    "kept": r"(?:your |the |my )?(?:memory|memories|notes?|records?|mind|list|knowledge|files|what you (?:know|remember|have))",
    "ended": r"obsolete|outdated|out of date|out-of-date|void|invalid|withdrawn|cancell?ed|history|gone|a mistake|false|incorrect|wrong|no longer \w+|expired|superseded|retired",
    "lasts": r"apply|applies|hold|holds|exist|exists|count|counts|matter|matters|stand|stands",
    "more": r"any ?(?:more|longer)",
    "you": r"you|we",
}
_BACK_EN = Phrases(
    *(
        spelled(_PARTS, form)
        for form in (
            # An order to forget; a thing may be deleted in earnest, a memory of it is said to be one.
            r"(?:^|[:;,.] |\b(?:please|just|now|so|and|then) )(?:<forget>) (?:the|our|my|that|this|about|all|everything|what|any|[\w-]+'s?)\b(?! (?:to|it)\b)",
            r"\b(?:<wipe>)\b[^.]{1,80}\b(?:from|in|out of) <kept>\b|\b(?:<wipe>)\b (?:all |everything |anything |what(?:ever)? )?(?:that )?you (?:know|remember|have)\b",
            r"\b(?:<wipe>)\b (?:the |that |all )?(?:note|entry|information|info|memory|record|fact|bit|part)s? (?:about|on|of|for)\b",
            # A wish, a permission or a duty to forget.
            r"\b(?:i'd rather|i would rather|i want|i'd like|i need|i'd prefer) (?:it if |that )?<you> (?:to )?(?:forgot|forget|dropped|drop|didn't (?:keep|remember)|not (?:to )?(?:keep|remember)|to not|erased?|deleted?)\b",
            r"\b<you> (?:can|may|should|could|must|might as well|are free to) (?:now |safely |just )?(?:<forget>|drop|discard|strike|erase|ignore|let go of)\b(?! (?:to|in|on|at)\b)",
            r"\b(?:<you> )?(?:needn't|don't need to|don't have to|need not|no need to|no reason to) (?:remember|keep|store|know|bother|worry|care|think)\b",
            # Said to hold no more.
            r"\b(?:is|are|was|were|'s|got|has become|became) (?:now |all |simply |completely |already )?(?:<ended>)\b(?:[.!]?$|[,;] (?:so |please |just |and )*(?:do not|don't|forget|ignore|drop|delete|remove|stop|disregard|erase|never))",
            r"\b(?:no longer|does not|doesn't|do not|don't|isn't|aren't) (?:<lasts>|valid|current|in (?:force|effect|use))\b(?: <more>)?",
            r"\b(?:no longer|doesn't|don't|does not|do not) (?:have|has) (?:a|an|any|that|the|this|its)\b [^.,;:]{1,40}?(?: <more>)?[.!]?$|\b(?:has|have|had|there(?:'s| is| are)) no [^.,;:]{1,60} <more>\b",
            r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:got rid of|did away with|abolished|cancell?ed|scrapped|withdrew|dropped) (?:the|our|[\w-]+'s) [^.,;:]{1,60}[.!]?$",
            r"\b(?:wrong|mistaken) about\b|\b(?:i|we) (?:was|were) (?:wrong|mistaken)\b[^.]{0,60}\b(?:forget|ignore|drop|delete)\b",
        )
    )
)
_MEMORY_ZH = r"(?:记忆|记录|笔记|备忘|脑子|印象|资料)"
_ZH_PARTS = {"kept": _MEMORY_ZH, "drop": r"删|抹|清|划|去|擦|勾|移", "off": r"掉|除|去|了|走|空"}
_BACK_ZH = Phrases(
    *(
        spelled(_ZH_PARTS, form)
        for form in (
            r"(?:就)?当(?:我)?(?:没|从来没)(?:有)?(?:说|提|讲)|(?:当|就当)我没说",
            r"(?:从|在)[^，。]{0,6}<kept>(?:里|中|本)?[^，。]{0,6}(?:<drop>)|(?:<drop>)(?:<off>)[^，。]{0,24}<kept>",
            r"(?:<drop>)(?:<off>)?吧|(?:把|将)[^，。]{1,30}(?:知道|记得|记住|记下|记)的[^，。]{1,30}(?:<drop>)(?:<off>)",
            r"(?:已经?|早就|都)?(?:不适用|不管用|不作准|不生效|失效|过期|过时|作废|无效|不存在|不成立)(?:了|啦)?(?=[，,。！!]|$)",
            r"(?:可以|别|不用|不要|无需|不必)(?:再)?(?:不用)?(?:管|理会|理|采信|参考|用|提)[^，。；]{0,24}?(?:了|吧)?(?=[，,。！!]|$)",
            r"(?:最好|干脆|还是|请|把|将)[^，。]{0,24}忘(?:了|掉|记)|忘(?:了|掉)吧",
            r"(?:已经?|现在)?没有?[\u3400-\u9fff]{2,8}了(?=[，,。！!]|$)|(?:已经?|被)?取消(?:了|掉了?|啦)?(?=[，,。！!]|$)",
        )
    )
)
_INSTEAD = _compile_alternatives(
    r"\b(?:it|they|that)(?:'s| is| are|'re) (?:now )?(?:[a-z]* )?[\w/~$]*\d|\b(?:use|it's|it is|is now|to|but|switch to|go with|make it) [\w/~$.-]*\d|\buse (?!it\b|this\b|that\b|the\b|them\b)[a-z]+",
    r"(?:改|换|变|调)[成为到用]|(?:现在|而|新的)是|[，,](?:用|是)[a-z0-9]",
)
"""Another value in place of the one that holds no more: then it is a change."""
_ENDED = _compile_alternatives(
    r"\b(?:is|are) no longer (?![^,;]{0,80}\bbut\b)[^,;]{1,40}[.!]?$|\b(?:is|are)n't [^,;]{1,40} any ?(?:more|longer)[.!]?$"
    r"|\bno longer (?:has|have|uses?) [^,;]{1,40}[.!]?$",
    r"(?:不再是|已经?不是|不是)[^，,；;]{1,16}了[。.!！]?$|不再(?:用|有|使用)[^，,；;]{1,16}[。.!！]?$",
)
_THIS = _compile_alternatives(
    r"^(?:please |just |no,? |sorry,? |actually,? )*(?:forget|drop|scrap|ignore|disregard|delete|never ?mind) "
    rf"(?:that|this|it|{_SAID})(?: again| please| now)?[,. ]*(?:please)?[.!]?$",
    r"^(?:sorry,? |no,? |hm+,? )*(?:that|this|it)(?:'s| is| was)? (?:no longer|not|isn't) (?:true|right|correct|valid|so|the case)"
    r"(?: any ?(?:more|longer))?[.!]?$|^(?:don't|do not|stop) remember(?:ing)? (?:that|this|it)(?: any ?more)?[.!]?$",
    r"^(?:请|那|算了[，,]?|哦[，,]?|嗯[，,]?)?(?:别|不用|不要|不必)(?:再)?(?:记|记住|记得)(?:这个|这件事|这条|这事|它|那个|刚才)?[^，。]{0,6}了?[。!！]?$",
    r"^(?:请|那|算了[，,]?)?(?:忘掉|忘了|忘记)(?:这个|这件事|这条|这事|它|吧|刚才[^，。]{0,8})[^，。]{0,6}[。!！]?$",
    r"^(?:这个?|那个?|刚才(?:那个|说的)?|上面(?:那个|说的)?)[^，。不没无未]{0,4}(?:已经?)?(?:不成立|不对|作废|不作数|不是真的|过时|错)[^，。]{0,3}[。!！]?$",
)
_COMMA = regex(r"(?<=\d),(?=\d{3})")


def changes(sentence: str) -> bool:
    """Whether a statement takes the place of an earlier one."""
    return CHANGE.search(fold_case(simplify(sentence))) is not None


def takes_back(sentence: str) -> bool:
    """Whether somebody takes back what was said of the subject of the sentence."""
    # The comma of 3,400 is none between clauses.
    low = _COMMA.sub("", fold_case(simplify(sentence)).strip())
    if _BACK.search(low) or _ENDED.search(low):
        return True
    forms = _BACK_ZH if language_of(sentence) == "zh" else _BACK_EN
    # "Forget 8080, it's 9090 now" gives a new value: a change, not the end of the matter.
    return not _INSTEAD.search(low) and forms.found_in(low)


def takes_this_back(sentence: str) -> bool:
    """Whether somebody takes back what was said just before, without naming it."""
    return _THIS.search(fold_case(simplify(sentence)).strip()) is not None


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
_BORDERS = regex(r"[,;:.!…–—，；：。！]{1,4}|\s-\s")
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
    low = fold_case(sentence)
    return (
        any(one.search(low) for one in (_UNSAYS, _UNSAYS_ZH))
        or _is_taken_back_in_parts(low)
        or takes_this_back(sentence)
    )


def _is_taken_back_in_parts(low: str) -> bool:
    """Whether a part of a short sentence takes back, and no other part says anything new."""
    if len(low) > _LONGEST:
        return False
    parts = [_LEAD_ZH.sub("", _LEAD.sub("", part.strip())).strip() for part in _BORDERS.split(low)]
    back = [bool(_TAKES_BACK.match(part) or _TAKES_BACK_ZH.match(part)) for part in parts]
    return any(back) and all(
        sure or _GOES_ALONG.match(part) or _GOES_ALONG_ZH.match(part)
        for part, sure in zip(parts, back, strict=True)
    )


# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


ME = "user"
"""Owner of what a person says of themselves."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a sentence is about."""

    owner: str
    """Slug of a name; ``user`` for the speaker; empty for what is ours."""
    attribute: str
    known: bool
    """Whether the attribute stands in the table of topics."""
    words: str
    """The words that name both, so that what is left is what is said of them."""
    name: str = ""
    noun: str = ""
    """Owner and attribute as the sentence has them."""
    value: str = ""
    """What is said, where the form of the sentence tells it from the rest."""
    start: int = 0
    end: int = 0
    """Where the words that name it stand in the simplified sentence."""

    @property
    def key(self) -> str:
        """The key of a card about it."""
        return f"{self.owner or 'fact'}.{self.attribute}"


_LONG_NOUN = 5
"""A run of so many characters may be more than a noun."""
_USED = regex(r"(?:都|统一|一律|就|只|全){0,2}用(?![了过完掉来前后到])")
_IS = regex(r"\b(?:is|are|will be)\b(?! (?:forbidden|not allowed|never|always)\b)|[是为]")
_I = regex(r"\b(?:i|my|me)\b|我(?!们)")
_WE = regex(r"\b(?:we|our|us|let's|everyone|everybody)\b|我们|咱们|大家|统一|团队")


@lru_cache(maxsize=4096)
def subject_of(sentence: str) -> Subject | None:
    """Return whose what a sentence speaks of, or None where it names neither."""
    text, zh = _normalise_sentence(sentence)
    grammar = possessive_zh if zh else possessive_en
    mine = own_of(sentence)
    # In Chinese 我 stands before what is mine; in English a name may own what follows.
    first, second = (mine, None) if zh else (None, mine)
    return first or _find_named_subject(text, zh=zh) or second or _find_our_subject(grammar, text)


@lru_cache(maxsize=64)
def own_of(sentence: str) -> Subject | None:
    """Return what of the speaker's own a sentence names first, or None.

    `subject_of` has more to look for, and may find that something else is meant.
    """
    text, zh = _normalise_sentence(sentence)
    return _find_self_subject(text) or _find_my_subject(
        (possessive_zh if zh else possessive_en).MY, text
    )


def _normalise_sentence(sentence: str) -> tuple[str, bool]:
    """Return a sentence as the grammars have it, and whether it is Chinese."""
    text = simplify(sentence.replace("’", "'"))
    return text, language_of(text) == "zh"


def _find_self_subject(text: str) -> Subject | None:
    told = self_of(text)
    if told is None:
        return None
    return Subject(ME, told.attribute, known=True, words=told.words, value=told.value)


SHARED = ("decision", "fact", "note")
PERSONAL = ("preference", "user", "note")
"""First words of keys under which the same matter may stand."""
_SWAPPED = {"reversal": "decision"}
_PREFIXES = frozenset({*SHARED, *PERSONAL, "rule", "lesson", "pattern", "finding", "task"})


def key_of(prefix: str, sentence: str, project: str = "") -> str:
    """Return the key of what a sentence says.

    Args:
        prefix: the first word of the key where nobody is named, such as ``decision``;
            with ``reversal`` it is ``decision``, or ``preference`` for a person's own habits.
        sentence: one statement.
        project: the project it was said in, which needs no naming.
    """
    sentence = strip_lead(sentence)
    subject = subject_of(split_reason(sentence)[0])
    if subject is None:
        return f"{_SWAPPED.get(prefix, prefix)}.{topic_of(sentence)}"
    if subject.owner == ME:
        habit = prefix == "preference" and subject.attribute in KNOWN
        return f"{prefix}.{subject.attribute}" if habit else subject.key
    if subject.owner and subject.owner != slug(project, 40):
        return subject.key
    if prefix == "preference" and subject.attribute not in PERSONS and _WE.search(sentence):
        prefix = "decision"  # What a team always uses is its choice.
    if prefix == "rule" and (_IS.search(fold_case(sentence)) or _is_used(sentence, subject)):
        prefix = "decision"  # "From now on the port is 9090" names a value, and forbids nothing.
    if prefix in ("fact", "reversal") and subject.attribute in PERSONS:
        low = fold_case(sentence)
        if _I.search(low) and not _WE.search(low):
            return f"preference.{subject.attribute}"
    return f"{_SWAPPED.get(prefix, prefix)}.{subject.attribute}"


def _is_used(sentence: str, subject: Subject) -> bool:
    """Whether a thing that has a name of its own is what is used: 以后主分支都用 trunk."""
    return subject.known and _USED.match(_normalise_sentence(sentence)[0], subject.end) is not None


def is_named(key: str) -> bool:
    """Whether a key begins with the name of a thing or a person, of any project."""
    return key.partition(".")[0] not in _PREFIXES


def kin(key: str) -> frozenset[str]:
    """Return the keys under which the same matter may stand, this one included."""
    first, _, rest = key.partition(".")
    near = [names for names in (SHARED, PERSONAL) if first in names]
    return frozenset({key, *(f"{name}.{rest}" for names in near for name in names if rest)})


def _find_named_subject(text: str, *, zh: bool) -> Subject | None:
    grammar = possessive_zh if zh else possessive_en
    for form in grammar.FORMS:
        for found in _yield_overlapping_matches(form, text, zh=zh):
            name = possessive_zh.bare_name(found["e"]) if zh else without_verb(found["e"])
            noun = found["a"] or found.groupdict().get("b") or ""
            attribute, known = attribute_of(noun)
            unsaid = not known and (
                (form in grammar.LOOSE and not is_lexical(noun))
                or is_empty(noun)
                or (
                    zh
                    and form not in possessive_zh.VALUED
                    and not _is_stated(text, found.start("e"), found.end("a"))
                )
            )
            unsaid = unsaid or (zh and _ends_attribute(text, found.end("e")))
            if is_name(name, zh=zh) and not unsaid:
                start, end = _subject_span(found, text)
                return Subject(
                    slug(name, 40), attribute, known, f"{name} {noun}", name, noun, "", start, end
                )
    return None


_RUN = regex(r"[\u3400-\u9fff]{2,8}$")


def _ends_attribute(text: str, end: int) -> bool:
    """Whether the Chinese words up to a place are what is known of things, as in 许可证：MIT."""
    run = _RUN.search(text, max(0, end - 8), end)
    return run is not None and attribute_of(run[0])[1]


def _yield_overlapping_matches(
    form: re.Pattern[str], text: str, *, zh: bool
) -> Iterator[re.Match[str]]:
    """Yield matches, each looked for behind the name of the one before."""
    found = form.search(text)
    while found:
        yield found
        # From behind the name, not behind the match: the next name may stand inside of this match.
        found = form.search(text, found.end("e") if zh else found.start("e") + 1)


# Between a name and a noun that stand together.
_GAP = regex(
    r"^(?:'s?)?(?: (?:project|team|service|server|system|app)(?:'s)?)?[,:]?(?: (?:(?:I|we) have|of|for|on|at|in|the|our|its|their|his|her|new|current|old|official|actual|real|right|I|we|that|which|gave|give|told|you|mentioned|project|team))* ?$"
    r"|^ ?(?:项目组?|团队|[这那][边里儿]|系统|服务|目前|现在|用|选|定)*的?(?:新的?|现在的|老|旧|这个)?[，,]?(?:它的|他的|她的|其)?$"
)


def _subject_span(found: re.Match[str], text: str) -> tuple[int, int]:
    """Return where a name and its noun stand; of two that stand apart, where the noun does."""
    name = found.span("e")
    noun = found.span("a" if found["a"] else "b")
    first, second = sorted((name, noun))
    together = _GAP.match(text[first[1] : second[0]])
    return (first[0], second[1]) if together else noun


def _is_stated(text: str, start: int, end: int) -> bool:
    """Whether something is said of a Chinese subject, after it or before it."""
    if possessive_zh.is_stated_after(text, end):
        return True
    return (
        not text[end:].strip("。.!！~ ") and possessive_zh.BEFORE.search(text[:start]) is not None
    )


def _find_my_subject(pattern: re.Pattern[str], text: str) -> Subject | None:
    found = pattern.search(text)
    if found is None:
        return None
    attribute, known = attribute_of(found["a"])
    if not known and is_empty(found["a"]):
        return None
    return Subject(
        ME, attribute, known, found[0], noun=found["a"], start=found.start(), end=found.end("a")
    )


def _find_our_subject(grammar: ModuleType, text: str) -> Subject | None:
    for form in (grammar.OUR, grammar.OURS):
        at = 0
        while found := form.search(text, at):
            at = found.start() + 1
            noun = next(word for word in found.groups() if word)
            group = found.lastgroup or "a"
            if grammar is possessive_zh and form is grammar.OUR and noun.isascii():
                continue  # Between Chinese words MySQL names a value.
            attribute, known = attribute_of(noun)
            zh = grammar is possessive_zh
            stated = not zh or _is_stated(text, found.start(group), found.end(group))
            short = noun.isascii() or len(noun) < _LONG_NOUN
            sure = known or is_lexical(noun)
            said = sure if form is grammar.OUR else not is_empty(noun) and stated
            if said and (stated or (known and short)):
                start, end = found.span(group)
                return Subject("", attribute, known, noun, noun=noun, start=start, end=end)
    return None

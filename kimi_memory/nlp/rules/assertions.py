"""Whether a sentence gives its subject a value that lasts, by how the two are joined.

A value stands behind its subject after a word that joins them ("is", "changed to", 改成),
or before it ("8080 is …", "… as the port", 以Redis作为). That both are somewhere in a
sentence is not enough: "we met at Dana's office in Riga" says nothing of her office.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from functools import partial

from kimi_memory.nlp.basic.patterns import language_of, rule, simplify
from kimi_memory.nlp.rules.attribute_nouns import is_lexical
from kimi_memory.nlp.rules.subjects import ME, Subject

_EN = {
    "Num": r"\d|[A-Z]",
    "adv": r"(?:,? (?:now|currently|still|actually|then|here|also|always|already|simply|just|officially|really|again|today|these days|from now on|from today|for us|as of [\w ]{3,12}|starting [\w ]{3,12}|will|would|has|have|had|shall|should|must|to|happens to|we (?:chose|picked|use|have|agreed on|settled on|decided on|went with)(?: for it)?|I (?:gave|told) you|of choice))*",
    "is": r"(?:is|are|be|will be|'s|'re|stays|remains|stands at|becomes|became|become|been|equals|reads|isn't|aren't|falls on|starts at|amounts to|comes to|lies at|means|is called|goes by)",
    "sort": r"(?: (?:project|team|service|server|system|app|cluster|site))?",
    "change": r"(?:chang|mov|switch|set|updat|rais|lower|bump|renam|postpon|extend|reschedul|upgrad|downgrad|migrat|fix|pinn?|adjust|increas|reduc|cut|cap|shift|push|pull|transfer|convert|revis|reset|turn|put|bring|brought|assign|mak|mad|went|gone|go|goes|keep|kept|relocat|redefin|correct|limit|plac)(?:ed|ing|es|e|s)?",
    "aux": r"(?:,? (?:has|have|had|was|were|is|are|got|gets|been|being|just|now|recently|already|will|be|finally|also|again|has to be|had to be|needs to be))*",
    "to": r"(?:to|at|into|as|on|for)",
    "have": r"(?:have|has|had|having|use[sd]?|using|run|runs|ran|running|pick(?:ed|s)?|choose|chose|chosen|select(?:ed)?|adopt(?:ed)?|tak(?:e|es|en|ing)|took|go(?:ing|es|ne)?|went|stick(?:ing)?|stuck|settled?|decid(?:e|ed)|decision|agreed?|opt(?:ed)?|rel(?:y|ies|ied)|commit(?:ted)?|fix(?:ed)?|set|ke(?:ep|eps|pt|eping)|want(?:s|ed)?|mak(?:e|es|ing)|made|assign(?:ed|s)?|mean|meant|switch(?:ed|ing)?|mov(?:e|ed|ing)|replac(?:e|ed|ing)|end(?:ed)?|get|gets|got|come|comes|came|carr(?:y|ies)|list(?:ed|s)?|record(?:ed)?|settled|gave|give|dropped|ditched|abandoned|taken|swapped|swap|standardi[sz]ed?|happy|prefer(?:red)?|rename[d]?|named?|note|noted|put|changed|upgraded|migrated|lean(?:ing)?|count)",
}


_english_rule = partial(rule, _EN, flags=re.IGNORECASE)
_AFTER_EN = (
    _english_rule(
        r"^<sort><adv>(?: <is>)(?: (?:now|still|currently|again|actually|always|set to|going to be|to be|changed to|no longer|not|at|on|in|called))* (?P<v>[^,;!?]{1,80})"
    ),
    _english_rule(
        r"^<sort><aux> <change>(?: (?:over|back|up|down|out|away))?(?: from [^,;]{1,40}?)? <to> (?P<v>[^,;!?]{1,60})"
    ),
    _english_rule(r"^<sort>(?: [^,;:]{1,30})? ?(?:[:=]| [–—-]) ?(?P<v>[^;!?]{1,60})"),
    _english_rule(
        r"^<sort> used to be [^,;]{1,40}[,;] (?:and |but )?(?:now )?(?:it's|it is|they're)(?: now)? (?P<v>[^,;!?]{1,60})"
    ),
    _english_rule(r"^<sort>(?: with)? (?P<v>(?:\d|\$)[^,;!?]{0,40})$"),
    _english_rule(
        r"^ ?\)?(?:<adv>)[,;] (?:but |and |now )*(?:it's|it is|we use|use)(?: now)? (?P<v>[^,;!?]{1,60})"
    ),
    _english_rule(
        r"^[^,;]{1,60}[,;] (?:but |and |now )*(?:it's|it is|we use)(?: now)? (?P<v>[^,;!?]{1,60})"
    ),
    _english_rule(
        r"^<sort> (?:and|but) (?:went for|chose|picked|took|switched to|went with|settled on) (?P<v>[^,;!?]{1,60})"
    ),
)
# "…, an old barn" behind the subject; only for subjects that are known.
_APART_EN = (_english_rule(r"^, (?P<v>(?:an? |<Num>)[^,;!?]{0,60})"),)
_ORDER_EN = _english_rule(
    r"\b(?:<change>)(?: (?:the|our|its|their|his|her|my))?(?: (?:new|current|old))? ?$"
)
"""A verb right before its object, the subject: "we moved Atlas's port"."""
_ORDERED_EN = _english_rule(
    r"^<sort>(?: (?:over|back|up|down))?(?: from [^,;]{1,40}?)? <to> (?P<v>[^,;!?]{1,60})|^<sort> (?P<w><Num>[^,;!?]{0,40}?)(?: from now on| now)?[.!]?$"
)
_BEFORE_EN = (
    _english_rule(
        r"(?:^|[,:;–—-] |\b(?:that|so|and|but) )(?P<v>[^,:;!?]{1,60}?) (?:is|are|will be|becomes|became|remains)(?: now| still| also)?(?: (?:the|our|its|their|my|a))?(?: (?:new|current|official|actual|only))* ?$"
    ),
    _english_rule(
        r"^.*\b(?:<have>|now (?:on|at|with))\b(?: (?:to|on|with|for|by|at|in|up))* (?P<v>[^;!?]{1,70}?) (?:as|for|with|to be|in)(?: (?:the|our|its|their|his|her|my|another|an?))?(?: (?:new|current|official|actual|only))* ?$"
    ),
    _english_rule(
        r"\b(?:instead of|in place of) (?P<v>[^,;!?]{1,40}) (?:as|for)(?: (?:the|our|its))? ?$"
    ),
    _english_rule(r"\bmake (?P<v>[^,;!?]{1,40}?)(?: (?:the|our|its))? ?$"),
    _english_rule(
        r"\b(?:taken|took|take) over(?: from [^,;]{1,40})? as(?: (?:the|our|its|their|my))? ?(?P<v>)$"
    ),
    _english_rule(r"\bnow (?:at|on) (?P<v>[^,;!?]{1,40}?) for ?$"),
)
# "Postgres for the database" says its value only where a database is known to be a slot: "thanks
# for the talk" has the same form.
_LOOSE_EN = (
    _english_rule(
        r"(?:^|[,:;–—-] |\b(?:that|so|and|but) )(?P<v>[^,:;!?]{1,40}?) (?:as|for)(?: (?:the|our|its|their|my))? ?$"
    ),
)
"""Forms that give a value to what is known to have one."""
_HELD_EN = _english_rule(
    r"\b(?:has|have|had|kept|keeps?|got|runs?) (?:its|the|our|their|his|her) ?$"
)
_PUT_EN = _english_rule(r"^<sort> (?:at|on|in|to|set to) (?P<v>[^,;!?]{1,60})")
_TOPIC_EN = _english_rule(r"^[^;!?]{0,16}\b(?:for|as|on)(?: (?:the|our|its))? ?$")
_TOLD_EN = _english_rule(
    r"^[,:]? (?:I|we|it's|it is|let's|the (?:decision|choice)|use|take|go with)\b(?P<v>[^;!?]{1,60})"
)
# "The build is slow", "the office is closed": feelings and passing states are no values.
_VAGUE_EN = re.compile(
    r"^(?:but|and|or|below|above|let's|i|i'm|i've|(?:an?|the)$|sent|done|given|taken|seen|found|held|kept|left|lost|built|written|shown|known|held|brought|born|very|so|too|quite|pretty|rather|really|just|not?|almost|all|more|less|much|always|never|only|still|also|now|to|with|by|of|about|because|that|what|how|why|where|when|if|like|as"
    r"|good|bad|great|nice|fine|okay|ok|slow|fast|broken|down|up|missing|wrong|right|done|ready|important|big|small|huge|hard|easy|simple|complex|unclear|clear|late|early|here|there|gone|true|false|due|super|such|part|one of"
    r"|available|unavailable|empty|full|different|similar|same|the same|better|worse|best|worst|funny|weird|strange|annoying|awesome|amazing|lovely|interesting|useful|useless|unknown|undecided|open|closed|free|busy|it|they|this|these|those|he|she|we|you|me|us|them|my|your|his|her|their|its"
    r"|terrible|horrible|awful|crazy|long|short|beautiful|perfect|wonderful|fantastic|fun|cool|cute|tough|something|someone|everything|nothing|anything|my|a (?:great|good|bad|big|bit|lot|way|real|nice|huge|true|long|really|reminder|constant|journey|wonderful|place)|an (?:amazing|important|inspiration|awesome|incredible|honou?r)|the (?:best|most|worst|reason|way|one|key|perfect|same|right)"
    r"|(?-i:[a-z]{2,}ing|[a-z]+ly|[a-z]{3,}(?:ful|less|ous|ible)|[a-z]*(?:[^aeiou]ed|ied|ated)))\b",
    re.IGNORECASE,
)
# "8080 now, because …": what follows says when or why, and is not the value.
_TAIL_EN = re.compile(
    r"\s(?:now|from now on|these days|instead|rather than|instead of|until|since|because|so that|when|where|which|who|and|but|as of|starting|from today|yesterday|today|again|not|by the team|in the end|at last|at the moment|then)\b.*$|\).*$",
    re.IGNORECASE,
)
_IT = re.compile(r"^ ?(?:(?:it's|it is|now|then|that's|use) )+", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_CONCRETE = re.compile(r"\d|[A-Z]|[“\"`+#_/~$]|^(?:an?|the) [a-z]")
_FIGURE = re.compile(r"[0-9A-Za-z]")
# What stands before the subject is no more than 请记住 or 我们现在: the clause opens with it.
_LEAD_ZH = re.compile(
    r"^.*?[，。：:；,]|^(?:请|麻烦|记住|记下|我们|咱们|大家|把|将|又|目前|现在|最近|刚才?|其实|对了|关于|说到)+$"
)
_WORDS, _SHORT_ZH = 7, 8

_ZH = {
    "when": r"(?:现在?|目前|这[一]?[块项方面]++|方面|[，,](?=我们)|(?:说|记|弄|搞)错了?[，,]|(?:得|要|需要)?改一?下[，,]|确定|默认|决定|商定|今|昨|明|天|前天|后天|上周|本周|这周|下周|上个?月|这个?月|本月|下个?月|今年|刚|即日|已经?|早就|以后|往后|原[先来本]?|本来|如|最后|最终|最近|其实|暂|依然|仍然?|一直|统一|终于|还是|还|都|也|就|又|则|大概率|应该?|确实|我们?|咱们?|大家|团队|这边|那边|这儿|打今|从今|起|开始|先|再|后来|被|确认过了|给你|跟你|说过){0,12}",
    "link": r"(?:是指|就?是|为|叫做?|等于|是在|使用|采用|选用|沿用|用的是|用|选的?是?|取|定(?:为|在|成|到|了)?|设(?:为|成|在|定为)?了?|确定(?:为|是)|敲定为?|改(?:成|为|到|用|回|走|叫)?了?|换(?:成|到|为|用|了)?|调(?:整)?(?:成|为|到)|变(?:成|为|更为)|更新(?:成|为|到)|升级?(?:成|为|到)|降(?:成|为|到)|切(?:换)?(?:成|为|到)|迁移?(?:到|至)|转(?:到|为|成)|搬(?:到|去)|挪(?:到|去)|移(?:到|至)|推迟到|提前到|延(?:长|期)?(?:到|至)|替换(?:成|为)|重新(?:定|设|选|改)(?:为|成|在|了)?|暂定(?:为)?|记作|在|交给|归|走|选定(?:为)?|最终?(?:选|定)了?|最后(?:定|选)了?)",
    "old": r"(?:[，, ]?(?:已经|现在)?(?:不再|不)(?:是|用|叫|为)?[^，。；]{1,16}了?[，,]?(?:而)?|[，,]?(?:从|由)[^，。；]{1,32}?|[，,]?(?:原[来先本]|之前|以前|本来|起初)(?:是|用|叫)?[^，。；]{1,16}[，,])",
    "sep": r"[ ，,]?",
}


_chinese_rule = partial(rule, _ZH, flags=re.IGNORECASE)
_AFTER_ZH = (
    _chinese_rule(
        r"^(?:项目|团队)?<sep><when>(?:<old><when>)?<link>了?(?P<v>[^，。；！？）,;!?]{1,24})"
    ),
    _chinese_rule(r"^ ?(?:——|[：:=])[ ]?(?P<v>[^，。；！？）]{1,24})"),
    _chinese_rule(r"^[，,](?P<v>[A-Za-z0-9~/][^，。；！？]{0,24}|[\u3400-\u9fff]{2,6})[。]?$"),
    _chinese_rule(
        r"^(?:有(?:所)?(?:变动|变化|调整|改动|更新)|换了|改了|变了|定了|确认(?:过)?了?)[，,：:]?(?:<when>)?(?:<link>)?(?P<v>[^，。；！？]{1,24})"
    ),
)
_BEFORE_ZH = (
    _chinese_rule(
        r"(?:^|[，。：:；,])(?P<v>[^，。；！？]{1,24}?)(?:现在|已经?)?就?(?:是|成了?|成为了?|做)(?:我们的?|咱们的?)?$"
    ),
    _chinese_rule(
        r"(?:用|以|拿|选了?|选定|选用|采用|把|将|让|决定用|换成|改用)(?P<v>[^，。；！？]{1,24}?)(?:来)?(?:做|当|作为?|为|当作|当成)(?:我们的?|咱们的?)?$"
    ),
    _chinese_rule(
        r"(?:用|由)(?P<v>[^，。；！？]{1,16}?)(?:取代|代替|替换|换掉)了?[^，。；]{1,16}[，,]?(?:作为|当|做|成为)(?:我们的?)?$"
    ),
    _chinese_rule(
        r"(?P<v>[^，。；！？]{1,16}?)(?:取代|代替)了?[^，。；]{1,16}[，,]?(?:作为|当|做|成为|成了?)(?:我们的?)?$"
    ),
)
_BRACKETED_ZH = _chinese_rule(r"^[：:] ?(?P<v>[^，。；！？）)]{1,24})[）)]")
"""A value beside its subject in brackets: 李梅（办公室：苏州）."""
# 端口很重要, 会议要开始了: nothing that a later value could replace. 每月一号 is one, 每个人 is
# none.
_VAGUE_ZH = re.compile(
    r"^(?:而且|但|不过|听起来|今天|确实|也|还|都|就|绝对|真正|其实|很|挺|太|比较|非常|不(?!列)|没|什么|怎么|哪|有|要|可以|需要|应该|因为|这样|那样|这|那|一[个种次份场些条项段]|最|更|我|你|他|她|它|由于|为了|在[^，。]{0,8}[上中下里]|否|的|了|得|吗|呢|如何|多少|谁|几|自己|大家|所有|各|每(?!月|年|周|天|日|小时|分|秒|人)|好|对|错|真|能|会|想|说|去|来|给|跟|和|与|让|把|被|从|以|用来)"
)


def states(sentence: str, subject: Subject) -> bool:
    """Whether a sentence gives its subject a value that lasts.

    A value of what no table knows has to be plainly one: a figure, a name, a few words.
    """
    return bool(values_given(sentence, subject))


def values_given(sentence: str, subject: Subject) -> list[str]:
    """Return the values that a sentence gives its subject, as each form of it reads them."""
    if subject.value:
        return [subject.value]
    # A point for the comma keeps the places of the text, and 3.400 does not end a clause.
    text = _THOUSANDS.sub(".", simplify(sentence.replace("’", "'")))
    zh = language_of(text) == "zh"
    before, after = text[: subject.start], text[subject.end :]
    sure = subject.known or is_lexical(subject.noun)
    if zh:
        return _find_chinese_values(before, after, sure=sure)
    found = _find_english_values(before, after, sure=sure)
    return [value for value in found if _is_lasting_value(value, subject)]


def _find_english_values(before: str, after: str, *, sure: bool) -> list[str]:
    after = after.rstrip(" .!~")
    found = [form.search(after) for form in _AFTER_EN]
    if _ORDER_EN.search(before):
        found.append(_ORDERED_EN.search(after))
    found += [form.search(before) for form in _BEFORE_EN]
    if sure:
        found += [form.search(before) for form in _LOOSE_EN]
        found += [form.search(after) for form in _APART_EN]
    if _HELD_EN.search(before):
        found.append(_PUT_EN.search(after))
    if _TOPIC_EN.search(before):
        found.append(_TOLD_EN.search(after))
    values = [one["v"] or one.groupdict().get("w") or "" for one in found if one]
    return [_TAIL_EN.sub("", _IT.sub("", value)).strip() for value in values]


def _find_chinese_values(before: str, after: str, *, sure: bool) -> list[str]:
    after = after.rstrip("。.!！~ ")
    values: list[str] = []
    opens = not _LEAD_ZH.sub("", before)
    if before.endswith(("（", "(")) and (beside := _BRACKETED_ZH.match(after)):
        values.append(beside["v"].strip())
    for at, form in enumerate((*_AFTER_ZH, *_BEFORE_ZH)):
        found = form.search(after if at < len(_AFTER_ZH) else before)
        value = found["v"].strip() if found else ""
        if not value or _VAGUE_ZH.search(value):
            continue
        # What nobody knows to have a value has one where the clause says no more than that.
        whole = (
            opens and found is not None and found.end() == len(after) and len(value) <= _SHORT_ZH
        )
        if sure or whole or (opens and _FIGURE.search(value)):
            values.append(value)
    return values


def _is_lasting_value(value: str, subject: Subject) -> bool:
    if not value or _VAGUE_EN.search(value):
        return False
    few = len(value.split()) <= _WORDS
    named = bool(subject.owner) and subject.owner != ME
    return few and (bool(_CONCRETE.search(value)) or subject.known or named)

"""What people say is still to be done, and what they say is done: to-dos and ticks in talk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.pasted import own_spans
from kimi_memory.nlp.rules.relations import words_of

MAX_TURN = 1500
"""A longer turn is a paste or a plan, not speech."""
MAX_TASK = 160
"""Most characters of a to-do; what is longer tells a story."""
LEAST = 2
"""Fewest words, or pairs of Chinese characters, that name what is to be done."""

_SENTENCE = regex(r"[^\n。！？!?；;]+?(?=[\n。！？!?；;]|\.(?:\s|$)|$)[。！？!?；;]?")
_MARKED = regex(
    r"^[^\S\n]*(?:[-*+•]\s+|\d+[.)]\s+)?(?:(?i:to-?do)(?:\([^)\n]{1,30}\))?"
    r"|[Aa]ction items?|[Ss]till (?:to (?:do|be done)|open)|[Ll]eft to do"
    r"|待办(?:事项)?|待处理|待完成|未完成|还没做的?|还要做的?)\s*[:：]\s*(?P<what>\S[^\n]*)",
    re.MULTILINE,
)
_BEFORE = regex(
    r"^[^\S\n]*to-?dos? (?:before|until|for) [^:：\n]{2,40}[:：]\s*(?P<what>\S[^\n]*)",
    re.MULTILINE | re.IGNORECASE,
)
_NEED = regex(
    r"^(?:(?:ok|okay|and|but|so|also|then|oh|right|well|yes|note|by the way|btw)[,:]? )*"
    r"(?:i|we)(?:'ve)? (?:also )?still (?:need to|have to|must|got to|(?:need|have) got to|should)"
    r" (?P<what>\S.*)",
    re.IGNORECASE,
)
_YET = regex(
    r"^(?:(?:ok|okay|and|but|so|also|note|by the way|btw)[,:]? )*"
    r"(?P<what>(?:(?:i|we) (?:haven't|have not)|(?:the|our|my) (?:[\w/.-]+ ){1,5}?"
    r"(?:isn't|is not|aren't|are not|hasn't been|has not been|haven't been|have not been))"
    r" (?:\w+ ){0,2}?(?:written|tested|done|finished|deployed|merged|fixed|migrated|implemented|"
    r"reviewed|updated|documented|released|booked|ordered|paid|wired|ported|removed|added|moved|"
    r"started|set up|hooked up|checked|cleaned up|upgraded|configured|automated)\b.*) yet\b.*$",
    re.IGNORECASE,
)
_HAN_NEED = regex(
    r"^(?:[嗯哦对了好那另外此外然后最后不过但是但而且，, ]{0,6})"
    r"(?:我们?|咱们?|这边|后面|接下来|之后|上线前|发版前|下周|明天|周末)?"
    r"(?:还要|还需要|还得|仍需|仍要)(?P<what>把.{2,}|(?:[写补改做测迁移加修查换订买配接跑发画试学]|"
    r"实现|完善|部署|升级|优化|整理|准备|联系|确认|处理|安排|申请|更新|清理|验证|上线|对接|重构|拆分).{2,})"
)
_HAN_YET = regex(
    r"^(?:[嗯哦对了好那另外此外不过但是但，, ]{0,6})"
    r"(?P<what>[^，,]{2,40}?还(?:没有|没)(?:来得及|开始)?"
    r"(?:写|做|改|测|补|修|迁|合|合并|上线|部署|完成|弄|接|处理|实现|联调|验证|配|配置|更新|清理|升级|"
    r"订|买|交|签|装|办|申请|发)(?:好|完|掉|过|上)?)呢?[。！；]?(?:[，,].*)?$"
)
_DAY_EN = (
    r"(?:(?:this |next |on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|tomorrow|tonight|today|noon|midnight|eod|eow"
    r"|(?:the )?(?:end|middle) of |(?:next|this|coming) (?:week|month|weekend|year)"
    r"|\d{1,2}(?::\d\d)? ?(?:am|pm)\b|(?:the )?\d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d\d"
    r"|(?:\d{1,2} )?(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b)"
)
_DAY_ZH = (
    r"(?:今天|今晚|明[天早晚]|大?后天|(?:本|这|下)?(?:周|星期|礼拜)[一二三四五六日天末]|下周|下个?月|[本这]周|月底|月初|月末|年底|年前|节前|春节|下班"
    r"|\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}[日号])(?:[早中晚上下午]{1,2}|\d{1,2}点)?"
)
_DUE = regex(
    r"^(?:(?:ok|okay|and|but|so|also|then|oh|right|well|yes|note|by the way|btw)[,:]? )*"
    r"(?:(?:i|we)(?:'ve)? (?:(?:also|really|still|only|just) )?"
    r"(?:need to|have to|must|gotta|(?:have )?got to|should|(?:am|are) supposed to) "
    rf"(?P<what>\S.{{2,100}}?\b(?:by|before|until|no later than) {_DAY_EN}.*)"
    r"|(?P<thing>(?:the|our|my|this) [^,;]{2,60}? (?:has|have|needs?) to be "
    rf"(?:\w+ ){{1,3}}(?:by|before|until|no later than) {_DAY_EN}.*))",
    re.IGNORECASE,
)
_HAN_DUE = regex(
    r"^(?:[嗯哦对了好那另外此外然后最后不过但是但而且，, ]{0,6})"
    rf"(?P<what>(?:我们?|咱们?)?(?:(?:要|得|需要|必须)在?)?{_DAY_ZH}(?:之前|以前|前)[，,]?(?:我们?|咱们?)?"
    r"(?:(?:一定|务必|还)?(?:要|得|需要|必须))?[^你您]*?(?:把|交|写|做|改|测|补|完成|搞定|弄|发|提交|上线|部署|准备|修|整理|还|付|订|买|办)[^你您]+)"
)
_HAN_MUST = regex(r"(?:要|得|需要|必须|务必)")
# "We still need to think", "if we still have to …", 早点睡: nothing that can be ticked off.
_NO_TASK = regex(
    r"\?|？|吗|\b(?:if|unless|whether|would|could|might|maybe|perhaps|remind|wonder|suppose)\b"
    r"|如果|要是|是不是|要不要|可能|也许|大概|提醒|比.{0,8}还要|"
    r"\b(?:need|have) to (?:be|have|know|see|think|understand|admit|say|ask|figure|decide|"
    r"remember)\b"
    r"|想想|好好|加油|努力|睡|吃饭|上班|还没(?:有)?(?:想|定|决定)",
    re.IGNORECASE,
)
_DONE = regex(
    r"^(?:(?:ok|okay|and|so|yes|yep|great|good|nice|cool|all right|alright|update|btw)[,:!]? )*"
    r"(?:(?:(?:i|we)(?:'m|'re| am| are)? )?(?:now )?(?:all )?(?:done|finished|through) with "
    r"(?P<a>.+?)"
    r"|(?:i|we)(?:'ve| have)? (?:just |now |finally |already )*"
    r"(?:finished|completed|wrapped up|got done with) (?P<b>.+?)"
    r"|(?P<c>(?:the|our|my|that|this) .+?) (?:is|are|'s) "
    r"(?:now |all |finally |already |fully )*(?:done|finished|complete|completed|merged|deployed|"
    r"shipped|released|live|in place|taken care of)"
    r"|(?P<d>(?:the|our|my|that|this) .+?) (?:has|have) been "
    r"(?:done|finished|completed|merged|deployed|shipped|released|fixed|migrated|implemented))"
    r"(?: (?:now|today|already|yesterday|at last|too))?[.!]*$",
    re.IGNORECASE,
)
_HAN_DONE = regex(
    r"^(?:[嗯哦对好行那，, ]{0,4})(?:我们?|咱们?)?(?:已经|终于|都|刚|今天|昨天){0,8}(?:把)?"
    r"(?P<what>[^，,]{2,40}?)(?:已经|终于|都|也|全部|刚|今天|昨天){0,8}"
    r"(?:(?:做|写|弄|搞|改|测|补|修|迁|迁移|处理|跑|配|接|订|买|交|办)(?:完|好)|搞定|弄定|完成|完工|合并|上线|部署好)"
    r"了?(?:[啦哈！!。]*)$"
)
# "Once the export is done", "almost finished", 快写完了, 写完之后…: not done yet.
_NOT_DONE = regex(
    r"\?|？|吗|\b(?:not|n't|never|almost|nearly|once|when|until|if|before|after|half|partly|mostly|"
    r"will|would|should|can|could|to be)\b|n't\b"
    r"|没|未|快|差不多|等|如果|一旦|之后|以后|才能|怎么|一半|就",
    re.IGNORECASE,
)
_CLAUSE = regex(r"[,，]\s*")
_TAIL = regex(r"(?<![\s,，.。;；:：!！-])[\s,，.。;；:：!！-]++$")
_SMALL = frozenset(
    """
    the a an our my we i it its this that these those of for to in on at with and or all also
    still now today part thing things stuff work task item everything rest done finished yet
    be is are have has need first then too as well by from into up out
    """.split()  # noqa: SIM905  a list of words is read as a text
)


def tasks_in(text: str) -> list[str]:
    """Return what a person says is still to be done, each cut from the text as it stands."""
    if len(text) > MAX_TURN:
        return []
    found: list[str] = []
    for part in _yield_own_parts(text):
        marked = [*_MARKED.finditer(part), *_BEFORE.finditer(part)]
        found += [found["what"] for found in marked]
        if not marked:
            found += [
                task for sentence in _yield_sentences(part) if (task := _parse_task(sentence))
            ]
    cut = (_TAIL.sub("", one).strip() for one in found)
    return list(dict.fromkeys(one for one in cut if _names_something(one)))


def done_in(text: str) -> list[str]:
    """Return what a person says is done, each cut from the text as it stands."""
    if len(text) > MAX_TURN:
        return []
    return [
        done
        for part in _yield_own_parts(text)
        for one in _yield_sentences(part)
        if (done := _parse_done_task(one))
    ]


def finishes(done: str, task: str) -> bool:
    """Whether what is done is what a to-do names: the to-do says all its words."""
    wanted, there = _content_words(done), _content_words(task)
    return bool(wanted) and all(any(_is_same_word(a, b) for b in there) for a in wanted)


def _yield_own_parts(text: str) -> Iterator[str]:
    """Yield the parts of a turn that are its speaker's own words, without code."""
    for start, end in own_spans(text):
        part = text[start:end]
        if "```" not in part:
            yield part


def _yield_sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = found[0].strip().lstrip("-*+• ").strip()
        if sentence:
            yield sentence


def _parse_task(sentence: str) -> str:
    if len(sentence) > MAX_TASK + 40 or _NO_TASK.search(sentence):
        return ""
    for form in (_NEED, _YET, _HAN_NEED, _HAN_YET):
        if found := form.match(sentence):
            return found["what"]
    return _parse_due_task(sentence)


def _parse_due_task(sentence: str) -> str:
    """Return what is to be done by a day: "finish the report by Friday", 明天之前要把报告交了."""
    if found := _DUE.match(sentence.replace("’", "'")):
        start, end = max(found.span("what"), found.span("thing"))
        return sentence[start:end]
    found = _HAN_DUE.match(sentence)
    return found["what"] if found and _HAN_MUST.search(found["what"]) else ""


def _parse_done_task(sentence: str) -> str:
    # "Not before the export, the import is done": a doubt in one clause is of them all.
    if len(sentence) > MAX_TASK or _NOT_DONE.search(sentence):
        return ""
    for clause in (sentence, *_CLAUSE.split(sentence)):
        if found := _DONE.match(clause):
            return next(part for part in found.groups() if part)
        if found := _HAN_DONE.match(clause):
            return found["what"]
    return ""


_POINTS = regex(
    r"(?:[\u3400-\u9fff]{0,3}|[a-z]+ )(?:[那这](?:些|个)|它们?|those|these|them|that|this|it)", 2
)
"""A verb and a word that points: 补充那些, "fix those"."""


def _names_something(task: str) -> bool:
    named = len(_content_words(task)) >= LEAST and not _POINTS.fullmatch(task)
    return named and len(task) <= MAX_TASK


def _is_same_word(a: str, b: str) -> bool:
    """Whether two words are one in another form: migrate, migration."""
    # Five letters at least: "test" and "text" must not be one, "migrate" and "migration" must.
    stem = max(5, max(len(a), len(b)) * 2 // 3)
    return a == b or (a[:stem] == b[:stem] and len(a) >= stem and a.isascii())


def _content_words(text: str) -> set[str]:
    return {word for word in words_of(text) if len(word) > 1 and word not in _SMALL}

"""Sentences that leave out what they are about, written out from what was said before.

"It's 9090 now." answers "Is the port of Atlas still 8080?"; "Its port is 9090." follows
"Back to Atlas."; 现在改成9090了 follows 青鸾的端口是8080.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import language_of, regex, simplify
from kimi_memory.nlp.basic.safe_text import slug
from kimi_memory.nlp.rules.attribute_nouns import is_lexical
from kimi_memory.nlp.rules.attributes import PERSONS, attribute_of
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.self_facts import answered, asked_of
from kimi_memory.nlp.rules.subjects import ME, Subject, subject_of

LONGEST = 90
"""A longer sentence says itself what it is about."""
_FEW, _FEW_ZH = 6, 14
"""So many words, or Chinese characters, may be a value alone."""
_I = re.IGNORECASE
_YES = regex(
    r"^(?:(?:yes|yep|yeah|no|nope|nah|sure|right|correct|well|oh|hm+|ah|sorry|actually|of course|wrong|not (?:really|quite|any ?more|anymore|any longer)|no longer|it (?:did|changed|was|isn't|is)|they did|i think not)\b[,.!:;]? *)+",
    _I,
)
_DENIES = regex(
    r"^(?:no|nope|nah|wrong|not|it changed|it isn't)\b|^(?:不|没有?了|早就?不|已经不|现在不)", _I
)
_DONE_ZH = regex(
    r"^(?:(?:是的?|对的?|嗯+|哦|好|不是?了?|不对|错了|没有?了?|不再是了|已经不是了|现在不是了|早就?不是了|定了|定下来了|有了?|有的|改了|换了|当然|应该)[，,。！! ]+)+"
)
# "It's 9090 now": the verb behind shows that "it" is the subject, not "that port".
_IT = regex(r"^(?:it|that|this)(?='s| is| was| has| will| went| got| became| changed| moved)", _I)
_MOVED_IT = regex(
    r"\b(?P<verb>changed|moved|switched|set|updated|raised|lowered|renamed|postponed|extended|migrated|upgraded|bumped|put|brought|cut|made|shifted|pushed) (?:it|that|this)\b(?= (?:back |over |up |down )?(?:to|from|into|at|[A-Z0-9]))",
    _I,
)
_TAKES = regex(
    r"^(?:we|i|they)(?:'ve|'re| have| are|'ll| will)? (?:now |just |still |recently |already )*(?:use|using|run|have|picked|chose|chosen|took|go(?:ing)? with|went (?:with|for)|settled (?:on|for)|decided on|switched to|moved to|changed to|migrated to)(?: (?:now|back|over))?\b (?=\S)",
    _I,
)
_GOES_OVER = regex(r"\b(?:switched|moved|changed|migrated|settled|decided|went|going)\b", _I)
"""Without a question these alone speak of what was said before: "I have a dog" is new."""
_OPENS_ZH = regex(
    r"^(?:我们|咱们|大家|后来|最近|刚刚?|已经?|现在|如今|目前|以后|今后)*(?:又|都|就|已经?)?(?:改|换|变|调|升|迁|搬|挪|转|切|更新|定|用|是|叫|选|设|取|为|在)"
)
# An answer with a verb of its own says something else: "Wait, let me check".
_SENTENCE_EN = regex(
    r"\b(?:is|are|was|were|has|have|had|do|does|did|will|can|could|should|would|i|we|you|they|he|she|it|let|let's|me|look|wait|hold|hang|see|check|sure|thanks|ask|later|think|dunno|know|please|'s|'re|'m)\b|'(?:s|re|m|ll|ve)\b",
    _I,
)
# "Exactly, that feeling", 对，就是这种感觉: it agrees, and gives nothing a value.
_AGREES = regex(
    r"\b(?:exactly|precisely|spot on|absolutely|totally|definitely|(?:like|such|of) (?:this|that|these|those)|th(?:is|at) (?:way|feeling|kind|sort|exact\w*))\b"
    r"|\b(?:is|'s|was) (?:(?:so|very|quite|really|completely|perfectly|all) )*(?:true|right|correct|accurate|perfect|great|nice|good|helpful|useful|clear|fair|fine|it|me|how (?:i|it) feels?)\W*$"
    r"|[这那]种|[这那]样|[这那]么|如此|(?:正确|没错|对|准确|到位|清楚|清晰|不错|挺好|很好|有道理|在理)的?[了呢吧啊呀呢]?\W*$",
    _I,
)
_VALUE_EN = regex(r"^(?:(?:in|at|on|the|an?|with) )?[\w$€£~/.][^!?;]{0,60}$")
# 我看看, 不知道, 等一下: talk, and no value.
_CLAUSE_ZH = regex(
    r"[我你他她它们吗呢吧谢请帮看]|不|没|怎|什么|好的|可以|知道|明白|一下|等|了$|是|说|想|要"
)
_OWN_EN = regex(r"^(?:(?:and|so|also|well)[, ]+)?(?P<d>its|his|her|their|the) ", _I)
_OWN_ZH = regex(r"^(?:它|他|她|其|这个|那边)的?(?=[\u3400-\u9fff]{2})")
_NAME = r"[A-Z][\w&+]*(?:[- ][A-Z][\w&+-]*){0,2}"
_TOPIC_EN = regex(
    rf"\b(?:(?i:back to|about|regarding|on|as for|concerning|speaking of|take|consider|turn to|with|for|discuss|to|at)) (?:the |our |project )?(?P<e>{_NAME})\b"
)
_TOPIC_ZH = regex(
    r"(?:再?说说|说到|再?聊聊|谈谈|谈到|看看|关于|讲讲|讲到|回到|提到|接着说说?|接着聊聊?|再说|再聊|聊|谈|至于|轮到)(?:一下|一?会儿?|回)?(?P<e>[A-Za-z][\w-]{0,60}|[\u3400-\u9fff]{2,6}?)(?:的?(?:事情?|情况|项目|话题))?(?:吧|了|这边)?[。！，,]?$"
)
_ASKED_EN = regex(
    r"\b(?:(?:which|what)(?:'s| is| are| was| about| of)? (?:(?P<your>your )|the |our )?|(?:is|was|for|still) (?:the|our|(?P<mine>your)) )(?P<a>(?!(?:is|are|do|does|did|should|would|can|you|the|about|it|that|this)\b)[a-z][\w-]*(?: (?!(?:is|are|do|does|did|should|would|can|you|we|still|now)\b)[a-z][\w-]*){0,2})",
    _I,
)
_ASKED_ZH = regex(
    r"(?:你们的?|咱们的?|我们的?|(?P<your>你的?)|(?P<mine>您的)|^|[，,])(?P<a>[\u3400-\u9fff]{2,6}?)(?:现在|目前|还|是|用|选|定|要|叫|呢|有|改)"
)
_OF_NAME = regex(rf"\b(?:of|for|on|does|has|is|in) (?P<e>{_NAME})\b")
_PRIVATE = regex(
    r"\b(?:passwords?|passphrase|passcode|pin|keys?|tokens?|secrets?|credentials?|ssn|card number|cvv|iban)\b"
    r"|密码|口令|密钥|令牌|验证码|身份证|银行卡|卡号|凭证",
    _I,
)
"""An answer to such a question is not written out: alone it may not look like a secret."""
_ANY_NAME = regex(rf"\b{_NAME}\b")


def denies(answer: str) -> bool:
    """Whether an answer begins with a no."""
    return _DENIES.search(answer.strip()) is not None


def completed(answer: str, before: str) -> str:
    """Return a sentence with what it is about, taken from what was said before it.

    Args:
        answer: one sentence that may leave its subject out.
        before: the question that it answers, or the sentence that it follows.

    Returns:
        The whole sentence, or nothing where it stands alone or nothing fits.
    """
    told = simplify(answer.replace("’", "'")).strip()
    if len(told) > LONGEST or len(before) > 3 * LONGEST or _PRIVATE.search(before):
        return ""
    if _AGREES.search(told):
        return ""
    zh = language_of(told if len(told) > 12 or language_of(told) == "zh" else before) == "zh"
    subject = subject_of(told)
    if subject is None or not subject.owner:
        owned = _insert_owner_name(told, before, zh=zh)
        if owned:
            return owned
    if subject is not None:
        return ""
    asked = subject_of(before) or (subject_of(f"{before.rstrip('？?。 ')}是") if zh else None)
    asked = asked or _find_asked_subject(before, zh=zh)
    if asked is None or asked.owner == ME or (not asked.noun and asked.owner):
        own = _of_self(told, before, zh=zh)
        if own or asked is None:
            return own
    bare = _DONE_ZH.sub("", told) if zh else _YES.sub("", told)
    asks = before.rstrip().endswith(("?", "？"))
    return (
        _complete_chinese(bare, asked, asks=asks)
        if zh
        else _complete_english(bare, asked, asks=asks)
    )


def _find_asked_subject(before: str, *, zh: bool) -> Subject | None:
    """Return what of ours or of the person spoken to a question asks for."""
    found = (_ASKED_ZH if zh else _ASKED_EN).search(simplify(before))
    if found is None:
        return None
    noun = found["a"]
    attribute, known = attribute_of(noun)
    if not (known or is_lexical(noun) or found["your"] or found["mine"]):
        return None
    named = None if zh else _OF_NAME.search(before)
    if named:
        return Subject(slug(named["e"], 40), attribute, known, noun, named["e"], noun)
    mine = found["mine"] or (found["your"] and attribute in PERSONS)
    return Subject(ME if mine else "", attribute, known, noun, noun=noun)


def _insert_owner_name(told: str, before: str, *, zh: bool) -> str:
    """Return "Its port is 9090." with the name that the sentence before it is about."""
    found = (_OWN_ZH if zh else _OWN_EN).match(told)
    name = _find_topic(before, zh=zh)
    if not name or (found is None and not (zh and subject_of(told) is not None)):
        return ""
    rest = told[found.end() :] if found else told
    whole = f"{name}的{rest}" if zh else f"{name}'s {rest}"
    subject = subject_of(whole)
    return whole if subject is not None and subject.owner else ""


def _find_topic(before: str, *, zh: bool) -> str:
    known = subject_of(before)
    if known is not None and known.name:
        return known.name
    found = (_TOPIC_ZH if zh else _TOPIC_EN).search(before.strip())
    names = set(_ANY_NAME.findall(before[1:])) if not zh else set()
    # Two names, and nobody can tell which of them "its" means; a day is nobody's name.
    return found["e"] if found and not traits_of(found["e"]).day and (zh or len(names) == 1) else ""


def _render_subject(subject: Subject, *, zh: bool) -> str:
    if subject.owner == ME:
        return f"我的{subject.noun}" if zh else f"my {subject.noun}"
    if not subject.owner:
        return f"我们的{subject.noun}" if zh else f"our {subject.noun}"
    return f"{subject.name}的{subject.noun}" if zh else f"the {subject.noun} of {subject.name}"


def _complete_english(bare: str, asked: Subject, *, asks: bool) -> str:
    phrase = _render_subject(asked, zh=False)
    if _IT.match(bare):
        rest = _IT.sub("", bare, count=1)
        return _capitalise_first(phrase + (f" is{rest[2:]}" if rest.startswith("'s") else rest))
    moved = _MOVED_IT.search(bare)
    if moved:
        return _capitalise_first(
            f"{bare[: moved.start()]}{moved['verb']} {phrase}{bare[moved.end() :]}"
        )
    if _TAKES.match(bare) and (asks or _GOES_OVER.search(bare)):
        value, mark, rest = bare.rstrip(".!").partition(",")
        return _capitalise_first(f"{value} as {phrase}{mark}{rest}.")
    value = bare.rstrip(".! ") if asks else ""
    if (
        value
        and _VALUE_EN.match(value)
        and not _SENTENCE_EN.search(value)
        and len(value.split()) <= _FEW
    ):
        return f"{_capitalise_first(phrase)} is {value}."
    return ""


def _complete_chinese(bare: str, asked: Subject, *, asks: bool) -> str:
    phrase, value = _render_subject(asked, zh=True), bare.rstrip("。！!. ")
    if not value:
        return ""
    if _OPENS_ZH.match(value):
        return f"{phrase}{value}。"
    if asks and len(value) <= _FEW_ZH and not _CLAUSE_ZH.search(value):
        return f"{phrase}是{value}。"
    return ""


def _of_self(told: str, before: str, *, zh: bool) -> str:
    """Return what an answer tells of its speaker, who was asked by verbs."""
    attribute = asked_of(simplify(before))
    bare = (_DONE_ZH if zh else _YES).sub("", told).rstrip("。！!. ")
    value = re.sub(
        r"^(?:in|at|for|to|as an?|by|an?|to|我|我?对|在|我在|我?住在?) ?", "", bare, flags=_I
    )
    value = re.sub(r"(?:过敏|工作|上班|起床)$", "", value)
    short = len(value.split()) <= _FEW and len(value) <= (_FEW_ZH if zh else LONGEST // 2)
    plain = not (_CLAUSE_ZH if zh else _SENTENCE_EN).search(value)
    return answered(attribute, value, zh=zh) if attribute and value and short and plain else ""


def _capitalise_first(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]

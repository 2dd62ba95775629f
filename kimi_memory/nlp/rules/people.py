"""What people say of themselves: name, city, work, family, pets, changes of life."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.characters import fold_case
from kimi_memory.nlp.basic.patterns import rare, regex
from kimi_memory.nlp.rules.self_facts import self_of


@dataclass(frozen=True, slots=True)
class Known:
    """The slot a sentence about a person fills."""

    slot: str
    """``name``, ``city``, ``pet`` … the same in both languages."""
    entity: bool = False
    """Whether it names somebody or something."""
    news: bool = False
    """Whether it tells of a change."""


_SELF = regex(r"\b(?:i|my|me|we|our)\b|我", re.IGNORECASE)
# "I'm Nora, and I live in Leeds" tells two things; "I like tea and cake" one.
_BORDER = regex(r"[，；]|[,;] (?:and )?(?=i\b|my\b)| and (?=i |my )", re.IGNORECASE)

SINGLE = (
    ".name", ".timezone", ".city", ".job", ".employer", ".birthday", ".diet", ".drink", ".editor",
)  # fmt: skip
"""Slots that hold one value at a time."""
OPEN = frozenset({"news", "hobby", "studies"})
"""Slots that hold any number of things, each under a name of its own."""

_TRADES = (
    r"(?:teacher|engineer|developer|designer|nurse|doctor|student|lawyer|writer|artist"
    r"|programmer|manager"
    r"|scientist|researcher|musician|chef|counsel+or|photographer|translator|accountant"
    r"|analyst|consultant"
    r"|architect|librarian|chemist|dentist|dancer|barista|freelancer|professor|pharmacist"
    r"|editor)"
)
_TRADES_ZH = (
    r"(?:经理|工程师|老师|教师|医生|护士|设计师|程序员|学生|律师|作家|编辑|翻译|会计|厨师|摄影师|研究员|教授"
    r"|顾问|店长|司机|公务员|产品|运营|前端|后端)"
)
_FIRMS = r"(?:公司|科技|软件|数据|网络|集团|银行|大学|医院|学校|传媒|教育|物流|医疗|工厂|研究院|研究所|事务所|出版社|报社|律所)"
_PETS = r"(?:dog|cat|puppy|kitten|rabbit|parrot|hamster|turtle|beagle|labrador|horse)"
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|daughter|son|sister|brother|mom|mum"
    r"|mother|dad|father)"
)
_KIN_ZH = r"(?:老婆|妻子|老公|丈夫|女朋友|男朋友|女儿|儿子|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸)"

_SLOTS: tuple[tuple[Known, str], ...] = (
    (
        Known("name", entity=True),
        r"\bmy name is [a-z]|\bi'm called [a-z]|(?:^"
        r"|[,.] )(?:just )?call me [a-z]{2,12}[ ,.]*$"
        r"|我(?:的名字)?(?:是)?叫(?!你|他|她|它|车|外卖|了"
        r"|人)[\u3400-\u9fffa-z]{1,8}|(?:可以"
        r"|就)叫我[\u3400-\u9fffa-z]",
    ),
    (
        Known("pet", entity=True),
        rf"\bmy {_PETS}s?(?: is|'s name is| are| was)? ?(?:called"
        rf"|named|is)\b|\b(?:i|we) (?:have|got|adopted|own)"
        rf" (?:a|an|two|three|another|my"
        rf"|our)(?: \w+)?(?: \w+)? {_PETS}s?\b|\bis my {_PETS}\b"
        r"|我(?:家)?(?:的)?(?:小)?[猫狗](?:咪|子)?(?:叫|名叫)"
        r"|是我(?:们)?(?:家)?(?:的)?(?:小)?[猫狗]"
        r"|我(?:家)?养了?[^，。]{0,6}[猫狗]",
    ),
    (
        Known("family", entity=True),
        rf"\bmy {_KIN}(?:'s name is| is (?:called|named)) "
        rf"|我(?:家|的)?{_KIN_ZH}叫"
        r"|\bi have (?:an?|one|two|three|\d) (?:kids?|child(?:ren)?|daughters?"
        r"|sons?|brothers?|sisters?)\b|我(?:家)?有[一两三四个]{1,2}(?:孩子|女儿|儿子|娃|哥哥|妹妹|姐姐|弟弟)",
    ),
    (
        Known("timezone"),
        r"\bmy time ?zone (?:is|became|changed|has)\b|\bi(?:'m| am) (?:now )?in (?:the |a new )?(?:\S+ )?time ?zone\b"
        r"|\btime ?zone i'm in\b|\bi'm (?:in|on) (?:utc|cet|pst|est|gmt)\b|我的?时区是",
    ),
    (
        Known("birthday"),
        r"\bmy birthday is\b|\bi was born (?:on|in)\b|\bmy birthday (?:on|falls on)\b|我的?生日是|我[^，。]{1,8}过生日|我的?生日在"
        r"|我(?:是)?[^，。]{1,12}出生",
    ),
    (
        Known("diet"),
        r"\bi'm (?:a )?(?:vegan|vegetarian)\b|\bi(?:'m| am)(?: not| no longer| actually| severely| very)? allergic\b\b"
        r"|\bi have an? (?:\w+ )?allergy\b"
        r"|我[^，。]{0,6}对[^，。]{1,8}过敏|我(?:不能)?吃[^。]{1,8}会?过敏|我过敏的|我有[^，。]{1,6}过敏|我(?:一直)?吃素",
    ),
    (
        Known("employer"),
        r"\bi (?:now |currently )?work (?:for|at)(?! (?:it|home|this|night|least|all|the moment)\b)"
        r"|\bi(?:'ve| have)? left [^.]{2,30} and (?:now )?work (?:for|at)\b|\bi(?:'m| am| started|'ve been) (?:employed|working) (?:at|by|for)(?! (?:home|it|night)\b)"
        r"|\bi don't work (?:at|for) [^.]{2,30}any ?more"
        rf"|我(?:现在|目前)?在[^，。]{{1,10}}{_FIRMS}(?:上班|工作|任职|就职)|我[^，。]{{0,4}}(?:就职|任职|供职)于|我(?:去|换到)[^，。]{{1,10}}上班了|换工作了，(?:我)?现在在"
        r"|我给[^，。]{2,10}打工|我[^，。]{0,3}(?:跳槽|换)(?:到|去)了?[^，。]{2,10}(?:上班|工作|$|了|。)"
        r"|我从[^，。]{2,10}(?:离职|跳槽)",
    ),
    (
        Known("drink"),
        r"\bi (?:really |usually |always |mostly )?(?:like|love|enjoy|prefer) (?:to drink|drinking) "
        r"|\bi (?:no longer |now |usually |always |only |mostly )?drink (?!it\b|and\b|too\b|a lot\b|more\b)[a-z]"
        r"|\bwhat i drink\b|\bi(?:'ve| have)? switched [^.]{2,40} as my drink\b"
        r"|我(?:现在|平时|一直|通常|最|都|只)*(?:最近|一般|偏)*(?:爱|改|只|常|一般)喝(?!了|过|完|多|醉|一|点|杯)|我(?:不再|戒)[^，。]{1,8}[，,][^，。]{0,3}喝"
        r"|我喝的",
    ),
    (
        Known("city"),
        r"\bi (?:now |currently |still )?(?:live|reside) in (?!a\b|the\b|my\b|constant)|\bi'm (?:based in"
        r"|originally from|from) (?!the\b|a\b)"
        r"|\bi(?:'ve| have)? (?:just |recently )?(?:have )?(?:moved|relocated) (?:to|from"
        r"|here from) (?!my\b|the\b|a\b|our\b)|\bi(?:'m| am) (?:now )?living in (?!a\b|the\b|my\b)"
        r"|\bi(?:'ve| have) settled in (?!to\b)|\bi don't live in\b"
        r"|(?:^|我|我家)(?:现在|目前|一直)?住在|我人在|我(?:现在)?定居|我把家搬|我(?:们)?(?:已经|刚)?(?:从[^，。]{1,8})?搬(?:到|去|家)了?"
        r"|我家(?:现在|目前)?在(?![家这那])|我(?:现在|目前|不)住(?=[\u3400-\u9fff]{2,6}(?:$|[。，了]))"
        r"|我在(?!公司|家里|办公|这里|那边|外面|学校)[\u3400-\u9fff]{2,4}(?:工作|上班|生活|定居|长大)|我老家",
    ),
    (
        Known("job"),
        rf"\bi(?:'m| am) (?:now )?(?:an?|the) (?:[\w-]+ ){{0,2}}{_TRADES}\b"
        rf"|\bi work as an?\b"
        r"|\bi teach [a-z]|\bmy (?:day )?job is\b|我(?:平时|现在|目前)?是(?:个|一个|一名|名|做)"
        rf"[^，。]{{0,8}}{_TRADES_ZH}|平时是个?[^，。]{{0,6}}{_TRADES_ZH}"
        rf"|我是做[^，。]{{1,8}}的|我的(?:工作|职业)是",
    ),
    (
        Known("news", news=True),
        r"(?<!since )(?<!when )(?<!after )(?<!cause )(?<!because )(?<!before )(?<!think )"
        r"\bi(?:'ve| have)? (?:just |finally |recently |also |even |really )*"
        r"(?:got|started|opened|launched|quit|lost|left"
        r"|adopted|bought|joined|won|finished) (?:a|an|another|my"
        r"|our|the)(?: own| new| first)? ?(?:[a-z-]+ ){0,3}?"
        r"(?:job|business|company|studio|store|shop|puppy|dog|cat"
        r"|kitten|house|apartment|degree|band|marathon|baby"
        r"|scholarship|internship|promotion|contest|tournament"
        r"|school|master's|phd|gym|club|group|league|team"
        r"|choir|class|course|church|startup|campaign|screenplay"
        r"|novel)\b"
        r"|\bi (?:just |finally |recently )?(?:got"
        r"|am getting) (?:married|engaged|promoted|laid off"
        r"|divorced|hired"
        r"|accepted)\b|\bi (?:just |finally "
        r"|recently )*(?:signed up for|signed with"
        r"|enrolled in) (?:a|an|the|my)\b"
        r"|\bi'm pregnant\b|\bi (?:just |finally )?graduated\b"
        r"|我(?:刚|最近|终于)?(?:换了|找到了?|辞了?|丢了)[^，。]{0,4}(?:工作|职)"
        r"|我(?:要|刚|最近)?(?:结婚|订婚|升职|毕业|怀孕|离职|报名)了",
    ),
    (
        Known("hobby"),
        r"\bi(?:'ve| have) been (?:into )?(?:[a-z]+ing)\b[^.]{0,40}"
        r"\b(?:since (?:i was|high school|college|20|19|my)"
        r"|for (?:\d+|a few|several|many|ten|five|two|three|over|nearly"
        r"|almost)[a-z ]{0,12} years)"
        r"|\bi started [a-z]+ing [^.]{0,30}\byears ago\b|\bi volunteer (?:at"
        r"|for|with)\b|\bi've been volunteering (?:at|for|with)\b"
        r"|我(?:的)?爱好是|我业余(?:时间)?(?:喜欢|在)|我(?:平时|周末)(?:都|常|经常)?(?:去|会去)?(?:跑步"
        r"|爬山|钓鱼|画画|弹琴|游泳|骑车|打球)",
    ),
    (
        Known("studies"),
        r"\bi'm (?:currently )?(?:studying|learning) (?!how|that|to\b"
        r"|a (?:lot|ton|bit)|so\b|lots|more|about|from)[a-z]|我(?:正)?在(?:自学"
        r"|学习?)(?!校)[\u3400-\u9fffa-z]",
    ),
)
_PATTERNS = tuple((known, rare(pattern)) for known, pattern in _SLOTS)


def introduced(sentence: str) -> list[tuple[Known, str]]:
    """Return what a sentence tells of its speaker that lasts, with the clause that says so.

    Where it tells one thing only, the clause is the whole sentence.
    """
    if not _SELF.search(sentence):
        return []
    found: dict[Known, str] = {}
    clauses = _split_clauses(sentence)
    for clause in clauses:
        known = _find_slot(clause)
        if known is not None:
            found.setdefault(known, clause)
    if len(found) > 1:
        return list(found.items())
    # One clause is the sentence without its full stop, and was asked above.
    whole = next(iter(found), None) or (_find_slot(sentence) if len(clauses) > 1 else None)
    return [(whole, sentence)] if whole is not None else []


def cut_to_statement(sentence: str) -> str:
    """Return a sentence from the words on that tell something of its speaker."""
    low = fold_case(sentence)
    starts = [found.start() for _, pattern in _PATTERNS if (found := pattern.search(low))]
    return sentence[min(starts, default=0) :]


def _find_slot(words: str) -> Known | None:
    low = fold_case(words)
    known = next((known for known, pattern in _PATTERNS if pattern.search(low)), None)
    return None if known and _is_other(known, words) else known


def _is_other(known: Known, words: str) -> bool:
    """Whether a clause gives a value to something else: "I moved to Zed as my editor"."""
    told = self_of(words) if f".{known.slot}" in SINGLE else None
    return told is not None and told.attribute != known.slot


def _split_clauses(sentence: str) -> list[str]:
    """Return the clauses; a Chinese one without a subject is about the one before it."""
    parts = [part.strip(" .。!！") for part in _BORDER.split(sentence)]
    return [part for part in parts if part]

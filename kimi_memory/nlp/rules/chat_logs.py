"""Logs of a chat in a turn: who said what when, as messengers, meetings and mail programs copy it.

A line that begins with a time and a name, in either order, is the head of a message, in whatever
brackets a program sets them. Where only a program writes it so, or where two people
speak, its words are theirs. One name alone may be a heading of the speaker's own: what
stands behind it waits for a second word.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import Span
from kimi_memory.nlp.dates.vocabulary import WEEKDAY_NAMES, WEEKDAY_STARTS
from kimi_memory.nlp.rules.attribute_nouns import english
from kimi_memory.nlp.rules.documents import LINE_HEAD, line_head
from kimi_memory.nlp.rules.entity_names import is_person_zh
from kimi_memory.nlp.rules.strip_code import is_person

_REACH = 90
"""A time stands no further from the begin of a line that is the head of a message."""
_PHONE = 7
"""A number with fewer digits calls nobody."""
_GAP = 6
"""Speakers further apart are headings that end in a colon."""
_CLOCK = r"(?:(?:上午|下午|中午|晚上|凌晨|早上|傍晚|am|pm)\s?)?\d{1,2}(?:[:：]\d\d(?P<exact>[:：]\d\d)?(?:[.,]\d{1,3})?(?:\s?[ap]\.?m\b\.?)?|h\d\d|\.\d\d(?= [^\W\d]))Z?(?![A-Za-z\d:])"
_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_NAMED_DAY = r"(?:today|yesterday|(?:mon|tues?|wed|thu|fri|sat|sun)[a-z]{0,6}|今天|昨天|前天|周[一二三四五六日天]|星期[一二三四五六日天])"
_DATE = rf"(?:\d{{4}}[-/.年]\d{{1,2}}[-/.月]\d{{1,2}}日?|\d{{1,2}}[-/.]\d{{1,2}}(?:[-/.]\d{{2,4}})?|\d{{1,2}}[-/]{_MONTHS}[-/]\d{{2,4}}|\d{{1,2}}月\d{{1,2}}日|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|\d{{1,2}}\.? {_MONTHS}(?: \d{{4}})?)"
_STAMP = regex(
    rf"(?<![\d.:])(?:{_NAMED_DAY}(?:[\s,，]{{1,3}}(?:at )?)?)?(?:(?P<date>{_DATE})(?:[\s,，T·|-]{{1,3}}(?:at |um |à )?)?)?{_CLOCK}(?: {_NAMED_DAY})?",
    2,
)
_NAME = r"(?:[~@*]{0,2}\s?)?(?:\+\d[\d ()-]{6,18}|(?:(?:dr|mr|mrs|ms)\. )?[\w.'’·@-]{1,40}(?:,? [\w.'’·/-]{1,20}){0,3})"
_BADGE = r"(?:\s{0,3}[(（<\[【][^()（）<>\[\]【】\n]{1,40}[)）>\]】]|\s{0,3}:\w{1,20}:|\s{1,3}(?:APP|BOT|OP|edited|from)(?!\w)|\s?[\U0001f300-\U0001faff\u2600-\u27bf])"
_BEFORE = regex(
    rf"\s{{0,8}}(?:[-*•>]\s)?[*_\[(（【]{{0,4}}(?:【[^【】\n]{{1,12}}】)?(?P<name>{_NAME})[*_\])）】]{{0,4}}{_BADGE}{{0,3}}[*_\s,，·•|—–-]{{0,12}}[\[(（]?$",
    2,
)
_AFTER = regex(
    rf"[*_\])）】]{{0,4}}[\s,，·•|—–*_-]{{0,12}}(?:from\s{{1,3}})?[*_\[(（【<]{{0,4}}\s{{0,2}}[@+%&~]?(?P<name>{_NAME})[*_\])）】>]{{0,4}}{_BADGE}{{0,2}}(?: to [\w ]{{1,20}})?[^\S\t]{{0,3}}(?:(?P<told>[:：|»>\t])(?!//|\d)|$)",
    2,
)
_REST = regex(
    r"[*_\])）】]{0,4}(?:\s{0,3}\([^()\n]{1,20}\))?(?:\s{1,3}(?:edited|已编辑))?[*_]{0,3}\s{0,3}(?:(?P<told>[:：|»>])|$)",
    2,
)
_LINE_START = regex(r"\s{0,8}(?:[-*•>]\s)?[*_\[(（【]{0,4}$")
_NICK = regex(
    r"\s{0,6}(?:\[?[\d:]{4,8}\]?\s{1,3})?(?:<\s?[@+%&~]?[A-Za-z\u3400-\u9fff_][\w|`-]{0,24}>(?![^\n]{0,280}</)|-[@+]?[A-Za-z_]\w{0,20}-|\*\s[a-z_]\w{0,20}) {1,2}(?=\S)"
)
_TITLED = regex(
    r"(?:[A-Z][\w.'’-]{0,20},? ?){1,4}|[a-z][\w.-]{1,20}|[\u3400-\u9fff·]{1,8} ?\d{0,2}"
)
_CLOSED = regex(r"[\])）】]")
_SPEAKER = regex(
    r"\s{0,6}(?:[-*•]\s)?(?P<name>@?[A-Z][\w.'-]{0,20}(?: [A-Z][\w.'-]{0,20}){0,2}|[a-z][\w.-]{1,20}|[\u3400-\u9fff]{1,6})\s?(?:(?P<told>\(\d{1,2}:\d\d[^)\n]{0,6}\))|（[^）\n]{1,10}）|\[\d{1,2}:\d\d[^\]\n]{0,6}\])?\s?(?::(?!//)|：)\s?(?=\S)"
)
_ROLE = regex(
    r"\s{0,6}(?:\*\*|\[|【|<\|)?\s?(?:user|human|assistant|ai|bot|system|chatgpt|gpt-?\d?|claude|gemini|kimi|copilot|developer|tool|agent|customer|support|interviewer|interviewee|q|a"
    r"|(?:speaker|person) ?(?:\d{1,2}|[a-e])|(?:发言|说话)人 ?\d{0,2}"
    r"|用户|助手|人类|系统|机器人|客服|顾客|问|答|甲|乙|采访者|受访者|主持人|嘉宾|开发者)\s?(?:\*\*|\]|】|\|>)?\s?(?:[(（]\d{1,2}:\d\d[)）]\s?)?[:：](?:\*\*)?(?=\s|\S)",
    2,
)
_ROLE_INLINE = regex(
    r"(?:^|[\s.!?。！？])(?:user|human|assistant|ai|system|bot|用户|助手|人类|系统)\s?[:：]", 2
)
_FIELD_WORDS = (
    "goal goals plan plans note notes todo name job city rule rules decision reason why what when "
    "where who how update context background question idea problem solution pros cons result "
    "results status date time place budget role age email phone editor shell language food hobby "
    "hobbies project team stack database backend frontend deadline owner title scope style tone "
    "format example examples step steps ps pps fyi btw tldr summary important reminder meeting "
    "standup call lunch dinner breakfast gym class lesson appointment correction edit news "
    "clarification addition answer warning caveat disclaimer hint tip request bug fix change changes "
    "fact facts point points remark preference preferences habit confession announcement order orders"
)
_FIELDS = frozenset([*_FIELD_WORDS.split(), *WEEKDAY_NAMES, *WEEKDAY_STARTS])
_FIELDS_ZH = regex(
    r"目标|计划|备注|姓名|名字|职业|城市|规则|决定|原因|背景|问题|想法|方案|结果|状态|日期|时间|地点|预算|角色|年龄|邮箱|电话|编辑器|语言|爱好|项目|团队|数据库|后端|前端|截止|要求|格式|风格|例如|比如|步骤|注意|总结|结论|重要|提醒|周.|星期.|第.步|另外|顺便|补充|其中|优点|缺点|需求|说明|技术栈|部署|记住|地址|开会|例会|晨会|上课|吃饭"
)
_OF_SELF = regex(r"\b(?:I|i|me|my|mine|we|us|our|you|your)\b|I'm|[我咱你您]")
_NO_NAME = regex(r"\b(?:I|i|me|my|mine|we|us|our|you|your|it|the|at|is|was|and|by)\b|[我咱你您]")
# Who says it is named, and no time: the speaker's boss, a friend, or a thing of theirs.
_LABEL = regex(
    r"\s{0,6}(?:[-*•]\s)?[*_@\[【]{0,3}(?P<name>[A-Z][\w.'’-]{0,20}(?: [A-Z][\w.'’-]{0,20}){0,2}|[a-z][\w.-]{1,20}|[\u3400-\u9fff]{1,6})[*_\]】]{0,3}\s?[:：][*_]{0,2}(?:\s|(?<=：)|$)"
)
_OTHERS = regex(
    r"\s{0,6}(?:(?:my|our|the) (?:\w{1,12} )?)?(?:boss|manager|lead|landlord|landlady|neighbou?r|colleague|coworker|client|customer|teacher|doctor|friend|roommate|flatmate|husband|wife|partner|mum|mom|mother|dad|father|sister|brother|son|daughter|aunt|uncle|accountant|lawyer|recruiter|hr)\s?:(?=\s)"
    r"|\s{0,6}(?:\w{1,12} )?(?:sms|dms?|texts?|messages?|voice ?mails?|notes?|reply|e-?mails?|calls?|chats?|whatsapp|slack|telegram|teams|wechat|comments?|posts?|answers?|reviews?|tweets?|quotes?|threads?|tickets?) (?:from|by) [^\n:]{1,40}:(?=\s)"
    r"|\s{0,6}(?!(?:here|there|that|what|it|let|how|who|where|to(?:day|morrow|night)|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:this |next |last )?(?:week|month|year))['’])(?-i:[A-Z])[a-z]{1,20}['’]s (?:\w{1,20} ){0,2}\w{1,20}\s?:(?=\s)"
    r"|\s{0,6}(?:[老小阿][\u3400-\u9fff]|[他她]们?)的[\u3400-\u9fff]{1,6}\s?[:：]"
    r"|\s{0,6}(?:我们?家?)?(?:的)?(?:老板|领导|上司|经理|房东|邻居|同事|客户|老师|医生|朋友|室友|同学|老公|老婆|妈妈?|爸爸?|姐姐?|妹妹?|哥哥?|弟弟?|儿子|女儿|婆婆|岳父|岳母)(?:[^\n:：，。]{0,4}[发说讲回问写][^\n:：，。]{0,4})?\s?[:：]|\s{0,6}回复 ?[\w\u3400-\u9fff]{1,12}\s?[:：]",
    2,
)
_FIRST_PERSON = regex(
    r"\b(?:I|i|[Ww]e|[Mm]y|[Oo]ur)\b|I'm|\b[Ff]rom now on\b|[我咱]|从现在起|从今以后|以后|一律"
)


class Head(NamedTuple):
    """The first line of a message: who, and whether only a program writes it so."""

    name: str
    sure: bool
    alone: bool
    """Whether the words of the message stand below it."""


class _Spoken(NamedTuple):
    line: int
    name: str
    timed: bool


def find_logs(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Yield first and last line of what records a talk of several people, or with an agent.

    Args:
        text: the turn.
        lines: the spans of its lines.
    """
    heads = {n: head for n, span in enumerate(lines) if (head := message_head(text[slice(*span)]))}
    for n, head in heads.items():
        if head.sure or len(heads) > 1:
            yield n, _message_end(text, lines, n, head)
    spoken: list[_Spoken] = []
    for n in range(len(lines)):
        line = line_head(text, lines, n)
        role = _ROLE.match(line)
        if role or len(_ROLE_INLINE.findall(line)) > 1:
            yield n, n
        name = role[0].strip() if role else heads[n].name if n in heads else _named(line)
        if name:
            spoken.append(_Spoken(n, name, timed=role is not None or n in heads))
    # "editor: vim" is a setting; where one is named twice, people talk.
    keys = Counter(one.name for one in spoken if one.name[0].islower() and not one.timed)
    twice = max(keys.values(), default=0) > 1
    spoken = [one for one in spoken if twice or one.name not in keys]
    if _is_talk(text, lines, spoken):
        yield spoken[0].line, _paragraph_end(text, lines, spoken[-1].line)


def message_head(line: str) -> Head | None:
    """Return who a line says to speak, with the time; None where it is no head of a message."""
    line = line[:LINE_HEAD]
    if _NICK.match(line):
        return Head(line[:_GAP], sure=True, alone=False)
    for stamp in _STAMP.finditer(line, 0, _REACH):
        before, rest = line[: stamp.start()], line[stamp.end() :]
        if _LINE_START.match(before):
            found = told = _AFTER.match(rest)
        else:
            found, told = _BEFORE.match(before), _REST.match(rest)
        if found is None or told is None or not _may_be_person(found["name"]):
            continue
        alone = not line[stamp.end() + told.end() :].strip()
        # "[21:27:36] Running build" says what a program does then, and nobody's name.
        if alone and found is told and not _TITLED.fullmatch(found["name"]):
            continue
        closed = before.rstrip("*_ ")[-1:] in ("[", "(", "（") and _CLOSED.match(rest)
        is_person = not found["name"].isascii() and is_person_zh(found["name"].removesuffix("说"))
        sure = bool(closed or stamp["exact"] or stamp["date"] or told["told"] == "\t" or is_person)
        return Head(found["name"], sure, alone)
    return None


def is_stamped(line: str) -> bool:
    """Whether a line is the head of a message or nothing but a time, as below a film."""
    return message_head(line) is not None or _STAMP.fullmatch(line.strip()) is not None


def labels_other(line: str) -> bool:
    """Whether the words of a line may be somebody else's, whom a label before them names."""
    if _OTHERS.match(line):
        return True
    label = _LABEL.match(line)
    if label is None or is_field(label["name"]):
        return False
    if label["name"].isascii():
        return _FIRST_PERSON.search(line, label.end()) is not None
    # 许 is a family name, and 许可证 is a license.
    return is_person_zh(label["name"]) and english(label["name"]) == label["name"]


def _named(line: str) -> str:
    """Return the name before the colon of a line, "" where none stands there or it is a thing."""
    found = _SPEAKER.match(line)
    return found["name"] if found and not is_field(found["name"]) else ""


def _may_be_person(name: str) -> bool:
    plain = name.strip("@~* ").partition(" to ")[0]
    is_number = plain.replace(" ", "").isdigit() and len(plain) < _PHONE
    return bool(plain) and not (is_number or is_field(plain) or _NO_NAME.search(plain))


def is_field(name: str) -> bool:
    """Whether a label names what is said about, and nobody who says it."""
    # "Small correction: …" is headed by its last word.
    words = name.lower().strip("@").split()
    return (bool(words) and words[-1] in _FIELDS) or _FIELDS_ZH.search(name) is not None


def _is_talk(text: str, lines: Sequence[Span], spoken: list[_Spoken]) -> bool:
    names = Counter(one.name for one in spoken)
    timed = sum(one.timed for one in spoken)
    if len(names) < 2 and timed < 2:
        return False
    if not all(b.line - a.line <= _GAP for a, b in pairwise(spoken)):
        return False
    personal = any(_OF_SELF.search(line_head(text, lines, one.line)) for one in spoken)
    return max(names.values()) > 1 or timed > 0 or personal


def _message_end(text: str, lines: Sequence[Span], at: int, head: Head) -> int:
    """Return the last line of a message; one whose head stands alone may begin below a gap."""
    if head.alone:
        while at + 1 < len(lines) and not line_head(text, lines, at + 1).strip():
            at += 1
        return _paragraph_end(text, lines, at)
    while at + 1 < len(lines) and (line := line_head(text, lines, at + 1)).strip():
        if is_person(line) and message_head(line) is None:
            break
        at += 1
    return at


def _paragraph_end(text: str, lines: Sequence[Span], at: int) -> int:
    while at + 1 < len(lines) and line_head(text, lines, at + 1).strip():
        at += 1
    return at

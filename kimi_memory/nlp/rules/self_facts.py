"""What people say of themselves: name, city, work, family, pets, things, changes of life.

By verbs, "I drive a Volvo" is about my car, 我住成都 about my city. Each row gives an attribute the
frames in which a value stands. A frame is what follows "I" or 我, with words in between that say
when and how; ``{v}`` is the value.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import fold_case, rare, regex, rule

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


_TRADE = (
    r"(?!(?:[\w-]+ ){0,2}(?:mother|father|member|believer|lover|customer|user|winner|partner|follower|supporter|stranger|driver of|number|fan of|parent|grandparent|teenager|manner|matter)\b)"
    r"(?:[\w-]+ ){0,3}?[\w-]*(?:er|or|ist|ian|ant|ent|lead|head|chief|nurse|analyst|architect|clerk|chef|master|intern|editor|guide|coach|pilot|guard|director|officer|cook|dev)\b"
)
_PARTS = {
    "aux": r"(?:'ve|'d|'ll| have| had| will)?",
    "how": r"(?: (?:now|currently|still|just|recently|usually|normally|always|generally|mostly|actually|also|already|finally|really|only|severely|very|badly|quite|officially|have|been))*",
    "be": r"(?:'m| am)",
    "Name": r"[A-Z][\w&-]*(?:\.\w+)*(?: (?:[A-Z&][\w&-]*(?:\.\w+)*|(?:of|and)(?= [A-Z]))){0,3}",
    "an": r"an?|the|my",
    "trade": _TRADE,
    "clock": r"(?:about |around )?\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?)?|(?:half past |quarter (?:to|past) )?[a-z]+(?: thirty| o'clock)?",
    "stop": r"(?=[.,;!]|$| (?:now|and|but|from|since|as|this|last|in|for|because|so|these|that|when|until|instead|rather|not|years?|at|with|every|each|on)\b)",
    "food": r"[a-z][a-z -]{1,30}?",
    "fhow": r"现在|目前|平时|一直|一般|通常|每天|刚刚?|已经?|最近|终于|早就|以前|依然|仍然?|还是?|都|就|又|改|只|也|从小|老是|每次|一",
    "run": r"[^，。；！？\s的了]{1,14}?",
    "fin": r"(?=了|[，。；！,.!]|$|已经|好几|很久|\s)",
    "firm": r"[^，。；！？\s在]{2,14}?",
}
# Attribute; English frames after "I"; Chinese frames after 我; an answer in each language.
_ROWS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str, str], ...] = (
    (
        "city",
        (
            r"i<aux><how> (?:live|reside|settled(?: down)?) in (?P<v><Name>)",
            r"i(?:<be>|'ve been| have been)<how> (?:based|living|located|settled|at home) in (?P<v><Name>)",
            r"i<aux><how> (?:moved|relocated)(?: from <Name>)?(?: over| back| house)? to (?P<v><Name>)\b(?! as\b)",
            r"(?:the )?(?:city|town|place) (?:that |which )?i live in is (?P<v><Name>)",
            r"home(?: for me| these days)? is (?:now )?(?:in )?(?P<v><Name>)",
            r"i(?:<be>| live) (?:now )?in (?P<v><Name>)(?= now|[.!]?$)",
            r"i[^.]{1,40} and (?:now )?live in (?P<v><Name>)|we[^.]{1,40} and (?:now )?live in (?P<w><Name>)",
            r"i call (?P<v><Name>) home",
        ),
        (
            r"我(?:们?家)?(?:[^。；]{0,16}[，,])?(?:<fhow>)*住(?:在|到|去)?(?!院|宿|校|酒店|哪|这|那|得|过|了)(?P<v><run>)<fin>",
            r"我(?:[^。；]{0,12}[，,])?(?:<fhow>)*在(?!实际|日常|现实|平时|平常)(?P<v>[\u3400-\u9fffA-Za-z]{2,8}?)(?:生活(?![中里上方])|定居|居住|长住|安家)",
            r"我(?:的)?(?:新)?家(?:<fhow>)*(?:安|搬|住|就)?在(?!这|那|哪|里)(?P<v><run>)<fin>",
            r"我(?:们)?(?:[^。；]{0,12}[，,])?(?:<fhow>)*(?:从<run>)?(?:搬|迁)(?:家)?(?:到|去|至)了?(?P<v><run>)<fin>",
            r"我(?:[^。；]{0,16}[，,])?(?:<fhow>)*(?:定居|落户|人在)(?:在|到|于)?(?P<v><run>)<fin>",
            r"我(?:所)?(?:在|住)的城市(?:是|为|变成|改成|换成)了?(?P<v><run>)<fin>",
            r"我搬家[^。]{0,8}[，,](?:<fhow>)*在(?P<v><run>)<fin>",
        ),
        "I live in {v}.",
        "我住在{v}。",
    ),
    (
        "employer",
        (
            r"i<aux><how> work(?:ed|ing)? (?:for|at|with) (?P<v><Name>)",
            r"i(?:<be>| was| got)<how> (?:employed|hired|working)(?: now)? (?:by|at|for|with) (?P<v><Name>)",
            r"i<be> with (?P<v><Name>)(?= now|,|[.!]?$)",
            r"i<aux><how> (?:have|had|got|found|took|started)(?: a| my)?(?: new)? (?:job|position|post) (?:at|with) (?P<v><Name>)",
            r"i<aux><how> (?:joined|signed with|left <Name> (?:and|to) (?:have )?(?:joined?|work (?:for|at))|quit <Name> (?:and|to) join(?:ed)?|moved on (?:from <Name> )?to) (?P<v><Name>)(?=[.,!]|$| (?:this|last|as|in|now|a|two|on)\b)",
            r"i<aux><how> (?:started|begin|began) (?:working |work )?(?:at|for|with) (?P<v><Name>)",
        ),
        (
            r"我(?:[^。；]{0,12}[，,])?(?:<fhow>)*在(?!家|这|那|哪|公司|外)(?P<v><firm>)(?:上班|工作|任职|就职|供职|当差|做事)",
            r"我(?:<fhow>)*(?:就职|任职|供职|受雇|效力)于(?P<v><run>)<fin>",
            r"我(?:[^。；]{0,16}[，,])?(?:<fhow>)*(?:入职|加入|跳槽(?:到|去)|换到|转到|去(?=[^，。]{2,12}(?:上班|工作|任职)))了?(?!掉|年|了|过|除)(?P<v>[\u3400-\u9fffA-Za-z]{2,12}?(?:科技|软件|网络|数据|公司|集团|银行|大学|医院|传媒|教育|物流|医疗|律所|研究院|信息|智能|系统)?)(?:上班|工作)?了?(?=[，。！]|$)",
            r"我(?:<fhow>)*(?:给|为|帮)(?P<v><firm>)(?:打工|工作|效力|干活)",
            r"我是(?![个一很])(?P<v><firm>)的(?:员工|职员|雇员|人)",
            r"我(?:供职|任职|就职|上班|工作|所在)的(?:公司|单位)(?:是|叫|换成|改成)了?(?P<v><run>)<fin>",
        ),
        "I work for {v}.",
        "我在{v}工作。",
    ),
    (
        "job",
        (
            r"i<aux><how> work(?:ed|ing)? as an? (?P<v>[a-z][a-z -]{2,40}?)<stop>",
            r"i<be><how> an? (?P<v>[a-z][a-z -]{2,40}?) by (?:profession|trade|training)",
            r"i<be> now (?:<an>) (?P<v><trade>)",
            r"i<aux><how> (?:became|become|got promoted to|was promoted to|been promoted to|turned|switched to being) (?:<an> )?(?P<v><trade>)",
            r"i (?:earn|make) my living as an? (?P<v>[a-z][a-z -]{2,40}?)<stop>",
            r"i<aux><how> (?:run|own|manage) (?P<v>(?:an?|my own|our own|the) (?:[a-z'-]+ ){0,3}(?:[a-z]*shop|[a-z]*store|business|bakery|restaurant|studio|company|agency|farm|salon|caf[eé]|practice|clinic|startup|boutique|garage|brewery|hostel|hotel|nursery|stall|brand))(?=[.,;!]|$| (?:in|and|so|with|that|which|near|on|at|called|for|of|from|since|by|here|there)\b)",
        ),
        (
            r"我(?:自己)?(?:<fhow>)*(?:是)?做(?P<v>[\u3400-\u9fff]{2,8}(?:生意|买卖|行业|批发|零售))的?<fin>",
            r"我(?:自己)?(?:<fhow>)*(?:经营着?|开着?)(?:了)?(?P<v>一?[家间个][\u3400-\u9fff]{0,8}?(?:店|馆|厂|公司|工作室|餐厅|铺子?|诊所|民宿|农场))<fin>",
            r"(?<![帮给替让请为从])我(?:<fhow>)*(?:是|做)(?:一?名|一?个|一?位)(?P<v>(?![^，。]*(?:时候|专业的))[\u3400-\u9fffA-Za-z]{2,10}?)<fin>",
            r"我(?:<fhow>)*(?:担任|出任|任|升任|转岗做|转行做|改行做|升为|升成)了?(?P<v>[\u3400-\u9fffA-Za-z]{2,10}?)<fin>",
            r"我现在是(?P<v>[\u3400-\u9fff]{0,8}(?:师|员|长|经理|主管|总监|顾问|医生|教授|主任|负责人|代表|助理|编辑|记者|律师|会计|翻译))了?[。！]?$",
        ),
        "My job is {v}.",
        "我的工作是{v}。",
    ),
    (
        "car",
        (
            r"i<aux><how>(?: [^.]{1,30} and)? drive an? (?P<v><Name>)",
            r"i<aux><how> (?:own|have|bought|got) an? (?P<v><Name>),? (?:(?:and )?that's|as|which is|it's) my (?:new )?car",
            r"i<aux><how> (?:traded|swapped|exchanged)(?: in)? (?:my|the) <Name> for an? (?P<v><Name>)",
            r"the car (?:that |which )?i drive is (?:now )?an? (?P<v><Name>)",
        ),
        (
            r"我(?:[^。；]{0,16}[，,])?(?:<fhow>)*开(?:的(?:车)?(?:还|就)?是|的是|着|上了|一?辆|了一?辆)(?P<v><run>)(?=了|[，。]|$|车)",
            r"我(?:[^。；]{0,16}[，,])?(?:现在|平时|目前)?开(?![会车始心玩门发了机源放店灯窗着公头口学通到创启])(?P<v>[\u3400-\u9fffA-Za-z]{2,5}?)(?:了|车)?[。！]?$",
            r"我[^。；]{0,16}[，,](?:现在|新)的?车是(?P<v><run>)<fin>",
            r"我(?:<fhow>)*(?:买|换)(?:的车是|了一?辆)(?P<v><run>)<fin>",
        ),
        "My car is {v}.",
        "我的车是{v}。",
    ),
    (
        "boss",
        (
            r"i<aux><how> report(?:ed|ing)? to (?P<v><Name>)",
            r"the (?:person|one|man|woman) (?:that |who |whom )?i report to is (?P<v><Name>)",
            r"(?P<v><Name>) (?:is|became|has taken over as|took over as) my (?:new )?(?:boss|manager|supervisor|line manager)",
        ),
        (
            r"我(?:<fhow>)*(?:向|给|对)(?P<v><run>)(?:汇报|报告工作)",
            r"(?:^|[，。])(?P<v>[\u3400-\u9fffA-Za-z]{2,6}?)(?:现在|已经)?是我的?(?:新)?(?:领导|上级|经理|老板|主管|上司)",
        ),
        "My manager is {v}.",
        "我的领导是{v}。",
    ),
    (
        "diet",
        (
            r"i(?:<be>|'ve been)<how> allergic to (?P<v><food>)<stop>",
            r"i<aux><how> (?:have|got|developed) (?:<an>) (?:\w+ )?allergy (?:to|against) (?P<v><food>)<stop>",
            r"(?P<v><food>) (?:gives?|give) me an? allerg(?:ic reaction|y)",
            r"i<how> (?:react badly|react) to (?P<v><food>)(?=, it's| - it's|, an? allerg)",
            r"i can(?:'t|not) eat (?P<v><food>), (?:because )?i(?:<be>) allergic",
            r"it's (?P<v><food>) (?:that )?i<be> allergic to",
        ),
        (
            r"我?(?:<fhow>|是|有点)*对(?P<v>[\u3400-\u9fff]{1,8}?)(?:严重|轻微)?过敏",
            r"我(?:<fhow>)*一?(?:吃|碰|闻)(?:到|了)?(?P<v>[\u3400-\u9fff]{1,8}?)就?会?过敏",
            r"我(?:<fhow>)*不能吃(?P<v>[\u3400-\u9fff]{1,8}?)[，,](?:会|因为)?过敏",
            r"我过敏的(?:东西|食物)?(?:其实|现在)?是(?P<v>[\u3400-\u9fff]{1,8}?)<fin>",
            r"(?:^|[，。])(?P<v>[\u3400-\u9fff]{1,8}?)会?(?:让|使|令|害)我过敏",
        ),
        "I'm allergic to {v}.",
        "我对{v}过敏。",
    ),
    (
        "wake",
        (
            r"i<aux><how> (?:get|wake|am) up at (?P<v><clock>)<stop>",
            r"my alarm(?: clock)?<how> (?:rings|goes off|is set (?:to|for)|is at|is) (?:at )?(?P<v><clock>)<stop>",
            r"i<aux><how> (?:moved|changed|set|switched|shifted|put) my alarm(?: clock)?(?: from <clock>)? (?:to|at|for) (?P<v><clock>)<stop>",
        ),
        (
            r"我(?:<fhow>)*(?:早上|早晨|清晨)?(?P<v>[\d:：点半一二三四五六七八九十]{1,6})(?:分|钟)?(?:就)?(?:起床|起来|醒)",
            r"我(?:的)?(?:闹钟|起床时间)(?:<fhow>)*(?:从[^，。]{1,8})?(?:是|定在|定到|改到|改成|调到|设在|设成|换到)(?:了)?(?:早上)?(?P<v>[\d:：点半一二三四五六七八九十]{1,6})",
            r"我把(?:我的)?(?:闹钟|起床时间)(?:从[^，。]{1,8})?(?:定在|定到|改到|改成|调到|设在|设成|换到)(?:了)?(?:早上)?(?P<v>[\d:：点半一二三四五六七八九十]{1,6})",
        ),
        "I get up at {v}.",
        "我{v}起床。",
    ),
    (
        "drink",
        (
            r"i<aux><how> (?:like|love|prefer|enjoy)(?: to drink| drinking) (?P<v><food>)<stop>",
            r"(?:i<aux><how>|these days i) drink (?!it\b|too\b|a lot|more\b|less\b|and\b|with\b|alone|when)(?P<v><food>)<stop>",
            r"my (?:favou?rite|preferred|usual|go-to) drink<how> (?:is|has become|became|changed to|would be) (?:now )?(?P<v><food>)<stop>",
            r"i<aux><how> switched from <food> to (?P<v><food>),? (?:that's|which is) what i drink",
        ),
        (
            r"我(?:[^。；]{0,12}[，,])?(?:<fhow>|最|偏)*(?:爱|喜欢|习惯|常|偏爱|戒[^，。]{1,8}[，,])?(?:改|只|常|一般)?喝(?:的是|的从[^，。]{1,8}换成了?)?(?!了|过|完|多|醉|一|点|杯|的|酒了)(?P<v>[\u3400-\u9fffA-Za-z]{1,8}?)<fin>",
        ),
        "I drink {v}.",
        "我喝{v}。",
    ),
    (
        "timezone",
        (
            r"i<be><how> (?:in|on) (?:the )?(?P<v>(?-i:UTC[+-]?\d*|[A-Z]{2,4}T\b))(?: time ?zone)?",
            r"(?:the )?time ?zone i<be> in is (?P<v>\S+?)<stop>",
        ),
        (r"我(?:<fhow>)*(?:在|用|处于|换到|调到|换成)(?P<v>[A-Za-z]{3}[+-]?\d*|[\u3400-\u9fff]{2,4})时区",),
        "My time zone is {v}.",
        "我的时区是{v}。",
    ),
    (
        "birthday",
        (
            r"i was born on (?P<v>[^,;.]{3,24}?)<stop>",
            r"my birthday<how> (?:is|falls|would be)(?: not [^,;.]{3,24} but)?(?: on)? (?P<v>[^,;.]{3,24}?)<stop>",
        ),
        (
            r"我(?:是)?(?P<v>[\d年月日号零一二三四五六七八九十]{3,12})(?:出?生的?|过生日)",
            r"(?P<v>[\d年月日号零一二三四五六七八九十]{3,12})是我的?生日",
            r"我的?生日(?:其实|现在)?(?:是|在)(?P<v>[\d年月日号零一二三四五六七八九十]{3,12})",
        ),
        "My birthday is {v}.",
        "我的生日是{v}。",
    ),
    (
        "editor",
        (
            r"i<aux><how> (?:use|prefer|chose|switched(?: from <Name>)? to|moved(?: from <Name>)? to|changed(?: from <Name>)? to|went for|picked) (?P<v><Name>) (?:as|for) (?:my |an |a |the )(?:(?:code|text|main) )?editor",
            r"(?:as|for) (?:an|my) editor,? i<how> (?:use|prefer|like) (?P<v><Name>)",
            r"i<how> (?:do|write|edit) (?:all )?(?:of )?(?:my )?cod(?:e|ing) in (?P<v><Name>)",
            r"i<aux><how> (?:switched|moved|changed) my editor(?: from <Name>)? to (?P<v><Name>)",
        ),
        (
            r"我(?:[^。；]{0,12}[，,])?(?:写代码|<fhow>|习惯|喜欢)*(?:用|换到|换成|换)了?(?P<v>[A-Za-z][\w .+-]{0,20}?) ?(?:当|做|作|作为)?(?:我的)?(?:代码)?编辑器",
            r"编辑器我?(?:<fhow>)*(?:从[^，。]{1,16})?(?:用|换成|换到|换|改成|选)了?(?:的是)?(?P<v>[A-Za-z][\w.+-]{0,20}(?: [A-Z][\w.+-]*)?)",
            r"写代码我?(?:<fhow>)*用(?:的是)?(?P<v>[A-Za-z][\w.+-]{0,20})",
        ),
        "My editor is {v}.",
        "我的编辑器是{v}。",
    ),
    (
        "partner",
        (r"i<be><how> (?:married|engaged) to (?P<v><Name>)",),
        (r"我(?:<fhow>)*(?:和|跟|同)(?P<v><run>)(?:结婚|订婚)",),
        "My partner is {v}.",
        "我的伴侣是{v}。",
    ),
    (
        "school",
        (r"i<aux><how> (?:study|go to school|go to college|study medicine|study law|enrolled) at (?P<v><Name>)",),
        (r"我(?:<fhow>)*(?:在|就读于)(?P<v>[\u3400-\u9fff]{2,12}(?:大学|中学|学院|小学))(?:读书|上学|念书|读研|读博|就读)?",),
        "My school is {v}.",
        "我的学校是{v}。",
    ),
)  # fmt: skip
_SELF = re.compile(r"\b(?:i|my|me|home|we)\b|我|过敏", re.IGNORECASE)
_NOT = re.compile(
    r"(?:n't|\bnot|\bnever|\bno longer)\b[^.,;]{0,24}$|(?:不(?:再|是)?|没有?)[^，。；]{0,3}$", re.I
)
_BUT = re.compile(r"^not .{1,30} but (?:on )?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Self:
    """What a sentence tells of its speaker."""

    attribute: str
    value: str
    words: str
    """The frame without the value."""


@lru_cache(maxsize=1)
def _compile_frames() -> tuple[tuple[str, re.Pattern[str]], ...]:
    # Frames ignore case, names must not: "I live in Leeds", and not "I live in fear".
    parts = {**_PARTS, "Name": f"(?-i:{_PARTS['Name']})"}
    return tuple(
        (attribute, rule(parts, frame if zh else rf"(?<![\w'])(?:{frame})", re.IGNORECASE))
        for attribute, english, chinese, _, _ in _ROWS
        for zh, frames in ((False, english), (True, chinese))
        for frame in frames
    )


def self_of(sentence: str) -> Self | None:
    """Return what a sentence tells of its speaker by a verb, or None."""
    if not _SELF.search(sentence):
        return None
    for attribute, frame in _compile_frames():
        for found in frame.finditer(sentence):
            named = next(name for name in ("v", "w") if found.groupdict().get(name))
            start, end = found.span(named)
            # "I don't think I live in Leeds" gives no value.
            if not _NOT.search(sentence[: found.start()]):
                words = f"{sentence[found.start() : start].strip()}  {sentence[end : found.end()].strip()}"
                return Self(attribute, _BUT.sub("", found[named]), words)
    return None


_ASKS = {
    "city": r"\bwhere (?:do|are) you (?:live|living|based)\b|\bwhich (?:city|town) do you live|你(?:现在)?住(?:在)?(?:哪|什么)|你家在哪",
    "employer": r"\b(?:who|where|which company) do you work\b|\bwho (?:employs you|is your employer)\b|你在(?:哪|什么)[^，。]{0,4}(?:上班|工作|公司)|你在哪家公司",
    "job": r"\bwhat (?:do you do|is your job|do you work as)\b|你(?:是)?做什么(?:工作|的)|你的(?:工作|职业)是",
    "car": r"\b(?:what|which) car do you (?:drive|have|own)\b|你开(?:的是)?什么车",
    "boss": r"\bwho do you report to\b|\bwho(?:'s| is) your (?:boss|manager)\b|你(?:向谁汇报|的(?:领导|上级|经理|老板)是谁)",
    "diet": r"\b(?:what are you allergic to|any allerg\w+|do you have (?:an |any )?allerg\w+|are you allergic)|你对什么(?:东西|食物)?过敏|有(?:什么)?过敏",
    "wake": r"\bwhen do you (?:get|wake) up\b|\bwhat time do you (?:get|wake) up\b|你(?:早上)?几点起床",
}


def asked_of(question: str) -> str:
    """Return which attribute of the person spoken to a question asks for, or nothing."""
    low = question.lower()
    return next((name for name, pattern in _ASKS.items() if re.search(pattern, low)), "")


def answered(attribute: str, value: str, *, zh: bool) -> str:
    """Return the sentence in which somebody gives themselves a value."""
    forms = next((row[4] if zh else row[3]) for row in _ROWS if row[0] == attribute)
    return forms.replace("{v}", value)


# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width


@dataclass(frozen=True, slots=True)
class Known:
    """The slot a sentence about a person fills."""

    slot: str
    """``name``, ``city``, ``pet`` … the same in both languages."""
    entity: bool = False
    """Whether it names somebody or something."""
    news: bool = False
    """Whether it tells of a change."""


_SPEAKER = regex(r"\b(?:i|my|me|we|our)\b|我", re.IGNORECASE)
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
    if not _SPEAKER.search(sentence):
        return []
    found: dict[Known, str] = {}
    clauses = [clause for part in _BORDER.split(sentence) if (clause := part.strip(" .。!！"))]
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

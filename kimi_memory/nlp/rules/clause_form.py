"""The form of a clause: its core without lead and marks, and the frames in which a value stands.

Short forms are written out, lead-ins and adverbs taken out. The words of a claim stand in one
order, with figures, dates and units in one form: "four spaces" and "4 spaces" have the same words,
and so have 五千块 and 5000元, "June 12" and "12 June", "is not", "isn't" and 不是.

Each row is a slot and its forms in one language. In a form ``{v}`` is the value, ``{w}`` whose
it is, ``{o}`` a value that it replaces, ``{q}`` which of several is meant, ``{n}`` a noun of
the list. Clauses come with short forms written out and adverbs taken out (`kimi_memory.nlp.rules.slots`).
A clause may also name a tool and not what it is for: "we switched from Postgres to SQLite".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import HAN, fold_case, folded, literals, regex, simplify
from kimi_memory.nlp.dates.date_terms import found_dates
from kimi_memory.nlp.dates.vocabulary import MONTH, number
from kimi_memory.nlp.rules.cues import clean, split_reason
from kimi_memory.nlp.rules.slot_list import BY_NAME, DEFINITIONS, TOOLS
from kimi_memory.nlp.rules.slot_type import PROJECT, Slot

# ruff: noqa: E501, SIM905  lists of words and phrases are read by their groups, not by their width


_SHORT = (
    (r"\b(i)'m\b", r"\1 am"), (r"\b(\w+)'ve\b", r"\1 have"), (r"\b(\w+)'ll\b", r"\1 will"), (r"\b(you|we|they)'re\b", r"\1 are"),
    (r"\b(he|she|it|that|who|there)'s\b", r"\1 is"), (r"\bcan'?t\b|\bcannot\b", "can not"), (r"\bwon't\b", "will not"), (r"\b(\w+)n't\b", r"\1 not"), (r"\blet's\b", "let us"),
)  # fmt: skip
_WRITTEN_OUT = tuple((re.compile(short, re.IGNORECASE), long) for short, long in _SHORT)
CORRECTS = (
    r"(?:(?:(?:oh|uh|er|um|no|actually),? )?(?:wait|no|hang on|hold on)(?:,? no)?|oops|nope|nah|wrong|rather|not quite|i mean|i misspoke|my (?:mistake|bad)"
    r"|on second thoughts?|come to think of it|(?:scratch|strike|scrap) that|let me correct (?:myself|that|this)|errat(?:a|um))"
)
"""How people begin to say that something is otherwise than they just said."""
CORRECTS_ZH = (
    r"(?:[哦啊噢呃哎唉]?(?:不对?|不是|不{2,4})|等等|等一?下|我?(?:刚才|刚刚)?(?:说|记|弄|打|写|搞)?错了|算了|口误|修正(?:一下)?|改一下"
    r"|应该说|准确地?说|(?:再|仔细)?想了?想)(?=[，,：:。！!—…])"
)
_FILLS = "oh|hmm+|uh|er|um|right|in fact|(?:right )?now|currently|edit|p\\.?s"
_FILLS_ZH = "(?:[哦啊噢呃哎唉]|抱歉|不好意思|话说|那个|补充|ps)(?=[，,：:。！!—…])"
_LEAD = regex(
    rf"^(?:(?:{CORRECTS}|{_FILLS}|"
    r"actually|correction|update|by the way|btw|fyi|well|so|ok|okay|also|and|but|no|yes|sorry|note|remember|please note|please remember|just so you know|for the record|to be clear|quick update|news"
    r"|from (?:now|today|tomorrow|next \w+|this \w+|monday|january|february|march|april|may|june|july|august|september|october|november|december|\d[^,]{0,12}?) on|from (?:next|this) \w+|as of [^,]{2,20}|starting [^,]{2,20}|these days|since [^,]{2,20}|i got married|we got married|(?:i|we)(?:'ve| have)? (?:just )?(?:left|dropped|ditched|gave up|quit|abandoned) [\w.+#-]{2,20}|remember that|note that|please remember that|(?:one|another) thing to (?:remember|know|note)|let me tell you(?: that)?|you should know(?: that)?|(?:i|we) (?:was|were) (?:wrong|mistaken)(?: earlier| before| there| about that)?|(?:i'd like|i would like|i want) you to (?:know|note|remember)(?: that)?)(?: ?[,:;.!—–-]+ ?| (?=(?:i|we|my|our|the|let)\b)|(?<=that) (?=(?-i:[A-Z]))))+"
    rf"|^(?:(?:{CORRECTS_ZH}|{_FILLS_ZH}|"
    r"我(?:刚才|刚刚|之前|前面)?[说讲]的(?=[^，。]{1,16}是指)|其实|更正(?:一下)?|更新(?:一下)?|纠正(?:一下)?|说错了|记错了|弄错了|对了|顺便说(?:一下)?|补充一下|另外|还有|嗯|哦|请记住|记住|记一下|备忘|提醒一下|从(?:下|这|本)(?:周|个?月)起|从今天起|从明天起|从[^，]{1,8}(?:起|开始)|即日起|以后|今后|(?:麻烦|请|帮我?|给我|你|您|也|再|先|都|要|得|会|能|可以|应该|最好|顺手|一定|务必)*(?:记|记住|记得|记下|记好|记着|记牢|记录|知道|留意|注意|备注|标注)(?:一下|一笔|下来|了)?(?=[，,：:])|(?:有|还有)?(?:一)?(?:件|个|条)?(?:事情?|东西|点)?(?:你)?(?:要|得|请|需要)(?:你)?(?:记住|记下|记得|知道|注意)(?=[，,：:])|(?:我|再|先|来|跟你|和你|给你|要|想)*(?:确认|强调|说明|声明|补充|提|说|讲|告诉你)(?:一下|一句|一声|一遍|清楚)?(?=[，,：:])|(?:要是|如果|万一)?有人问(?:起|到|我)?(?=[，,：:])|你(?:之前|上次|刚才)?问(?:过|到|起)?(?:我|的)?(?=[，,：:])|我改名了|我结婚了|我离婚了|[^,，。我]{1,6}起(?=我|项目|我们))[，,：:。！!、—… ]*)+",
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


def strip_lead(text: str) -> str:
    """Return a clause without the words that only lead to it, such as "Actually, no"."""
    return _LEAD.sub("", text, count=1) or text


def plain_clause(text: str, *, zh: bool) -> str:
    """Return a clause with short forms written out, without lead-in and adverbs of time."""
    bare = strip_lead(text)
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


NOT = "not"
"""The word every denial becomes."""
# A statement that was kept with its reason must equal the one that is said without it.
_WHY = regex(r" ?\((?:Reason|原因): ?[^()]{1,400}\)$")
_NUMBER_WORDS = {
    word: str(count)
    for count, word in enumerate(
        ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
         " sixteen seventeen eighteen nineteen twenty").split()
    )
}  # fmt: skip
_TENS = {
    word: ten
    for ten, word in zip(
        range(20, 100, 10),
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        strict=True,
    )
}
_UNITS = {
    "s": "second seconds sec secs 秒 秒钟", "ms": "milliseconds millisecond 毫秒", "min": "minute minutes mins 分钟", "hour": "hours hrs hr h 小时 个小时", "day": "days 天",
    "week": "weeks 周 个星期 星期", "month": "months 个月", "year": "years yrs 年 岁", "eur": "euro euros € 欧元", "gbp": "pound pounds £ quid 英镑", "usd": "dollar dollars $ bucks 美元 美金",
    "cny": "yuan rmb ¥ 元 块 块钱 人民币 圆", "kg": "kilos kilo kilograms kilogram 公斤 千克", "km": "kilometres kilometers kilometre 公里 千米", "gb": "g gigabytes gigabyte", "mb": "m megabytes megabyte 兆", "percent": "% per cent 百分之",
}  # fmt: skip
_UNIT = {form: name for name, forms in _UNITS.items() for form in (name, *forms.split())}
_SIGN = regex(r"([€£$¥]) ?(\d[\d,.]*)")
_MEASURE = regex(
    r"(?<![\da-z.])(\d+(?:\.\d+)?) ?("
    + "|".join(sorted(map(re.escape, _UNIT), key=len, reverse=True))
    + r")(?![a-z])",
    re.IGNORECASE,
)
_EVERY = regex(
    r"\b(?:a|an|per|every|each) (day|week|month|year|hour|minute)\b|每(天|周|个?月|年|小时|分钟)|一个(月)|/ ?(day|week|month|year|hour)\b"
)
_EVERY_ZH = {
    "天": "day",
    "周": "week",
    "月": "month",
    "个月": "month",
    "年": "year",
    "小时": "hour",
    "分钟": "min",
}
# 9:30, 9:30 pm, 5pm, 三点半, 3点1刻, 十点二十分
_CLOCK = regex(
    r"(?<![\d:])(\d{1,2})[:：](\d{2})(?: ?([ap])\.?m\.?)?|(?<![\d.])(\d{1,2}) ?([ap])\.?m\b\.?|([\d一二三四五六七八九十两]{1,3})点(半|[一1]刻|[三3]刻|([\d一二三四五六七八九十]{1,3})分?|整|钟)?"
)
# Only before a measure word, or the 一 of 一起 would become a figure.
_HAN_NUMERAL = regex(
    r"(?<![零〇一二两三四五六七八九十百千万])[零〇一二两三四五六七八九十百千万]+(?=个?(?:[条次点号天周月年秒分时兆倍人块元只格岁公英美欧]|空格|半|刻|小时|星期))|(?<=用|成|到)[零〇一二两三四五六七八九十]{1,8}(?=个$)"
)
_NEGATION = regex(
    r"\b(?:can ?not|do not|does not|did not|is not|are not|was not|were not|will not|would not|should not|must not|have not|has not|need not|no longer|not|never|no|without|none|nor|stop|avoid)\b"
    r"|(?:从不|永不|绝不|不要|不会|不能|不可以|不可|不准|不许|不再|不用|不|没有|没|无需|无法|无|未|别|勿|禁止|严禁|非)(?!过(?=[，,]|$)|仅|但|同|错|断|管|少|常|如|久|得不)"
)
_SMALL_EN = frozenset(
    """a an the and of at in for i'd is are was were be been being am do does did has have had can could may might will would shall
    should must we our i my me you your it its this that these those he she they them his her their there here so just very really quite
    now currently still already also always usually please ever any some by as us let make sure called named use uses used using since which who
    get gets got when then per actually finally only both each every own kept""".split()
)
_SMALL_HAN = (
    "我们的",
    "咱们的",
    "我们",
    "咱们",
    "已经",
    "现在",
    "目前",
    "其实",
    "总是",
    "一直",
    "一律",
    "统一",
    "都要",
    "可以",
    "应该",
    "必须",
    "一定",
    "还是",
    "一般",
    "通常",
    "平时",
    "每次",
    "名字",
    "就是",
    "以后",
    "今后",
)
_SMALL_HAN_ONE = frozenset("的了是在我就都也还很要能会请把将吧啊呢哦嘛被得着地之所已为叫")
_SMALL = _SMALL_EN | _SMALL_HAN_ONE
_ARTICLES = frozenset(("a", "an", "the", "my", "our", "of", "at", "in"))
# "march 5" and "may 5" in folded text: in lower case the reader of dates takes them for verbs.
_MARCH = regex(
    r"\b(?:(march|may) (\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})(?:st|nd|rd|th)? (?:of )?(march|may))\b(?!:)",
    re.IGNORECASE,
)
_WORD = regex(
    rf"md:\d\d-\d\d|d:\d{{4}}-\d\d-\d\d|[wkmy]:[\w-]+|t:\d\d:\d\d|u:\w+|e:\w+|[a-z][a-z0-9+#'_]*(?:[.\-/][a-z0-9+#_]+)*|\d+(?:[.:/-]\d+)*|[{HAN}]|[^\W_]"
)
_PLURAL = regex(r"(?<=[a-rt-z]{3})s$|(?<=[a-z]{3}(?:sh|ch|ss))es$")
_OWNER = regex(r"'s?$")
_SAME = {
    "postgresql": "postgres", "mongo": "mongodb", "golang": "go", "k8s": "kubernetes", "js": "javascript", "ts": "typescript", "licence": "license", "colour": "color", "favourite": "favorite",
    "vegetarians": "vegetarian", "mum": "mother", "mom": "mother", "dad": "father", "metre": "meter", "don't": NOT, "celiac": "coeliac", "asthmatic": "asthma", "diabetic": "diabetes", "epileptic": "epilepsy", "e-mail": "email", "everyday": "daily",
}  # fmt: skip
_SAME_HAN = (
    ("素食主义者", "吃素"),
    ("素食者", "吃素"),
    ("素食", "吃素"),
    ("星期天", "周日"),
    ("星期", "周"),
    ("礼拜", "周"),
    ("妻子", "老婆"),
    ("丈夫", "老公"),
    ("番茄", "西红柿"),
    ("电子邮件", "邮件"),
    ("讲", "说"),
    ("无需", "不需要"),
    ("无法", "不能"),
)


@lru_cache(maxsize=8192)
def claim_words(statement: str, *, whole: bool = False) -> tuple[str, ...]:
    """Return the words of a claim in their order, each in the form it is compared in.

    Args:
        statement: a claim, or the value in one.
        whole: keep small words too, as in values: 成都 is no 成.
    """
    text = unicodedata.normalize("NFKC", simplify(clean(_WHY.sub("", statement)).replace("’", "'")))
    text = split_reason(text)[0]
    zh = any("\u3400" <= ch <= "\u9fff" for ch in text)
    text = fold_case(plain_clause(strip_marks(text.strip()), zh=zh))
    for form, same in _SAME_HAN if zh else ():
        text = text.replace(form, same)
    text = _EVERY.sub(
        lambda found: f" e:{_normalise_rate(next(filter(None, found.groups())))} ", text
    )
    text = _normalise_dates(
        _normalise_units(_normalise_numbers(re.sub(r"(?<=\d),(?=\d{3})", "", text)))
    )
    text = _NEGATION.sub(f" {NOT} ", text)
    for small in _SMALL_HAN if zh and not whole else ():
        text = text.replace(small, " ")
    small_words = _ARTICLES if whole else _SMALL
    words = (_strip_plural(word) for word in _WORD.findall(text) if word not in small_words)
    return tuple(_SAME.get(word, word) for word in words)


def _strip_plural(word: str) -> str:
    # First of whom it is: the region of Borealis is Borealis's region.
    return word if ":" in word else _PLURAL.sub("", _OWNER.sub("", word))


def _normalise_numbers(text: str) -> str:
    """Return a text with numbers in words written as digits."""
    digits = _HAN_NUMERAL.sub(lambda found: _convert_numeral(found[0]), text)
    digits = re.sub(rf"\b({'|'.join(_TENS)})(?:[- ](\w+))?\b", _convert_tens, digits)
    return re.sub(r"\b[a-z]+\b", lambda found: _NUMBER_WORDS.get(found[0], found[0]), digits)


def _convert_tens(found: re.Match[str]) -> str:
    ones = _NUMBER_WORDS.get(found[2] or "", "")
    if found[2] and len(ones) != 1:
        return f"{_TENS[found[1]]} {found[2]}"
    return str(_TENS[found[1]] + int(ones or 0))


def _convert_numeral(numeral: str) -> str:
    """Return a Chinese numeral in digits."""
    total, part, digit = 0, 0, 0
    for ch in numeral:
        place = {"十": 10, "百": 100, "千": 1000, "万": 10000}.get(ch)
        if place == 10000:
            total, part, digit = (total + part + digit) * place, 0, 0
        elif place:
            part, digit = part + (digit or 1) * place, 0
        else:
            digit = digit * 10 + number(ch) if ch not in "零〇" else 0
    return str(total + part + digit)


def _normalise_units(text: str) -> str:
    """Return a text with its units, rates and times of day in one form."""
    signed = _SIGN.sub(lambda found: f"{found[2]} {_UNIT[found[1]]}", text)
    timed = _CLOCK.sub(_convert_time, signed)
    return _MEASURE.sub(lambda found: f" {found[1]} u:{_UNIT[found[2].lower()]} ", timed)


def _normalise_rate(word: str) -> str:
    return _EVERY_ZH.get(word, word)


def _convert_time(found: re.Match[str]) -> str:
    han = found[6]
    if han:
        told = found[8] or "0"
        hour, minutes = (int(n if n.isdigit() else _convert_numeral(n)) for n in (han, told))
        parts = {"半": 30, "一刻": 15, "1刻": 15, "三刻": 45, "3刻": 45}
        minutes = parts.get(found[7] or "", minutes)
    else:
        hour, minutes = int(found[1] or found[4]), int(found[2] or 0)
    late = (found[3] or found[5]) == "p"
    return f" t:{hour + 12 if late and hour < 12 else hour:02}:{minutes:02} "


def _normalise_dates(text: str) -> str:
    """Return a text with its dates as typed words."""
    text = _MARCH.sub(_of_march, text)
    # From the end, so that the places of earlier dates stay right.
    for start, end, words in sorted(found_dates(text, None), reverse=True):
        if words:
            text = f"{text[:start]} {words[0]} {text[end:]}"
    return text


def _of_march(found: re.Match[str]) -> str:
    """Return a day of March or May, which are words too."""
    month = 3 if (found[1] or found[4]).lower() == "march" else 5
    return f" md:{month:02}-{int(found[2] or found[3]):02} "


# ruff: noqa: E501, SIM905  phrases are read by their groups, not by their width


KIN = {
    noun: one.name
    for one in DEFINITIONS
    if one.about == "people" or one.name == "manager"
    for noun in one.nouns
}
"""People and animals of a person, by the nouns of both languages."""
_ASCII_KIN = sorted((noun for noun in KIN if noun.isascii()), key=len, reverse=True)
_HAN_KIN = sorted((noun for noun in KIN if not noun.isascii()), key=len, reverse=True)
_TRADE = (
    r"(?:[\w-]+ ){0,3}?(?:teacher|nurse|doctor|dentist|surgeon|vet|lawyer|engineer|developer|programmer|designer|writer|author|editor|journalist"
    r"|artist|musician|electrician|plumber|carpenter|mechanic|driver|pilot|chef|cook|baker|barista|waiter|waitress|farmer|gardener|builder"
    r"|architect|accountant|analyst|consultant|scientist|researcher|professor|lecturer|student|librarian|translator|interpreter|photographer"
    r"|pharmacist|physiotherapist|therapist|psychologist|chemist|biologist|physicist|mathematician|statistician|manager|director|secretary"
    r"|clerk|cashier|salesperson|realtor|banker|broker|auditor|officer|firefighter|soldier|paramedic|midwife|carer|caretaker|cleaner|coach"
    r"|trainer|tutor|freelancer|contractor|entrepreneur|founder|apprentice|intern|technician|welder|hairdresser|actor|actress|dancer|singer|judge|priest)"
)
_TRADE_ZH = (
    r"[\u3400-\u9fffA-Za-z]{0,8}?(?:老师|教师|护士|医生|律师|工程师|程序员|设计师|作家|编辑|记者|画家|音乐家|电工|水管工|木工|司机|飞行员|厨师|面包师|农民"
    r"|会计|分析师|顾问|科学家|研究员|教授|讲师|学生|图书管理员|翻译|摄影师|药剂师|心理咨询师|经理|主管|总监|秘书|文员|收银员|销售|警察|消防员|军人|教练"
    r"|自由职业者|创始人|实习生|技术员|焊工|理发师|演员|舞者|歌手|法官|公务员|店长|产品经理|运营|建筑师|药师|兽医|牙医|客服|保安|快递员|外卖员)"
)
_DISEASE = (
    r"asthma|diabetes|type [12] diabetes|migraines?|epilepsy|arthritis|anemia|anaemia|hypertension|high blood pressure|low blood pressure|depression|anxiety|adhd|eczema|psoriasis"
    r"|coeliac disease|celiac disease|crohn's|ibs|tinnitus|insomnia|sleep apn(?:o)?ea|scoliosis|a heart condition|glaucoma|lupus|hay fever"
)
_REMEDY = r"[^,;.]*?\b(?:vitamins?|medication|medicine|pills?|tablets?|insulin|metformin|ibuprofen|aspirin|paracetamol|statins?|antihistamines?|antibiotics|antidepressants?|beta blockers?|\d+ ?mg|supplements?|omeprazole|levothyroxine|lisinopril)\b.*"
_DATE = r"(?:[a-z]+day|tomorrow|the \d+(?:st|nd|rd|th)?|" + MONTH + r"|\d).*"
_CITY = "|".join(
    "北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆 天津 苏州 长沙 青岛 郑州 厦门 宁波 无锡 合肥 福州 济南 大连 沈阳 昆明 贵阳 南宁 珠海 东莞 佛山 香港 澳门 台北 东京 大阪 首尔 新加坡 纽约 伦敦 巴黎 柏林 悉尼 国内 国外 海外".split()
)
_DATE_ZH = r"(?:\d+月\d+[日号]?|[一二三四五六七八九十]+月[一二三四五六七八九十]+[日号]|\d+[日号]|(?:下|本|这)?(?:周|星期|礼拜)[一二三四五六日天])(?:[早上中下午晚凌晨傍]*[\d一二三四五六七八九十两]+[点:：][^，。]{0,4})?"

# "my sister Anna", "I", "Tom": a name needs its capital, though the frame ignores case.
_SUBJECT = (
    rf"(?:i|we|(?:my|our) (?:{'|'.join(map(re.escape, _ASCII_KIN))})(?: (?-i:[A-Z])[\w-]+)?"
    r"|(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)?)"
)
_SUBJECT_ZH = rf"(?:我(?:家)?(?:的)?(?:{'|'.join(map(re.escape, _HAN_KIN))})(?:[\u3400-\u9fff]{{2,3}}(?=[住在是对会叫今满向开\d]))?|我们?|(?!我)[\u3400-\u9fff]{{2,4}}?)"

_EN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("timezone", (
        r"{w} (?:am|is|are) (?:in|on) (?:the )?{v} time ?zone$", r"{w} (?:am|is|are) (?:in|on) (?P<v>(?-i:UTC|GMT|CET|CEST|EST|EDT|PST|PDT|CST|JST|IST|BST|AEST)[+-]?\d*)$",
    )),
    ("home", (
        r"{w} (?:live|lives|reside|resides|am living|is living|are living|settled|have settled|has settled)(?: down)? (?:in|near) {v}", r"{w} (?:am|is|are|have been|has been) (?:based|living|located) in {v}",
        r"{w} (?:have |has )?(?:moved|relocated)(?: house)?(?: from {o})?(?: over| back)? to (?=(?-i:[A-Z]))(?!(?:[A-Z]\w+ )?as\b){v}", r"(?:the )?(?:city|town|place) {w} live in is {v}", r"home (?:for me )?is {v}", r"{w} call {v} home$",
    )),
    ("employer", (
        r"{w} (?:work|works|worked|am working|is working) (?:for|at) (?=(?-i:[A-Z])){v}", r"{w} (?:am|is|are|was) employed (?:by|at) {v}", r"{w} (?:have |has )?(?:left|quit) {o} (?:and|to|for) (?:have |has )?(?:joined?|work(?:s|ing)? (?:for|at)|started? (?:at|with)) {v}",
        r"{w} (?:have |has )?joined (?=(?-i:[A-Z])){v}", r"{w} (?:have |has )?(?:started|began) (?:work(?:ing)? )?(?:at|for|with) (?=(?-i:[A-Z])){v}", r"{w} (?:have|has|got|found) (?:a )?(?:new )?(?:job|position) (?:at|with) (?=(?-i:[A-Z])){v}",
    )),
    ("job", (
        r"{w} works? as an? {v}", rf"{{w}} (?:am|is|are) (?:an?|the) (?P<v>{_TRADE}\b.*)", r"{w} (?:have |has )?(?:became|become) an? {v}", r"{w} (?:was|got|have been|has been) promoted to {v}", r"{w} (?:am|is) (?P<v>retired|unemployed|self-employed)\b",
        r"{w} (?:earn|make|earns|makes) (?:my|her|his|their) living as an? {v}", r"{w} (?:am|is) an? {v} by (?:trade|profession|training)$",
    )),
    ("age", (r"{w} (?:am|is|are) (?P<v>\d{1,3})(?:(?: years old| years of age)(?:(?:,| and) .*)?)?$", r"{w} (?:have |has )?turned (?P<v>\d{1,3})(?: (?:in|on|last|this) .*)?$", r"{w} (?:am|is) (?P<v>(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?)(?: years old)?$")),
    ("birthday", (r"{w} (?:was|were|am|is) born (?:on|in) (?P<v>[^,;]*\d.*)",)),
    ("name", (r"{w} (?:am|is|are) (?:called|named) {v}", r"(?:you can )?call me (?P<v>(?-i:[A-Z]).*)")),
    ("health", (rf"{{w}} (?:have|has|suffers? from|got diagnosed with|(?:was|were|have been|has been) diagnosed with) (?P<v>(?:{_DISEASE})\b.*)", r"{w} (?:am|is|are) (?:an? )?(?P<v>(?:coeliac|celiac|diabetic|asthmatic|epileptic|colou?r-?blind|lactose intolerant|pregnant|dyslexic|hard of hearing|deaf)\b.*)", r"{w} (?:can not|do not|does not) eat [^,;]{2,20} because (?:i|he|she) (?:am|is) (?P<v>coeliac|celiac|lactose intolerant)")),
    ("allergies", (r"{w} (?:am|is|are) (?P<d>not )?(?:severely |badly |very |highly )?allergic to {v}", r"{w} (?P<d>do not |does not )?(?:have got|has got|have|has|got|developed) (?:a|an|any)? ?(?:severe |bad |strong )?(?P<v>[\w -]{3,30}?) allergy", r"{w} (?P<d>do not |does not )?(?:have|has) an allergy to {v}", r"(?P<v>[\w -]{3,30}?) gives? {w} an? allerg\w+(?: \w+)?$")),
    ("diet", (r"{w} (?:am|is|are) (?P<d>not )?(?:an? )?(?P<v>(?:strict )?(?:vegan|vegetarian|pescatarian|flexitarian|keto|halal|kosher|omnivore)s?\b.*)", r"{w} (?P<d>do not |does not )?(?:eat|eats|keep|keeps) (?P<v>(?:vegan|vegetarian|halal|kosher|low-carb|keto)\b.*)")),
    ("languages", (r"{w} (?P<d>do not |does not )?(?:can )?speaks? (?!to\b|with\b|at\b|up\b|about\b|for\b)(?:fluent |some |good )?(?P<v>(?-i:[A-Z]).*)", r"(?P<v>(?-i:[A-Z])\w+) is one of the languages {w} speak", r"{w} (?:am|is) fluent in {v}")),
    ("marital-status", (r"{w} (?:am|is|are|got) (?P<d>not )?(?P<v>married|engaged|divorced|single|widowed|separated)$",)),
    ("wake", (r"{w} (?:get|wake|gets|wakes|am|is) up at {v}",)),
    ("bedtime", (r"{w} (?:go|goes) to (?:bed|sleep) at {v}",)),
    ("height", (r"{w} (?:am|is) (?P<v>\d[\d.' ]*(?:cm|m|feet|foot|ft)?[\d\" ]*) tall",)),
    ("weight", (r"{w} weighs? {v}",)),
    ("medication", (rf"{{w}} (?:takes?|(?:am|is) (?:taking|on)|was prescribed) (?P<v>{_REMEDY})",)),
    ("car", (r"{w} drives? an? {v}", r"{w} (?:have |has )?(?:traded|swapped|exchanged)(?: in)? (?:my|the|his|her) {o} (?:for|with) an? {v}")),
    ("manager", (r"{w} reports? to (?P<v>(?-i:[A-Z]).*)", r"(?P<v>(?-i:[A-Z])\w+)(?: has| have)? (?:took|taken) over (?:from {o} )?as (?P<w>my) (?:manager|boss|supervisor)", r"(?P<v>(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?) (?:is|became) (?P<w>my) (?:new )?(?:manager|boss|supervisor|line manager)$")),
    ("partner", (r"{w} (?:am|is|got) (?:married|engaged) to (?P<v>(?-i:[A-Z]).*)",)),
    ("studies", (r"{w} (?:study|studies|am studying|is studying|am learning|is learning|learn|learns) (?!how\b|that\b|to\b|a lot\b|for\b|at\b|from\b|about\b|more\b){v}",)),
    ("school", (r"{w} (?:study|studies|am enrolled|is enrolled|goes? to (?:school|college|university)) (?:at|in) (?=(?-i:[A-Z])){v}",)),
    ("child", (r"{w} (?:have|has) (?P<v>(?:an?|one|two|three|four|five|\d) (?:kids?|child(?:ren)?|sons?|daughters?|bab(?:y|ies))\b.*)",)),
    ("hometown", (r"{w} (?:am|is|come|comes) (?:originally )?from (?P<v>(?-i:[A-Z]).*)",)),
    ("editor", (r"{w} (?:have )?(?:use|uses|prefer|prefers|switched|moved|changed)(?: from {o})?(?: to)? {v} as (?:my|an|the|a|his|her) (?:(?:code|text|main) )?editor$",)),
    ("appointment", (r"{w} (?:have|has|got|booked) (?:an? |my |the )?(?P<q>(?:[\w-]+ )?(?:appointment|check-?up|interview|exam|test))(?: with [^,;]{2,20}?)? (?:on|at|for) (?P<v>%DATE)", r"(?:my|the|our) (?P<q>(?:[\w-]+ )?(?:appointment|check-?up|interview)) (?:is|was|has been|got|will be)(?: moved| rescheduled| postponed| brought forward| shifted| set| scheduled)?(?: from {o})? (?:on|to|for|at) (?P<v>%DATE)")),
    ("deadline", (r"(?:the |our |my )?(?P<q>[\w-]+(?: [\w-]+)?) (?:is|are) due (?:on |by |at )?(?P<v>%DATE)",)),
    # What a project is made with.
    ("retention", (r"(?:we keep |we retain )?(?:the )?(?P<q>[\w-]+) (?:are |is )?(?:kept |retained )?for (?P<v>\d+ (?:days?|weeks?|months?|years?).*)", r"we (?:keep|retain) (?P<q>[\w-]+) for (?P<v>\d+ (?:days?|weeks?|months?|years?).*)")),
    ("port", (r"(?:the |our )?(?P<q>[\w-]+(?: [\w-]+)?) (?:listens|runs|is running|is listening|is|sits|is served) (?:on|at) port {v}",)),
    ("license", (r"we license (?:it|this|the (?:project|code)) under (?:the )?{v}", r"(?:the project|the code|it|we) (?:is|are) (?:licensed|released) under (?:the )?{v}", r"(?:the project|the code|it) is (?P<v>[\w.-]+(?: [\d.]+)?) licensed")),
    ("ci", (r"(?:we run |our )ci (?:runs |running |is )?on {v}", r"ci (?:runs|is running|is) on {v}", r"ci (?:has )?(?:moved|migrated|switched) (?:from {o} )?to {v}")),
    ("deploy-target", (r"we (?:deploy|ship|release)(?: it| the app| the site| everything)? (?:to|on|onto) (?!(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|weekends?\b)(?P<v>(?-i:[A-Z]).*)", r"we no longer deploy to {o}[,;:] (?:but )?(?:we )?deploy to {v}")),
    ("deploy-time", (r"we (?:only )?(?:deploy|release|ship)(?: only)? (?:on|every) (?P<v>(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|weekend).*)",)),
    ("drink", (r"{w} (?:drinks?|(?:gave up|stopped drinking|quit) {o},? (?:and )?(?:i )?(?:drinks?)) (?P<v>(?:\w+ ){0,2}?(?:coffee|tea|milk|water|juice|beer|wine|cola|espresso|matcha|lemonade|mate|cocoa)\b.*)",)),
    ("blood-type", (r"{w} (?:have|has) blood type {v}",)),
    ("testing", (r"we (?:test|run (?:the|our) tests) with {v}", r"test with {v}", r"instead of {o},? we test with {v}", r"(?P<v>[\w.-]+) is our test(?:ing)? (?:framework|tool|runner)$")),
    ("linter", (r"we lint with {v}",)),
    ("formatter", (r"we format (?:code |the code )?with {v}",)),
    ("cache", (r"we cache (?:[\w ]{1,20} )?(?:with|in) {v}",)),
    ("build-tool", (r"we (?:build|bundle) (?:it |the app |everything )?with {v}",)),
    ("hosting", (r"we host (?:it |everything |the (?:site|app) )?(?:on|at|with) {v}",)),
    ("indentation", (r"(?:let us |we |i |please )?indent with {v}", r"(?:use|i prefer|i use|we use) (?P<v>(?:two|three|four|eight|\d) spaces|tabs)(?: for indent(?:ation|ing)?)?$")),
    ("repo", (r"(?:our|the) (?:code|source)(?: code)? (?:lives|is|lies|sits) (?:at|on|in) {v}",)),
    ("language", (r"we (?:ported|rewrote|moved|migrated) (?:it|everything|the code|the project) (?:from {o} )?(?:in|to|into) {v}", r"(?:we write |the project is written |it is written |we are writing it )(?:it |this |everything |the code )?in {v}",)),
    ("{n}", (
        r"(?:the |our )?(?P<q>)(?P<n>backend|frontend|back end|front end|api|cli|server|app|worker) (?:is |was )?(?:written |built |implemented |made )?(?:in|with) {v}", r"we (?:decided to |agreed to |will |have decided to |are going to )?(?:re)?(?:write|wrote|built|build|implement|ported|port|moved) (?:the |our )?(?P<n>backend|frontend|back end|front end|api|cli|server|app|worker) (?:from {o} )?(?:in|into|to|with|on) {v}",
    )),
)  # fmt: skip
_ZH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("name", (r"(?P<w>我)(?:的名字)?(?:就|是)?叫(?!我|你|他|她|它|车|外卖|了|人|不|什么){v}", r"(?:大家|别人|朋友们?|同事们?|家里人)?都?叫(?P<w>我)(?P<v>[\u3400-\u9fffA-Za-z]{1,8})$", r"(?:你)?(?:可以|就)叫(?P<w>我)(?P<v>[\u3400-\u9fffA-Za-z]{1,8})$")),
    ("timezone", (r"{w}(?:人)?在(?P<v>[东西]?[\u3400-\u9fff\d]{1,4}区)$", r"{w}(?:在|用)(?P<v>[A-Z]{3}[+-]?\d*)时区")),
    ("allergies", (r"{w}对{v}(?P<d>不)?过敏{t}", r"{w}(?P<v>[\u3400-\u9fff]{1,6}?)(?P<d>不)?过敏{t}", r"{w}(?P<d>没)?有{v}过敏{t}")),
    ("birthday", (r"{w}(?:是)?(?P<v>[\d一二三四五六七八九十年月日号]{3,12})(?:过生日|出?生的?)",)),
    ("age", (r"{w}(?:今年|刚|已经|昨天|今天|刚刚|都|满|现在)*(?P<v>\d{1,3}|[一二三四五六七八九十]{1,4})(?:周)?岁",)),
    ("home", (r"{w}(?:家)?(?:的)?(?:家)?(?:从{o})?(?:搬|迁)(?:家)?(?:到|去|至)了?{v}", r"{w}(?:家)?(?:居)?住(?:在|到)?(?!院|宿舍|校|酒店|哪|这|那|得|过|了){v}", r"{w}(?:的)?(?:新)?家(?:就|搬|安)?在{v}", r"{w}(?:定居|落户)(?:在|到|于)?{v}", r"{w}在(?P<v>[\u3400-\u9fff]{2,8}?)(?:定居|生活|居住)")),
    ("employer", (r"{w}从{o}(?:离职|跳槽|辞职)[，,]?(?:去|到|加入|进)了?{v}", r"{w}在(?!家|这|那|哪|外){v}(?:上班|任职|就职|供职){t}", r"{w}在(?!家|这|那|哪|外|公司|办公|线上|户外|学校|图书馆|%CITY)(?P<v>[\u3400-\u9fffA-Za-z]{2,12}?)(?<!市)(?<!省)工作$", r"{w}(?:就职|任职|供职|受雇)于{v}", r"{w}(?:入职|加入|跳槽到|跳槽去|(?<!切)换到)了?(?P<v>[\u3400-\u9fffA-Za-z]{2,12})了?$", r"{w}(?:给|为|帮)(?P<v>[\u3400-\u9fffA-Za-z]{2,10}?)打工")),
    ("job", (rf"{{w}}(?:是|做|当|担任|成为|升任)(?:了)?(?:一名|一个|一位|个|名)?(?P<v>{_TRADE_ZH}.*)", r"{w}是做{v}的$")),
    ("diet", (r"{w}(?P<d>不)(?P<v>吃素)", r"{w}(?P<v>吃素|吃全素|吃斋|不吃肉|不吃猪肉)", r"{w}(?P<d>不)?是(?:个|一个)?(?P<v>(?:纯)?(?:素食|蛋奶素)(?:主义)?者?)")),
    ("languages", (r"{w}(?P<d>不)?会(?:说|讲)(?P<v>[\u3400-\u9fff]{1,8}[语话文])", r"(?P<v>[\u3400-\u9fff]{1,6}[语话文])(?P<w>我)会(?:说|讲)", r"{w}(?:能)?(?:说|讲)(?:一口)?(?:流利的)?(?P<v>[\u3400-\u9fff]{1,6}[语话])$")),
    ("marital-status", (r"{w}(?P<d>没|还没|没有|未)?(?P<v>结婚|离婚|订婚)了?$", r"{w}(?P<d>不)?是?(?P<v>单身|已婚|未婚|离异)",)),
    ("wake", (r"{w}(?:每天|早上|平时|一般|大概|都)*(?P<v>[\d一二三四五六七八九十两]{1,3}(?:[:：]\d{2}|点(?:半|一刻|三刻|[\d一二三四五六七八九十]{1,3}分?|钟)?))起(?:床|来)",)),
    ("manager", (r"{w}(?:向|给)(?P<v>[\u3400-\u9fffA-Za-z]{2,6}?)(?:汇报|报告)",)),
    ("partner", (r"{w}(?:和|跟|与)(?P<v>[\u3400-\u9fffA-Za-z]{2,6}?)(?:结婚|订婚|领证)了?$",)),
    ("blood-type", (r"{w}是(?P<v>(?:A|B|O|AB)型)血?",)),
    ("drink", (r"{w}(?:戒了?{o}[，,](?:我)?)?(?:现在|改|只|常|爱|都)*喝(?P<v>[\u3400-\u9fff]{0,4}?(?:咖啡|茶|牛奶|燕麦奶|豆浆|水|果汁|可乐|啤酒|红酒|奶茶)[^。]*)",)),
    ("car", (r"{w}(?:平时|现在|一直)*开(?:的(?:车)?是|着|一辆|了一辆)?(?!会|车|始|心|玩|门|发|了|机|源|放|店|灯|窗|公|头|口|学|通|到|创|启)(?P<v>[\u3400-\u9fffA-Za-z][^，。]{0,10})$", r"{w}把(?:我的)?{o}换成了?(?P<v>(?:特斯拉|比亚迪|丰田|本田|大众|沃尔沃|宝马|奔驰|奥迪|蔚来|小鹏|理想|福特|吉利|Model ?\w+).*)")),
    ("medication", (r"{w}(?:在|每天|每晚|早上|晚上|睡前|饭后|长期|一直|平时)*(?:吃|服用|服|打)(?:着)?(?P<v>[^，。]{0,6}?(?:药|维生素\w?|胰岛素|布洛芬|阿司匹林|二甲双胍|他汀|抗生素|褪黑素)[^，。]*)", r"{w}(?:腰疼|头疼|胃疼|牙疼|发烧)吃(?P<v>[\u3400-\u9fff]{2,6})")),
    ("health", (r"{w}(?:患有|得了|有|确诊了?)(?P<v>[\u3400-\u9fff]{0,4}(?:糖尿病|高血压|低血压|哮喘|偏头痛|关节炎|癫痫|贫血|抑郁症|焦虑症|湿疹|鼻炎|心脏病|胃炎|色盲))",)),
    ("studies", (r"{w}(?:正)?在(?:自学|学(?!校|院|习班))(?:习)?(?P<v>[^，。]{1,12})", r"{w}在跟[^，。]{1,6}学(?P<v>[^，。]{1,12})")),
    ("school", (r"{w}(?:在|就读于)(?P<v>[\u3400-\u9fff]{2,12}(?:大学|中学|学院|小学|高中))(?:读|上|念|就读)?",)),
    ("child", (r"{w}有(?P<v>[一两二三四五\d]个(?:孩子|女儿|儿子|娃|小孩).*)",)),
    ("appointment", (r"{w}(?:约了)?(?P<v>%DATE)(?:要)?(?:去)?(?P<q>看牙医|看医生|看病|看眼科|看[^，。的过书]{1,3}科|查视力|体检|复查|面试|打疫苗|做手术|拔牙|洗牙)", r"{w}?(?P<q>看牙医|看医生|看病|查视力|体检|复查|面试|打疫苗|做手术|拔牙|洗牙)(?:的时间|的预约)?(?:改到|改成|推迟到|提前到|定在|约在|挪到|是)了?(?P<v>%DATE)")),
    ("deadline", (r"(?P<q>[\u3400-\u9fffA-Za-z]{0,8}?)(?P<v>%DATE)(?:截止|到期|之前交)",)),
    ("retention", (r"(?P<q>备份|日志|数据|记录)(?:要)?(?:只)?(?:保留|保存)(?P<v>[\d一二三四五六七八九十]+(?:天|周|个月|年))",)),
    ("port", (r"(?P<q>[\u3400-\u9fffA-Za-z]{1,8}?)(?:监听|跑|运行)在(?P<v>\d+)(?:端口)?",)),
    ("license", (r"(?:项目|代码|我们)(?:采用|用|使用|走|遵循|是)(?P<v>[A-Za-z][\w. -]*?) ?(?:许可证|协议|许可)", r"(?:以|按)(?P<v>[A-Za-z][\w. -]*?) ?(?:许可证|协议|许可)(?:发布|开源)")),
    ("deploy-target", (r"(?:我们)?不再(?:部署|发布|上线)到{o}[，,](?:现在|改)?(?:部署|发布|上线)?到{v}", r"(?:我们|项目|应用|服务|网站|现在|目前|都|统一|一律)+(?:部署|发布|上线)(?:到|在)了?(?![周星]|\d+月){v}")),
    ("repo", (r"(?:我们的?|项目的?)?代码(?:仓库|库)?(?:都)?(?:放|托管|存)?在{v}",)),
    ("indentation", (r"缩进(?:别|不要|不)用{o}了?[，,](?:改用|用){v}", r"缩进(?:我)?(?:习惯|喜欢|统一)?(?:都)?用{v}")),
    ("testing", (r"测试(?:别|不要|不)用{o}[，,](?:改用|用){v}",)),
    ("{n}", (
        r"(?P<q>)(?P<n>[\u3400-\u9fffA-Za-z]{2,8}?)(?:现在|目前|已经|都|全)?(?:是|由)?(?:改)?用{v}(?:写|重写|开发|实现|编写)的?了?{t}", r"(?:项目的?|我们的?)?(?P<q>)(?P<n>后端|前端|服务端|客户端)的?(?:语言|技术栈)(?:我们|咱们|就|都|还是|先|现在){0,3}(?:是|用的?是?|选了?|采用){v}{t}", r"(?P<q>)(?P<n>后端|前端|服务端|客户端)是{v}写的$",
        r"(?:我们|咱们|就|拿|决定|先|还是|统一)*[用拿选]{v}(?:来)?(?:做|当|作为|当作|作)(?:我们的?|我的?|项目的?)?(?P<n>[\u3400-\u9fffA-Za-z]{2,6})(?:吧|了)?$",
    )),
)  # fmt: skip

_V = r"(?P<v>.+)"
_O = r"(?P<o>[^,;，；]{1,30}?)"
_V_ZH = r"(?P<v>[^。；]+?)"
_VALUE_TAIL_ZH = r"(?P<t>[，,。；].*)?$"


def _expand_form(form: str, *, zh: bool) -> str:
    whose = _SUBJECT_ZH if zh else _SUBJECT
    spelled = (
        form.replace("%CITY", _CITY).replace("%DATE", _DATE_ZH if zh else _DATE).replace("{o}", _O)
    )
    spelled = spelled.replace("{w}", f"(?P<w>{whose})")
    if not zh:
        return f"^(?:{spelled.replace('{v}', _V)})$"
    ending = "" if "{t}" in spelled or spelled.endswith("$") else r"(?P<t>.*)$"
    # Where the value ends the form, it takes the rest; else it is as short as possible.
    closed = ending and spelled.endswith("{v}")
    value = r"(?P<v>[^。；]+)" if closed else _V_ZH
    return f"^(?:{spelled.replace('{v}', value).replace('{t}', _VALUE_TAIL_ZH)}{'' if closed else ending})"


_HOLE = re.compile(r"\{[a-z]\}|%[A-Z]+")


class _Frame:
    """A form of a slot, compiled for the first clause that has one of its words.

    To compile all of them takes a tenth of a second, and most clauses need one or none.
    """

    def __init__(self, slot: str, form: str, *, zh: bool) -> None:
        self.slot, self._form, self._zh = slot, form, zh
        # A hole may be filled with anything, so it asks for no word of its own.
        self._words = literals(_HOLE.sub(".", form), re.IGNORECASE)
        self._pattern: re.Pattern[str] | None = None

    def match(self, text: str, plain: str) -> re.Match[str] | None:
        """Match a clause that is given as it is and `folded`."""
        if self._pattern is None:
            if self._words and not any(word in plain for word in self._words):
                return None
            self._pattern = regex(_expand_form(self._form, zh=self._zh), re.IGNORECASE)
        return self._pattern.match(text)


def find_frames(text: str, *, zh: bool) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the slots of whose forms a clause is one, in the order of the list."""
    plain = folded(text)
    for frame in _build_frames(zh=zh):
        found = frame.match(text, plain)
        if found:
            yield frame.slot, found


@lru_cache(maxsize=2)
def _build_frames(*, zh: bool) -> tuple[_Frame, ...]:
    return tuple(
        _Frame(slot, form, zh=zh) for slot, forms in (_ZH if zh else _EN) for form in forms
    )


_SWITCH = regex(
    r"^(?:we|let us|i) (?:have |will |are )?(?:now )?(?:use|go with|run on|(?:switch|mov|migrat|chang|swap)\w*(?: over)?(?: from (?P<o>[\w.+#-]+))? to) (?P<v>[\w.+#-]+)(?: [\d.]+)?(?P<t> .*)?$"
    r"|^(?:我们|咱们)?(?:都|就|决定|统一|现在|还是)*(?:用|采用|选|(?:从(?P<p>[\w.+#-]+) ?)?(?:换成|改用|迁到|换到|改成)了?) ?(?P<x>[A-Za-z][\w.+#-]*)(?P<u>.*)$",
    re.IGNORECASE,
)


def find_tool_slot(text: str) -> Slot | None:
    """Return the slot of a tool that names it: "we switched from Postgres to SQLite"."""
    found = _SWITCH.match(text)
    if found is None:
        return None
    value = found["v"] or found["x"] or ""
    name = TOOLS.get(value.lower())
    if name is None or (found["o"] and TOOLS.get(found["o"].lower()) != name):
        return None
    zh = bool(found["x"])
    more = trim_value(f"{value}{found['t'] or found['u'] or ''}", zh=zh)
    return Slot(name, PROJECT, BY_NAME[name].many, more, before=found["o"] or found["p"] or "")

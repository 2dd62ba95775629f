"""The plain form of a clause: ready for the forms of slots, and as words that are compared.

Short forms are written out, lead-ins and adverbs taken out. The words of a claim stand in one
order, with figures, dates and units in one form: "four spaces" and "4 spaces" have the same words,
and so have 五千块 and 5000元, "June 12" and "12 June", "is not", "isn't" and 不是.
"""

# ruff: noqa: E501, SIM905  lists of words and phrases are read by their groups, not by their width

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kimi_memory.nlp.basic.patterns import HAN, fold_case, regex, simplify
from kimi_memory.nlp.dates.date_terms import found_dates
from kimi_memory.nlp.dates.vocabulary import number
from kimi_memory.nlp.rules.cues import clean, split_reason

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

"""What a session says first and changes later: only its last state is worth a line."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from math import prod, sqrt
from operator import itemgetter

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.dates.named_days import share_day
from kimi_memory.nlp.dates.vocabulary import names_day
from kimi_memory.nlp.rules.lasting import worth_of
from kimi_memory.nlp.rules.salience import specific_words, traits_of
from kimi_memory.nlp.rules.subjects import subject_of
from kimi_memory.nlp.rules.utterance import is_order

# 差不多了, 不过, 不错, 不知道, 完全不同了, 不动了 hold 不 and 了 as 不去了 does; they tell no change.
_CHANGE = regex(
    r"(?<=\w )(?<!but )(?<!because )(?<!and )(?<!since )after all\b|\b(?:instead|no longer|any ?more|change[ds]? (?:my|our|her|his|their) minds?|on second thoughts?|scrap (?:that|the)|forget (?:about )?(?:the|that)|cancel\w*|called off|(?:go|going|went|switch\w*) back to|switch\w* (?:to|from)|mov(?:e|ed|es|ing) (?:to|from|up|back)|postponed|rescheduled|replaced|revert\w*|turns out|correction|i was wrong|not (?:the )?\d|is (?:off|out)\b|are (?:off|out)\b|(?:is|are) (?:ok|okay|fine) (?:for|now)|dropp?(?:ed|ing) the|cut the|went live|fell through|falls through|(?:is|are|was) (?:dead|history|not happening)\b|(?:won't|not going to) happen|ditch(?:ed|ing)|backed out|pulled out|can't make it|no more\b)"
    r"|改成|改为|改到|改在|改主意|换成|换到|不用.{0,12}了|(?<!差)不(?![过错仅但只是管然知得少光久如同]|一样|对了|见了|动了|出来)[^，。]{1,8}了|(?<!大概)(?<!估)算了(?![算一下个笔])|取消|推迟|提前到|还是用|还是选|还是.{1,12}吧|说错|记错|更正|太麻烦|作废|去不成|来不了|去不了|走不开|搬走了|换人了|换班|泡汤|减半|翻倍|[要得]砍|[加减降涨]到|不行|到账了",
    2,
)
_OBJECT = regex(
    r"(?P<was>[\w-]{3,40})s?\b (?:(?:is|are|was|were|got|has been|have been|'s) (?:now |all )?(?:cancell?ed|off|out|postponed|moved|gone|dropped|changed|rescheduled)|(?:moved|changed|switched|slipped|pushed(?: back)?|postponed) (?:to|from))\b"
    r"|(?P<sum>[\w-]{3,40}) (?:(?:is|are) (?:now )?(?:only )?[£$€]?\d[\d,.]*+\w*+ now|(?:is |are )?(?:now )?(?:down|up|cut|reduced|raised) to)\b"
    r"|\bnot (?:the |a )?(?P<figure>\d[\w.,:]*)"
    r"|(?P<zh>[\u3400-\u9fff]{2,6}?)(?:被?取消|推迟|提前到|改到|改成|改为|改在|换成|换到|调[到成]|[加减降涨]到|要砍|得砍|砍[到掉]|不行|没了|重新?定)|(?:最后|最终)(?P<then>[\u3400-\u9fff]{2,4}?)(?:定在|定到|定成|在)",
    2,
)
"""What a change is said of: there one word tells what is meant."""
_FREED = regex(
    r"\byou (?:can|may) (?:use|give|send|suggest|write|show|call|mention)\w* (?:me )?(?:the |a )?(?P<free>[\w-]+)(?: \w+)? (?:again|now)\b"
    r"|(?P<fine>[\w-]{3,40}?)s? (?:is|are) (?:ok|okay|fine|allowed) (?:now|again|for)\b"
    r"|可以(?:再)?(?:用|给|说|发|写|放|提)?(?P<may>[\u3400-\u9fff]{1,6}?)了|不用(?:再|老)?每?[^，。]{0,4}?(?:写|说|用|给|提|发|加)[“\"「]?(?P<spared>[\u3400-\u9fff]{2,6})",
    2,
)
"""What an earlier order forbade or asked for, and what is free now."""
_ENDED = regex(
    r"\b(?:instead of|rather than|in place of|no more|no longer) (?:the |a |an |my |our |to |in |on |at |going to )?(?P<instead>[\w£$€.,:/-]+(?: [\w-]+)?)"
    r"|\b(?:went|got|gets?|brought|chang\w+|mov\w+|switch\w*|rais\w+|lower\w*|cut|down|up|rose|fell|dropped|increas\w+|reduc\w+|bump\w*|push\w*|grew|shift\w*|extend\w*|shorten\w*)\b[^,.;]{0,40}? from (?:about |like |around )?(?P<was>[\w£$€.,:/-]+(?: [\w-]+)?) (?:down |up )?(?:to|into) (?:about |like |around |only )?[\w£$€]"
    r"|\bthe (?P<thing>[\w£$€.,:/-]+(?: [\w-]+)?) (?:thing|plan|idea|deal|rule|one|part|bit|trip|option) (?:is|are|was) (?:now )?(?:dead|off|out|over|gone|history|dropped|scrapped|cancell?ed)\b"
    r"|\b(?:kill|drop|scrap|forget|ditch|cancel|remove|retire|lose|skip)(?:ped|ed|ing)? (?:the|that|our|my) (?P<killed>[\w-]+(?: [\w-]+){0,2}) (?:rule|thing|plan|idea|deal|order|one|habit)\b"
    r"|\bnot (?:to |in |on |at |the |for )?(?P<denied>\d[\w.,:/-]*(?: [\w-]+)?|end of [a-z]+|(?-i:[A-Z])[\w-]+)(?= any ?more|[,.;]|$)"
    r"|从(?P<from>[^，。、从]{1,8}?)(?:改|换|加|减|涨|降|调|变|提|升|缩|延|挪|推|搬|转)[^，。]{0,3}?[到成为至]"
    r"|(?P<dead>[^，。]{1,8}?)那(?:个|件|套|条)?(?:事|计划|方案|想法|安排)?(?:就)?(?:算了|作废|不要了|取消|泡汤|不做了)|(?P<put>[^，。]{1,8}?)那(?:个|件|套|条)(?=[^。]{0,40}?(?:改[到成为]|挪到|换成|调到|提前到|推迟到))|不再(?P<never>[^，。了]{2,8})",
    2,
)
"""The old value, or the old matter, that a change names."""
_REVISITS = regex(
    r"\b(?:last time|earlier|before|previously|back then|the other day)\b,? (?:i|you|we) (?:said|told|asked|wanted|agreed|had|did)\b|\b(?:i|you|we)(?: had|'ve|'d)? (?:said|told|asked|wanted|agreed|mentioned)\b[^.;!?]{0,50}\b(?:last time|earlier|before|previously|back then|the other day|in (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*)\b"
    r"|\babout the [\w' -]{2,30} (?:rule|order|instruction)\b"
    r"|(?:上次|上回|之前|以前|前面|早先|当时|那时)(?:我|你|咱们?)?(?:跟你|对你|和你)?(?:说|讲|让|叫|喊|要求|定|提|约|规定|交代)|那(?:条|个)(?:规矩|规则|要求|说法)|^[^，。]{1,12}那条",
    2,
)
"""A person comes back to what was said or ordered in an earlier talk."""
_ALTERS = regex(
    r"\b(?:can|may|now|instead|but|except|ok|okay|fine|allowed|rather|only|too|also|no longer|any ?more)\b|改|可以|能|但是?|不过|除了|换|不用|别|也",
    2,
)
_FIGURE = regex(r"\d+(?:[.:,]\d+)*")
_UNIT = regex(r" ?([A-Za-z]{2,}|(?![万千百亿元块])[\u3400-\u9fff])")
_LISTED = regex(r"(?:^|[\s，,；;。：:])(?:\(?\d{1,2}[).、）]|[①-⑨])")
"""Items of a list: who changes one of them leaves the rest as it is."""
_UNSURE = regex(
    r"\bheard (?:that|there|it|they|he|she|from)\b|\b(?:not sure|unsure|rumou?rs?|supposedly)\b"
    r"|听说|据说|不确定|好像",
    2,
)
"""What somebody only heard, or is not sure of, takes the place of nothing."""
_LEANING = regex(
    r"\b(?:he|she|him|his|hers?|they|them|theirs?|it|its|this|that|these|those|there|then|so|such|too|also|an?other|others|rest|remaining|both)\b"
    r"|[他她它这那此其剩另也]|同样",
    2,
)
"""Words for what the sentences before name."""
_FORBIDS = regex(r"\b(?:never|don'?t|do not|stop|avoid|no)\b|不要|不准|不许|不用|别", 2)
_PERMITS = regex(
    r"\byou(?:'re| are)? (?:may|can|allowed to|free to) (?:now )?(?P<verb>[a-z]+) (?:on |in |to |at )?(?:the |a |any |my |our )?(?P<thing>[\w./-]+)",
    2,
)
"""Leave to do what an order forbade: with its verb, for you can do many things."""
_DONE = regex(
    r"\b(?:went|is|are|now|finally) (?:live|done|finished|over|complete|open)\b|\b(?:has|have|is|are|was|were) (?:been )?(?:arrived|finished|completed|launched|shipped|delivered|paid|settled|submitted|sent|signed|accepted)\b|\b(?:i|we|they|he|she)(?:'ve|'s| have| has)? (?:just |finally |already )?(?:finished|completed|launched|shipped|submitted|sent|signed|passed|moved in|paid|bought|sold|booked)\b"
    r"|到账了?|完工|(?:买|卖|订|签|租|装)(?:了|好了|完了|掉了)|办好了|办完|搞定|寄出|提交了|交了|考完|考过|拿到了?|搬完|做完|一分没少",
    2,
)
_AHEAD = regex(
    r"\b(?:will|'ll|going to|gonna|need(?:s|ed)? to|has to|have to|must|should|want(?:s|ed)? to|plan(?:s|ned|ning)? to|by|before|until|deadline|due|waiting|still)\b"
    r"|要|打算|准备|计划|之前|截止|等|谈定|同意|转给|开工|开始|\d月|\d号",
    2,
)
"""Words of what is still to come."""
_MINOR = regex(
    r"^(?:\d{1,2}|(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan\w*|feb\w*|march|april|may|june|july|aug\w*|sept\w*|oct\w*|nov\w*|dec\w*|sec(?:ond)?|min(?:ute)?|hr|hour|day|night|week|weekend|month|year|km|kg|mg|mile|pound|euro|dollar|gb|mb|percent|morning|evening|friday|thank|thx|guy|stuff|half|[点号月年天周时分秒块元万岁半早晚]{1,2}|[一二三四五六七八九十两百千\d]+[\u3400-\u9fff]|[\u3400-\u9fff][点号月年天周]|周[一二三四五六日天末]|[早晚上下中][上午天面次]|[今明昨后][天年]|手机|电脑|医生|公司|东西)$",
    2,
)
"""A figure, a unit or a time that both name says little: they may be of different things."""
_SHELLS = specific_words(
    """
    plan planned planning schedule scheduled original originally arrangement adjust adjusted
    adjustment adjusting change changed switch switched switching cancel cancelled canceled
    postpone postponed move record log note memo summary review detail activity event appointment
    thing stuff item time date goal task progress status situation afterward recently
    计划 安排 调整 改变 变化 推迟 取消 切换 改成 改为 改到 换成 记录 总结 复盘 备忘 活动 日程 时间
    事项 任务 进度 情况 内容 目标 方案 原定 原本 状态 完成 重新 定义 近期 最近 建议 准备 打算 决定
    """
)
"""Words for a plan, a note or a change: they say of anything that it was planned or noted."""
_TELLING_FIGURE = regex(r"(?!(?:19|20)\d\d$)\d[\d.,]{3,}")
"""A figure that tells by itself which value is meant; a year or a time is that of many things."""
TELLING = 3.0
"""Worth of a sentence that tells something without those beside it."""
ALIKE = 1 / 3
"""So alike (cosine of the names) are two sentences of which one changes the other."""
COMMON, SHARED = 3, 2
"""A word that more turns hold than the first says nothing; a change shares so many of the rest."""


class Changes:
    """The turns of a session that change something, and the words they share with others.

    Args:
        turns: number and own words of each turn of a person, in order.
    """

    def __init__(self, turns: Iterable[tuple[int, str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._changing: list[int] = []
        self._words: dict[str, list[int]] = {}
        self._objects: dict[str, list[int]] = {}
        for n, text in turns:
            words = specific_words(text)
            self._counts.update(words)
            if tells_change(text):
                at = len(self._changing)
                self._changing.append(n)
                for word in words:
                    self._words.setdefault(word, []).append(at)
                for word in changed_objects(text):
                    self._objects.setdefault(word, []).append(at)

    def after(self, n: int, text: str, shared: int = SHARED, *, lasting: bool = False) -> bool:
        """Whether a turn after turn `n` changes what a text says.

        Args:
            n: number of the turn that says it.
            text: what it says.
            shared: so many rare words a change must share with it.
            lasting: it tells what holds for years: a change must share twice as many.
        """
        named = specific_words(text)
        words = {word for word in named if self._counts[word] <= COMMON}
        traits = traits_of(text)
        dated = not lasting and (traits.figure or traits.day or traits.choice)
        # "Because of the allergy we book another place" shares a word with the allergy and leaves
        # it.
        shared *= 1 + lasting
        held = Counter(at for word in words for at in self._words.get(word, ()))
        if any(self._changing[at] > n for at, times in held.items() if times >= shared):
            return True
        return bool(dated) and any(
            self._changing[at] > n for word in named for at in self._objects.get(word, ())
        )


@keep_results(4096)
def tells_change(text: str) -> bool:
    """Whether a statement says that something is otherwise than it was, or than it was meant."""
    return _CHANGE.search(text) is not None or _OBJECT.search(text) is not None


def sets_free(text: str) -> bool:
    """Whether a statement allows again, or no longer asks for, what an order was about."""
    return _FREED.search(text) is not None


@keep_results(4096)
def may_replace(text: str) -> bool:
    """Whether a statement has the words of a change, of leave, or of something done."""
    said = (_FREED, _REVISITS, _DONE, _PERMITS, _ENDED)
    return tells_change(text) or any(words.search(text) for words in said)


def only_reports(text: str) -> bool:
    """Whether a statement only reports something as done, and says no change of it."""
    return _DONE.search(text) is not None and not (
        tells_change(text) or sets_free(text) or names_old(text)
    )


def revisits(text: str) -> bool:
    """Whether a person comes back to what was said or ordered in an earlier talk."""
    return _REVISITS.search(text) is not None


def names_old(text: str) -> bool:
    """Whether a statement names what it changes: an old value, an order, an earlier talk."""
    return any(words.search(text) for words in (_REVISITS, _PERMITS, _ENDED))


def is_directive(text: str) -> bool:
    """Whether a text tells somebody how to act, or what not to do."""
    return is_order(text.lower()) or _FORBIDS.search(text) is not None


def replaces(earlier: str, later: str) -> bool:
    """Whether a later statement takes the place of an earlier one that it does not quote.

    It tells a change, names the value that holds no more, sets free or comes back to what an
    order was about, or reports as done what was still to come; and both name the same things.
    """
    if _UNSURE.search(later) or _name_two_things(earlier, later):
        return False
    old, new = specific_words(earlier), specific_words(later)
    forbids = _FORBIDS.search(earlier) is not None
    if is_order(earlier.lower()) or (
        forbids and (revisits(later) or _is_permission(earlier, later))
    ):
        shared = _count_names(old & new) + share_day(earlier, later)
        return _ends_order(earlier, later, shared)
    # A change says in one sentence what it changes. Two notes of a page each share words by
    # chance: the week, the plan, a person who stands in both.
    told = _told_parts(earlier)
    return any(_ends_part(one, other) for other in _told_parts(later) for one in told)


@keep_results(4096)
def _told_parts(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, one that names nothing with the one after it."""
    parts: list[str] = []
    lead: int | None = None
    for start, end in sentences(text):
        begin = start if lead is None else lead
        lead = begin if not _drop_minor_words(specific_words(text[begin:end])) else None
        if lead is None:
            parts.append(text[begin:end])
    return tuple(parts) if lead is None else (*parts, text[lead:])


def _ends_part(earlier: str, later: str) -> bool:
    """Whether a sentence takes the place of an earlier one."""
    old, new = specific_words(earlier), specific_words(later)
    named = _find_matched_words(_ENDED, later)
    if named and not (old & named or old & changed_objects(later)):
        return False  # It names what it changes, and that is something else.
    shared = _count_names(old & new) + share_day(earlier, later)
    return _ends_value(earlier, later) or _ends_state(earlier, later, shared)


def _name_two_things(earlier: str, later: str) -> bool:
    """Whether each statement is about a thing of its own: the port of Atlas, that of Borealis."""
    one, other = subject_of(earlier), subject_of(later)
    if one is None or other is None or one.owner == other.owner:
        return False
    if one.name and other.name:
        return one.name not in later and other.name not in earlier
    # "The database is Postgres now" is about ours, not about that of Borealis.
    return one.known and other.known


def unchanged_part(earlier: str, later: str) -> str:
    """Return the sentences of a statement that a later one leaves as they are.

    Of "Ann studies in Leeds. I send her 250 a month." the first stands when the sum changes.

    Returns:
        neighbouring whole sentences that stand alone and tell something, the most telling
        ones; empty where there are none.
    """
    spans = sentences(earlier)
    changed = [replaces(earlier[start:end], later) for start, end in spans]
    if not any(changed):
        return ""
    both = zip(spans, changed, strict=True)
    runs = [[span for span, _ in run] for done, run in groupby(both, itemgetter(1)) if not done]
    found = [(run[0][0], run[-1][1]) for run in runs]
    parts = [earlier[start:end] for start, end in found if _stands_alone(earlier, start, end)]
    best = max(parts, key=worth_of, default="")
    # "Never push to main" tells little of anybody, and stands all the same.
    return best if worth_of(best) >= TELLING or is_directive(best) else ""


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a reader of these sentences of a text misses none of those around them."""
    before, part = text[:start].rstrip(), text[start:end]
    # A semicolon joins the items of one list; what is left of them is another list.
    if before.endswith((";", "；", ":", "：")) or part.endswith((";", "；", ":", "：")):
        return False
    return not before or _LEANING.search(part) is None


def _ends_value(earlier: str, later: str) -> bool:
    """Whether an earlier sentence holds the value that a later one names as ended."""
    held = [words for words in _matched_words(_ENDED, later) if _are_held(words, earlier)]
    ended = frozenset().union(*held) & specific_words(earlier)
    if not ended:
        return False
    beside = (specific_words(earlier) & specific_words(later)) - ended
    whole = _count_names(ended) > 1
    return whole or bool(_drop_minor_words(beside)) or _have_unit(ended, earlier, later)


def _ends_state(earlier: str, later: str, shared: int) -> bool:
    """Whether a later sentence changes the things that both name, or reports them as done."""
    sizes = map(_count_names, (specific_words(earlier), specific_words(later)))
    # A day that both name tells more than a word does.
    alike = shared + share_day(earlier, later)
    same = shared >= SHARED and alike >= ALIKE * sqrt(prod(sizes))
    if same and _DONE.search(later) and _AHEAD.search(earlier):
        return not _DONE.search(earlier)
    if same and tells_change(later):
        return True
    objects = map(_drop_minor_words, _matched_words(_OBJECT, later))
    meant = any(words and _are_held(words, earlier) for words in objects)
    return meant and (names_day(earlier) or traits_of(earlier).figure)


def _are_held(words: frozenset[str], text: str) -> bool:
    """Whether a text has most of the words of a name."""
    held = 2 * len(words & specific_words(text))
    # An English phrase may have caught the word behind its name, a Chinese one has its own pairs.
    return held > len(words) or (held == len(words) and all(map(str.isascii, words)))


def _ends_order(earlier: str, later: str, shared: int) -> bool:
    """Whether a later statement takes the place of an order.

    Args:
        earlier: the order.
        later: the statement.
        shared: so many things both name.
    """
    old = specific_words(earlier)
    if len(_LISTED.findall(earlier)) > 1:
        return False
    forbids = _FORBIDS.search(earlier) is not None
    if old & _find_matched_words(_FREED, later) or (forbids and _is_permission(earlier, later)):
        return True
    same = {word for word in old & specific_words(later) if not word[0].isdigit()}
    altered = revisits(later) and same and _ALTERS.search(later)
    return bool(altered) or (shared >= SHARED and _CHANGE.search(later) is not None)


def _is_permission(earlier: str, later: str) -> bool:
    """Whether a statement gives leave to do the very thing that an order forbids."""
    low, old = earlier.lower(), specific_words(earlier)
    return any(
        found["verb"].lower() in low and specific_words(found["thing"]) & old
        for found in _PERMITS.finditer(later)
    )


def _drop_minor_words(words: frozenset[str]) -> frozenset[str]:
    """Return the words that name things, without figures, units, times and words for a plan."""
    return frozenset(word for word in words if not _MINOR.match(word) and word not in _SHELLS)


def _have_unit(figures: frozenset[str], earlier: str, later: str) -> bool:
    """Whether a figure that holds no more stood before a unit that the later text has, too."""
    low = later.lower()
    held = [found for found in _FIGURE.finditer(earlier) if found[0] in figures]
    # Of a figure this long there is hardly a second one: "from 2500 to 3000".
    if any(_TELLING_FIGURE.fullmatch(found[0]) for found in held):
        return True
    after = (_UNIT.match(earlier, found.end()) for found in held)
    return any(unit is not None and unit[1].lower().rstrip("s") in low for unit in after)


def _count_names(words: frozenset[str]) -> int:
    """Return how many things words name: pairs of characters that overlap are one name."""
    words = _drop_minor_words(words)
    pairs = {word for word in words if len(word) == 2 and not word.isascii()}
    # 数据库 gives 数据 and 据库: one name, not two.
    inner = {pair for pair in pairs if any(pair[0] == other[1] for other in pairs - {pair})}
    return len(words) - len(inner)


def changed_objects(text: str) -> frozenset[str]:
    """Return the words that a change is said of."""
    return _find_matched_words(_OBJECT, text)


def _find_matched_words(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset().union(*_matched_words(pattern, text))


def _matched_words(pattern: re.Pattern[str], text: str) -> list[frozenset[str]]:
    found = (next(value for value in match.groups() if value) for match in pattern.finditer(text))
    return [specific_words(value) for value in found]

"""How a new statement bears on a card of the same key, judged by rules.

Why it exists: the same thing said again must strengthen a card, more of it must refine
the card, a later choice must replace it, and what cannot both be true must wait for a
person, all without a model and in both languages. Compared are the claims: a
statement without its reason, its warm-up and, where it replaces something, without
what it replaces.

=========  ===================================================================
agrees     the same words in any order, with the same figures, days and polarity
refines    one claim holds all of the other and adds to it
replaces   the speaker takes the old back, or a person later makes another choice
conflicts  another figure, date or polarity, or another choice at the same time
unrelated  they share a key but hardly a word
=========  ===================================================================
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime

from kimi_memory import hookimpl
from kimi_memory.model.card import Card
from kimi_memory.model.draft import Draft
from kimi_memory.model.origin import Origin
from kimi_memory.model.step import Verdict
from kimi_memory.text import cues, news, people
from kimi_memory.text.regex import regex
from kimi_memory.text.similar import CEILING, similarity
from kimi_memory.text.subjects import kin, subject_of
from kimi_memory.text.topics import KNOWN

SHARED = 0.34
"""From this part of common words on, two claims are about the same."""

_V = r"[\w.+#:/-]+(?: [\w.+#-]+){0,3}?"
_OLD = regex(
    rf"\bi(?:'ve)? changed my mind\b[^:,.;]{{0,40}}[:,.;]?|\bfrom {_V}(?= to\b)"
    rf"|,? ?\b(?:instead of|rather than|in place of|no longer|not)\b [^,.;]{{1,40}}(?: any ?more)?"
    rf"|\b(?:isn't|aren't|don't|doesn't) [^,.;]{{1,40}} any ?(?:more|longer)\b|\bused to (?:be )?[^,.;]{{1,40}}"
    rf"|\b(?:replaced|swapped|swap|replace) {_V}(?= (?:with|for|by)\b)|\bin favou?r\b"
    rf"|\b(?:ditched|dropped|scratch|abandoned|left|quit|done with) {_V}(?= and\b|[,;])"
    r"|不(?:再)?(?:用|是|住|喝|要|在|对)[^，,。；;]{1,20}了?(?=[，,。；;]|$)|不再[^，,。；;]{1,20}|(?:而)?不是[^，,。；;是]{1,20}"
    r"|[，,]?(?:以前|之前|原来|本来)[^，,。；;]{1,20}(?:[，,。；;]|$)|(?:从|把|由)[^，,。；;]{1,16}(?=换|改|变|调|搬|升|转)"
    r"|(?:弃用|戒了|戒掉|放弃)[^，,。；;]{1,16}|从[^，,。；;]{1,16}离职"
)
_ASIDE = regex(
    r"[，,](?:千万)?(?:别|不要)(?:弄|搞|记|忘)[^，,。]{0,6}|, (?:don't forget|so plan[^,.]{0,20}|mind you)\b|^(?:one|another)(?: more)? (?:thing|fact|point|note)\b[^:,]{0,30}[:,]"
)
_WHY = regex(r" ?\((?:Reason|原因): ?[^()]{1,400}\)$")
_FIGURE = regex(r"\d+(?:[.:/-]\d+)*")
_UNIT = regex(
    r"\d[\d.,:]* ?(%|(?!(?:time zone|as|is|for|now|and|or|to|in|on|at|the|so|not|instead|rather|we|i|it|was|will|from|than|of|but)\b)"
    r"[a-z]{1,12}|[个条次点号天周月年秒分时兆倍人块只格元万亿岁度米里斤台位名层楼室页行字日])"
)
_HAN_FIGURE = regex(
    r"(?<![零〇一二两三四五六七八九十百千万])[零〇一二两三四五六七八九十百千万]+(?=[个条次点号天周月年秒分小兆倍人块只格])"
)
_DAY = regex(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)([一二三四五六日天末])"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
)
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORD = {word: str(number) for number, word in enumerate(_COUNTED.split())}
_HAN_DIGIT = {han: str(number) for number, han in enumerate("零一二三四五六七八九")}
_HAN_DIGIT |= {"两": "2", "〇": "0"}
_CHANGED = regex(r"(?:换|改|定|采|选)(?:成|到|为|在|用)")
_PLURAL = regex(r"(?<=[a-rt-z]{3})s$")
_WORD = regex(r"[a-z][a-z0-9+#.'-]*[a-z0-9+#]|[a-z]|[\u3400-\u9fff]")
_SMALL = """
    a an the and or to of in on at by for from with as is are was were be we i you it my our your
    that this will let let's use uses using used we'll i'll we're i'm it's go going prefer like now
    always usually really please should want our so do does has have had chose decided decide switch
    switched move moved live named called name stay keep over still there
    的 了 是 在 用 我 们 就 先 把 还 也 吧 呢 啊 要 将 会 有 做 当 为 以 后 这 那 个 改 换
    习 惯 喜 欢 一 直 般 统 采 选 咱 来 叫 与
"""
_PROPER = re.compile(
    r"(?<=[a-z,:(] )[A-Z][\w+#.-]*|(?<=[\u3400-\u9fff])[A-Za-z][\w+#.-]*|[A-Z]{2,}\w*"
)
# What frames a statement and is no part of the value.
_FRAMING = """
    set agreed agree remember note record know told tell team decide picked choose chosen plan around
    about mind by way just so please sure confirm regard fyi put down stand one thing fix
    定 记 住 请 下 一 跟 你 说 对 备 忘 商 量 好 于 决 确 认 知 道 到 件 事 要 大 家 同 意 敲 目 前
"""
_FRAME = frozenset(_FRAMING.split())
_DULL = frozenset(_SMALL.split())


@dataclass(frozen=True, slots=True)
class _Claim:
    """What a statement says, made comparable."""

    text: str
    words: frozenset[str]
    figures: frozenset[str]
    days: frozenset[str]
    negated: bool


@hookimpl(trylast=True)
def judge_conflict(card: Card, draft: Draft) -> Verdict:
    """Compare the claims of a card and a draft, without a model."""
    old, new = _claim(card.value, swap=True), _claim(draft.value, swap=draft.reversal)
    if old.text == new.text or (old.words == new.words and _exact(old, new)):
        return Verdict.AGREES
    if _same_value(card, draft, old, new):
        return Verdict.AGREES
    if draft.reversal and _later(card, draft):
        return Verdict.REPLACES
    if _related(card, draft, old, new):
        return _compared(card, draft, old, new)
    return Verdict.UNRELATED


def _compared(card: Card, draft: Draft, old: _Claim, new: _Claim) -> Verdict:
    if old.negated != new.negated or _differ(old, new):
        return Verdict.CONFLICTS
    if _exact(old, new) and similarity(old.text, new.text) > CEILING:
        return Verdict.AGREES
    if old.words <= new.words or new.words <= old.words:
        return Verdict.REFINES
    if not _holds_one(draft):
        return Verdict.UNRELATED if _common(old, new) < 2 * SHARED else Verdict.REFINES
    by_person = draft.origin is Origin.HUMAN or draft.origin.rank < card.trust.rank
    return Verdict.REPLACES if by_person and _later(card, draft) else Verdict.CONFLICTS


def _claim(statement: str, *, swap: bool) -> _Claim:
    plain = _WHY.sub("", unicodedata.normalize("NFKC", cues.clean(statement)))
    told = cues.split_reason(plain)[0]
    low = _ASIDE.sub("", cues.fold_case(told).strip(" .。!！~"))
    if swap and (cues.REVERSAL.search(low) or news.changes(low)):
        low = _OLD.sub(" ", low).strip(" ,，;；.") or low
    days = frozenset(found[1] or found[0].rstrip("s") for found in _DAY.finditer(low))
    bare = _spelled(_DAY.sub(" ", low))
    return _Claim(
        " ".join(low.split()),
        _words(bare),
        frozenset(_measures(bare)),
        days,
        len(cues.NEGATION.findall(_told(low, plain))) % 2 == 1,
    )


def _told(claim: str, statement: str) -> str:
    """Return what is told without the form that tells it: "I can't eat soy, I'm allergic"."""
    subject = subject_of(statement)
    if subject is None or not subject.value:
        return claim
    before, _, after = cues.fold_case(subject.words).partition("  ")
    return claim.replace(before.strip() or " ", " ").replace(after.strip() or " ", " ")


def _words(text: str) -> frozenset[str]:
    plain = _CHANGED.sub(" ", _FIGURE.sub(" ", text))
    found = {_PLURAL.sub("", word) for word in _WORD.findall(plain) if word not in _DULL}
    return frozenset(found)


def _spelled(text: str) -> str:
    """Return a text with small numbers in words written as digits."""
    digits = _HAN_FIGURE.sub(lambda found: _han_number(found[0]), text)
    return re.sub(r"\b[a-z]+\b", lambda found: _NUMBER_WORD.get(found[0], found[0]), digits)


def _han_number(numeral: str) -> str:
    """Return a Chinese numeral under a hundred in digits; larger ones stay as they are."""
    tens, ten, ones = numeral.partition("十")
    if len(tens) > 1 or len(ones) > 1 or not {*tens, *ones} <= _HAN_DIGIT.keys():
        return numeral
    if not ten:
        return _HAN_DIGIT[tens]
    return str(int(_HAN_DIGIT.get(tens, "1")) * 10 + int(_HAN_DIGIT.get(ones, "0")))


def _measures(text: str) -> list[str]:
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    units = {found.start(): found[1] for found in _UNIT.finditer(plain)}
    return [f"{found[0]}{units.get(found.start(), '')}" for found in _FIGURE.finditer(plain)]


def _exact(old: _Claim, new: _Claim) -> bool:
    return (old.figures, old.days, old.negated) == (new.figures, new.days, new.negated)


def _differ(old: _Claim, new: _Claim) -> bool:
    """Whether both give figures or days, and neither has all of the other's."""
    return any(
        a and b and not (a <= b or b <= a)
        for a, b in ((old.figures, new.figures), (old.days, new.days))
    )


def _common(old: _Claim, new: _Claim) -> float:
    fewer = min(len(old.words), len(new.words))
    return len(old.words & new.words) / fewer if fewer else 0.0


def _related(card: Card, draft: Draft, old: _Claim, new: _Claim) -> bool:
    if card.key in kin(draft.key) and _holds_one(draft):
        return True
    return _common(old, new) >= SHARED


def _holds_one(draft: Draft) -> bool:
    """Whether the draft's key holds one value at a time."""
    subject = subject_of(draft.value)
    return _single(draft.key) or (subject is not None and subject.key == draft.key)


def _same_value(card: Card, draft: Draft, old: _Claim, new: _Claim) -> bool:
    """Whether both give the same value to the same subject, in whatever words.

    What is left without the words that name the subject is the value and what frames
    it; the value is in both where one holds all figures and names of the other.
    """
    if card.key not in kin(draft.key) or not _holds_one(draft) or old.negated != new.negated:
        return False
    first, second = _value(card.value, old), _value(draft.value, new)
    if not first or not second:
        return False
    strong = first | second <= _strong(card.value, old) | _strong(draft.value, new)
    more = old.words <= new.words or new.words <= old.words
    within = first <= second or second <= first
    # A change may name what was before it too.
    return first == second or (not draft.reversal and not strong and not more and within)


def _strong(statement: str, claim: _Claim) -> frozenset[str]:
    """Return the figures, days and names of a claim."""
    found = (cues.fold_case(name).strip(".-") for name in _PROPER.findall(statement))
    names = {_PLURAL.sub("", name) for name in found}
    return frozenset({*claim.figures, *claim.days, *(names & claim.words)})


def _value(statement: str, claim: _Claim) -> frozenset[str]:
    """Return the figures, days, names and, for lack of those, the words of a value."""
    subject = subject_of(statement)
    if subject and subject.value:
        value = _claim(subject.value, swap=False)
        return _strong(f", {subject.value}", value) or value.words
    about = set(_words(_spelled(cues.fold_case(subject.words)))) if subject else set()
    strong = _strong(statement, claim) - about
    return strong or frozenset(claim.words - about - _FRAME)


def _single(key: str) -> bool:
    """Whether a key holds one value at a time."""
    first, _, last = key.rpartition(".")
    choice = last in KNOWN and not first.endswith(("lesson", "pattern", "finding", "rule"))
    return choice or key.endswith(people.SINGLE)


def _later(card: Card, draft: Draft) -> bool:
    return draft.at > _said(card)


def _said(card: Card) -> datetime:
    return card.valid_from or card.verified or card.created

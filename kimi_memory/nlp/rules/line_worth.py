"""How likely a careful reader keeps a line of a digest, by what its words show.

Rules choose what a session was about; of what they choose a part is still an errand that was
carried out, a remark of the hour, or half of a thought. Nine hundred lines of sessions that
nobody here wrote were judged one by one, and a few dozen signs of each were weighed by a logistic
regression: the weights below, one table for work with an agent and one for talk. They are
fitted anew by ``python -m benchmarks.line_worth FILE… --print``.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.tokens import estimate
from kimi_memory.nlp.learned.utterance_kinds import Kind, kinds_of
from kimi_memory.nlp.rules.gist import ARROW, LEFT_OUT
from kimi_memory.nlp.rules.lasting import begins_loose, is_lasting, worth_of
from kimi_memory.nlp.rules.reports import identifiers_in, tells_deed
from kimi_memory.nlp.rules.salience import share_of_small_talk, traits_of

SHORT = 10
"""Fewer tokens say little by themselves."""
_CHORE = regex(
    r"\b(?:commit|push|pull|changelog|readme|screenshots?|format(?:ted|ting)?|clean ?up|rename|duplicat\w+|typos?|docs?|tests?|re-?run|restart|kill|launch|build it|verify)\b|提交|推送|截图|文档|测试|重启|注释|格式|清理",
    2,
)
"""Work that is done and forgotten."""
_DEFECT = regex(
    r"\b(?:i (?:don'?t|do not|can'?t|still|only) (?:see|get|have)|(?:is|are|was|does|did|still)(?:n'?t| not)|doesnt|isnt|didnt|not (?:working|showing|right|correct)|errors?|broken|wrong|fails?|failed|missing|gone|disappeared|too \w+)\b|报错|错误|不对|没有|不行|失败|看不到|问题",
    2,
)
_GOES_ON = regex(r"\b(?:go ahead|let'?s|now)\b|^(?:那|再|先|现在)", 2)
_STATUS = regex(
    r"\b(?:tests? (?:are|is|now)? ?pass\w*|pass(?:es|ing)|commit|push(?:ed)?|merge (?:it|this)|run (?:it|the tests?)|works? now|try again|check again|continue|go ahead|next (?:step|task)|let me know|screenshot|attached|look at|take a look)\b|继续|再试|提交|运行一下|截图|看一下|检查一下",
    2,
)
_STYLE = regex(
    r"\b(?:want|should|must|prefer|rather|instead|always|never|default|only|support|allow|optional\w*|because|since|so that|need to be able|the user|users|api|schema|architecture|structure|plan)\b|希望|应该|必须|默认|支持|架构|设计|统一|只",
    2,
)
"""How a thing is meant to be, which holds when the errand is done."""
_RULE = regex(
    r"\b(?:don'?t|do not|must|only|never|always|instead|no longer|not)\b|不要|不能|必须|只能|别|禁止|一律|都要",
    2,
)
_HABIT = regex(
    r"\b(?:always|usually|every (?:\w+ )?(?:day|week|month|morning|night|evening|year|sunday|saturday|friday|time)|never|tend to|often|prefer|normally|mostly)\b|每[天周月年次晚]|平时|一般|通常|从不|从来|习惯|总是|经常",
    2,
)
_FUTURE = regex(
    r"\b(?:will|going to|gonna|plan(?:ning)?|next (?:week|month|year)|tomorrow|tonight|by (?:mon|tue|wed|thu|fri|sat|sun))|'ll\b|将|打算|计划|准备|明天|下周|下个?月",
    2,
)
_TODAY = regex(
    r"\b(?:today|tonight|this (?:morning|afternoon|evening)|right now|just now|at the moment|tomorrow)\b|今天|今晚|刚才|刚刚|现在|明天|马上|等下|待会",
    2,
)
_OPINION = regex(
    r"\b(?:should|important|importance|i (?:think|feel|felt|believe|guess|mean|agree|totally|hope)|makes? me|made me|reminds? (?:me|us)|kills me|so (?:glad|proud|happy|excited)|can'?t wait|matters|meaningful|means a lot)\b|觉得|感觉|应该|希望|重要|其实|真的",
    2,
)
_UNIT = regex(
    r"[$€£¥]\s?\d|(?<![\d.,])\d{1,9}(?:[.,]\d{1,6})?\s?(?:k|m|%|€|£|usd|eur|km|kg|mg|ml|cm|mm|gb|mb|ms|hours?|hrs?|mins?|minutes?|days?|weeks?|months?|years?|people|元|块|万|千|公里|公斤|斤|米|平|岁|天|周|个月|年|小时|分钟|人|次|点|号|月)",
    2,
)
_PRONOUN = regex(r"\b(?:it|this|that|they|them|these|those|he|she|him|her)\b|[它这那他她]", 2)
_FINE = regex(
    r"[✅✓]|\b(?:successfully|working|works|as (?:requested|expected)|verified|complete[ld]?)\b|成功|完成",
    2,
)
"""That an agent says all went well."""
_YOU = regex(r"\byou(?:'ve| have| need| can| should|r)?\b|[你您]", 2)

_WORK: Mapping[str, float] = {
    "bias": -0.42, "short": -0.23, "part_asked": -0.43, "part_ordered": 0.40,
    "part_open": -0.12, "part_decided": -0.08, "chore": -0.14, "defect": -0.32, "goes_on": 0.05,
    "status": -0.23, "answer_fine": -0.18, "loose": -0.26, "lower": -0.23, "answer_you": -0.27,
    "once": 0.05, "habit": 0.04, "future": 0.26, "pronoun": 0.36, "answer_did": 0.14,
    "answer_names": 0.42, "answer_parts": 0.08, "answer_tokens": 0.30, "specific": 0.33,
    "some_specific": -0.27, "tokens": 0.14, "rule": 0.38, "style": 0.36,
}  # fmt: skip
_TALK: Mapping[str, float] = {
    "bias": -0.25, "short": -0.64, "fleeting": -0.44, "once": -0.15, "fact": 0.36,
    "standing": -0.05, "question": -0.32, "cut": -0.43, "pronoun": -0.15, "future": -0.28,
    "today": -0.34, "name": -0.17, "you": -0.40, "you_only": 0.04, "doubt": -0.23,
    "lower": 0.13, "habit": 0.25, "unit": 0.41, "opinion": -0.19, "day": 0.56, "lasting": 0.36,
    "specific": 0.18, "worth": 0.78, "part_ordered": 0.44, "part_decided": -0.03,
    "part_told": -0.20, "sort_people": -0.11, "tokens": -0.26, "small_talk": 0.04,
    "choice": 0.14,
}  # fmt: skip
LEAST = {"work": -0.85, "chat": -0.08, "people": 0.0}
"""Below these odds a line is left out, by the sort of session: of the lines that were judged about
one in seven, and of the good ones one in twenty."""


def line_worth(text: str, part: str, sort: str) -> float:
    """Return the log odds that a reader keeps a line.

    Args:
        text: the line: what a person said, and after an arrow what an agent answered.
        part: the section of the digest it stands in.
        sort: ``work`` with an agent, a ``chat`` with one, or talk of several ``people``.
    """
    weights = _WORK if sort == "work" else _TALK
    signs = line_signs(text, part, sort)
    return sum(weight * signs.get(name, 0.0) for name, weight in weights.items())


def line_signs(text: str, part: str, sort: str) -> dict[str, float]:
    """Return what a line shows, by the names of the signs; most are 0 or 1."""
    plain = text.replace("’", "'")
    # In talk the words after an arrow are a person's, too.
    asked, _, answer = plain.partition(ARROW) if sort == "work" else (plain, "", "")
    signs = {"bias": 1.0, f"part_{part}": 1.0, f"sort_{sort}": 1.0}
    tokens = estimate(asked)
    signs |= {
        "short": float(tokens + estimate(answer) < SHORT),
        "tokens": min(tokens, 120) / 60,
        "cut": float(LEFT_OUT in asked),
        "lower": float(asked[:1].islower()),
        "loose": float(begins_loose(asked)),
        "pronoun": min(3, len(_PRONOUN.findall(asked))) / 3,
    }
    return signs | (_work_signs(asked, answer) if sort == "work" else _talk_signs(asked))


def _work_signs(asked: str, answer: str) -> dict[str, float]:
    specific = traits_of(asked).specific
    words = {"chore": _CHORE, "defect": _DEFECT, "goes_on": _GOES_ON, "status": _STATUS}
    words |= {"style": _STYLE, "rule": _RULE, "habit": _HABIT, "future": _FUTURE}
    signs = {name: float(words[name].search(asked) is not None) for name in words}
    signs |= {
        "specific": min(specific, 12.0) / 6,
        "some_specific": min(specific, 3.0) / 3,
        "once": kinds_of(asked)[Kind.ONCE],
    }
    if not answer:
        return signs
    return signs | {
        "answer_names": min(4, len(identifiers_in(answer))) / 4,
        "answer_did": float(tells_deed(answer)),
        "answer_fine": float(_FINE.search(answer) is not None),
        "answer_you": float(_YOU.search(answer) is not None),
        "answer_parts": min(3, answer.count(LEFT_OUT)) / 3,
        "answer_tokens": min(estimate(answer), 120) / 60,
    }


def _talk_signs(said: str) -> dict[str, float]:
    traits, kinds = traits_of(said), kinds_of(said)
    words = {"future": _FUTURE, "today": _TODAY, "habit": _HABIT, "unit": _UNIT}
    words |= {"opinion": _OPINION}
    signs = {name: float(words[name].search(said) is not None) for name in words}
    named = (Kind.FLEETING, Kind.ONCE, Kind.FACT, Kind.STANDING, Kind.QUESTION)
    signs |= {str(kind): kinds[kind] for kind in named}
    return signs | {
        "specific": min(traits.specific, 12.0) / 6,
        "name": min(traits.name, 3) / 3,
        "you": float(traits.you),
        "you_only": float(traits.you and not traits.me),
        "doubt": float(traits.doubt),
        "day": float(traits.day),
        "choice": float(traits.choice),
        "lasting": float(is_lasting(said)),
        "small_talk": 5 * share_of_small_talk(said),
        "worth": worth_of(said) / 4,
    }

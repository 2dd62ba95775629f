"""Praise of advice, and wishes of the moment: neither settles anything for later."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Sequence

from kimi_memory.nlp.basic.patterns import fold_case, regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules import cues
from kimi_memory.nlp.rules.salience import traits_of
from kimi_memory.nlp.rules.small_talk import says_farewell
from kimi_memory.nlp.rules.utterance import Act, Clause, clauses

_HELP_EN = r"(?:advice|suggestions?|ideas?|tips?|approach|framework|breakdown|checklist|list|outline|explanation|answers?|recommendations?|method|structure|summary)"
_HELP_ZH = r"(?:建议|方案|思路|方法|清单|框架|梳理|拆解|讲解|解读|提纲|攻略|分析|提醒|设定|角度|模板|回答|解释|总结|步骤|法[’”」]?|模式|安排|行程)"
_PRAISE = regex(
    # what was advised is good, or suits
    rf"\b(?:your|this|that|these|those) (?:[\w'-]+ ){{0,3}}{_HELP_EN}\b[^.!?]{{0,40}}\b(?:(?:is|are|was|sounds?|looks?|feels?|seems?)(?:\s+[\w']+)? (?:(?:so|very|really|super|extremely|quite|incredibly) )*(?:helpful|great|clear|useful|practical|perfect|brilliant|spot on|excellent|wonderful|insightful|smart|nice|good|valuable|inspiring|reassuring|thorough)|helps?(?: me)? (?:a lot|so much)|(?:fits?|suits?|matches|resonates? with) (?:[\w-]+ )?(?:me|my|us|our|how (?:i|we))\b|resonates?\b|hits? (?:the spot|home)|makes (?:a lot of |so much |perfect |total )?sense)\b"
    r"|\b(?:hits? the spot|(?:exactly|precisely|just) what (?:i|we) (?:need|needed|want|wanted|was looking for|were looking for)|that(?:'s| is) (?:exactly|precisely) (?:it|right|how i feel|the feeling)|spot on)\b"
    r"|^\W*(?:ok(?:ay)?,? |great,? |wow,? |perfect,? )*(?:thanks?\b|thank you|many thanks|much appreciated|you'?re (?:right|so right|a lifesaver|the best)|i (?:really )?appreciate)"
    # 清单很高效, 思路听起来很适合, 符合我的习惯, 你说的很对, 被你一说
    rf"|{_HELP_ZH}[^，。！？]{{0,12}}(?:很|太|非常|特别|真|挺|十分|更|正好|完全|得)[^，。！？]{{0,6}}(?:精?准|实用|清晰|清楚|巧妙|到位|高效|有用|有效|受用|实际|专业|系统|周全|全面|靠谱|具体|好|棒|赞|启发|帮助|适合|符合|契合|合拍|对路|贴合|松弛|合理|舒服)"
    rf"|{_HELP_ZH}[^，。！？]{{0,12}}[，,]我(?:很|挺|也|更|还)?喜欢\W*$|{_HELP_ZH}[^。！？]{{0,10}}适合我(?:们)?(?:这种|这样)"
    r"|对我(?:们)?(?:的)?(?:帮助|启发)(?:很|非常|太)大|对我(?:们|(?:这种|这样)[^，。]{0,16})?(?:很|非常|太|特别)有(?:帮助|启发|用)"
    r"|(?:完全|很|正好|正|非常|特别|也?挺|更|比较|刚好)(?:符合|契合|贴合|切合|适合|对应)(?:了)?[^，。！？]{0,16}(?:需求|需要|习惯|风格|思维|性格|特点|情况|胃口|想法|口味|期待|预期)"
    r"|(?:^|[，,。！])(?:也)?(?:符合|契合|贴合)我们?[^，。！？]{0,12}(?:需求|习惯|风格|思维|性格|特点|胃口|期待|预期)"
    r"|(?:被|经|听|让)你(?:这么)?一?(?:说|讲|分析|梳理|提醒)|你(?:这么|这样)一?(?:说|讲|梳理)|和你聊(?:完|了|过)|跟你聊(?:完|了|过)|(?:这样|这么)一(?:说|梳理|拆解|分析|整理|讲)"
    r"|(?:你|您)(?:说|讲|给|提|分析|总结|建议)(?:到|出|供)?(?:的)?[^，。！？]{0,14}(?:很对|没错|有道理|很好|太好|启发|帮助|思路|清晰|实用|到位)"
    r"|^\W*(?:好的?|嗯+|明白了?|太好了|太棒了)?[，,。！ ]{0,4}(?:非常|多|太|真的|真是)?(?:谢谢|感谢|多谢|谢了)|(?:非常|太)?(?:谢谢|感谢)(?:你|您|了|啦|分享|建议)",
    2,
)
_MOMENT = regex(
    # "I'd prefer something light" is of this meal; "I generally prefer something light" lasts
    r"^(?!.*\b(?:generally|usually|always|normally|in general|as a rule|every)\b).*\bi(?:'d| would) (?:prefer|rather have|like|love|go for) (?:to (?:eat|drink|have|grab) )?(?:something|anything|a bit of)\b"
    r"|\b(?:skip(?:ped|ping)?|miss(?:ed|ing)?|sit(?:ting)? out|sat out|cut short)\b (?:the|my|our|today's|tonight's|this (?:morning|afternoon|evening)'s)(?: [\w-]+){0,3} (?:workout|training|run|jog|class|session|gym|lunch|dinner|breakfast|practice|lesson|party|game|call|walk|swim|shift|meal)s?\b"
    r"|^(?!.*\b(?:from|starting|as of) (?:today|now|tonight)\b).*\b(?:today|tonight|this (?:morning|afternoon|evening)|right now|for (?:lunch|dinner|breakfast) today)\b.*\b(?:eat|eating|drink|drinking|sleep|nap|rest|relax|work out|train|stay in|stay home|order in|go to bed|take it easy|take a walk)\b"
    r"|^(?!.*\b(?:from|starting|as of) (?:today|now|tonight)\b).*\b(?:eat|drink|sleep|nap|rest|relax|work out|train|stay in|stay home|order in|go to bed|take it easy|take a walk)\b.*\b(?:today|tonight|this (?:morning|afternoon|evening)|right now)\b"
    r"|(?<!从)(?:今天|今晚|今早|今儿|现在|这会儿|待会儿?|一会儿|中午|晚上)(?!起|开始|以后)(?:我|就|先|还是|决定|想|要|打算|不想|不|只|真的|可以|好好){0,5}(?:吃|喝|睡|躺|歇|休息|放松|不练|不跑|跳过|早点)"
    r"|(?:决定|还是|就|想)(?:先)?(?:跳过|不去|不做|不练|不跑|取消)了?(?:今天|今晚|今早|晚上|下午|早上)的?",
    2,
)
_LASTS = regex(
    r"\b(?:every|each|always|never|usually|generally|from now on|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|weekly|daily|allerg\w+|vegan|vegetarian)\b|每[天周月晚次]|总是|一直|从来|以后|平时|通常|过敏|戒",
    2,
)
"""Words that make a rule or a taste of what is said beside the day."""


_AT_HAND = regex(
    r"\bprefer(?:red)? (?:an? |the )?(?:(?:slightly|little|tad|touch|a bit|somewhat) (?:\w+ )?(?:\w+er|more|less|darker)\b|(?:slightly|somewhat|a (?:bit|little|tad|touch)) )"
    r"|(?:喜欢|倾向|偏好|偏爱|想要?)[^，。]{0,6}(?:稍微?|略微?|偏)[^，。]{1,4}(?:一点|一些|点儿?)"
    r"|^\W*(?:嗯|那|我觉得)?[，,]?我(?:还是|更|比较|个人)?(?:更|比较)?(?:倾向于?|想选|选)(?:\d[\d.]*[\u3400-\u9fff%a-z]{0,4}|第?[一二三四1-4a-d][个种项]?|前者|后者|这个|那个)\W*$"
    r"|^\W*i(?:'d| would)? (?:lean(?:ing)? (?:to|towards)|prefer|pick|go for|choose) (?:the (?:first|second|third|last|former|latter)(?: one| option)?|that one|this one|option \w|\d[\w.,]*(?: \w+)?)\W*$",
    2,
)
"""A taste about the thing at hand: a little cooler, the second one, 我倾向于100公里."""


def is_of_thing_at_hand(text: str) -> bool:
    """Whether a taste compares what is being talked of, or picks one of it without naming it."""
    return _AT_HAND.search(text.replace("’", "'")) is not None


def praises(sentence: str) -> bool:
    """Whether a sentence thanks for help, or says that advice is good or suits."""
    return _PRAISE.search(sentence.replace("’", "'")) is not None


def gives_thanks(own: Sequence[Clause]) -> bool:
    """Whether the clauses of a turn praise advice or thank for it, and ask nothing more."""
    asks = any(one.act in (Act.QUESTION, Act.REQUEST) for one in own)
    return not asks and any(praises(one.text) for one in own)


def only_praises(text: str) -> bool:
    """Whether a text says nothing else than thanks for help and praise of advice."""
    parts = [text[start:end] for start, end in sentences(text)]
    return any(map(praises, parts)) and all(praises(one) or says_farewell(one) for one in parts)


def is_of_the_moment(text: str) -> bool:
    """Whether a wish or a choice is about one meal, one rest, one training of today."""
    text = text.replace("’", "'")
    return _MOMENT.search(text) is not None and _LASTS.search(text) is None


def settles_nothing(text: str) -> bool:
    """Whether nothing of a text holds beyond the talk or the day.

    It praises advice and besides wishes, chooses, orders and dates nothing, or it is a wish of the moment.
    """
    parts = [text[start:end] for start, end in sentences(text)]
    left = [part for part in parts if not praises(part) and not says_farewell(part)]
    if len(left) < len(parts):
        return not any(map(_settles, left))
    return is_of_the_moment(text)


def _settles(sentence: str) -> bool:
    acts = {clause.act for clause in clauses(sentence)}
    traits = traits_of(sentence)
    told = traits.choice or traits.figure or traits.day
    return told or Act.ORDER in acts or cues.PREFERENCE.search(fold_case(sentence)) is not None

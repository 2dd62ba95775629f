"""What a sentence only plans, weighs, refuses or tells of the past: it is not so now.

Each pattern stands for a way of speaking, not for a sentence: a verb of intending before
what is intended, a past that nothing joins to the present, an order not to do a thing.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re

from kimi_memory.nlp.basic.patterns import regex


def _join_patterns(*parts: str) -> re.Pattern[str]:
    return regex("|".join(f"(?:{part})" for part in parts))


_CHANGING = (
    r"(?:chang|mov|switch|replac|renam|rais|lower|set|upgrad|migrat|mak|us|giv|tak|adopt|swap|bump)"
)
# 经过讨论 and 讨论下来 report a result, 在讨论 none; 考虑好了 has decided, 考虑 has not.
PLAN = _join_patterns(
    rf"\b(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|hop(?:e[sd]?|ing)|aim(?:s|ing)?|mean(?:s|t)?|tempted|about|due|scheduled) to (?:be )?{_CHANGING}"
    r"|\bwould (?:like|love|prefer) (?:to|it|the|our|my)\b(?! know| remind| add| note| see you)|\bwant(?:s|ed)? to (?:change|move|switch|replace|rename)\b"
    r"|\b(?!i\b|i'd\b|would\b)[\w']+ (?:have |has |had )?(?:proposed|suggested|proposes|suggests)\b|\bconsider(?:s|ed|ing)? (?!that\b|the matter\b|it\b|this\b)(?![^.]{1,60}\b(?:void|withdrawn|gone|cancelled|obsolete)\b)"
    r"|\b(?:toy(?:s|ed|ing)|play(?:s|ed|ing)) with\b|\b(?:is|are|was|were|been) (?:discuss|debat)(?:ed|ing)\b|\bvot(?:ed|ing) (?:against|down)\b|\bdecided against\b",
    r"\bwas (?:rejected|turned down|never (?:approved|done))\b|\b(?:almost|nearly) (?:\w+ed|became|went|made|took|chose|got|set)\b|\bcould (?:have|become|be|move|switch|change)\b"
    r"|\bshould(?:n't| not)? (?:have|we|i|become|be (?:changed|moved|called)|i think)\b|\bin (?:my|a|his|her) dreams?\b|\bwish(?:es|ed)?\b|\b(?:if only|let's pretend|let's say|say,|pretend|hypothetical)\b"
    r"|^(?:for (?:example|instance)|e\.g\.|as an example)\b",
    r"(?:打算|正?准备(?=把|换|改|用|将|给)|计划(?=把|换|改|用|将|在|以后|明年|下)|想(?:要|着)?(?:把|换|改)|考虑(?!好|到|了)|有意|拟|提议|提出|(?<!经过)(?<!一番)讨论(?!下来|之?后|过后|完|好|决定|的结果)|商量着|琢磨|纠结|犹豫)"
    r"|没通过|被否|否决|未获|没批|差点|险些|几乎要|(?:真)?(?:希望|但愿|巴不得)|梦(?:见|到|里)|(?<!要)要是[^，。]{1,30}就好|(?:比方|比如|例如|譬如|打个比方|举个?例)|假装|不妨设",
)
"""What is planned, weighed, wished for or turned down."""

_TO_CHANGE = r"(?:chang|mov|switch|set|replac|renam|updat|us|mak|touch|rais|lower)(?:e|es|ing)?"
REFUSAL = _join_patterns(
    rf"(?:^|[,;:] |\bplease )(?:do not|don't|never|you mustn't|we mustn't|we (?:must|should|will|won't) (?:not |never )?|no need to) {_TO_CHANGE}\b(?=[^.]{{1,80}}\b(?:to|into|as)\b)",
    r"(?:^|[，,；：])(?:请)?(?:千万)?(?:别|不要|不能|不许|不准|无需|不必)(?:再)?(?:把|将)",
)
"""What one is asked not to do."""

_AGO = r"(?:(?:many |some |a few |two |three |several |\d+ )?(?:years?|months?|weeks?|days?) ago|last (?:year|month|week|spring|summer|autumn|fall|winter|time|quarter)|back then|in the past|in the old days|originally|formerly|previously|at first|once|in (?:19|20)\d\d)"
# "We used to …", "last year it was …", 以前是…; not 以前的话.
_PAST = _join_patterns(
    rf"\b{_AGO}\b[^.;]{{0,60}}\b(?:was|were|had|used|lived|worked|ran|went)\b|\b(?:was|were|had|used|lived|worked|ran)\b[^.;]{{0,60}}\b{_AGO}\b"
    r"|\bused to\b|\b(?:un)?till? (?:last|the|a few|some|(?:19|20)\d\d|recently|yesterday|then|we|i|\w+day)\b[^.;]{0,60}\b(?:was|were|had|used|lived|worked|ran)\b|\b(?:was|were) (?:once|originally|formerly|previously|first)\b",
    r"(?:去年|前年|上个?月|上周|上学期|多?年前|个?月前|天前|以前|从前|曾经?|当年|当时|早先|原来|原先|之前|过去|最初|一开始|起初|本来|那时候?)[^，。；]{0,20}(?:还?是|用|叫|在|为|住|有)(?!的话)",
)
"""What was so, by the words of the sentence alone."""
_STILL = _join_patterns(
    r"\bnow\b|\btoday\b|\b(?:since|so|but|then|and) (?:we|i|it|they|the|is|it's)\b|\bfrom \S+ to\b|\bnot? (?:longer|any ?more)\b|\b(?:is|are|am|have|has|'s|'m|'re|'ve)\b|\b(?:to|into) \S+ (?:last|a|two|some)\b"
    r"|\b(?:changed|moved|switched|replaced|renamed|updated|set|raised|lowered|agreed|decided|chose|picked|fixed|settled|joined|born|bought|adopted|swapped|upgraded|migrated|told|said|mentioned|gave)\b",
    r"现在?(?:是|在|用|改|换|叫|为|已|变|就|住|有|开)|如今|目前|改[成为到用]|换[成为到用]|变[成为]|调[整到成为]|升[级到成]|搬|迁|而是|才是|[，,](?:是|用)|(?:我|我们|咱们|刚才?)(?:之前|以前|原来)?(?:说|讲|提|给|告诉|记)|说的|记错|弄错|搞错|说错|不对|取消|作废",
)
"""What joins a past to the present, so that the sentence tells what is so now."""

_SURNAMES = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁蔡蒋余于杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
_TELLS = r"(?:说|讲|声称|宣称|表示|认为|觉得|以为|猜|提到|回复|坚持说|告诉(?:我|他|她|大家))(?!的|法|明|服|到|起|定|好|了算)"
OTHERS = _join_patterns(
    rf"(?:^|[，。,：:；])(?:[老小阿][{_SURNAMES}]|[{_SURNAMES}][\u3400-\u9fff]{{1,2}}?|[他她]们?|某人|有人|别人|人家|客户|对方|同行|群里|邻居|[A-Z][a-z]+)(?:昨天|今天|刚才|刚|老是|总|一直|又|还|都)?{_TELLS}",
    r"有人问|(?:他|她|他们|有人|客户|大家)(?:问|想知道)",
    r"\b(?:he|she|they|someone|somebody|people|others|(?!i\b|we\b|you\b)[a-z]+) (?:asked|wonder(?:s|ed)|wanted to know) (?:whether|if|me|us)\b"
    r"|\b(?:he|she|they|somebody|someone|people|(?:the|a|my|his|her) [a-z]+) (?:thinks?|thought|believes?|believed|guess(?:es|ed)|assumes?|assumed|swears?|swore|reckons?|wrote|writes|mentioned|mentions|reports?|reported|tells?|told) (?:that|me|us|the)\b",
)
"""What somebody else says, thinks or asks."""
ANYONE = _join_patterns(
    r"^(?:and |so |just )?(?:in case|if) (?:any(?:one|body)|some(?:one|body)|you|they|people|the \w+) (?:ever |should |need |want |would )*(?:asks?|wonders?|needs? (?:it|to know)|looks?|wants? to know|forgets?|to know)[^,]{0,30}, ",
    r"^(?:要是|如果|万一|若|假如)(?:有人|别人|谁|大家|客户|你)(?:来)?(?:问起?|需要|想知道|忘了?)[^，。]{0,8}[，,](?:就说|告诉他|记得)?",
)
"""A condition on somebody's asking, which does not make the answer doubtful."""
DECIDED_ON = _join_patterns(
    r"(?:今天|昨天|前天|今早|今晚|昨晚|刚才|刚刚|本周|这周)(?=(?:早上|上午|中午|下午|晚上|会上|开会|我们?|咱们?|团队|大家|终于|已经?|就|才|都|一起|讨论|商量|之?后|最后|正式|[，,]){0,6}(?:决定|敲定|选定|拍板|定下))",
    r"\b(?:today|yesterday|last night|tonight|this (?:morning|afternoon|evening|week))\b(?=,? (?:we|i)(?:'ve| have)? (?:finally |all |both )?(?:decided|agreed|settled|chose|opted)\b)",
    r"(?<=\bdecided )(?:today|yesterday|tonight|this (?:morning|afternoon|evening|week))\b|(?<=\bagreed )(?:today|yesterday|this (?:morning|afternoon|week))\b",
    r"(?<=\bwe )(?:today|yesterday) (?=decided|agreed|chose)",
)
"""The day on which something was decided: what was decided holds on."""


def is_past(sentence: str) -> bool:
    """Whether a folded sentence tells only what was so."""
    found = _PAST.search(sentence)
    if found is None:
        return False
    # "It was 8080 last year, now 9090" tells of the past and of the present.
    rest = sentence[: found.start()] + " " + sentence[found.end() :]
    return _STILL.search(rest) is None and _STILL.search(found[0]) is None

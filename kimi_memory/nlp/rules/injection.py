"""Orders to a model in a text: words that pages, mails and tools put there so that it obeys.

Nothing is refused for them. Who captures a text that holds some takes none of it for the
words of a person or an agent: it can be found and quoted, and becomes no belief.
"""

from __future__ import annotations

import re
import unicodedata

from kimi_memory.nlp.basic.characters import HAN
from kimi_memory.nlp.basic.patterns import Phrases, regex

_OLD = "previous|prior|above|earlier|preceding|old|original|your|developer'?s?|safety|system"
_RULE = "instructions?|rules?|directives?|guidelines?|prompts?|polic(?:y|ies)|orders"
_WHO = "user|human|assistant|system|用户|人类|助手|系统"
_SOURCE = (
    "search result|web ?page|website|this site|tool output|user_preference|document|readme"
    "|comment in code|note to ai|ai agents?|issue text|calendar invite|from: \\S{1,80}@"
    "|搜索结果|网页|本站|工具输出|文档|客服|邮件|代码注释|ai 请注意|阅读本文的 ?ai|工单|日历邀请"
)
_CLAIM = (
    r"(?:user|customer)s?\b.{0,60}"
    r"(?:prefer|decided|wants?\b|authori[sz]ed|told us|agreed|favou?rite)"
    r"|(?:用户|客户).{0,40}(?:喜欢|偏好|决定|首选|总是|授权|同意|要用)"
    r"|user_preference|as the maintainer|作为维护者"
)
_SETTLES = (
    "remember|i prefer|i decided|i always|will always|记住|我决定|我[^。\\n]{0,3}偏好|会一直用"
)
_KEEPS = (
    "remember|from now on|always|credential|password|preferences|keys?\\b"
    "|记住|总是|抄送|密钥|凭据|偏好|以后"
)


_ORDERS = Phrases(
    # what was said before shall not count
    rf"(?:ignore|disregard|forget|override|bypass|follow(?:ing)?)\W+(?:[\w']+\W+){{0,4}}?"
    rf"(?:{_OLD})\W+(?:[\w']+\W+){{0,3}}?(?:{_RULE})\b",
    r"forget everything you (?:were|have been) told",
    r"the old ones are void|your new rules? (?:is|are)\b",
    rf"\b(?:previous|prior|earlier|old) (?:{_RULE})\W+(?:\w+\W+){{0,2}}?(?:void|cancel)",
    r"(?:忽略|无视|忘掉|忘记|不要理会|不必再?遵守|抛开|覆盖|停止遵循|取消)[^。！？\n]{0,8}?"
    r"(?:之前|以上|上面|上述|以前|先前|此前|原有|开发者|系统提示|安全|你的)[^。！？\n]{0,8}?"
    r"(?:指令|指示|规则|规定|准则|命令|提示|策略|一切)",
    r"(?:旧指令|之前的指令)作废|此前的[^。\n]{0,6}(?:命令|指令)[^。\n]{0,3}取消",
    # somebody else seems to speak
    r"<\|im_|<<sys>>|\[/?inst\]|\"role\"\s{0,4}[:：]\s{0,4}\"system\"",
    r"(?:you are|你现在).{0,12}(?:maintenance mode|维护模式)",
    rf"^\W{{0,6}}(?:{_WHO})\s{{0,2}}[:：](?=.{{0,80}}(?:{_SETTLES}))",
    r"^\W{0,6}(?:system|系统)\s{0,2}[:：].{0,20}(?:user|用户).{0,10}(?:decided|prefers|决定|喜欢)",
    r"^\W{0,6}(?:system|developer) (?:message|notice|prompt|instruction)",
    r"^\W{0,6}(?:系统|开发者)(?:消息|通知|提示词|指令)|给助手的系统通知",
    r"begin user message|用户消息开始|as the user, i hereby|我作为用户在此",
    # a page or a tool tells what the user wants
    rf"(?:{_SOURCE}).{{0,120}}(?:{_CLAIM})",
    # what nobody shall see
    r"(?:base64|rot-?13|hex\b|十六进制|解码|倒过来|reverse the following|decoded).{0,60}"
    r"(?:decode|obey|follow|remember|store|keep|instruction|记住|照做|执行|存)",
    r"(?:do not|don't|never) tell the user.{0,120}(?:remember|from now on)",
    rf"(?:without (?:informing|telling) the user|silently|secretly).{{0,60}}(?:{_KEEPS})",
    rf"(?:不要告诉用户|用户不知情|悄悄|偷偷).{{0,60}}(?:{_KEEPS})",
    r"reveal (?:your|the) system prompt|透露你的系统提示",
    r"[\u202a-\u202e\u2066-\u2069]",
    # a block of ours, or of another memory, that nobody but us may write
    r"<\s{0,8}/?\s{0,8}(?:kimi-memory|relevant-memories|hook_context|hook_result|memory-context"
    r"|system-reminder|past_conversations|claude-mem-context|recalled-memories)\b",
    flags=re.IGNORECASE | re.MULTILINE,
)
"""Every way we know."""
# "i g n o r e a l l": five letters apart at least, so that "a b c" of a list stays.
_SPREAD = regex(r"(?<![A-Za-z])(?:[A-Za-z][ \-.]){4,}[A-Za-z](?![A-Za-z])")
_SPREAD_HAN = regex(rf"(?<=[{HAN}])[ \-.·](?=[{HAN}])")
_GAP = regex(r"[ \-.]{2,}")
_UNDISGUISED = regex(
    r"[\x00-\x7f\xc0-\xff\u3000\u4e00-\u7566\u7568-\u9fff，。！？：；、（）《》【】「」『』“”‘’…—～·％￥"
    r"\u2190-\u21ff\u2600-\u27bf\U0001f300-\U0001faff]*"
)
"""Signs that pass for no other ones; 畧, U+7567, passes for 略."""
_UNSEEN = regex(
    r"[\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
"""Signs of the category Cf, which nobody sees."""
_LIKE = str.maketrans(
    "абвгеікмнорстухѕјԁԛԝАВЕІКМНОРСТУХЅЈαονρτικ畧",
    "abbreikmhopctyxsjdqwABEIKMHOPCTYXSJaovptik略",
)


def gives_orders(text: str) -> bool:
    """Whether a text tries to command a model, or to pass for somebody else's words.

    Disguises are looked through: other letters of the same shape, letters that nobody
    sees, letters set apart.
    """
    if _ORDERS.found_in(text):
        return True
    plain = _remove_disguise(text)
    return plain != text and _ORDERS.found_in(plain)


def _remove_disguise(text: str) -> str:
    if text.isascii():
        return _join_letters(text)
    # Most texts hide nothing, and to look at each sign of a long Chinese one is slow.
    if _UNDISGUISED.fullmatch(text):
        return _SPREAD_HAN.sub("", _join_letters(text))
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", text).translate(_LIKE))
    return _SPREAD_HAN.sub("", _join_letters(seen))


def _join_letters(text: str) -> str:
    """Return a text whose words are not set apart letter by letter; wide gaps part words."""
    return _SPREAD.sub(_close_gaps, _GAP.sub("  ", text)) if _SPREAD.search(text) else text


def _close_gaps(found: re.Match[str]) -> str:
    return re.sub(r"[ \-.]", "", found[0])

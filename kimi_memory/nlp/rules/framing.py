"""How a prompt is framed: about the one who writes it, or about the world at large.

All readings are of form, never of topic. "Which editor do I use?", 我妈下次复查是什么时候 ask
for what only one's own memory knows; "My printer is broken", 我想学小提琴 tell something
and want advice; "explain …", 什么是…, 写一首… ask for what anybody may know.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from kimi_memory.nlp.basic.patterns import keep_results, regex, simplify


class Framing(Enum):
    """What a prompt says of its writer."""

    ASKS = auto()
    """It asks for the writer's own affairs, speaks of the writer's people, or goes back."""
    TELLS = auto()
    """It tells something of the writer."""
    NEITHER = auto()


_HAN = regex(r"[\u3400-\u9fff]")
_ME = r"(?:my|mine|our|ours|i|we|us|me)"
_PEOPLE = (
    r"(?:parents?|m[uo]m|mother|dad|father|wife|husband|fianc[eé]e?|partner|girlfriend|boyfriend"
    r"|sister|brother|son|daughter|kids?|children|family|boss|manager|supervisor|team|landlord"
    r"|doctor|suppliers?|clients?|committee)"
)
_TELLS_EN = regex(rf"\b{_ME}\b", re.IGNORECASE)
_ASKS_EN = regex(
    r"(?:^|[,.;:!?] |\band )(?:what|which|who|whose|whom|when|where|why|how (?:many|much|long|old"
    r"|often|far|good|expensive|did|was|were|is|does|should you|do we|did we|do you))\b"
    rf"[^,.;:!?]*\b{_ME}\b"
    r"|(?:^|[,.;:!?] )(?:is|are|was|were|do|does|did|has|have|had|am|can|may|should|will|would)\b"
    rf"[^,.;:!?]*\b{_ME}\b"
    rf"|\b(?:my|our) {_PEOPLE}\b",
    re.IGNORECASE,
)
# Asking what to do is no question to a memory: "what should I try?", "can you fix my …?"
_ADVICE_EN = regex(
    r"\b(?:what|where|how|which \w+) (?:else )?(?:can|could|should|do|would|to) (?:i|we)"
    r"(?: (?:try|do|start|go|begin|use instead))?\b(?=\s*(?:$|[?.!,]|try|start|begin|fix|get|make))"
    r"|\bwhat are (?:my|our) (?:rights|options)\b"
    r"|\b(?:can|could|will|would) you (?:please )?(?:help|fix|write|explain|check|review|translate"
    r"|improve)\b|\bhow (?:do|can|could|would|should) i\b|\bhow (?:can|could|to) we\b"
    r"|\bwhat \w+ can we\b|\bcan (?:you|i get)\b",
    re.IGNORECASE,
)
# "Can I freeze soup?", 我能报警吗 may be answered by a rule of one's own or by anybody: neither
# speaks for a memory, so only what it holds of the subject does.
_MAY_EN = regex(
    r"(?:^|[,.;:!?] |\b(?:and|so|but) )(?:can|may|could) (?:i|we)\b(?! (?:still|yet)\b)",
    re.IGNORECASE,
)
_MAY_ZH = regex(
    r"(?:我们?|咱们?)(?:现在|今天|明天|也|还)?(?:能不能|可不可以|能|可以|可)(?!记得|找到)[^，。！？；]{1,30}"
)
_BACK_EN = regex(
    r"\b(?:still|yet|so far|already|remind|remember|last time|earlier|previous(?:ly)?|again"
    r"|you (?:said|told|suggested|recommended))\b",
    re.IGNORECASE,
)
# 帮我, 告诉我 only name who is to be served; 我想学 is a wish.
_OWN_ZH = (
    r"(?:(?<![帮给教让请为替诉自])我(?!想|要参加)|咱"
    r"|[给帮让对跟]我[妈爸老妹姐哥弟儿女家们的])"
)
_ASKED_ZH = (
    r"(?:什么|哪|谁|多少|几|吗|多[大久长]|好不好|怎么了|是不是|了没|有没有"
    r"|怎么(?:称呼|要求|处理|定|安排|说|写|算|决定|运|转|收)|还是)"
)
_CLAUSE_END_ZH = regex(r"[，。！；]")
_OF_OWN_ZH, _IS_ASKED_ZH = regex(_OWN_ZH), regex(_ASKED_ZH)
_TELLS_ZH = regex(rf"{_OWN_ZH}|(?<![帮给教让请为替诉自])我(?!想知道|想问)")
_MINE_ZH = regex(
    r"我(?:妈|爸|老公|老婆|先生|太太|妹|姐|哥|弟|儿子|女儿|孩子|婆婆|岳|同事|老板|领导|房东|医生|客户)"
)
_ADVICE_ZH = regex(
    r"怎么办|从哪里?开始|有(?:什么|没有)办法|怎么(?:检测|找回|修|学|练|弄|解决)"
    r"|给我(?![妈爸老家列])|帮我改|讲讲|列个|下一次是"
)
_BACK_ZH = regex(
    r"之前|上次|上回|以前说|来着|刚才|那次|还记得|说过|照旧|(?<![决规固稳确一肯])定[的了]"
)
# "Explain …", "what is …", "write a …": tasks and questions that anybody could put.
_WORLD_EN = regex(
    r"^\W*(?:please |can you |could you )?(?:explain|write|translate|name|list|suggest|recommend"
    r"|give me|show me|tell me (?:a|about)|draft|generate|create|make|convert|summari[sz]e|define"
    r"|describe|compare|refactor|fix|proofread|compose|design|implement|calculate|solve|prove"
    r"|what(?:['’]s| is| are| was| were| does| do| causes| caused| happened at)"
    r"|how (?:do|does|can|could|should|would|to|far|tall|long|much|many|fast|old)"
    r"|why (?:is|are|do|does|did)|who (?:was|is|wrote|painted|invented|discovered|were)"
    r"|which(?= \w+ \w+ )|when (?:was|were|did)|hello|hi|thanks|continue)\b",
    re.IGNORECASE,
)
_WORLD_ZH = regex(
    r"^\W*(?:请|麻烦)?你?(?:[帮给替]我)?(?:用[^，,]{1,12}?)?(?:写|解释|介绍|翻译|把|推荐|讲|说说|列|起|想"
    r"|做|画|设计|生成|总结|润色|什么是|什么叫|怎么|怎样|如何|请问|你好|谢谢|继续)"
    r"|^给我[一二两三四五六七八九十几]|为什么(?:是|会|叫|能|有)|是什么(?:意思|颜色)?$|怎么办$|是多少$"
    r"|[有是分](?:哪些|什么区别|什么不同|哪几|几种)|[的有](?:区别|做法|原理|起源|历史|来历|规则|含义|种类)"
    r"|最(?:高|大|长|有名|好|快|早)|该怎么选|是怎么(?:形成|发生|产生|来|死|做|建)的"
)
_NAMING = r"\bcall me\b|别叫我|不要叫我|叫我[^，。]{1,6}(?:就|吧)|称呼我"
# "I want to never …" is a wish; 都要不要 asks. Neither orders anything for always.
_STANDING = regex(
    r"\b(?:from now on|always|(?<!to )never|every time|whenever|each time|going forward"
    r"|in (?:the )?future)\b"
    r"|以后|今后|从现在起|从今往后|每次|每当|一律|永远|凡是|别再|不要再"
    r"|都(?:要(?!不要)|得|必须|给|用|写|按|别|不要|不用)"
    rf"|{_NAMING}",
    re.IGNORECASE,
)
_CALLED = regex(_NAMING, re.IGNORECASE)
_QUOTED = regex(r"[“「『\"][^”」』\"\n]{1,300}[”」』\"]")
_NAME = regex(r"(?<=[a-z,;’'] )[A-Z][a-z]+(?=\W|$)")


def read_framing(prompt: str) -> Framing:
    """Return what a prompt says of its writer."""
    if _HAN.search(prompt):
        plain = simplify(prompt)
        plain = _MAY_ZH.sub(" ", plain)
        asks = _asks_zh(plain) and not _ADVICE_ZH.search(plain)
        back, tells = _BACK_ZH.search(plain), _TELLS_ZH.search(plain)
    else:
        plain = _MAY_EN.sub(" ", _ADVICE_EN.sub(" ", prompt))
        asks = bool(_ASKS_EN.search(plain))
        back, tells = _BACK_EN.search(prompt), _TELLS_EN.search(plain)
    return Framing.ASKS if asks or back else Framing.TELLS if tells else Framing.NEITHER


def asks_the_world(prompt: str) -> bool:
    """Whether a prompt is framed as one that anybody could ask."""
    if _HAN.search(prompt):
        return _WORLD_ZH.search(simplify(prompt)) is not None
    return _WORLD_EN.search(prompt) is not None


@keep_results(4096)
def orders_for_always(said: str) -> bool:
    """Whether what a person said to an agent has the form of a standing order.

    What they only quote is none of theirs.
    """
    return _STANDING.search(simplify(_QUOTED.sub(" ", said))) is not None


def asks_to_be_called(said: str) -> bool:
    """Whether somebody says by which name to call them."""
    return _CALLED.search(simplify(_QUOTED.sub(" ", said))) is not None


def names_inside(prompt: str) -> list[str]:
    """Return the capitalised words inside of English sentences."""
    return _NAME.findall(prompt)


def _asks_zh(plain: str) -> bool:
    """Whether somebody asks for what is their own: a clause names them and asks."""
    return _MINE_ZH.search(plain) is not None or any(
        _OF_OWN_ZH.search(clause) and _IS_ASKED_ZH.search(clause)
        for clause in _CLAUSE_END_ZH.split(plain)
    )

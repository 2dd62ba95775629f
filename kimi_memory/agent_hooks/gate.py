"""The intent gate: which prompts are worth a look into memory."""

from __future__ import annotations

from kimi_memory.nlp.basic.prompt_fence import strip_injected
from kimi_memory.nlp.basic.regex import regex

LONGEST = 4000
"""More of a prompt than this is pasted matter, and no question."""
_COMMAND = regex(r"\s*[/!#][\w:-]*(?:\s|$)")
# "ok, go ahead", 好的，继续: nothing to look up. Atomic and possessive, because one word may be
# followed by the next in many ways.
_ACK = regex(
    r"(?:(?>ok(?:ay)?|yes please|yes|yep|yeah|nope|no|sure|fine|good|great|nice|cool|perfect"
    r"|thank you|thanks?|thx|ty|please|go(?: on| ahead| for it)?|continue|proceed"
    r"|do it|next|stop|wait|done|hi|hello|hey|lgtm|looks good|sounds good|got it|right|correct"
    r"|exactly|agreed|try again|retry|again|ship it|y|n|k"
    r"|好[的吧]?|行|可以|嗯++|对的?|是的?|没错|不是|不用|不要|谢谢你?|多谢|继续|接着来?|下一步|开始吧?"
    r"|停|等等|等一下|明白了?|知道了|收到|没问题|再试一次|重试|你好|您好|辛苦了|太好了|棒|就这样)"
    r"[\s,.!?;:~，。！？；：～、…]*+)+"
)


def question_of(prompt: str) -> str:
    """Return what of a prompt memory should be asked, empty where recall would not help.

    Acknowledgements, commands of the host and blocks that programs put in are none.
    """
    said = strip_injected(prompt).strip()
    if not said or _COMMAND.match(said) or _ACK.fullmatch(said.lower()):
        return ""
    # Of pasted matter its beginning and its end: the question stands before or behind it.
    return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]}\n{said[-LONGEST // 2 :]}"

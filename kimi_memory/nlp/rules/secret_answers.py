"""Tell whether a turn is a bare secret: the words before ask for one, or announce one."""

# ruff: noqa: E501  patterns are read as a table

from __future__ import annotations

import re
from collections.abc import Sequence

from kimi_memory.nlp.basic.patterns import regex

_LONGEST = 400
"""Characters at the end of a turn in which it may ask; a question stands last."""
_PASSED_BY = 60
"""A longer turn between the question and its answer has begun another matter."""
_NOUN = (
    r"(?:pass ?(?:word|phrase|code)|passwd|pwd|\bpin(?: code| number)?|(?:api|access|secret|private)[ -]?key"
    r"|\b(?:[a-z]{2,12}[ -])?(?:token|secret)|credentials?|\botp"
    r"|(?:verification|security|one-time|login|2fa|confirmation|access|unlock|door|sms) code)\b"
)
# "the password manager", "the token limit" ask for something else.
_ENDS = r"(?=\s{0,3}(?:$|[?.!,:;)\n]|for\b|to\b|of\b|on\b|now\b|please\b|here\b|again\b|below\b|next\b|so\b|and\b|in (?:the|my|your)\b))"
_ASKS_EN = (
    rf"\b(?:what['’]?s|what (?:is|was|are)|which is)\s(?:[\w'’-]{{1,20}}\s){{0,4}}{_NOUN}{_ENDS}"
    rf"|\b(?:enter|type|paste|send|provide|share|give|tell|need|input|supply|post|drop)\b[^?.\n]{{0,40}}?{_NOUN}{_ENDS}"
    rf"|\b(?:here|next|following)\b[^?.\n]{{0,30}}?{_NOUN}{_ENDS}"
    rf"|{_NOUN}(?:\s(?:for|to|of|on)\s[^?.:\n]{{1,40}}|\s(?:is|please))?\s{{0,2}}[?:]\s{{0,3}}$"
)
_NOUN_ZH = (
    r"(?:密码|口令|密钥|秘钥|令牌|凭证|私钥|暗号|验证码|校验码|动态码|提取码|授权码|PIN ?码?|(?:api ?|access ?)?key|token|secret)"
    r"(?!管理|策略|长度|规则|强度|哈希|字段|重置|找回|本|学|器|的?格式|存|放|保存|过期)"
)
_ASKS_ZH = (
    rf"{_NOUN_ZH}\s?(?:是|为)?(?:多少|什么|啥|几|哪个)?(?:来着|呢|呀|啊)?\s{{0,2}}(?:[?？:：]|(?:是|为)?(?:多少|什么|啥)$)"
    rf"|(?:发|给|告诉|提供|输入|输|粘贴|贴|报|填|说|下面|以下|接下来|这)[^。？?\n]{{0,16}}?{_NOUN_ZH}(?:$|[。，,！!？?：:吧呢给过来一下])"
    rf"|{_NOUN_ZH}[^。？?\n]{{0,6}}(?:发|给|告诉|贴|报|说|如下|在下面)"
)
_ASKS = regex(f"(?:{_ASKS_EN}|{_ASKS_ZH})", re.IGNORECASE)
_TOKEN = regex(
    r"\s{0,9}(?:(?:it['’]?s|it is|this is|就是|这是|是)[\s:：]{0,3})?[\"'`“「]?([!-~]{4,200}?)[\"'`”」]?[。]?\s{0,9}",
    re.IGNORECASE,
)
_NAME = regex(
    r"#\d{1,9}|[\w./-]{1,80}\.(?:ya?ml|json|toml|env|txt|ini|cfg|conf|py|js|ts|sh|md|pem|key)"
    r"|[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,9}|\d{1,8}(?:[./:-]\d{1,8}){1,9}|[a-z]{1,9}://.{0,200}",
    re.IGNORECASE,
)
"""Of an issue, a file, a variable, a date or version, or an address."""
_ODD = frozenset("0123456789!#$%&*@^~+=")


def find_secret_answer(text: str, before: Sequence[str]) -> tuple[int, int] | None:
    """Return where a bare secret stands in a turn, or None.

    Args:
        text: the turn; only a turn of one token that is no word is a bare secret.
        before: the turns before it, in their order.
    """
    found = _TOKEN.fullmatch(text) if len(text) <= 240 else None
    if found is None or _ODD.isdisjoint(found[1]) or _NAME.fullmatch(found[1]):
        return None
    for at, earlier in enumerate(reversed(before[-2:])):
        if _ASKS.search(earlier[-_LONGEST:]):
            return found.span(1)
        # "Password?", "one moment", and then the password.
        if at == 0 and (len(earlier) > _PASSED_BY or "?" in earlier or "？" in earlier):
            return None
    return None

"""Words that announce a secret, answers that are one, and how secret values look.

The words are in families: *password*, *token*, *code*, *door*, *account*. They count anywhere in a
name: ``db_password``, ``smtpPass``, ``X-Vault-Token``, ``--auth-key``.

A value is drawn, named, counted, or has a known form such as a date or a path. What stands beside
it is not asked here; see `kimi_memory.nlp.rules.announced_values`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.learned.letters import oddness_of

# ruff: noqa: E501  patterns are read as a table


_DIGIT = regex(r"\d")
_FAMILIES = {
    "pass": r"pass ?(?:word|phrase|code|wort)s?|passwo?r?d|passw|\bpass\b|pass(?:_|$)|(?-i:[a-z]Pass\b|_pass\b|Pass$)|\w[_-]pass\b|requirepass|pwd|passkey|bindpw|\bpw\b|_pw\b|psk\b|kennwort|contrase[nñ]a|senha|wachtwoord|passe\b|пароль|secret word|\bwords? is\b|密码|口令|暗号|暗语|密语|密碼|开机|パスワード|暗証番号",
    "key": r"secrets?|tokens?|keys?\b|key(?:_|[A-Z0-9])|cred(?:ential)?s?\b|auth(?:orization|tok|token)?\b|auth(?:_|-)|_auth\b|bearer|cookie|jwt|signing|salt|hmac|dsn\b|licen[cs]e[ _-]?key|product key|schl(?:ü|ue)ssel|magic link|_[SA]K\b|_PAT\b|密钥|秘钥|令牌|凭[证据]|私钥|密匙|签名|授权码",
    "seed": r"seed|mnemonic|recovery|backup|wallet|unseal|(?:security|secret) (?:question|answer)|maiden|助记词|恢复|备[用份]|密保",
    "code": r"\bpins?\b|pin\b|pincode|\bpuk\d?\b|\botp\b|\btotp\b|\bcv[vcn]2?\b|codes?\b|code\b|combination|combo\b|serial number|voucher|gift card|authenticator|[一-鿿]码|[后三四]位",
    "lock": r"lock(?:s|ed|er|box)?\b|unlock\w*|safe\b|vault|gate\b|door|garage|alarm|key ?pad|intercom|padlock|barrier|buzzer|suitcase|voice ?mail|pair\b|pairing|\bpress\b|\bdial\b|\bpunch\b|\benter\b|\btype\b|opens?\b|锁|柜|门|闸|箱|输入?|按",
    "login": r"user(?:name)?s?\b|\blog(?:ged|ging|s)?[ -]?(?:in|on)\b|sign(?:ed)? in|accounts?\b|admin\b|root\b|ssid|wi-?fi|wlan|hotspot|network|portal|vpn|[账帐][号户]|用户名?|登[录陆]|后台|无线|WiFi",
    "flag": r"\s/p(?:ass(?:word)?|wd)?:|\s-(?:[pPwWkKaAX]|pw|pass|psk)[\s=]|<<<|securestring|decrypt\w*|\becho\b|\bsudo\b|bcrypt",
    "number": r"(?:account|member(?:ship)?|passport|licen[cs]e|permit|visa|insurance|social security|tax|identity|national|entry|patient|medicare|residence|employer)[ -]?(?:number|no\b\.?|nr\b\.?|#)|\w+nummer\b|\bssn\b|\bein\b|\bvat\b|\biban\b|\bpassport\b|\b(?:nie|dni|dsk|visa|master ?card|amex|card|nino|bsn|cpf|nif|pesel|aadhaar)\b|身份|护照|驾[照驶]|通行证|[台回居军港]\S{1,3}证|[^\x00-\x7f\n]{0,2}证号|社保|医保|公积金|卡号|编号|[账帐]号|代码|税号|发动机号|车架号",
}
_KEYS = {
    "pass": "pass pw psk kennwort contrase senha wachtwoord пароль word 密码 口令 暗号 暗语 密语 密碼 开机 パスワード "
    "暗証番号",
    "key": "secret token key cred auth bearer cookie jwt signing salt hmac dsn licen magic _sk "
    "_ak _pat 密钥 秘钥 令牌 凭 私钥 密匙 签名 授权 schl",
    "seed": "seed mnemonic recovery backup wallet unseal question answer maiden 助记词 恢复 备 密保",
    "code": "pin puk otp cv code comb serial voucher gift authenticator 码 位",
    "lock": "lock safe vault gate door garage alarm pad intercom barrier buzzer suitcase voice "
    "pair press dial punch enter type open 锁 柜 门 闸 箱 输 按",
    "login": "user log sign account admin root ssid wifi wi-fi wlan hotspot network portal vpn 账 帐 "
    "用户 登 后台 无线",
    "flag": "/p -p -w -k -a -x <<< securestring decrypt echo sudo bcrypt",
    "number": "account member licen permit insurance social tax identity national entry patient "
    "medicare residence employer nummer ssn ein vat iban passport visa master amex card nino bsn cpf "
    "nif pesel aadhaar nie dni dsk 身份 护照 驾 证 社保 医保 公积金 卡号 编号 账 帐 代码 税号 发动机号 车架号",
}
"""Pieces in small letters, one of which every word of a family holds."""
_NAMES = tuple(_FAMILIES)
_FAMILY = regex("(?i)(?:" + "|".join(f"({pattern})" for pattern in _FAMILIES.values()) + ")")
OFTEN = ("pass", "key", "seed", "code", "flag")
LOGINS = ("login",)
NUMBERED = ("lock", "number")
"""Families of one rule; the values of the last two hold digits."""


def words_of(families: Sequence[str]) -> str:
    """Return the pattern of the words of some families."""
    return "(?i)(?:" + "|".join(_FAMILIES[name] for name in families) + ")"


def keys_of(families: Sequence[str]) -> str:
    """Return pieces in small letters, one of which each of these words holds."""
    return " ".join(_KEYS[name] for name in families)


@keep_results(1024)
def family_of(word: str) -> str:
    """Return the family of a word that announces."""
    found = _FAMILY.fullmatch(word)
    return _NAMES[(found.lastindex or 1) - 1] if found else _NAMES[0]


_FORMS = regex(
    r"(?P<own>\^?[a-z]{3,12}-(?:[0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{12}|[0-9a-z]{4}-\d{1,4})|#\d{1,6}(?:-\d{1,6})?)"
    r"|(?P<mask>⟦.*|[*•x.?_-]{3,})"
    r"|(?P<sample>(?:<[^<>]*>?|\[[^\]]*\]?|your[-_ ].*))"
    r"|(?P<template>\$[A-Za-z_]\w*|%[A-Z_]+%|process\.env\S*)"
    r"|(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?P<url>[a-z][a-z0-9+.-]{1,20}://.*|www\..*)"
    r"|(?P<mail>[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\w[\w./-]*@v?\d+(?:\.\d+)+|[\w-]+/[\w-]+@v\d+)"
    r"|(?P<ip>\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?|(?:[0-9a-f]{2}:){3,}[0-9a-f]{2}|localhost\S*|[\w.-]+:\d{2,5})"
    r"|(?P<date>(?:19|20)\d\d[-/.年]\d{1,2}(?:[-/.月]\d{1,2}\S*)?|\d{1,2}[./]\d{1,2}[./](?:19|20)?\d\d"
    r"|\d{1,2}:\d\d(?::\d\d)?(?:[ap]m)?|(?:19|20)\d\d|(?:19|20)\d\d[-–](?:19|20)?\d\d)"
    r"|(?P<version>[vV]?\d+(?:\.\d++){1,3}(?:[-+.]?(?:alpha|beta|rc|dev|post|b|a)?[\w.]*)?|[vV]\d+\w{0,3}|[<>=~^]+\d[\d.]*)"
    r"|(?P<file>[^\s]*\.(?:py|tsx?|jsx?|mjs|json[cl]?|ya?ml|toml|md|mdx|go|rs|java|kt|sh|txt|pem|key|crt|cer|p12|tmp"
    r"|html?|css|scss|sql|c|h|cpp|hpp|cs|rb|php|xml|csv|tsv|pdf|docx?|xlsx?|png|jpe?g|gif|svg|log|env|lock|conf|cfg|ini"
    r"|db|gz|tgz|xz|zip|tar|jar|war|whl|apk|msi|dmg|iso|deb|rpm|lua|exe|dll|so|vue|swift|com|org|net|io|dev|cn)(?:[:#]\S*)?)"
    r"|(?P<path>(?:\.{0,2}|~)/\S*|[\w.@~-]+(?:/[\w.@~*-]+){1,}/?|[A-Za-z]:\\.*|\\\\.*)"
    r"|(?P<measure>[$€£¥]\d[\d.,]*|[~≈<>]?[$€£¥]?\d[\d.,]*(?:%|[kKMGT]i?[bB]?|ms|s|m|h|d|px|em|rem|x|th|st|nd|rd|GB|MB|KB|Hz|V|W|A|cm|mm|km|kg|g|min|元|万|天|个|次|年|月|日|号|位|块|分|点)s?)"
    r"|(?P<flag>--?[A-Za-z][\w-]*)"
    r"|(?P<chord>(?i:(?:ctrl|alt|shift|cmd|super|meta|win)[+-]\S*))|(?P<anchor>[@#^]\w[\w./-]*|\^?card-\w+|\w+#L?\d+\S*)"
    r"|(?P<code>\S*(?:[(){}\[\]<>;\\]|::|->|=>|==|!=|&&|\|\|)\S*)"
    r"|(?P<query>\S*[?&]\w+=\S*)"
    r"|(?P<css>(?:[a-z]+-){2,}\d+|className=.*)|(?P<sum>[\w.]{1,8}(?:[*+/^%]=?[\w.]{1,8})+|\d+[*/+-]\d+)"
    r"|(?P<digits>\d+)"
    r"|(?P<star>[*#]?\d{3,12}[*#])"
    r"|(?P<groups>\d{1,8}(?:[ -]\d{1,8})+)"
    r"|(?P<point>\d[\d.,:-]*\d)"
    r"|(?P<hex>(?:0x)?(?:[0-9a-f]{10,}|[0-9A-F]{10,}))"
    r"|(?P<short_hex>(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{6,9})"
    r"|(?P<base32>[A-Z2-7]{16,})"
    r"|(?P<serial>[A-Z0-9]{2,8}(?:-[A-Z0-9]{2,8}){1,9})"
    r"|(?P<constant>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"
    r"|(?P<word>[a-z]+)|(?P<capital>[A-Z][a-z]+)|(?P<upper>[A-Z]+)"
    r"|(?P<han>[\u3400-\u9fff]+)"
    r"|(?P<words>[A-Za-z]+(?:['’-][A-Za-z]+)+)"
    r"|(?P<camel>[A-Za-z]+)"
    r"|(?P<snake>[A-Za-z]+(?:[_.:-]+[A-Za-z]+)+)"
    r"|(?P<numbered>[A-Za-z]{2,}[-_]?\d{1,2}|[A-Za-z]{2,}(?:19|20)\d\d|[A-Z]\d{1,2})"
    r"|(?P<small>[a-z]+\d+|\d+[a-z]+)"
    r"|(?P<kebab>[A-Za-z]+(?:[_.-][A-Za-z]+){0,6}[_.-]?\d{1,4}(?:[A-Za-z]+)?(?:[_.-][A-Za-z]+){0,6})"
    r"|(?P<names>[A-Za-z0-9]+(?:[_.-]+[A-Za-z0-9]+)+)"
    r"|(?P<mixed>[A-Za-z0-9]+)"
    r"|(?P<base64>[A-Za-z0-9+/_-]{16,}={0,2})"
    r"|(?P<odd>[!-~]+)"
)
"""The first form that fits all of a value names it."""
_MARKS = regex(
    r"(?P<mask>redacted|\.\.\.|…|\*{3}|[xX]{4})|(?P<sample>example|change-?_?me|placeholder|dummy|foobar)"
    r"|(?P<template>&(?:#\d|amp|quot|lt|gt|apos|nbsp)|\$\{|\{\{|%\(|\$\(|%s|\{\w*\})"
)
"""What says anywhere in a value that it is none."""
_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 40)
_ODD = frozenset("!#$%&*@^?+~=")

_KEY_ID = regex(
    r"(?:\b(?:rsa|(?:ec|ed)?dsa|gpg|pgp)[ _-]key(?: is)?|user\.signingkey|-secret-keys?)\W{0,4}\Z",
    2,
)
_FINGERPRINT = regex(r"(?:[0-9a-f]{16}|[0-9a-f]{40})\Z", 2)
"""Short and whole."""


def is_fingerprint(text: str, start: int, end: int) -> bool:
    """Whether a value is that of a key of gpg or ssh, by which everybody may name the key."""
    named = _FINGERPRINT.match(text, start, end)
    return named is not None and _KEY_ID.search(text, max(0, start - 24), start) is not None


def looks_of(value: str) -> Iterator[str]:
    """Yield what a value looks like, each as a word: its form, its length, its signs.

    The first of them is its form.
    """
    found = _MARKS.search(value) or _FORMS.fullmatch(value)
    form = (found and found.lastgroup) or "other"
    yield form
    size = len(value)
    yield f"n{max(step for step in _SIZES if step <= size or step == 1)}"
    digits = sum(sign.isdigit() for sign in value)
    lower = sum("a" <= sign <= "z" for sign in value)
    upper = sum("A" <= sign <= "Z" for sign in value)
    odd = sum(sign in _ODD for sign in value)
    yield f"d{min(digits, 4)}"
    yield f"cases{(lower > 0) + 2 * (upper > 0)}"
    yield f"odd{min(odd, 2)}"
    kinds = [
        "d" if s.isdigit() else "l" if s.islower() else "u" if s.isupper() else "o" for s in value
    ]
    switches = sum(a != b for a, b in pairwise(kinds))
    yield f"turns{min(10 * switches // max(size, 1), 6)}"
    if lower + upper > 3:
        yield f"odds{oddness_of(value)}"
    if digits and lower + upper == 0:
        yield f"set{min(len(set(value) - set(' -')), 4)}"


# ruff: noqa: E501  patterns are read as a table


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
_MIXED = frozenset("0123456789!#$%&*@^~+=")


def find_secret_answer(text: str, before: Sequence[str]) -> tuple[int, int] | None:
    """Return where a bare secret stands in a turn, or None.

    Args:
        text: the turn; only a turn of one token that is no word is a bare secret.
        before: the turns before it, in their order.
    """
    found = _TOKEN.fullmatch(text) if len(text) <= 240 else None
    if found is None or _MIXED.isdisjoint(found[1]) or _NAME.fullmatch(found[1]):
        return None
    for at, earlier in enumerate(reversed(before[-2:])):
        if _ASKS.search(earlier[-_LONGEST:]):
            return found.span(1)
        # "Password?", "one moment", and then the password.
        if at == 0 and (len(earlier) > _PASSED_BY or "?" in earlier or "？" in earlier):
            return None
    return None


def has_digit(text: str, start: int, end: int) -> bool:
    """Whether a digit stands in it."""
    return _DIGIT.search(text, start, end) is not None

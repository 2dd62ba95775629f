"""Tell what a value looks like: drawn, named, counted, or a known form such as a date or a path.

What stands beside it is not asked here; see `kimi_memory.nlp.rules.announced_values`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.learned.letters import oddness_of

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

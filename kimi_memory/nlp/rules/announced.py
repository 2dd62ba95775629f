"""Find the values that words announce: "the gate takes 4417", "user lin, …", a column of a table.

A word such as *password* or *PIN* announces a value. How much the value itself must look drawn
depends on what stands between them: after "is" or a colon little is asked, across words more.
"""

# ruff: noqa: E501  patterns are read as a table

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.rules.credentials import (
    is_drawn,
    is_drawn_token,
    is_password_with_digit,
    is_strong,
    is_told,
)
from kimi_memory.nlp.rules.private_numbers import is_lock_number
from kimi_memory.nlp.rules.secret_words import has_digit

Place = tuple[int, int]

LOGIN_WORDS = (
    r"(?i)(?:passwords?|pass ?phrases?|pass ?codes?|passwd|\bpwd|\bpw\b|\bpsk\b|\b(?:wi-?fi|wlan)[ -](?:code|key|pass)|\b(?:[a-z]+_)*(?-i:pass)\b|requirepass|\bsnmp[^\n]{0,30}community\b|\blog(?:ged|ging|s)? ?(?:in|on)\b|\bsign(?:ed|ing|s)? ?in\b"
    r"|\b(?:user(?:name)?|account|creds|credentials?|login|wi-?fi|ssid|hotspot|wlan|admin|secret word)\b|密码|口令|暗号|登[录陆]|[账帐][号户密]|用户名?|开机|后台|管理页)"
)
KEY_WORDS = (
    r"(?i)(?:tokens?\b|secrets?\b|keys?\b|licen[cs]e\b|serial\b|\bauth\b|credentials?\b|\b[as]k\b"
    r"|密钥|秘钥|令牌|私钥|激活码|序列号|注册码|恢复码|备用码|凭证)"
)
CODE_WORDS = (
    r"(?i)(?:\b(?:pass ?words?|pw|lock ?box|padlock|key ?pad|pins?|puk|otp|tan|cvv2?|cvc2?|pass ?code|(?:backup|recovery|security|access|entry|door|gate|login|verification) codes?|combination|combo|(?:unlock|disarm) sequence)\b"
    r"|密码|口令|的码|[三3]位|配对码|验证码|校验码|动态码|取件码|提取码|开柜码)"
)
LOCK_WORDS = r"(?i)(?:\b(?:doors?|locker|lock|safe|vault|gate|garage|shed|alarm|intercom|buzzer|barrier|(?:unlock|disarm)(?:s|ing)?)\b|保险[箱柜]|门锁|门禁|[大元房]门)"

COOKIE_WORDS = r"(?i)\bcookies?\b|\b(?:[jp]?(?:hp|asp\.net_)?sess(?:ion)?id|sessdata|bduss|z_c0|connect\.sid|laravel_session)="
_HEADS = r"(?:password|passwd|passwort|passcode|passphrase|secret(?: key)?|api ?key|token|pin|pw|pwd|pass|密码|口令|密钥|令牌|验证码)"
TABLE_HEAD = rf"(?im)(?:^|[|\t,; ])[ \t]{{0,3}}{_HEADS}[ \t]{{0,3}}(?:[|\t,; ]|$)"

_LONGEST = 70
"""Characters between a word and the value that it announces, at most."""
_SHORTEST = 6
"""Signs of a value, at least."""
_LONGEST_RUN = 200
"""Signs of a run in which a value stands, at most."""
_BEFORE = 80
"""Characters before a word that tell whether a key is a public one."""
_WIDEST = 1000
"""Of the head of a table, at most."""
_ROWS = 200
"""Of a table, at most."""
_HEAD = regex(_HEADS, re.IGNORECASE)
_PLAIN_HEAD = regex(r"[\w-]{1,20}")
"""The name of a column of a table that has no lines: one word."""
_COOKIE = regex(r"([A-Za-z_][\w.-]{0,40})=([^\s;,\"'<>]{12,1000})")
_OF_VISITS = regex(r"_g|_hj|utm|path|domain|expires|max-age|cookie", re.IGNORECASE)
"""Names of cookies that count visits, and of what is said of a cookie."""
_OF_NAMES = regex(
    r"user|login$|account|admin|\bwi-?fi$|ssid|hotspot|wlan|[账帐]|用户|页", re.IGNORECASE
)
"""Words behind which a name stands first, and a password only later."""
_ODD = regex(r"\S[!#$&*@^?+]")
_STOPS = regex(r"[\n。！？；]|[.!?;](?:\s|$)")
_SIGN = "[!#-&*-+.-:=?-Z^_a-z~-]"
_RUN = regex(rf"(?={_SIGN}{{6}})(?=[^\s\d]{{0,199}}\d){_SIGN}{{6,{_LONGEST_RUN}}}")
"""Signs of a value, a digit among them: no quotes, brackets, commas and bars, which stand between values."""
_OPENING, _CLOSING = "\"'`([{<=:,;|*>", "\"'`)]}>,;:.?|*"
_PAIR = regex(r"[\w.@+-]{2,40}[/:]([^/:]{6,40})")
_FILLER = (
    r"(?:is|are|was|now|still|again|to|has|have|been|got|changed|set|reset|updated|switched|rotated|i|we|you|he|she|they|chose|picked|used?|using"
    r"|it|here|new|old|as|the|a|my|our|your|value|string|called|stays|remains|currently|just|yesterday|today|gave|me|enter|type|with|takes|wants)"
)
_DIRECT = regex(
    rf"[\w-]{{0,12}}(?:\s?[(（][^()（）\n]{{1,40}}[)）])?(?:[\s\"'`“”「『【」』\[\]*:：=＝>→—–,，|-]|\b{_FILLER}\b|的|是|为|改|换|重置|设|成|到|了|我|还|叫|选|用|填|输|入|就|也|都|先|新|给|你){{1,14}}",
    re.IGNORECASE,
)
_LINKED = regex(
    r"[^\n]{0,60}?(?:\b(?:is|are|to|with|takes|wants|on|as|use|enter|type)\b[:：]?|[:：=＝→]|[是为成到叫用输按换])[\s\"'`“「『【*]{0,4}",
    re.IGNORECASE,
)
_NAMED = regex(
    r"[A-Za-z]+[-_]?\d{1,3}(?:\.\d+)*(?:[-_]?[a-z]+)?|v?\d+(?:\.\d+)+\S*|\S+\.(?:py|tsx?|jsx?|json|ya?ml|toml|md|go|rs|java|sh|txt|pem|key|tmp|html?|css|sql|c|h)(?::\d+)*"
    r"|\S*(?:[()\\<>]|::|->|=>|[$#%]\{|\{\{|&&|\|\||==|!=)\S*|\d[\d.,:/x*-]*[A-Za-z%]{0,4}|[@#$&^-]\S+|[\w.]+:\d{0,2}[a-z]|\S*[&?][\w%.-]+=\S*|\S+@[\w-]+(?:\.[\w-]+)+|[a-z]{2}_[A-Z]{2}\S*|(?:alt|ctrl|shift|cmd|super)\+\S+|v-\d\S*|\w+%\d{1,3}|[\w.]+(?:-[\w.]+)+#L?\d+(?:-L?\d+)?|[\w./]+#L?\d{1,3}(?:-L?\d+)?|[A-Za-z_][\w.]*=\S*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,12}|(?-i:[a-z][a-z0-9_-]*@[a-z0-9.-]+)",
    re.IGNORECASE,
)
"""What holds digits and is drawn by nobody: Postgres16, v2.3, page.md, f(x1), 500GB, a hash."""
_OF_ID = regex(r"(?:\b|_)(?:id|uuid)\b", re.IGNORECASE)
"""Between a word and a value: what stands behind it names a request or a row."""
_WORDY = regex(r"[A-Za-z_]\w*(?:\.\w+)+|[A-Za-z]+\d*(?:[_-](?:[A-Za-z]+\d*|\d+)){2,}|[\w.-]*/\S*")
"""Names of programs, which are no values behind other words: a.b.c, one_test_with_3_rows, a/b."""
_PUBLIC = regex(r"public|\bpub\b|fingerprint|\bsha-?\d|ssh-|公钥|指纹", re.IGNORECASE)
_QUERY = regex(r"[&?]|://|%[0-9A-F]{2}|^0x")
_GROUPED = regex(r"[A-Z0-9]{3,10}(?:-[A-Z0-9]{4,10}){2,8}")
_SEED = regex(r"[A-Z2-7]{4}(?: [A-Z2-7]{4}){3,15}\b")
_HEX = regex(r"[0-9a-f]{20,64}|[0-9A-F]{20,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?::fx)?")
_NO_TOKEN = regex(
    r"(?:primary|foreign|public|idempotency|dedup|routing|cache|object|partition|sort|row|hash|issue|trace|request|project|space|page|recv|rsa|dsa|gpg|pgp|host)[ _-]?$",
    re.IGNORECASE,
)
_NEAR = 24
"""Characters between a word for codes and its number, when nothing joins them."""
_WORDS_ONLY = frozenset({"password", "passwords", "pass word", "pw"})
"""Behind which a number must follow at once: they are talked of more than told."""
_NUMBER = regex(r"(?<![A-Za-z0-9.,:/_#-])[#*]?(\d{1,6}(?:[ -]\d{1,6}){1,7}|\d{3,12})[#*]?")
_LOCK_LINKED = regex(
    r"[^\n]{0,40}?(?:\b(?:takes|wants|needs|is on|goes on|(?:opens|unlocks) (?:with|on|at)|set to)[:：]?|[用按输]入?)[\s\"'`“「『【*]{0,4}",
    re.IGNORECASE,
)
_LOCK = regex(r"locker|lock|门锁|门禁", re.IGNORECASE)
_SAID = regex(r"\bis\b|[:：=是为→>\"]", re.IGNORECASE)
_LISTED = regex(r"[:：]?\s{1,2}(?:\d{1,2}[.)]\s\d{4,12}[,;]?\s){0,12}\d{1,2}[.)]\s")
_OTHER_NUMBER = regex(
    r"\d\s?[:：-]\s?$|"
    r"(?:\b(?:rooms?|pages?|versions?|lines?|ports?|channels?|floor|steps?|section|chapter|model|no|nr|at|in|since|from|of|until|than|about|over|under|only|after|every|least|most|around|for|v)|第|约|共|办公室|房间?|有|至少|最多|超过|到)[\s.:#]{0,2}$",
    re.IGNORECASE,
)
_ASKING = regex(r"(?:[?？]|\b(?:pls|please)|多少|[吗呢]|发我)\s?\Z", re.IGNORECASE)
_SHORT = regex(r"cv|位|security", re.IGNORECASE)
"""Words of codes that have three digits."""
_ANSWER = regex(
    r"[^\n?？]{0,40}(?:[?？]|pls|please|多少|[吗呢]|发我)\s{1,3}(?:[>\w ]{0,16}[:：>]\s?)?(?:(?:sure|yes|ok|it is|it['’]s|是|嗯|好的?)[,，:：]?\s?)*",
    re.IGNORECASE,
)
_ASKED = regex(r"code|pin\b|combination|number|密码|码", re.IGNORECASE)
_TOWN = regex(r"\b(?:town|city|village|area|region|district|zip|post(?:al)?)\b", re.IGNORECASE)


def find_passwords(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield where a password stands that a word at `start` to `end` announces."""
    is_after = not _OF_NAMES.search(text, start, end)
    for first, last, gap in _find_candidates(text, end):
        if text[start:end] == "pass" and not _SAID.search(gap):
            return  # Pass -i wlp3s0 to it.
        is_direct = bool(_DIRECT.fullmatch(gap))
        if is_direct and is_after:
            told = is_told(text, first, last) or is_strong(text, first, last)
        else:
            is_linked = bool(_LINKED.fullmatch(gap)) and is_strong(text, first, last)
            told = is_linked or is_drawn(text, first, last)
            told = told and (is_after or bool(_ODD.search(text, first, last)))
        is_name = _NAMED.fullmatch(text, first, last)
        if told and not is_name and (is_direct or not _WORDY.fullmatch(text, first, last)):
            yield first, last


def find_tokens(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield where a key or token stands that a word at `start` to `end` announces."""
    if _NO_TOKEN.search(text[max(0, start - 12) : start]):
        return  # A primary key, a cache key.
    seed = _SEED.search(text, end, _find_stop(text, end))
    if seed and _DIRECT.fullmatch(text, end, seed.start()) and has_digit(text, *seed.span()):
        yield seed.span()
    for first, last, gap in _find_candidates(text, end):
        is_direct = bool(_DIRECT.fullmatch(gap))
        is_hex = _HEX.fullmatch(text, first, last) and _SAID.search(gap)
        is_drawn_so = is_drawn_token(text, first, last) or is_hex
        if _PUBLIC.search(text, max(text.rfind("\n", 0, start) + 1, start - _BEFORE), last + 16):
            return
        if (
            is_direct
            and is_drawn_so
            and last - first >= 12
            and not _QUERY.search(text, first, last)
            and not _WORDY.fullmatch(text, first, last)
        ) or ((is_direct or _LINKED.fullmatch(gap)) and _is_grouped(text, first, last)):
            yield first, last


def _find_numbers(text: str, start: int, end: int, *, is_near: bool) -> Iterator[Place]:
    if text[end : end + 1] == "-" and text[end + 1 : end + 5].lower() != "code":
        return  # Pin-Priority: 1000
    if text[start:end] == "pin" and text[end : end + 2].lstrip(" ").isdigit():
        return  # pin 13 of a chip
    for found in _NUMBER.finditer(text, end, _find_stop(text, end)):
        gap = text[end : found.start()]
        is_keyed = found[0] != found[1] and len(gap) <= _NEAR and not has_digit(gap, 0, len(gap))
        is_joined = _is_linked(text, start, end, gap) if is_near else _opens(text, start, end, gap)
        if not (is_joined or is_keyed):
            return
        is_long = (
            sum(map(str.isdigit, found[1])) > 3 or not found[1].isdigit() or found[0] != found[1]
        )
        if (
            (is_long or _SHORT.search(text, start, end))
            and not _OTHER_NUMBER.search(gap)
            and not _TOWN.search(gap)
            and is_lock_number(text, *found.span(1))
        ):
            yield found.span()


find_numbers = partial(_find_numbers, is_near=True)
"""Yields where the number of a code stands that a word announces."""
find_lock_numbers = partial(_find_numbers, is_near=False)
"""Yields where a number stands that opens what a word names."""


def _is_linked(text: str, start: int, end: int, gap: str) -> bool:
    """Whether the word of a code and the number behind it belong together."""
    return bool(
        _DIRECT.fullmatch(gap)
        or _LINKED.fullmatch(gap)
        or (
            len(gap) <= _NEAR
            and not has_digit(gap, 0, len(gap))
            and text[start:end].lower() not in _WORDS_ONLY
        )
        or _LISTED.fullmatch(gap)
    )


def _opens(text: str, start: int, end: int, gap: str) -> bool:
    """Whether a lock is said to open with the number behind it."""
    is_lock = bool(_LOCK.search(text, start, end) and _DIRECT.fullmatch(gap) and _SAID.search(gap))
    return bool(_LOCK_LINKED.fullmatch(gap)) or is_lock or _is_answer(text, start, gap)


def _find_candidates(text: str, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the runs of signs with a digit behind a word, each with what stands between."""
    stop = _find_stop(text, end)
    for run in _RUN.finditer(text, end, stop + _LONGEST_RUN):
        if run.start() >= stop:
            return
        value = run[0]
        if not has_digit(value, 0, len(value)):
            continue
        if _OF_ID.search(text, end, run.start()):
            return
        first = run.start() + len(value) - len(value.lstrip(_OPENING))
        last = run.end() - (len(value) - len(value.rstrip(_CLOSING)))
        if last - first >= _SHORTEST and first > end:
            pair = _PAIR.fullmatch(text, first, last)
            if pair and "://" not in value:
                yield *pair.span(1), text[end : pair.start(1)]
            else:
                yield first, last, text[end:first]


def _find_stop(text: str, start: int) -> int:
    """Return where what a word announces ends: with its sentence, or behind an answer."""
    found = _STOPS.search(text, start, start + _LONGEST)
    if found is None:
        return min(len(text), start + _LONGEST)
    if _ASKING.search(text, max(0, found.start() - 8), found.start() + 1):
        after = text.find("\n", found.end(), found.end() + _LONGEST)
        return after if after >= 0 else min(len(text), found.end() + _LONGEST)
    return found.start()


def _is_answer(text: str, start: int, gap: str) -> bool:
    """Whether what stands behind a word is a question for a code, and the number its answer."""
    return bool(_ANSWER.fullmatch(gap)) and bool(
        _ASKED.search(text[max(0, start - 30) : start] + gap)
    )


def _is_grouped(text: str, start: int, end: int) -> bool:
    return (
        bool(_GROUPED.fullmatch(text, start, end))
        and sum(sign.isdigit() for sign in text[start:end]) > 2
        and (end - start > 22 or any(sign.isalpha() for sign in text[start:end]))
    )


def find_cells(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the values of a column of a table that has a word for secrets as its head."""
    begins = text.rfind("\n", max(0, start - _WIDEST), start + 1) + 1
    stop = text.find("\n", end - 1, end + _WIDEST)
    if stop < 0 or (not begins and start > _WIDEST):
        return
    head = text[begins:stop]
    mark = next((mark for mark in "|\t;, " if mark in head), "|")
    column, width = text.count(mark, begins, end - 1), head.count(mark)
    heads = head.split(mark)
    is_plain = mark not in "|\t"
    if not _HEAD.fullmatch(heads[column].strip(" *`")):
        return  # A sentence with the word.
    if is_plain and not all(_PLAIN_HEAD.fullmatch(one.strip()) for one in heads):
        return
    for _ in range(_ROWS):
        begins, stop = stop + 1, text.find("\n", stop + 1, stop + _WIDEST)
        row = text[begins : stop if stop >= 0 else begins + _WIDEST]
        if row.count(mark) != width or not width:
            return
        cell = row.split(mark)[column]
        value = cell.strip(" \t`*\"'")
        place = begins + len(mark.join(row.split(mark)[:column])) + (column > 0) + cell.find(value)
        is_told_so = is_drawn if mark == " " else is_password_with_digit
        # A column "pass" of numbers counts tests.
        counts = value.isdecimal() and heads[column].strip(" *`").lower() == "pass"
        if (
            not counts
            and is_told_so(text, place, place + len(value))
            and len(value) > 3
            and not (is_plain and " " in value)
        ):
            yield place, place + len(value)
        if stop < 0:
            return


def find_cookies(text: str, start: int, end: int) -> Iterator[Place]:
    """Yield the drawn values of the cookies that a header or a sentence lists on its line."""
    first = start if text[end - 1] == "=" else end
    stop = text.find("\n", end, end + _WIDEST)
    stop = stop if stop >= 0 else min(len(text), end + _WIDEST)
    for found in _COOKIE.finditer(text, first, stop):
        value = found[2]
        if not _OF_VISITS.match(found[1]) and has_digit(value, 0, len(value)):
            yield found.span(2)

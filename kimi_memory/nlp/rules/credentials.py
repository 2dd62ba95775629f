"""Judge whether a stretch of a text is a credential, or a placeholder, a word or code."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.learned.letters import oddness_of
from kimi_memory.nlp.rules.secret_words import has_digit, is_fingerprint

Check = Callable[[str, int, int], bool]
"""Judges what stands between two places of a text."""

_PLACEHOLDER = regex(
    r"[<$%{\[*.…⟦?]|!\[|!(?:vault|secret|env|ref|sub)(?:_\w+)?\b|(?:your|my|the|some)[-_ ]|x{4}"
    r"|example|change_?me|placeholder|dummy|redacted|\.{3}|\*{3}|(?:insert|replace)[-_]|0{8}|sk-1234",
    re.IGNORECASE,
)
_TAIL = ".,;:!?)\"'"
"""Signs of the sentence around a value."""
_WORDS_AND_NUMBER = regex(
    r"[A-Za-z]{3,12}(?:[-_.][A-Za-z]{3,12}){1,4}[-_.]?\d{1,4}"
    r"|(?:[A-Z][a-z]{2,11}){2,4}\d{3,4}|[A-Za-z]{3,12}_\d{1,4}\S{1,8}"
)
_QUOTES = "`'\"“”"
_IDENTIFIER = regex(r"[A-Za-z_][A-Za-z_.:-]*[;,]?")
_PIECES = regex(r"[A-Z]?[a-z]+|[A-Z]")
_ODD = "!$%&*#@^"
_INSIDE = regex(r"[A-Za-z0-9][!#$%&*^][A-Za-z0-9]")
_NAMES = regex(r"[A-Za-z]*\d*(?:[-_.*][A-Za-z]*\d*)*(?:#L?\d+(?:-L?\d+)?)?")
"""Names with numbers, joined: conv-26-D7#9, page#L2-L5, Var1*Var2."""
_TERM = r"(?:(?:[A-Za-z]{1,2}_)?[A-Za-z]{1,2}\d?|0x[0-9A-Fa-f]+|\d+)"
_EXPRESSION = regex(rf"{_TERM}(?:[*+%&^-]{_TERM})+")
"""What code reckons with: x1*Y2+z3%M6, m_x2&0xFF10."""
_ESCAPED = regex(r"%[0-9A-Fa-f]{2}|&(?:amp|apos|quot|lt|gt|nbsp)\b")
_JOINED_BEFORE = regex(r"(?:[./\\=@<{\[|+A-Za-z0-9]|\bsession:)\Z")
_JOINED_AFTER = regex(r"[/\\=@<>({\[|+A-Za-z0-9]|\.[A-Za-z0-9]")
"""Signs that make a token a piece of a path, an address or code."""
_NUMBERED = regex(r"#L?\d+(?:-L?\d+)?$|@(?:v\d[\d.]*|\d{1,2}(?:\.\d+)*)$|\*\*")
"""What names an issue, a turn, lines or a version: repo#12, page.md#L2-L5, pkg@2; and powers."""
_HEX = regex(r"[0-9a-f]{32,}|[0-9A-F]{32,}")
_BASE32 = regex(r"[A-Z2-7]{16,64}")
_RESOURCE = regex(r"\b(?:arn|urn|crn):\S*\Z")
"""The name of a thing of a cloud: what follows is its last part."""
_OPEN = regex(r"public[\w.-]{0,30}[\"']?\s?[:=]\s?[\"']?\Z", re.IGNORECASE)
"""The name of a key that everybody may know."""
_OF_PAGES = regex(r"[a-z]{4}[-_][a-z]{3}")
_JOINED = regex(r"[a-z][_-][A-Za-z0-9]")
ENDS = regex(
    r"[#＃*]?[\"'”」』`)）]?\s{0,2}(?:$|[\n.,;:!?，。；：！？、)）]|(?:and|then|to|before|after|when|if|or|at"
    r"|for|but|so|please|on|in|now|right|yesterday|today|already|again|instead|since|until|while|because"
    r"|which|unless)\b|\d\)|[了吧哦呢就再然进开抬解来才帮别请记也这那])",
    re.IGNORECASE,
)
"""What stands behind a value that is told: its sentence ends or goes on, and counts nothing."""
_DRAWN = 12
"""So many letters at least tell a drawn value from a name."""
_JOINT = regex(r"[A-Za-z0-9][.\d!#%&*+^~_-][A-Za-z0-9]|[a-z][A-Z]|\d")
_NAMES_REQUEST = regex(r"(?:request|trace|session|message)[ _-]?id\W{0,5}$", re.IGNORECASE)
_FILE = regex(
    r"[/\\]|\.(?:txt|key|pem|gpg|json|ya?ml|env|conf|cfg|ini)$|^[A-Z_]+$|^-|[Pp]assw|[Hh]ere$"
)
_CONSTANT = regex(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_CODE = regex(
    r"[\w.\[\]\"']*[(\[]|--|[\w.-]{1,40}@[\w.-]{1,60}:[~/]|(?:os|self|process|settings|config|env|args|req)\.",
    re.IGNORECASE,
)
_SYNTAX = regex(r"\]\[|\]\(|\\[sSdDwWbB]|\(\?[:!=<i]|\[\^|[\])]\{\d")
"""What stands in links of Markdown and in patterns."""
_ADDRESS = regex(r"\d{1,3}(?:\.\d{1,3}){3}|[A-Za-z]:\d{2,5}\b|://|/")
_PUBLIC = regex(r"public|\bpub\b|fingerprint|\bsha-?\d|ssh-|公钥|指纹", re.IGNORECASE)
_TECHNIQUE = regex(
    r"(?:sha|md|aes|rsa|ed|oauth|argon|pbkdf|base|utf|http|tls|totp|saml|x|v|s|p)-?\d[\d.]*\w{0,3}"
    r"|\d{0,2}-?(?:bcrypt|scrypt|fa|factor|step|password|way)\d?",
    re.IGNORECASE,
)
"""Names of methods, which hold digits as passwords do."""
_COUNT = regex(r"\d{1,4}(?:\s?[-~–至到]\s?\d{1,4})?")
_COUNTED = regex(
    r"\s?(?:characters?|chars?|digits?|letters?|bits?|bytes?|days?|weeks?|months?|years?|hours?"
    r"|minutes?|seconds?|times?|lines?|users?|people|位|天|个|次|分钟|小时|年|月|字符|人)",
    re.IGNORECASE,
)
_WORDS = frozenset(
    (
        *("none", "null", "true", "false", "string", "str", "int", "number", "bool", "boolean"),
        *("required", "optional", "wrong", "incorrect", "invalid", "expired", "missing", "empty"),
        *("hidden", "secret", "password", "token", "stored", "hashed", "encrypted", "reset"),
        *("text", "value", "hash", "input", "field", "varchar", "char", "pass", "passwd", "pwd"),
    )
)
_PLAIN_WORDS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "it", "its", "they", "you", "your"),
        *("i", "we", "he", "she", "my", "our", "their", "his", "her", "of", "to", "in", "on"),
        *("at", "by", "for", "from", "with", "as", "into", "is", "are", "was", "were", "be"),
        *("been", "being", "has", "have", "had", "do", "does", "did", "will", "would", "can"),
        *("could", "should", "must", "may", "and", "or", "but", "if", "when", "where", "which"),
        *("who", "what", "how", "why", "than", "then", "so", "such", "not", "no", "only", "also"),
        *("very", "more", "too", "once", "again", "never", "always", "easier", "needed", "used"),
    )
)
# "is weak", "has been leaked", ": ask Tom", "is always": how a password is, or where to find it.
_STATUS_WORDS = frozenset(
    (
        *("correct", "weak", "strong", "blank", "same", "different", "new", "old", "long"),
        *("short", "easy", "hard", "fine", "good", "great", "okay", "safe", "secure", "insecure"),
        *("unsafe", "unique", "random", "common", "simple", "complex", "public", "private"),
        *("known", "unknown", "valid", "due", "gone", "broken", "lost", "forgotten", "written"),
        *("stolen", "given", "taken", "chosen", "shown", "plain", "plaintext", "cleartext"),
        *("ready", "here", "there", "today", "now", "mine", "yours", "ours", "important"),
        *("mandatory", "necessary", "something", "nothing", "anything", "everything", "anyone"),
        *("somewhere", "still", "just", "really", "quite", "rather", "pretty", "maybe", "perhaps"),
        *("almost", "about", "above", "below", "after", "before", "unless", "until", "because"),
        *("ask", "see", "check", "use", "generate", "type", "enter", "choose", "pick", "look"),
        *("find", "read", "write", "keep", "make", "take", "get", "call", "tell", "know"),
        *(
            "minimum",
            "maximum",
            "least",
            "most",
            "nobody",
            "everyone",
            "someone",
            "case",
            "both",
            "each",
        ),
        *("unchanged", "right", "default", "sensitive", "visible", "there's", "out", "off", "back"),
    )
)
_SEE = frozenset(("see", "ask", "check", "read", "find", "never", "always", "keep"))
"""With which a sentence on passwords begins."""
_STATUS = regex(r"\w{3,30}(?:ed|ing|able|ible|less|ous|ive|ly|ic|al|ized|ised)")
# What follows a password that is a plain word: the sentence ends.
_END = regex(r"[\"'”」』`)]?\s{0,3}(?:$|[\n.,;!?)，。；！？、）])|[\"”」』]")
_ZH_STATUS = regex(
    r"^(?:不|没|请|要|很|太|随机|加密|必填|正确|错误|公司|同)|(?:的|了|过|吗|呢|什么|哪个|哪里|谁)$"
)


def is_any(text: str, start: int, end: int) -> bool:
    """Accept what a pattern found: its surroundings are proof enough."""
    return True


def is_real(text: str, start: int, end: int) -> bool:
    """Whether it is no placeholder of the documentation."""
    value = text[start:end]
    found = _PLACEHOLDER.match(value) or _PLACEHOLDER.search(value, 1)
    is_marked = found is not None and (found.start() == 0 or len(found[0]) > 1)
    # "xxxxxxxx" and "aaaabbbb" are placeholders; nothing drawn has three signs only.
    return not is_marked and len(set(value)) > 3


def is_real_with_digit(text: str, start: int, end: int) -> bool:
    """Whether it is no placeholder and holds a digit."""
    return is_real(text, start, end) and has_digit(text, start, end)


def is_random(text: str, start: int, end: int) -> bool:
    """Whether it looks drawn, not named: three digits, or a digit among both cases."""
    value = text[start:end]
    digits = sum(sign.isdigit() for sign in value)
    return is_real(text, start, end) and (digits >= 3 or (digits > 0 and _is_mixed(value)))


def is_code(text: str, start: int, end: int) -> bool:
    """Whether it holds a digit, or a capital where a word has none."""
    return has_digit(text, start, end) or any(sign.isupper() for sign in text[start + 1 : end])


def is_credential(text: str, start: int, end: int) -> bool:
    """Whether it stands where only a password can, and is not the example of one."""
    value = text[start:end].strip()
    return not _PLACEHOLDER.match(value) and value.lower() not in ("password", "pass", "pw")


def is_value(text: str, start: int, end: int) -> bool:
    """Whether what is assigned is a value, not a name, a type, a call or a word."""
    value = text[start:end].rstrip(_TAIL)
    if not is_real(text, start, start + len(value)) or _CODE.match(value):
        return False
    if _RESOURCE.search(text[max(0, start - 200) : start]) or _OPEN.search(text, start - 50, start):
        return False
    if value.lower() in _WORDS or value.startswith(("/", "./", "~/", "http")):
        return False
    is_quoted = text[start - 1 : start] in "\"'" and text[end : end + 1] in "\"'"
    return is_quoted or not (_IDENTIFIER.fullmatch(value) or _CONSTANT.fullmatch(value))


def is_password(text: str, start: int, end: int) -> bool:
    """Whether a short value is a password: digits alone count too."""
    value = text[start:end].rstrip(_TAIL)
    if value[:1] in _QUOTES and value[-1:] not in _QUOTES:
        value = value[1:]  # The first word of a line of code between quotes.
    if value.lower() in _WORDS or _PLACEHOLDER.match(value) or _CODE.match(value):
        return False
    if _SYNTAX.search(value) or value.strip(_QUOTES).startswith("/"):
        return False
    if _TECHNIQUE.fullmatch(value) or value.startswith(("/", "./", "~/", ":/")):
        return False
    # "Passwords have 12 characters", 密码 30 天过期: a count is no password.
    if _COUNT.fullmatch(value) and _COUNTED.match(text, start + len(value)):
        return False
    named = _IDENTIFIER.fullmatch(value) and not _is_drawn(value)
    return not named and len(set(value)) > 1


def _is_drawn(value: str) -> bool:
    """Whether letters look drawn: a name such as getUserName has few pieces of a letter or two."""
    pieces = _PIECES.findall(value)
    short = sum(len(piece) <= 2 for piece in pieces)
    return len(value) >= _DRAWN and len(pieces) >= 6 and 5 * short >= 2 * len(pieces)


def is_password_with_digit(text: str, start: int, end: int) -> bool:
    """Whether a password stands there that holds a digit, and no date or version."""
    value = text[start:end].rstrip(_TAIL)
    letters = any(sign.isalpha() for sign in value)
    return (
        is_password(text, start, start + len(value))
        and has_digit(text, start, end)
        and (letters or value.isdecimal())
        and "://" not in value
    )


def is_plain_password(text: str, start: int, end: int) -> bool:
    """Whether a plain word is a password: it ends its sentence and says nothing of passwords."""
    word = text[start:end].rstrip(_TAIL)
    low = word.lower()
    if not _END.match(text, start + len(word)) or low in _WORDS | _PLAIN_WORDS | _STATUS_WORDS:
        return False
    is_camel = word[1:].lower() != word[1:] and not word.isupper()
    if is_camel or _PLACEHOLDER.match(word) or _TECHNIQUE.fullmatch(word):
        return False
    line = text[text.rfind("\n", 0, start) + 1 : start]
    is_of_code = any(sign in line for sign in "{}()<>|")
    return not is_of_code and not (len(low) > 5 and _STATUS.fullmatch(low))


def is_spoken_zh(text: str, start: int, end: int) -> bool:
    """Whether Chinese words are a password, and do not say how or whose one is."""
    return not _ZH_STATUS.search(text[start:end])


def is_strong(text: str, start: int, end: int) -> bool:
    """Whether letters, digits and something odder are mixed as only passwords mix them."""
    value = text[start:end].rstrip(_TAIL)
    if not is_password(text, start, start + len(value)) or _ADDRESS.search(value):
        return False
    if is_fingerprint(text, start, start + len(value)):
        return False
    odd = _is_mixed(value) or any(sign in _ODD for sign in text[start:end])
    odd = odd or bool(_WORDS_AND_NUMBER.fullmatch(value)) or _count_switches(value) > 3
    letters = sum(sign.isalpha() for sign in value)
    if value[:1].isdigit() and (len(value) < 8 or letters < 3):  # 500GB, 2.5x, 12%
        return False
    return odd and letters > 0 and any(sign.isdigit() for sign in value)


def is_drawn(text: str, start: int, end: int) -> bool:
    """Whether a password of mixed signs is no name with a number: Postgres16, OAuth2, chrome120."""
    value = text[start:end].rstrip(_TAIL)
    odd = any(sign in _ODD for sign in text[start:end]) and not _NUMBERED.search(value)
    if value.startswith("^"):
        return False  # An anchor of a line: ^card-01m8hevv.
    return is_strong(text, start, end) and (odd or _count_switches(value) > 1)


def is_drawn_alone(text: str, start: int, end: int) -> bool:
    """Whether a token is mixed as only passwords are, so that nothing beside it need say so.

    Both cases and digits change often, and an odd sign stands inside. In 125 MB of articles,
    manuals, chats and code there are 30 such tokens, half of them passwords.
    """
    value = text[start:end]
    if not (
        8 <= len(value) <= 40
        and _is_mixed(value)
        and 0 < len(_INSIDE.findall(value)) <= len(value) // 4
    ):
        return False
    if _JOINED_BEFORE.search(text[max(0, start - 8) : start]) or _JOINED_AFTER.match(text, end):
        return False
    return (
        is_real(text, start, end)
        and not (_NAMES.fullmatch(value) or _EXPRESSION.fullmatch(value))
        and value.count("*") < 2
        and not _ESCAPED.search(value)
        and _count_switches(value) > 1
    )


def is_pair_password(text: str, start: int, end: int) -> bool:
    """Whether it is drawn, or words that signs join and digits end: maple-otter-41, Maple_41."""
    value = text[start:end].rstrip(_TAIL)
    return (is_drawn(text, start, end) and not _HEX.fullmatch(value)) or (
        bool(_WORDS_AND_NUMBER.fullmatch(value)) and is_password_with_digit(text, start, end)
    )


def is_code_of_letters(text: str, start: int, end: int) -> bool:
    """Whether letters and digits are mixed as in the number of a licence."""
    value = text[start:end]
    return has_digit(text, start, end) and not value.isdigit() and _count_switches(value) > 1


def is_told(text: str, start: int, end: int) -> bool:
    """Whether a value that ends its sentence is drawn, or a name with digits in small letters."""
    value = text[start:end].rstrip(_TAIL)
    if is_drawn(text, start, end):
        return True
    digits = sum(sign.isdigit() for sign in value)
    letters = sum(sign.isalpha() for sign in value)
    return (
        is_password_with_digit(text, start, end)
        and not _ADDRESS.search(value)
        and (digits > 1 or len(_JOINED.findall(value)) > 1 - _is_mixed(value))
        and letters > 1
        and value.upper() != value
        and bool(ENDS.match(text, start + len(value)))
    )


def is_told_in_url(text: str, start: int, end: int) -> bool:
    """Whether the value of a key in an address is drawn."""
    return is_real_with_digit(text, start, end) and (
        _is_mixed(text[start:end]) or bool(_HEX.fullmatch(text, start, end))
    )


def is_drawn_path(text: str, start: int, end: int) -> bool:
    """Whether a piece of the path of an address is drawn, and no name of a page."""
    value = text[start:end]
    digits = sum(sign.isdigit() for sign in value)
    return digits > 2 and (_count_switches(value) > 3 and not _OF_PAGES.search(value))


def is_odd(text: str, start: int, end: int) -> bool:
    """Whether letters in groups are drawn, and no words of a language."""
    return has_digit(text, start, end) or oddness_of(text[start:end]) > 1


def is_joined_password(text: str, start: int, end: int) -> bool:
    """Whether the value of an option is a password: signs join its words, or digits."""
    value = text[start:end]
    return is_real(text, start, end) and bool(_JOINT.search(value, 1)) and not _FILE.search(value)


def is_told_zh(text: str, start: int, end: int) -> bool:
    """Whether Chinese words with a number behind them are a password: nothing is counted."""
    return is_spoken_zh(text, start, end) and bool(ENDS.match(text, end))


def is_drawn_token(text: str, start: int, end: int) -> bool:
    """Whether letters of both cases and digits are drawn, or base 32 as seeds are written in."""
    value = text[start:end]
    if _PUBLIC.search(text, max(start - 200, text.rfind("\n", 0, start) + 1), start):
        return False
    if _NAMES_REQUEST.search(text, max(0, start - 20), start):
        return False
    seed = value.isupper() and _BASE32.fullmatch(value) and has_digit(text, start, end)
    return bool(seed) or (is_token(text, start, end) and _is_mixed(value))


def is_token(text: str, start: int, end: int) -> bool:
    """Whether it is drawn from letters of both cases and digits, or from 32 hexadecimal ones."""
    value = text[start:end]
    digits = sum(sign.isdigit() for sign in value)
    mixed = _is_mixed(value) and _count_switches(value) > 3
    return is_real(text, start, end) and digits > 2 and (mixed or bool(_HEX.fullmatch(value)))


def _count_switches(value: str) -> int:
    """Return how often letters and digits follow each other, signs left out."""
    plain = [sign.isdigit() for sign in value if sign.isalnum()]
    return sum(a != b for a, b in pairwise(plain))


def is_phrase(text: str, start: int, end: int) -> bool:
    """Whether words stand together as a passphrase draws them: none joins the others."""
    words = text[start:end].lower().replace("-", " ").split()
    if len(words) == 3 and (words[0] in _STATUS_WORDS - {"correct"} or _STATUS.fullmatch(words[0])):
        return False  # "ask somebody else", "stored elsewhere too"
    return len(words) >= 3 and words[0] not in _SEE and not _PLAIN_WORDS & set(words)


def _is_mixed(value: str) -> bool:
    return value.lower() != value and value.upper() != value

"""Text as notes hold it, and scalars of front matter: which are typed, and how they are written.

Only JSON's own words and numbers are typed, and only where writing the value gives
the same characters again. ``no``, ``12:30``, ``0123``, ``1.10`` and dates stay the
strings a person sees.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

# Tab and newline stay; next-line and the Unicode separators count as newlines.
_NEWLINE = re.compile("\r\n|[\r\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# The look behind keeps a long run of spaces from being tried at every place in it.
_TRAILING = re.compile(r"(?<![^\S\n])[^\S\n]+$", re.MULTILINE)
Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_WORDS: dict[str, bool | None] = {"": None, "null": None, "true": True, "false": False}
# 18 digits: what fits into 64 bits in every other program.
_INT = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_NUMERIC = frozenset("-0123456789")

# Other programs read YAML 1.1: what they would not take for a string is quoted.
_TRAP_WORDS = "y n yes no on off true false null none ~ = << .nan .inf -.inf +.inf"
_TRAPS = frozenset(_TRAP_WORDS.split(" "))
_NUMBER_LIKE = re.compile(r"[-+.]?[0-9][0-9_.,:a-fA-FxoXO+-]*")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)?"
)
_KEY = re.compile(r"[^\W\d][\w.-]*(?: [\w.-]+)*")
_NOT_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`")
_NEVER_PLAIN = re.compile(
    "[\x00-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|: | #|:$|^ | $"
)
# PyYAML ends a word between brackets at a question mark, too.
_FLOW_MARK = re.compile(r"[,\[\]{}:#?]")
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def clean(text: str) -> str:
    """Return `text` as a note can hold it; cleaning twice changes nothing.

    Every newline becomes a line feed, other control characters except tabs vanish, trailing
    white space goes, and so do white space and blank lines around the whole.
    Characters are otherwise kept as they are; broken ones (lone surrogates) become
    U+FFFD.
    """
    # The quick way for most keys and titles; nothing of what follows could change them.
    if text.isascii() and text.isprintable():
        return text.strip()
    plain = _CONTROL.sub("", _NEWLINE.sub("\n", text))
    return _TRAILING.sub("", _SURROGATE.sub("\ufffd", plain)).strip()


def one_line(text: str) -> str:
    """Return `text` cleaned, with every run of white space made one space."""
    return " ".join(clean(text).split())


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whichever of the three newlines it uses."""
    return re.split("\r\n|\n|\r", text)


@lru_cache(maxsize=4096)
def typed(text: str) -> bool | int | float | str | None:
    """Return the value of an unquoted scalar."""
    if text[:1] not in _NUMERIC:
        return _WORDS.get(text, text)
    if text[4:5] == "-" and text[3:4] != "e":  # a date: no number has a dash there
        return text
    if _INT.fullmatch(text):
        return text if text == "-0" else int(text)
    # "1.10" may be a version: read as a number, it would come back as 1.1.
    if _FLOAT.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def _is_plain(text: str, *, flow: bool) -> bool:
    # The quick way for most words; nothing of what follows but a trap could be one.
    if text.isascii() and text.isalpha():
        return text.lower() not in _TRAPS
    if not text or text[0] in _NOT_FIRST or _NEVER_PLAIN.search(text):
        return False
    if text.lower() in _TRAPS or (flow and _FLOW_MARK.search(text)):
        return False
    return not _NUMBER_LIKE.fullmatch(text) or _MOMENT.fullmatch(text) is not None


def _quote_text(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)


@lru_cache(maxsize=4096)
def _write_text(text: str, *, flow: bool) -> str:
    return text if _is_plain(text, flow=flow) else _quote_text(text)


def written(value: Value, *, flow: bool = False) -> str:
    """Return the one-line form of a value; `flow` where it stands between brackets."""
    if isinstance(value, str):
        return _write_text(value, flow=flow)
    if isinstance(value, list):
        return f"[{', '.join(written(item, flow=True) for item in value)}]"
    if isinstance(value, dict):
        pairs = (f"{_quote_text(key)}: {written(item, flow=True)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value)


def entry(name: str, value: Value) -> list[str]:
    """Return the lines of one key as a new file has them: lists one item a line."""
    first, *rest = after_key(value)
    return [_write_key(name) + first, *rest]


@lru_cache(maxsize=4096)
def _write_key(name: str) -> str:
    return name if _KEY.fullmatch(name) else _quote_text(name)


def after_key(value: Value) -> list[str]:
    """Return the lines of a key without the key itself."""
    if isinstance(value, list) and value:
        return [":", *(f"  - {written(item, flow=_is_collection(item))}" for item in value)]
    return [f": {written(value)}"]


def _is_collection(value: Value) -> bool:
    return isinstance(value, list | dict)


def same(one: object, other: object) -> bool:
    """Whether two values are equal and of the same type all the way down."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    # To Python, True equals 1 and 1 equals 1.0; in a file they are different words.
    return type(one) is type(other) and one == other

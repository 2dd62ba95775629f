"""Canonical front matter: the lines we write ourselves, read without a YAML parser.

Whatever is not surely of this form is left to the YAML reader. Both agree on every
block this one takes; it is here because it is many times faster.
"""

from __future__ import annotations

import json
import re

from kimi_memory.formats.scalar import Value, typed

# Tabs, control characters and what YAML 1.1 takes for line breaks.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_INDICATOR = frozenset("-?:,[]{}#&*!|>'\"%@` ")
# Only what begins like a number or a word of JSON can be anything but text.
_TYPED = frozenset("0123456789ntf")
_SPECIAL = _INDICATOR | _TYPED | {""}
_NEGATIVE = re.compile(r"-[0-9][0-9.e+-]*")
# "[a, b/c, d-1]": plain words only; quotes and nesting are for the YAML reader.
_FLOW = re.compile(r"\[(?:[^\W_][\w./+-]*(?:, ?[^\W_][\w./+-]*)*)?\]")
_LONGEST_NAME = 100
_NO_LIST: list[Value] = []


class _OtherFormError(Exception):
    """This block is for the YAML reader."""


def load(block: str, first: int = 1) -> tuple[dict[str, Value], dict[str, int]] | None:
    """Return values and line numbers by key, or None for a block of another form.

    Args:
        block: Whole lines, without the rules around them.
        first: The number of its first line.
    """
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    lines = block.split("\n")
    # Most blocks are wholly printable, which is quicker to see than what is odd.
    if not "".join(lines).isprintable() and _ODD.search(block):
        return None
    lines.pop()
    try:
        return _parse_lines(lines, first)
    except _OtherFormError:
        return None


def _parse_lines(block: list[str], first: int) -> tuple[dict[str, Value], dict[str, int]]:
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    name, items = "", _NO_LIST
    for number, line in enumerate(block, first):
        if line[:4] == "  - ":
            if items is _NO_LIST:
                raise _OtherFormError
            text = line[4:]
            items.append(
                _parse_special_scalar(text) if text[:1] in _SPECIAL else _parse_plain_scalar(text)
            )
            values[name] = items
            continue
        name, found, text = line.partition(": ")
        if not found:
            name = _parse_bare_key(line)
        if name in values or not name.isidentifier() or len(name) > _LONGEST_NAME:
            raise _OtherFormError
        lines[name] = number
        items = _NO_LIST if text else []
        values[name] = _parse_value(text) if text[:1] in _SPECIAL else _parse_plain_scalar(text)
    return values, lines


def _parse_bare_key(line: str) -> str:
    if line[-1:] != ":":
        raise _OtherFormError
    return line[:-1]


def _parse_plain_scalar(text: str) -> str:
    if ": " in text or " #" in text or text[-1] in ": ":
        raise _OtherFormError
    return text


def _parse_value(text: str) -> Value:
    if not text:
        return None
    if text[0] != "[":
        return _parse_special_scalar(text)
    if not _FLOW.fullmatch(text):
        raise _OtherFormError
    inner = text[1:-1]
    return [typed(item.strip(" ")) for item in inner.split(",")] if inner else []


def _parse_special_scalar(text: str) -> Value:
    first = text[:1]
    if first in _TYPED:
        return typed(_parse_plain_scalar(text))
    # An escape may spell half a character, which JSON takes and YAML refuses.
    if first == '"' and text[-1] == '"' and "\\u" not in text:
        return _parse_quoted_scalar(text)
    if _NEGATIVE.fullmatch(text):
        return typed(text)
    raise _OtherFormError


def _parse_quoted_scalar(text: str) -> str:
    if "\\" not in text and text.count('"') == 2:
        return text[1:-1]
    try:
        found = json.loads(text)
    except ValueError:
        raise _OtherFormError from None
    return str(found)

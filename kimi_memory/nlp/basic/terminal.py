"""Text made safe to print: what a terminal would obey becomes visible instead."""

from __future__ import annotations

import re

from kimi_memory.nlp.basic.regex import regex

# C0 and C1 controls but newline and tab; soft hyphen; zero-width and bidi characters;
# line separators; fillers; variation selectors that can smuggle text; lone surrogates,
# which no terminal encoding takes; and the tag characters U+E0000 to U+E007F.
_UNSAFE = regex(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def _escape_character(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def printable(text: str) -> str:
    r"""Return `text` with control, bidi and invisible characters as visible escapes.

    Newline and tab stay. An escape character becomes the four characters ``\x1b``.
    """
    return _UNSAFE.sub(_escape_character, text)

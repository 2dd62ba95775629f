"""Text as notes hold it: no control characters, one kind of newline, no loose ends."""

from __future__ import annotations

import re

# Tab and newline stay; next-line and the Unicode separators count as newlines.
_NEWLINE = re.compile("\r\n|[\r\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# The look behind keeps a long run of spaces from being tried at every place in it.
_TRAILING = re.compile(r"(?<![^\S\n])[^\S\n]+$", re.MULTILINE)


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

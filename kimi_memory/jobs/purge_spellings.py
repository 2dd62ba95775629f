"""The ways in which a text that is to be purged may be spelled in the bytes of a file."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from kimi_memory.nlp.basic.safe_text import slug

_SPACES = [chr(code) for code in range(0x3001) if chr(code).isspace()]
_GAP = b"(?:%s)" % b"|".join(
    [
        # Quoted lines of a page begin with a mark of their own.
        *(re.escape(space.encode()) for space in [*_SPACES, ">"]),
        rb"\\[ntrbf]",
        *(rb"(?i:\\u%04x)" % ord(space) for space in _SPACES),
    ]
)
# What is escaped ends in a letter or digit, and is no part of the word behind it.
_BORDER = rb"(?:(?<![0-9A-Za-z])|(?<=\\[nrtbf])|(?<=\\u[0-9A-Fa-f]{4}))"
_END = rb"(?![0-9A-Za-z])"
_FRONT, _BACK = re.compile(_BORDER), re.compile(_END)
_LONGEST_WORD = 40
_JOINT = rb"[-_. ]+"
_CODE = re.compile(r"[0-9A-Fa-f]{1,12}|[0-9A-Za-z]{1,5}")
_SLUG_LIMITS = (40, 60)
"""Where keys, titles and file names made of a text are cut."""
_SHORTEST_SLUG = 12


def spellings(texts: Sequence[str]) -> re.Pattern[bytes]:
    """Return what finds any of the texts: any case, width, spacing, escaped, or as a slug.

    A text that begins or ends with a Latin letter or digit is found as a word, not within one.
    """
    found = {part for text in texts for part in _yield_patterns(text)}
    # The longest first: what is cut short must not hide the whole.
    ordered = sorted(found, key=lambda part: (-len(part), part))
    return re.compile(b"|".join(ordered) or rb"(?!)")


def find_longer_words(texts: Sequence[str], content: bytes) -> set[str]:
    """Return the words of a file's text of which a text is only a part, and which thus stay."""
    whole, found = spellings(texts), set[str]()
    for text in texts:
        # Bare digits and letters stand in hashes and ids by chance.
        code = bool(_CODE.fullmatch(text))
        for part in re.finditer(_match_words(" ".join(text.split())), content):
            word = b"" if whole.match(content, part.start()) else _widen(content, *part.span())
            if word and not (code and any(48 <= byte < 58 for byte in word)):
                found.add(word.decode("utf-8", "replace"))
    return found


def _widen(content: bytes, first: int, last: int) -> bytes:
    """Return a part of a text with the rest of its word; nothing where it is too long for one."""
    most = last - first + _LONGEST_WORD
    while not _FRONT.match(content, first) and last - first < most:
        first -= 1
    while not _BACK.match(content, last) and last - first < most:
        last += 1
    return content[first:last] if last - first < most else b""


def _yield_patterns(text: str) -> Iterator[bytes]:
    plain = " ".join(unicodedata.normalize("NFC", text).split())
    for form in {plain, " ".join(text.split())}:
        yield _at_borders(form, _match_words(form))
    name = slug(plain, limit=400)
    if any(ch.isalnum() for ch in plain) and not _CODE.fullmatch(plain):
        yield _at_borders(name, _match_slug(name))
    for limit in _SLUG_LIMITS:
        if len(plain) > limit:
            yield _match_words(plain[:limit].rstrip())
        cut = slug(plain, limit=limit)
        if _SHORTEST_SLUG <= len(cut) < len(name):
            yield _match_slug(cut)


def _at_borders(text: str, pattern: bytes) -> bytes:
    """Return a pattern that begins and ends where a word does; Chinese has no such borders."""
    before = _BORDER if is_latin(text[:1]) else b""
    return before + pattern + (_END if is_latin(text[-1:]) else b"")


def is_latin(char: str) -> bool:
    """Whether a character is a Latin letter or digit, whose words end at borders."""
    return char.isascii() and char.isalnum()


def _match_words(text: str) -> bytes:
    pieces: list[bytes] = []
    for here, after in zip(text, [*text[1:], ""], strict=True):
        pieces.append(_GAP + b"+" if here == " " else _match_letter(here))
        # Lines of Chinese are broken anywhere.
        if _is_han(here) and _is_han(after):
            pieces.append(_GAP + b"*")
    return b"".join(pieces)


def _match_slug(name: str) -> bytes:
    tokens = [token for token in re.split(r"[-_. ]+", name) if token]
    return _JOINT.join(b"".join(map(_match_letter, token)) for token in tokens)


def _match_letter(char: str) -> bytes:
    """Return what finds one character in any case and width, raw or escaped."""
    same = {char, unicodedata.normalize("NFKC", char)}
    same |= {chr(ord(c) + 0xFEE0) for c in same if len(c) == 1 and "!" <= c <= "~"}
    same |= {form for c in same for form in (c.lower(), c.upper(), c.casefold())}
    same |= {unicodedata.normalize("NFD", form) for form in same}
    forms = sorted({way for form in same for way in _yield_spellings(form)}, key=len, reverse=True)
    return b"(?:" + b"|".join(forms) + b")"


def _yield_spellings(form: str) -> Iterator[bytes]:
    yield re.escape(form.encode())
    # JSON escapes an emoji as two halves.
    yield b"(?i:" + b"".join(rb"\\u%04x" % unit for unit in _utf16_units(form)) + b")"
    short = f"\\{form}" if form == "/" else json.dumps(form)[1:-1]
    if len(short) == 2:
        yield re.escape(short.encode())


def _utf16_units(text: str) -> Iterator[int]:
    raw = text.encode("utf-16-be")
    for at in range(0, len(raw), 2):
        yield int.from_bytes(raw[at : at + 2], "big")


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff"

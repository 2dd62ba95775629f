"""File names made of titles."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from kimi_memory.nlp.basic.regex import regex

MAX_BYTES = 200
"""Most bytes of UTF-8 in a slug: file systems take 255, and callers add dates and numbers."""

# Windows opens a device by these names, whatever suffix follows.
_RESERVED = regex(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)")
_DASHES = regex(r"(?<![-_.])[_.]*+-[-_.]*+")
_DOTS = regex(r"\.{2,}")
_EDGE = "-_."


@lru_cache(maxsize=1024)  # Every card of a category asks for the same one.
def slug(title: str, limit: int = 60) -> str:
    """Return a file name for `title`, without suffix: at most `limit` characters.

    Letters of every script, digits, inner dots and underscores stay, the rest becomes
    dashes. Different titles may give the same slug; the caller numbers them.
    """
    # Composed again, since lower case may leave a letter in parts: one title has to give the same
    # file name on every system.
    lower = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    kept = "".join(ch if _is_slug_character(ch) else "-" for ch in lower)
    name = _shorten_name(_clean_name(kept), limit) or "note"
    return f"note-{name}"[: max(limit, 4)].rstrip(_EDGE) if _RESERVED.match(name) else name


def _is_slug_character(ch: str) -> bool:
    return ch in "._" or unicodedata.category(ch)[0] in "LNM"


def _clean_name(name: str) -> str:
    name = _DASHES.sub("-", _DOTS.sub(".", name)).strip(_EDGE)
    # A mark without its letter would join whatever a caller puts before the slug.
    while name and unicodedata.category(name[0])[0] == "M":
        name = name[1:].lstrip(_EDGE)
    return name


def _shorten_name(name: str, limit: int) -> str:
    cut = name[:limit].encode()[:MAX_BYTES].decode(errors="ignore")
    if len(cut) == len(name):
        return name
    rest = name[len(cut) :]
    border = cut.rfind("-")
    if rest[0] not in "-." and border > len(cut) * 2 // 3:
        cut = cut[:border]
    elif unicodedata.category(rest[0])[0] == "M":
        cut = cut.rstrip("".join(c for c in cut if unicodedata.category(c)[0] == "M"))[:-1]
    return cut.rstrip(_EDGE)

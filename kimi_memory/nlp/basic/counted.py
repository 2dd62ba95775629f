"""Nouns with a number before them, in English: one file, two files."""

from __future__ import annotations

import re

_VERBS = {"were": "was", "are": "is", "have": "has"}
_VERBS |= {verb: f"{verb}s" for verb in ("wait", "name", "differ")}
_NO_PLURALS = {"is", "was", "has", "this", "its"}
_WORDS = r"(?P<noun>[a-z]+s)(?P<verb> (?:were|are|have|wait|name|differ))?\b"
_OF_THEM = r"(?P<of>of (?:these files|them))(?P<verb2> wait)\b"
AGREEING = rf"(?:{_WORDS}|{_OF_THEM})"
"""A pattern of what changes with the number before it: a noun in the plural, a verb after it."""
_AGREEING = re.compile(AGREEING)


def agree(count: int, words: str) -> str:
    """Return words as they follow a number.

    Args:
        count: the number.
        words: as they follow two, with the noun first: ``versions are gone``.
    """
    found = _AGREEING.match(words) if count == 1 else None
    if found is None or found["noun"] in _NO_PLURALS:
        return words
    noun = found["of"] or singular(found["noun"])
    verb = (found["verb"] or found["verb2"] or "").strip()
    return noun + (f" {_VERBS[verb]}" if verb else "") + words[found.end() :]


def counted(count: int, words: str) -> str:
    """Return a number and the words that follow it; see `agree`."""
    return f"{count} {agree(count, words)}"


def singular(noun: str) -> str:
    """Return an English noun of the plural in the singular."""
    return f"{noun[:-3]}y" if noun.endswith("ies") else noun[:-1]


def loosen(text: str) -> str:
    """Return a pattern for words that follow a number, whichever number it is.

    Args:
        text: as it stands behind the place of a number, with the space.
    """
    found = _AGREEING.match(text, 1)
    if not text.startswith(" ") or found is None or found["noun"] in _NO_PLURALS:
        return re.escape(text)
    many, one = found[0], agree(1, found[0])
    return rf"\ (?:{re.escape(many)}|{re.escape(one)}){re.escape(text[found.end() :])}"

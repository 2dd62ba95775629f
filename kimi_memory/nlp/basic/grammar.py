"""Grammars: patterns made of named parts, which may be made of parts themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kimi_memory.nlp.basic.regex import regex

# A named group, (?P<name>…), belongs to the pattern and is no part to write out.
_PART = re.compile(r"(?<!\(\?P)<(\w+)>")


def rule(parts: Mapping[str, str], form: str, flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of a form in which ``<name>`` stands for the part of that name."""
    return regex(spelled(parts, form), flags)


def spelled(parts: Mapping[str, str], form: str) -> str:
    """Return a form with every part written out."""
    return _PART.sub(lambda found: f"(?:{spelled(parts, parts[found[1]])})", form)

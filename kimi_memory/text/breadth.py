"""Questions that ask for several things at once: which books, how often, 哪些."""

from __future__ import annotations

import re

from kimi_memory.text.regex import regex

_SEVERAL = regex(
    r"^(?:in what ways|what are|what were|who are|who were|list)\b"
    r"|\bhow (?:many|often)\b|\b(?:has|have)\b(?! been\b| to\b)|\bboth\b|\bin common\b"
    r"|哪些|哪几|分别|分別|几次|幾次|多少次|几个|幾個|列出|所有",
    re.IGNORECASE,
)
_KIND = regex(r"^(?:what|which) (?:kind|type|sort)s? of\b", re.IGNORECASE)
_PLURAL = regex(
    r"^(?:(?:in|from|on|at|to) )?(?:what|which)(?: [\w-]+){0,2}? (?P<noun>[a-z]{3,}s)\b(?!['’])",
    re.IGNORECASE,
)
_SINGULAR = regex(r"(?:ss|us|is)$|^(?:does|was|has|always|perhaps|besides|news|series|process)$")


def asks_for_several(text: str) -> bool:
    """Whether an answer has parts that may stand far apart."""
    question = text.strip()
    if _SEVERAL.search(question) or _KIND.search(question):
        return True
    found = _PLURAL.match(question)
    return found is not None and not _SINGULAR.search(found["noun"].lower())

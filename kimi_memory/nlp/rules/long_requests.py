"""Long requests: what a person asks who hands an agent a whole plan, a page or a listing."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.utterance import Act, act_of

_TITLE = regex(r"^\s{0,3}#{1,3}\s+(?P<heading>\S.*)$|^.{0,60}?\btitle:\s+(?P<title>\S.*)$", 10)
_REASON = regex(
    r"^\s{0,3}#{1,4}\s{1,8}\W{0,12}(?:\d{1,4}\W{1,8})?(?:context|background|goals?|purpose|problem|motivation|why|overview"
    r"|summary|objective|背景|目标|目的|问题|概述)\W{0,12}$\n++(?P<reason>[^\n#]+)",
    10,
)
_GENERIC = regex(
    r"^\W*(?:\d+\W+)?(?:context|background|goals?|purpose|problem|motivation|why|overview|summary|objective"
    r"|your task|tasks?|instructions?|steps?|notes?|plan|details?|current .*|背景|目标|目的|问题|概述|任务|说明)\W*$",
    2,
)
_LISTED = regex(r"^\W*(?:[-*•]|\d+[.)])\s|`{3}|[:：]\s*$")
MOST = 200
"""So many characters of a part are quoted."""


def request_in(text: str) -> str:
    """Return what a long message asks: its own words above the page, the title, the reason."""
    parts = [_find_lead(text), _find_title(text), _find_reason(text)]
    # An order for always is kept as one, by itself.
    kept = [part for part in parts if part and act_of(part) is not Act.ORDER]
    return " … ".join(dict.fromkeys(kept))


def _find_lead(text: str) -> str:
    """Return the sentence before the page, if there is one."""
    first = text.strip().split("\n", 1)[0].strip()
    if first.startswith(("#", "|", "<", "```", "- ")) or not len(first.split()) > 2:
        return ""
    start, end = next(iter(sentences(first)), (0, len(first)))
    lead = first[start:end].strip().rstrip(":：")
    return lead if len(lead) <= MOST else ""


def _find_title(text: str) -> str:
    for found in _TITLE.finditer(text, 0, 4 * MOST):
        title = (found["heading"] or found["title"]).strip(" #*")
        if not _GENERIC.match(title) and len(title) <= MOST:
            return title
    return ""


def _find_reason(text: str) -> str:
    found = _REASON.search(text)
    if found is None or _LISTED.match(found["reason"]):
        return ""
    start, end = next(iter(sentences(found["reason"])), (0, 0))
    reason = found["reason"][start:end].strip()
    return reason if 12 <= len(reason) <= 2 * MOST else ""

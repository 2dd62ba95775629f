"""Reports: what an agent at work says it found and did, without its running commentary."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kimi_memory.nlp.basic.regex import regex
from kimi_memory.nlp.basic.sentences import sentences
from kimi_memory.nlp.rules.salience import traits_of

_FENCE = regex(r"^\s*(?:```|~~~)")
_ROW = regex(r"^\s*\|")
_HEADING = regex(r"^\s*#{1,6}\s|^\s*\**[^*\n]{1,80}\**[:：]\**\s*$|^\s*(?:---+|\*\*\*+)\s*$")
_MARKUP = regex(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+(?:\[[ xX]\]\s*)?|\*\*|__")
# "Let me check …", "Now I'll …", 接下来…: what an agent is about to do, never what came of it.
_COMMENTARY = regex(
    r"^\W*(?:(?:good|great|ok(?:ay)?|now|first|next|right|perfect|excellent|alright|so|and|then|understood|got it|sure|but)\b[,.!:— –-]*+\s*+){0,3}"
    r"(?:let me|let's|i'll|i will|i'm going to|i am going to|i need to|i should|i can (?:now )?see|i see\b|now i\b|now the\b|i (?:now )?have (?:everything|all|enough|what|an? )|must be|probably|maybe|perhaps|might be|likely\b|we need to|here(?:'s| is| are)\b|looking at|would you|do you|should i|shall i|want me|is there|if you|you can\b|you may\b|let us|feel free|which\b|what\b|how\b|can you|to summarize|summary|in summary|you're (?:absolutely )?right|sorry|apolog|(?:add|update|fix|create|check|run|remove|write|build|verify|test|implement|replace|refactor|rename|move|wait)\b(?!ed)(?= (?:the|a|an|all|these|those|it|them|this|that|`)))"
    r"|\b(?:wait|hmm),? (?:let me|no|actually)|\bi need to\b|^\W*(?:让我|我来|我先|我将|我会|接下来|下面|好的|明白|是否|需要我|要不要|请问|如果你|您)",
    2,
)
# "Done. The port is 8080": the nod is cut, and lends its weight to what follows.
_NODS = regex(
    r"^\W*(?:(?:done|fixed|perfect|great|good(?: catch| question| point)?|excellent|understood|confirmed|all (?:clean|set|done|good)|clean|right|yes|no|got it|sure|absolutely|implementation complete|好的?|完成|搞定|已完成)(?:\s*[.!,:。！，]|\s+[—–-](?=\s))\s*)+",
    2,
)
_FINE = regex(r"^\W*(?:\(?\d+\)?\W*)?✅")
_PRAISE = regex(
    r"^\W*(?:\(?\d+\)?\W*)?(?:good|nice|great|correct|clear|clean|solid|excellent|well|proper|fine|looks good)\b",
    2,
)
"""A review that finds nothing wrong with a line finds nothing."""
_PRINTED = regex(r"^[<>=]{7}|^\W*\d+\s*(?:→|│|\|)|^[+-]{1,3}\s|[{};]\s*$|^\s*(?:\$|>|%)\s")
"""A line of a program, of a difference or of what a tool printed."""
_DID = regex(
    r"^\W*(?:`[^`]{1,80}`\W*)?(?:all \w+ \w+ )?(?:i(?:'ve| have)? |we(?:'ve| have)? |the \w+ (?:has|have|was|were|is|are|now) |also |now )?(?:just |now |already |been )*"
    r"(?:add|creat|fix|updat|remov|delet|renam|mov|extract|refactor|replac|rewr|rewrote|reorder|implement|chang|split|hoist|revert|merg|bump|upgrad|migrat|convert|insert|drop|disabl|enabl|configur|install|deploy|wrote|writ|made|built|moved|switch|set up|pass|simplif|consolidat|document|log|correct|resolv|clean|introduc|wrap|inlin|deprecat|restor|reus|keep|kept|found|identif|discover|verif|confirm|test|measur)(?:ed|d|s|es|ied|ing|t|ten|n)?\b"
    r"|(?:已|已经)(?:经)?(?:添加|新增|修复|更新|删除|移除|重命名|修改|改|实现|创建|完成|迁移|替换|提取|合并|回滚)|(?:改|加|修|换|删|移|拆|合)(?:成|为|到|了|好)",
    2,
)
_CAUSE = regex(
    r"\b(?:the (?:issue|problem|root cause|cause|reason|bug|culprit|fix|key insight|catch|trick|solution|answer|difference|verdict)\b|because|due to|since the|caused by|turns out|which (?:means|is why|explains)|so that|instead of|intentional|intended|only (?:runs|used|works|when|applies)|never|always|no longer|already|needs?|must|requires?|falls? back|defaults? to|conflicts? with|fails?|failed|broke|missing|expected|by design|not (?:supported|used|needed|actually|enough))\b"
    r"|原因|问题(?:在于|是|出在)|因为|由于|导致|所以|而不是|不再|必须|需要|默认|不支持|失败|缺",
    2,
)
_LABEL = regex(
    r"^\W*(?:root cause|cause|reason|why|problem|fix|solution|result|findings?|conclusion|note|still open|open|remaining|to-?do|not done|next|原因|结论|问题|修复|遗留|待办|注意)\W{0,3}[:：]",
    2,
)
"""What a line is, said in front of it."""
_DOING = regex(r"^\W*(?:now )?(?:re)?[a-z]+ing\b", 2)
_STEP = 70
"""So short a unit that begins with what is being done is a step, no finding."""
# `a.b`, snake_case, camelCase, src/app.py, --flag, #17
_IDENTIFIER = regex(
    r"`[^`\n]{1,120}`|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b[\w./-]+\.[a-z]{1,4}\b|(?<!\w)--[a-z][\w-]+|#\d+"
)
_FIGURE = regex(r"\d")
SHORTEST, LONGEST = 16, 420


_ITEM = regex(r"^\s*(?:[-*•]|\d{1,2}[.)、])\s+")
_INTRO = regex(r"[:：]\W*$")
_GENERIC = regex(
    r"^\W*(?:(?:\w+ ){0,2}(?:summary|changes?|overview|details?|notes?|files?|steps?|results?|created|modified|added|updated|removed|fixed|tests?|review|plan|implementation|verification)\b[\w\s]{0,20}|总结|概述|变更|修改|说明)\W*$",
    2,
)
"""A heading that says nothing of its own."""


@dataclass(frozen=True, slots=True)
class Report:
    """One thing that an agent says it found or did.

    Attributes:
        text: its words, or those of a heading and of what stands below it.
        worth: how much it tells.
        above: the heading or the lead of a list that it stands below; may be empty.
    """

    text: str
    worth: float
    above: str = ""


def reports_in(text: str) -> list[Report]:
    """Return what a message reports, in order; code, headings and chatter are left out."""
    found: list[Report] = []
    above = ""
    for line in _unfenced_lines(text):
        item = _ITEM.match(line) is not None or _ROW.match(line) is not None
        plain = _strip_markup(line)
        if not plain or _FINE.match(plain):
            continue
        if _HEADING.match(line) or (_INTRO.search(plain) and not _COMMENTARY.search(plain)):
            head = _NODS.sub("", plain, count=1).rstrip(" :：*")
            named = _IDENTIFIER.search(head) or (_DID.search(head) and _FIGURE.search(head))
            if _HEADING.match(line) or named:
                above = head if named and not _GENERIC.match(head) and len(head) <= 200 else ""
                continue
        if not item:
            above = ""
        found += _find_reports(line, above, item=item)
    return found


def _find_reports(line: str, above: str, *, item: bool) -> Iterator[Report]:
    for unit, done in _split_sentences(line):
        worth = _score_unit(unit, done=done)
        listed = item and _DID.search(above) and not _COMMENTARY.search(unit)
        if worth <= 0 and listed:
            worth = 0.3 * min(3, len(set(_IDENTIFIER.findall(unit)))) + 0.3
        if worth > 0:
            yield Report(unit, worth + (0.5 if above else 0), above)


def _unfenced_lines(text: str) -> Iterator[str]:
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip():
            yield line


def _strip_markup(line: str) -> str:
    if _ROW.match(line):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        first = next((cell for cell in cells if any(map(str.isalpha, cell))), "")
        # Of a table's row the first cell with words; a row of figures says nothing alone.
        return first if len(first.split()) > 1 else ""
    return _MARKUP.sub("", line.lstrip("# ")).strip()


def _split_sentences(line: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences of a line, and whether "Done." or the like stands before each."""
    plain = _strip_markup(line)
    done = False
    for start, end in sentences(plain):
        unit = _NODS.sub("", plain[start:end], count=1).strip()
        done = done or len(unit) < end - start
        if SHORTEST <= len(unit) <= LONGEST:
            yield unit, done
            done = False


def _score_unit(unit: str, *, done: bool) -> float:
    chatter = _COMMENTARY.search(unit) or _PRAISE.search(unit) or _PRINTED.search(unit)
    if chatter or unit.endswith(("?", "？", ":", "：")):
        return 0.0
    # "Running the tests" is a step on the way. A longer unit mostly says what came of it.
    if _DOING.match(unit) and len(unit) <= _STEP:
        return 0.0
    did = done or _DID.search(unit) is not None
    cause = _CAUSE.search(unit) is not None or _LABEL.search(unit) is not None
    if not (did or cause):
        return 0.0
    names = min(3, len(set(_IDENTIFIER.findall(unit))))
    traits = traits_of(unit)
    worth = 1.0 * did + 1.0 * cause + 0.6 * names + 0.3 * (_FIGURE.search(unit) is not None)
    return worth + 0.1 * min(8.0, traits.specific)

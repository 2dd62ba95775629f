"""The prose of a chat message: its spoken sentences without code, logs, lists of files."""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import Span, sentences

MAX_SENTENCE = 320
"""A longer sentence is pasted text, not something said."""

_FENCE = regex(r"^\s*(?:```|~~~)")
_BLOCK = regex(r"<([a-z][\w-]{2,40})(?: [^<>\n]{0,200})?>", re.IGNORECASE)
# Indented code, quoted lines, diffs, logs, stack frames, "key: value" lines, file modes
_NOT_SAID = regex(
    r"\s{4,}\S|\t|\s*(?:[>|#$%@+=<{}\[\](/\\;]|//|--- |\*\*\*|\d{1,4}[:|→]|\d+→"
    r"|\d{4}-\d\d-\d\d[T \d]|(?:\[?\d\d?:\d\d(?::\d\d)?\]?)\s|at [\w.$]+\(|File \"|Traceback"
    r"|(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b|(?:diff|index|commit|Author|Date|Merge):? "
    r"|[\w.-]+:\s*(?:[\"'\[{]|$)|import |from \S+ import |def |class |func |const |let \w+ ?=|var "
    r"|return\b|[drwx-]{10}|(?:System|Human|Assistant|User|Tool): )"
)
_BULLET = regex(r"\s{0,8}(?:[-*•·]|\d{1,2}[.)、])\s+(?:\[[ xX]\]\s*)?")
_CHECKBOX = regex(r"\s{0,8}(?:[-*•]|\d{1,2}[.)])\s+\[[ xX]\]")
_CODE = regex(
    r"[{}<>=|\\]|;(?! [A-Za-z\d])|\w\(\)|->|::|\$[A-Za-z_]|&&|\w/\w+/\w|\.\w{1,4}:\d|\*\*|\\n|#L?\d|(?<!\d)[：:]\s*\d{1,2}[.、]?$"
)
# Said as a value: "the config path is /etc/app/main.toml". One is speech, more are a listing.
_PATH = regex(r"(?<![\w.~/-])(?:~|\.{1,2})?(?:/[\w.-]*\w){2,8}(?![\w/:(])", re.ASCII)
_HAN = regex(r"[\u3400-\u9fff]")
_WORD = regex(r"[A-Za-z][a-z']*")
_FIGURE = regex(r"\d")
_QUOTATION = regex(
    r"“[^“”]{1,2000}”|「[^「」]{1,2000}」|『[^『』]{1,2000}』|(?<!\w)\"[^\"\n]{1,2000}\"(?!\w)"
)
_SPAN = regex(r"`[^`\n]{1,60}`")


@keep_results(4096)  # Several readers of a session ask for those of each turn.
def spoken_spans(text: str) -> Sequence[Span]:
    """Return the spans of the sentences a person would have spoken.

    Fenced and indented code, diffs, logs, tables, headings, block quotes, tagged
    blocks, check lists and sentences that are mostly symbols are left out.
    """
    quoted = [found.span() for found in _QUOTATION.finditer(text)]
    return tuple(
        (start, end)
        for first, last in _yield_prose_lines(text)
        for start, end in _offset_sentences(text[first:last], first)
        if is_prose(text[start:end])
        and not any(_is_inside_quotation(start, end, span) for span in quoted)
    )


def _is_inside_quotation(start: int, end: int, quotation: Span) -> bool:
    """Whether a sentence is part of a quotation that runs over several."""
    first, last = quotation
    return start < last and first < end and not (start <= first and last <= end)


@keep_results(4096)
def is_prose(sentence: str) -> bool:
    """Whether a sentence reads as spoken words rather than code or a path."""
    if not 3 <= len(sentence) <= MAX_SENTENCE:
        return False
    # A path or a name in backticks may stand in speech; their slashes must not make it code.
    plain = _PATH.sub("x", _SPAN.sub("x", sentence), count=2)
    if len(_CODE.findall(plain)) > 0:
        return False
    han = len(_HAN.findall(plain))
    if han >= 3:
        return True
    words = _WORD.findall(plain)
    letters = sum(map(len, words))
    figures = len(_FIGURE.findall(plain))
    return len(words) >= 3 and letters + min(figures, letters / 2) >= 0.6 * len(plain)


def headline(sentence: str) -> str:
    """Return a sentence short enough for a heading, cut at a clause or a word."""
    limit = 60 if sentence.isascii() else 32
    if len(sentence) <= limit:
        return sentence.rstrip(" .。,，;；")
    cut = sentence[:limit]
    border = max(cut.rfind(mark) for mark in " ,，、:：;；")
    return cut[: border if border > limit // 2 else limit].rstrip(" ,，、:：;；") + "…"


def _offset_sentences(line: str, by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in sentences(line)]


def _yield_prose_lines(text: str) -> Iterator[Span]:
    """Yield the spans of the lines that may hold prose, without list markers."""
    at, fenced, block = 0, False, ""
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if _FENCE.match(line):
            fenced = not fenced
        elif block:
            block = "" if f"</{block}>" in line else block
        elif not fenced:
            block = _find_open_tag(line)
            if not block and not _CHECKBOX.match(line):
                yield from _yield_spoken_span(line, start)


def _find_open_tag(line: str) -> str:
    """Return the tag a line opens and leaves open, or that it consists of."""
    found = _BLOCK.match(line.lstrip())
    if found is None or f"</{found[1]}>" in line:
        return ""
    return found[1]


def _yield_spoken_span(line: str, start: int) -> Iterator[Span]:
    bullet = _BULLET.match(line)
    if bullet:
        yield start + bullet.end(), start + len(line)
    elif line.strip() and not _NOT_SAID.match(line):
        yield start, start + len(line)


_THOUGHT = regex(
    r"^[ \t]*<(?P<tag>think|thinking|thought|reasoning)>(?:(?!</?(?P=tag)>)[\s\S])*+</(?P=tag)>[ \t]*\n?",
    re.MULTILINE,
)
_CUT_OFF = regex(r"\A\s*<(?P<tag>think|thinking|thought|reasoning)>(?![\s\S]*</(?P=tag)>)")
"""A message that begins with a thought and ends in it."""
_THOUGHT_ENDS = regex(r"^[ \t]*</(?:think|thinking)>[ \t]*\n?", re.MULTILINE)


def without_thoughts(text: str) -> str:
    """Return what an agent says without what its model thought aloud before.

    Local models write ``<think>…</think>`` into the message itself, and the templates of some
    leave the first tag out.
    """
    if _CUT_OFF.match(text):
        return ""
    said = _THOUGHT.sub("", text)
    ends = _THOUGHT_ENDS.search(said)
    # In a block of code the tag is what the message is about.
    if ends is None or said.count("```", 0, ends.start()) % 2:
        return said
    return said[ends.end() :]

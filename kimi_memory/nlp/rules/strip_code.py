"""The prose of a chat message, its spoken sentences, and what programs wrote in it.

Code, logs and lists of files are left out. What a program printed may be pasted without a fence.
Such a block begins with a line that only a program writes: a prompt of a shell, an error with its
class, a prefix of a build tool, a frame of a stack, a line of a log. It ends where a person speaks
again.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kimi_memory.nlp.basic.patterns import keep_results, regex
from kimi_memory.nlp.basic.sentences import Span, sentences
from kimi_memory.nlp.rules.documents import line_head

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
                bullet = _BULLET.match(line)
                if bullet:
                    yield start + bullet.end(), start + len(line)
                elif line.strip() and not _NOT_SAID.match(line):
                    yield start, start + len(line)


def _find_open_tag(line: str) -> str:
    """Return the tag a line opens and leaves open, or that it consists of."""
    found = _BLOCK.match(line.lstrip())
    if found is None or f"</{found[1]}>" in line:
        return ""
    return found[1]


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


_FEW = 3
"""So many lines of code or data in a row are no talk."""

# One line for each program. Every count has a limit: logs run to megabytes, and this looks at each
# of their lines.
_SURE = regex(
    r"\s{0,4}(?:"
    r"(?:\([\w.-]{1,30}\) )?[\w.-]{1,40}@[\w.-]{1,40}[ :][^\s$%#]{0,80} ?[$%#](?: |$)|(?:\([\w.-]{1,30}\) )?[➜❯] {1,3}\S|\S{0,60} ?git:\([^)\n]{1,60}\)|PS [A-Z]:\\|[A-Z]:\\[^>\n]{0,120}>|[$%] [a-z./]"
    r"|[\w.-]{1,40}@[\w.-]{1,40} (?:(?:MINGW|MSYS|UCRT|CLANG)\w{0,8}\b| {0,2}~(?:/\S{0,80})?\s)|Last login: [A-Z][a-z]{2} "
    r"|(?:The authenticity of host |\w{3,10} key fingerprint is |Warning: Permanently added )|(?:\w{2,20}: )?sha256:[0-9a-f]{16}"
    r"|(?:Branch '[^'\n]{1,80}' set up|Switched to (?:a new )?branch|Already on '|Already up[ -]to[ -]date|Your branch is (?:up to date|ahead|behind))|failed to [a-z]{2,20}: \S"
    r"|\"[^\"\n]{0,80}\"(?:,\"[^\"\n]{0,80}\"){2}"
    r"|(?:npm|yarn|pnpm|bun|pip|cargo|gradle|docker|webpack|vite|git) (?:error|err!|warn(?:ing)?|notice|http|verb)\b"
    r"|(?:error|warning|fatal|panic|remote|critical)(?:\[\w{1,12}\])?: \S"
    r"|(?:[\w.]{1,60}\.)?(?:[A-Z]\w{0,50})?(?:Error|Exception)(?: \[\w{1,40}\])?: |[A-Z]\w{1,50}Warning: |\[(?:Error|error|warn|vite|webpack|nodemon)\b"
    r"|[⨯×✗✘✖▲⠁-⣿] {0,3}\S|\? [A-Z][\w ]{1,40}: \S|uncaught\w* (?:exception|error)|unhandled\w* |caused by: "
    r"|[@\w/.-]{2,60}:[a-z][\w-]{1,30}:(?: |$)"
    r"|at \S[^\n]{0,200}[(:]\S{0,200}:\d{1,6}|File \"[^\"\n]{1,200}\", line|\^{2,}\s{0,3}$|[~^]{3,}"
    r"|[\w./@-]{1,120}\.\w{1,5}:\d{1,6}(?::\d{1,6})?\b"
    r"|[│┃╭╰┌┐┘─━·]{1,3}(?:\s|$)|\d{1,6} {1,3}[|│├╭→]|> {1,3}\d{1,6} {1,3}\|"
    r"|<{7} |={7}\s*$|>{7} |@@ |\+\+\+ |--- [ab]/|diff --git|index [0-9a-f]{7}"
    r"|> [@\w/.-]{1,60}@\d[\w.-]{0,20} \w|[-dl](?:[r-][w-][x-]){3}[ @+.]"
    r"|(?:GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS) /\S{0,200} (?:\d{3}|HTTP)|HTTP/\d"
    r"|usage: [\w./-]{1,40} \[|cat >{1,2} {0,1}\S{1,80} {0,2}<<|Exit code:? \d|exit(?:ed)?(?: with)?(?: code| status)? \d"
    r"|Failed to [a-z]{2,20} [\w. -]{2,40}: |#\d{1,3} (?:\[|DONE|CACHED|ERROR|\d)|={2,}> |--> |\[\+\] |\(node:\d|\d{1,4}\.\d{3} {1,3}\S|-{6,}$"
    r"|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,6})?\]?(?:\s|$)|(?:\[?\d{1,2}:\d\d\]? )?\[?(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\b[\]:\s]"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s{1,2}\d{1,2} \d\d:\d\d:\d\d |\d{1,3}(?:\.\d{1,3}){3} - |>>> |Traceback \(most|  File \""
    r"|(?:CREATE (?:TEMPORARY |UNIQUE |OR REPLACE )?(?:TABLE|DATABASE|INDEX|VIEW|USER|FUNCTION|TRIGGER)|DROP (?:TABLE|DATABASE|INDEX)|ALTER TABLE|INSERT INTO|DELETE FROM|SELECT [^\n]{1,200} FROM) "
    r"|Triggered via \w+|Total duration\b|Status\s+(?:Success|Failure|Cancelled)\b"
    r"|This site can['’]t be reached|Your connection (?:is not private|was interrupted)|(?:HTTP ERROR|Error) \d{3}\s*$|(?:ERR|DNS|NET|SSL|PR|SEC)_[A-Z][A-Z_]{3,60}\s*$|Checking the (?:proxy|connection|firewall)|[\w.:-]{1,60}[’']?s? (?:refused to connect|took too long to respond|unexpectedly closed the connection)|无法访问此网站|[\w.:-]{1,60} ?拒绝了?(?:我们的)?连接请求"
    r"|\\?\{\s?\"[\w .-]{1,60}\"\s?:|// \S|/\*|⎿\s|Next\.js \(?\d|Unhandled Runtime Error|Console Error\s|• (?:Packages in scope|Running \w+ in \d|Remote caching)"
    r")"
)
_SURE_INSIDE = regex(
    r"\x1b\[|\[\d{1,2}m|\w\.{6,}|^\s{0,4}[A-Z][\w -]{3,40} failed: |(?:\s--?[a-z][\w-]{1,40}(?:=\S{1,80})?){4,}| error TS\d{3,5}:|\b[A-Z]\w{3,60}@[0-9a-f]{5,16}\b|\bline \d{1,6}, in \S"
)
_CODE_LINE = regex(
    r"\s{2,}\S|\t|\s*(?:[{}\[\]()]{1,4}[,;]?\s*$|[\"'][\w./@ -]{1,60}[\"']: |[}\])]|</?\w|//|/\*|\*/|#include|#!|\.{3}\s?$|[>•|+=] )"
    r"|[\w.-]{1,40}: {0,2}(?:[\d\"'\[{]|true\b|false\b|null\b|none\b)|[A-Z][A-Z\d]{1,30}_[A-Z\d_]{1,40}=|[\w.]{1,40}\s?=\s?\S"
    r"|(?:import|export|const|let|var|def|class|function|return|public|private|async|await|struct|func|fn|package|using|select|insert|update|create|alter|from \S{1,60} import)\b[^\n]{0,250}[;{(:]\s*$",
    2,
)
# Code alone proves little, since people indent and write lists. With such an end it does.
_ENDS = regex(r"(?:[;{}]|=>|\)\s?[:{]|\\|,)\s*$")
_MEMBER = regex(r"\s{1,12}[\w.-]{1,40}:(?: {1,4}\S{0,120})?\s*$")
_WORDS = regex(r"[A-Za-z']{2,}|[\u3400-\u9fff]{2}")
_PERSON = regex(
    r"\s{0,3}(?:(?:ok(?:ay)?|so|but|and|also|now|great|good|hm+|oh|well|then|still|actually|sorry|thanks|btw|yes|yep|no|nope|wait|hey|hi|instead|maybe)\b[,.! ]{1,3}){0,2}"
    r"(?:i|i'm|i've|i'd|i'll|im|we|we're|we've|we'll|my|our|let's|lets|please|pls|(?:can|could|would|will|do|did|should) (?:you|we|i)|why|what|how|where|any (?:idea|thought|clue)s?|thoughts"
    r"|fix|help|explain|tell me|show me|look (?:at|into)|make it|don't|do not|here'?s|that'?s|it'?s|seems? like|looks? like)\b"
    r"|\s{0,3}[^\x00-\x7f]{0,12}[我你咱请帮吗呢]",
    2,
)

_SET_IN = regex(r" {4,}\S|\t\s*\S")
_STATEMENT = regex(
    r"\s+(?:(?:- )?[a-z][\w-]{1,30}: {1,4}\S|//|#include|[\w.]{1,60} ?[+-]?= ?\S|[\w.]{1,80}\([^\n]{0,200}\)[;:{]?\s*$|[^\n]{1,250}(?:[;{}]|=>)\s*$)"
)
"""A line set in that is code: `- run: make`, `x = 1`, `// why`, `stop();`."""
_ADVICE = regex(
    r"\s{0,3}Please (?:ensure|check|see|make sure|report|refer|consult|upgrade|visit|try|note|verify|install|update|include|read|open an issue|submit)\b"
)
"""What a program advises below its error."""


def printed(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Yield the first and the last line of each block that a program wrote.

    Args:
        text: the turn.
        lines: the spans of its lines.
    """
    at = 0
    while at < len(lines):
        last = _find_block_end(text, lines, at)
        if last >= at:
            yield at, last
        at = max(at, last) + 1


def indented_code(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Yield the first and the last line of each block of code that is only indented.

    As in Markdown it stands below an empty line; a list that is set in has no line of code.
    """
    at = 0
    while at < len(lines):
        if not text[slice(*lines[at])].strip():
            # No block begins here; to look from each of a thousand empty lines takes minutes.
            at += 1
            continue
        last = at - 1
        apart = not at or not text[slice(*lines[at - 1])].strip()
        for n in range(at, len(lines) if apart else at):
            line = line_head(text, lines, n)
            if line.strip() and not _SET_IN.match(line):
                break
            last = n if line.strip() else last
        block = [line_head(text, lines, n) for n in range(at, last + 1)]
        if any(_STATEMENT.match(line) for line in block):
            yield at, last
        at = max(at, last) + 1


def _find_block_end(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the last line of a block that begins with a line, `at - 1` where none does."""
    if not is_printed(line_head(text, lines, at)) and not _is_heap(text, lines, at):
        return at - 1
    last = at
    for n in range(at + 1, len(lines)):
        line = line_head(text, lines, n)
        if is_person(line):
            break
        if line.strip():
            last = n
    return last


def is_printed(line: str) -> bool:
    """Whether only a program writes a line so."""
    return bool(_SURE.match(line) or _SURE_INSIDE.search(line))


def _is_heap(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether several lines in a row are code or data."""
    heap = [line_head(text, lines, n) for n in range(at, min(at + _FEW, len(lines)))]
    return len(heap) == _FEW and all(
        _MEMBER.match(one) or (_CODE_LINE.match(one) and _ENDS.search(one)) for one in heap
    )


def is_person(line: str) -> bool:
    """Whether a person speaks in a line."""
    if is_printed(line) or _ADVICE.match(line) or (_CODE_LINE.match(line) and _ENDS.search(line)):
        return False
    return bool(_PERSON.match(line)) and len(_WORDS.findall(line)) > 1

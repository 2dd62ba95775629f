"""Marks of what was copied from a page or a program: who posted it when, markup, rows, options.

No words of a request stand around such a text, so its form alone tells that it is no talk.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import Span

_LONGEST = 90
"""A line that says who posted what follows is not longer."""
_CLOCK = r"(?:\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?)"
_AGO = r"(?:\d{1,3} ?(?:s|secs?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?|mo|months?|y|yrs?|years?) ago|an? (?:hour|day|week|month|year) ago|\d{1,3} ?(?:秒|分钟|个?小时|天|周|个月|年)前)"
_POSTED = regex(
    r"\s{0,3}(?:webvtt\b|begin:v[a-z]{4,9}\b)"
    r"|\s{0,3}\d\d:\d\d(?::\d\d)?[.,]\d{3} --> "
    rf"|[^\n]{{0,60}}\b(?:posted|opened|commented|asked|answered|replied|reviewed|edited|authored|published|submitted|shared|reposted|added|requested|merged|closed)\b[^\n]{{0,40}}(?:\b(?:on|by|at) |{_AGO})"
    rf"|\s{{0,3}}(?:(?:@|u/)?[\w\u3400-\u9fff.'-]{{1,30}} ){{0,2}}[·•|-]? ?{_AGO}|[^\n]{{0,60}}(?:[·•|] ?(?:{_CLOCK}|\d{{1,2}} ?(?:s|m|min|h|hrs?|d|w|mo|y))\b)"
    rf"|\s{{0,3}}@?[\w\u3400-\u9fff.'-]{{1,30}} ?(?:[—–|·•-]|\([^()\n]{{1,20}}\)|（[^（）\n]{{1,20}}）)\s{{0,4}}(?:(?:today|yesterday|今天|昨天) ?)?(?:at )?{_CLOCK}\s*$"
    r"|\s{0,3}@[\w\u3400-\u9fff.-]{1,30}[ ,·:：]"
    r"|\s{0,3}(?:原创|转载|首发)[ :：丨|]|[^\n]{0,40} 来自 ?[\w\u3400-\u9fff]{1,12}$"
    r"|[^\n]{0,30}(?:小红书|微博|抖音|知乎|豆瓣|朋友圈|公众号)(?:的)?(?:笔记|文案|正文|推文|回答|短评)\s?[:：]",
    2,
)
_MARKUP = regex(
    r"\s{0,3}\\(?:documentclass|(?:sub)*section|begin|title|chapter|paragraph|maketitle)\b|={1,5} [^\s=][^\n]{0,80}$"
    r"|\.\. [\w-]{1,30}::|#\+(?:title|author|begin_\w{2,10})\b|@(?:article|book|misc|inproceedings)\{"
    r"|\s{0,3}[\w-]{1,30}:\s?[|>][+-]?\s*$|\s{0,3}(?:甲方|乙方)\s?[:：]|\s{0,3}[★☆⭐]{1,5}\s",
    2,
)
_UNDERLINE = regex(r"\s{0,3}([=~^\"*#-])\1{2,60}\s*$")
_AUTHOR = regex(
    r"\s{0,3}(?:author|by|byline|user(?:name)?|speaker|from|作者|用户|昵称)\s?:\s?\S", 2
)
_FIELD = regex(r"\s{0,3}[\w-]{1,24}:(?:\s|$)")
_SELF = regex(r"\b(?:I|i|I'm|my|we|our)\b|[我咱]")
_CELLS = regex(r"\s{0,3}\|[^\n]{1,300}\|\s*$")
_BORDER = regex(r"\s{0,3}\|?(?:\s?:?-{2,}:?\s?\|){1,20}(?:\s?:?-{2,}:?)?\s*$")
_SIGNED = regex(
    r"[ \t]{0,3}(?:[—–]{1,2}|--) ?(?!(?:I|i|we|my|and|but|so|or|then)\b)(?:[A-Z][\w.'-]{1,20}(?: [A-Z][\w.'-]{0,20}){0,3}(?:, [\w .]{1,30})?|[\u3400-\u9fff·]{2,8})\s*$"
    r"|[.!?。！？”\"] ?(?:[—–]{1,2}|-{1,2}) ?(?:[A-Z][\w'-]{1,20}(?: [A-Z][\w.'-]{0,20}){0,2}(?:, [\w .]{1,30})?|[\u3400-\u9fff·]{2,8})\s*$"
)
_FIRST_OPTION = regex(r"(?<![\w.])(?:[aA1①][).、．:：]|①) ?")
_SECOND_OPTION = regex(r"(?<![\w.])(?:[bB2②][).、．:：]|②)")
_CHOOSES = regex(
    r"\b(?:which|what|who|when|where|how|choose|select|pick|correct|true|false|following|answers?|options?|questions?|quiz)\b[^\n]{0,60}:"
    r"|(?:哪|什么|谁|选择|正确|错误|以下|下列|下面|答案|是否)[^\n]{0,60}[:：]|题目?[:：]",
    2,
)
_ASKED_WITHIN, _OPTION_LENGTH = 61, 401
"""So many characters before the first of two options a question ends, and so long is the first."""


def begins_copy(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether a line is the head of something copied, such as "tomcat commented 2 days ago"."""
    line = _head(text, lines, at)
    is_post = len(line) <= _LONGEST and _POSTED.match(line) and not _SELF.search(line)
    if is_post or _MARKUP.match(line):
        return True
    below = _head(text, lines, at + 1) if at + 1 < len(lines) else ""
    is_underlined = _UNDERLINE.match(below) and abs(len(below.rstrip()) - len(line.rstrip())) <= 2
    return bool(line.strip() and (is_underlined or (_AUTHOR.match(line) and _FIELD.match(below))))


def find_rows(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Yield first and last line of tables: rows between bars, or of equal numbers of commas."""
    at = 0
    while at < len(lines):
        end = max(_table_end(text, lines, at), _separated_end(text, lines, at))
        if end > at:
            yield at, end - 1
        at = max(end, at + 1)


def find_signed(text: str, lines: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of paragraphs that end in the name of who said it: "… — Tom Sawyer"."""
    for n, (start, end) in enumerate(lines):
        found = _SIGNED.search(text, max(start, end - 100), end)
        if found is None:
            continue
        first = n
        while first and _head(text, lines, first - 1).strip():
            first -= 1
        if lines[first][0] < found.start():
            yield lines[first][0], end


def find_options(text: str) -> Iterator[Span]:
    """Yield the spans of answers to choose from: "Which is right? a) … b) …"."""
    at = 0
    while found := _FIRST_OPTION.search(text, at):
        at = found.end()
        asked = text[max(0, found.start() - _ASKED_WITHIN) : found.start()].rpartition("\n")[2]
        # "Causes: 1. … 2. …" is a list of the speaker's own.
        if not any(mark in asked for mark in "?？") and not _CHOOSES.search(asked):
            continue
        end = text.find("\n", at, at + _OPTION_LENGTH)
        second = _SECOND_OPTION.search(text, at + 1, end if end >= 0 else at + _OPTION_LENGTH)
        if second:
            at = second.end()
            end = text.find("\n", at)
            yield found.start(), len(text) if end < 0 else end


def _table_end(text: str, lines: Sequence[Span], at: int) -> int:
    rows = range(at, len(lines))
    cells = list(takewhile(lambda n: _CELLS.match(_head(text, lines, n)), rows))
    is_table = len(cells) > 2 and _BORDER.match(_head(text, lines, at + 1))
    return cells[-1] + 1 if is_table else at


def _separated_end(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the line after rows of values under a row of names, `at` where none begin."""
    names = _head(text, lines, at).strip()
    commas = names.count(",") + names.count("\t")
    if commas < 2 or any(len(name.split()) != 1 for name in names.replace("\t", ",").split(",")):
        return at
    end = at + 1
    while end < len(lines) and sum(map(_head(text, lines, end).count, ",\t")) >= commas:
        end += 1
    return end if end > at + 1 else at


def _head(text: str, lines: Sequence[Span], at: int) -> str:
    start, end = lines[at]
    return text[start : min(end, start + 300)]

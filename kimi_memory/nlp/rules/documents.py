"""What looks like a document rather than talk: mails, logs, articles, HTML, other chats.

Two sorts are distinguished: blocks that show where they end (a fence, a quotation, a tag)
and lines with which a document begins whose end nobody can see. What was copied from a page or a
program is known by its form alone: who posted it when, markup, rows, options.
"""

# ruff: noqa: E501  an alternation of phrases is read by its groups, not by its width

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import opens_injected
from kimi_memory.nlp.basic.sentences import Span

LINE_HEAD = 300
"""So much of a line tells what it is."""

_FENCE = regex(r"\s{0,12}(?:>\s?)?(```|~~~|\"\"\"|''')")
_QUOTE = regex(r"\s{0,3}(?:>|＞|》\s)")
_RULE = regex(r"\s{0,3}([-=*_~#+—]){3,}[^\w]{0,80}$|\s{0,3}(?:<{3,}|>{3,}|\[{2,}|\]{2,})\s*$")
_YAML = regex(r"[\w.-]{1,40}\s?:(?:\s|$)|\s*- |\s*#|\s+\S")
_OPEN_TAG = regex(r"\s{0,12}<([a-z][\w-]{1,40})(?:\s[^<>\n]{0,200})?>", 2)
_HTML = regex(
    r"<!doctype|</?(?:html|head|title|body|article|section|div|span|p|h[1-6]|ul|ol|li|table|t[rdh]|blockquote|br|hr|a|b|i|em|strong|meta|script|style|font|img|main|header|footer)\b[^<>\n]{0,300}>",
    2,
)
_MAIL = regex(
    r"\s{0,3}(?:\*\*)?(?:from|to|cc|bcc|sent|date|subject|reply-to|message-id|return-path|received|x-[\w-]{1,30}|mime-version|content-type|delivered-to"
    r"|发件人|收件人|抄送|主题|日期|发送时间|时间|寄件者|收件者|主旨|标题)(?:\*\*)?\s{0,3}[:：]",
    2,
)
_MAIL_FIRST = regex(
    r"\s{0,3}(?:\*\*)?(?:from|subject|发件人|主题|寄件者|主旨|return-path|received)(?:\*\*)?\s{0,3}[:：]",
    2,
)
_FORWARD = regex(
    r"[\s>]{0,6}(?<!-)-{2,}+\s?(?:original message|forwarded message|forwarded by|原始邮件|转发邮件|转发的邮件|original|原邮件)|\s{0,3}(?:begin forwarded message|转发消息|转发[:：])"
    r"|\s{0,3}on [^\n]{4,120} wrote:\s*$|\s{0,3}(?:在\s?)?\d{4}\s?[年/-][^\n]{4,100}写道\s?[:：]\s*$|\s{0,3}[\w.'’ -]{2,60} ?<[\w.+-]{1,60}@[\w.-]{1,60}>\s*$|\s{0,3}fwd?:|\s{0,3}re: ",
    2,
)
_REPLIED = regex(
    r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev)\b[^\n]{0,60}:\s*$|写道\s?[:：]\s*$"
)
"""The line above the mail that another answers, in the languages of mail programs."""
_LETTER = regex(
    r"\s{0,3}(?:dear [^\n]{1,60}|to whom it may concern|hi all|hello everyone|ladies and gentlemen)\s?[,:，：!]?\s*$|\s{0,3}(?:尊敬的|亲爱的|敬爱的|各位)[^\n，。]{1,30}[:：,，]\s*$",
    2,
)
_ARTICLE = regex(
    r"\s{0,3}(?:(?:article|section|clause|chapter|appendix|annex|schedule|§{1,2}) ?(?:\d{1,4}|[ivxl]{1,6})\b|第\s?[一二三四五六七八九十百零〇两\d]{1,6}\s?[条章节款编篇])",
    2,
)
_INLINE_ARTICLE = regex(
    r"第[一二三四五六七八九十百\d]{1,4}[条章款]|\b(?:Article|Section|Clause) \d{1,3}\b"
)
_OUTLINE = regex(r"\s{0,6}\d{1,2}(?:\.\d{1,2}){1,3}\.?\s+\S")
_HEADING = regex(
    r"#{1,6}\s+\S|⸻\s*$|[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?\s{1,2}(?:\d{1,2}\. )?[A-Z][\w &/-]{2,40}(?::|$)"
)
_BYLINE = regex(
    r"\s{0,3}(?:\([A-Z][A-Za-z]+\)|[A-Z][A-Za-z .]{2,30},? (?:[A-Z][a-z]+\.? \d{1,2}(?:, \d{4})? )?\((?:AP|Reuters|AFP|Xinhua|UPI|Bloomberg|CNN|BBC)\)|by [A-Z][a-z]+ [A-Z][a-z]+\s*$|By [A-Z][a-z]+ [A-Z][a-z]+\s*$)"
    r"|\s{0,3}(?:新华社|中新社|中新网|人民网|本报|央视|据)[^\n，。]{0,16}(?:电|讯|报道|消息)|\s{0,3}(?:来源|作者|原标题|编辑|记者|责任编辑|转自|摘自|文章来源)\s?[:：丨|]|\s{0,3}(?:文|图)\s?[/／|丨]"
    r"|\s{0,3}(?:terms (?:of|and) |privacy policy|licen[cs]e agreement|press release|for immediate release|abstract\b\s{0,3}[:.—-]?\s{0,3}$|table of contents|copyright (?:©|\(c\)|\d)|all rights reserved)|\s{0,3}(?:隐私政策|用户协议|服务条款|免责声明|新闻稿|会议纪要|通知公告)\s*$",
)
_OF_SELF = regex(r"\b(?:I|i|me|my|mine|we|us|our|you|your)\b|I'm|[我咱你您]")
_FIRST_PERSON = regex(r"\b(?:I|i|me|my|mine|we|us|our|let's)\b|I'm|[我咱]")
_ADDRESS = regex(r"https?://[^\s]{1,250}$")
_TITLE_WORD = regex(r"[A-Za-z][\w'-]{3,}")
_TITLE, _PARTS = 4, 6
"""A title has so many words, the text below it so many lines."""
_DATED = regex(r"\d[.:/-]\d|\d{4}|@\w")
_LONG = 700
_LONG_ZH = 260
_HAN = regex(r"[\u3400-\u9fff]")


def split_lines(text: str) -> list[Span]:
    """Return the spans of the lines of a text, without their ends."""
    spans, at = [], 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def delimited(text: str, lines: Sequence[Span]) -> dict[int, int]:
    """Return the blocks that show their end: their first line, and the line after the last."""
    found: dict[int, int] = {}
    at = 0
    while at < len(lines):
        end = max(
            _find_fenced_end(text, lines, at),
            _find_tagged_end(text, lines, at),
            _find_quoted_end(text, lines, at),
        )
        if end > at:
            found[at] = end
        at = max(end, at + 1)
    return found


def enclosed(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the line after a block between two equal rules, such as ---; `at` where none is."""
    rule = line_head(text, lines, at).strip()
    if not _RULE.match(rule):
        return at
    last = max(
        (n for n in range(at + 1, len(lines)) if line_head(text, lines, n).strip() == rule),
        default=-1,
    )
    return last + 1 if last > at else at


def begins_document(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether a document whose end is not marked begins with a line."""
    line = line_head(text, lines, at)
    if not line.strip():
        return False
    # What shows no end runs until the speaker is plainly heard again: better to lose a sentence
    # of theirs than to take a mail's for theirs.
    if any(first.match(line) for first in (_FORWARD, _LETTER, _HEADING, _BYLINE)):
        return True
    if opens_injected(line) or _is_reply_head(line):
        return True
    more = [line_head(text, lines, n) for n in range(at + 1, min(at + 12, len(lines)))]
    return (
        _is_mail(line, more[:3])
        or _is_numbered(line, more)
        or _is_titled(text, lines, at)
        or _is_linked(text, lines, at)
        or _has_front_matter(text, lines, at)
    )


def _is_titled(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether a line is the title of a long text: its words are capitals, nothing closes it."""
    title = line_head(text, lines, at).strip()
    words = _TITLE_WORD.findall(title)
    return (
        len(words) >= _TITLE
        and title[-1].isalnum()
        and sum(word[0].isupper() for word in words) >= 0.7 * len(words)
        and len(text) - lines[at][0] >= _LONG
        and sum(bool(line_head(text, lines, n).strip()) for n in range(at, len(lines))) >= _PARTS
    )


def _is_linked(text: str, lines: Sequence[Span], at: int) -> bool:
    """Whether an address stands before lines that speak of nobody who talks here."""
    start = lines[at][0]
    before = text[max(0, start - 2 * LINE_HEAD) : start].rstrip()
    # First of all, as few lines have one: who looks at all lines below each takes minutes.
    if _ADDRESS.search(before[-LINE_HEAD:]) is None:
        return False
    below = [line for n in range(at, len(lines)) if (line := line_head(text, lines, n)).strip()]
    return len(below) > 1 and not any(_FIRST_PERSON.search(line) for line in below)


def _is_reply_head(line: str) -> bool:
    """Whether a line says who wrote what follows, with a date or an address: a mail's."""
    found = _REPLIED.search(line)
    said_of = line[: found.end()] if found else ""
    return bool(_DATED.search(said_of)) and not _OF_SELF.search(said_of)


def _is_mail(line: str, more: Sequence[str]) -> bool:
    if not _MAIL.match(line):
        return False
    # A single "Date:" or 时间: stands in notes, too; only several in a row are the head of a mail.
    heads = 1 + sum(bool(_MAIL.match(one)) for one in more)
    return heads >= (2 if _MAIL_FIRST.match(line) else 3)


def _is_numbered(line: str, more: Sequence[str]) -> bool:
    if len(_INLINE_ARTICLE.findall(line)) >= 2:
        return True
    if _ARTICLE.match(line):
        return any(_ARTICLE.match(one) for one in more)
    return bool(_OUTLINE.match(line)) and sum(bool(_OUTLINE.match(one)) for one in more) >= 2


def is_impersonal(paragraph: str) -> bool:
    """Whether a paragraph is long and speaks of nobody who talks here."""
    long = len(paragraph) >= _LONG or (
        len(paragraph) >= _LONG_ZH and len(_HAN.findall(paragraph)) >= _LONG_ZH
    )
    return long and _OF_SELF.search(paragraph) is None


def line_head(text: str, lines: Sequence[Span], at: int) -> str:
    """Return the first characters of a line, which show what kind of line it is."""
    start, end = lines[at]
    return text[start : min(end, start + LINE_HEAD)]


def _find_fenced_end(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the line after a fenced block; an unclosed one runs to the end."""
    found = _FENCE.match(line_head(text, lines, at))
    if found is None:
        return at
    rest = text[found.end() + lines[at][0] : lines[at][1]]
    if found[1] in rest:
        return at + 1
    for n in range(at + 1, len(lines)):
        line = line_head(text, lines, n)
        if found[1] in line and (_FENCE.match(line) or line.rstrip().endswith(found[1])):
            return n + 1
    return len(lines)


def _find_tagged_end(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the line after a tagged block; HTML runs to its last tag."""
    line = line_head(text, lines, at)
    if _HTML.search(line) and "<" in line:
        last = [
            n
            for n in range(at, len(lines))
            if "<" in line_head(text, lines, n) and _HTML.search(line_head(text, lines, n))
        ]
        return last[-1] + 1
    found = _OPEN_TAG.match(line)
    if found is None:
        return at
    # The last closing tag: what is pasted may hold a tag of the same name.
    close = text.rfind(f"</{found[1]}", lines[at][0])
    if close < 0:
        return at
    return next(n + 1 for n in range(at, len(lines)) if close <= lines[n][1])


def _find_quoted_end(text: str, lines: Sequence[Span], at: int) -> int:
    while at < len(lines) and _QUOTE.match(line_head(text, lines, at)):
        at += 1
    return at


def _has_front_matter(text: str, lines: Sequence[Span], at: int) -> bool:
    if line_head(text, lines, at).strip() != "---":
        return False
    for n in range(at + 1, min(at + 60, len(lines))):
        line = line_head(text, lines, n)
        if line.strip() in ("---", "..."):
            return n > at + 1
        if line.strip() and not _YAML.match(line):
            return False
    return False


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
    line = line_head(text, lines, at)
    is_post = len(line) <= _LONGEST and _POSTED.match(line) and not _SELF.search(line)
    if is_post or _MARKUP.match(line):
        return True
    below = line_head(text, lines, at + 1) if at + 1 < len(lines) else ""
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
        while first and line_head(text, lines, first - 1).strip():
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
    cells = list(takewhile(lambda n: _CELLS.match(line_head(text, lines, n)), rows))
    is_table = len(cells) > 2 and _BORDER.match(line_head(text, lines, at + 1))
    return cells[-1] + 1 if is_table else at


def _separated_end(text: str, lines: Sequence[Span], at: int) -> int:
    """Return the line after rows of values under a row of names, `at` where none begin."""
    names = line_head(text, lines, at).strip()
    commas = names.count(",") + names.count("\t")
    if commas < 2 or any(len(name.split()) != 1 for name in names.replace("\t", ",").split(",")):
        return at
    end = at + 1
    while end < len(lines) and sum(map(line_head(text, lines, end).count, ",\t")) >= commas:
        end += 1
    return end if end > at + 1 else at

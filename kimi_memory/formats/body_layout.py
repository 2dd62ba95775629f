"""Layouts of note bodies: a title, labelled fields, sections, links to other notes.

A body is ``# Title``, then ``- Label: text`` lines, then ``## Label`` sections. Text
that spans lines goes on indented by two spaces. Whatever else stands in the file is
a person's and is skipped.

A label's name is that of the attribute it belongs to. The parser reads labels in Chinese and in
English, whatever the note's own language is.

Note programs such as Obsidian follow links. A line that ends in the mark of a note,
``… ^card-01hx``, gets a link to its file before the mark. Its words are an arrow, so that nobody
takes it for a link that a person wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from kimi_memory.domain.note import Lang
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import clean, one_line

ARROW = "→"
Places = Callable[[str], str]
"""Returns where the note of an id lies; empty where it has no file."""

_LINK = r"\[\[[^\[\]|\n]+\|→(?: [^\[\]|\n]*)?\]\]"
_MARKED = re.compile(
    rf"(?: {_LINK})+(?=[ \t]+\^[0-9A-Za-z][0-9A-Za-z._-]*[ \t]*\r?$)", re.MULTILINE
)
_MARK = re.compile(r"(?<=\S) (?=\^(?P<id>(?:card|event|digest)-[0-9a-z]+)[ \t]*\r?$)", re.MULTILINE)
_LISTED = re.compile(rf"(?:、|, )(?:取代 |replaces )?{_LINK}")
_ALONE = re.compile(rf"^- (?:相关链接|Links): (?:取代 |replaces )?{_LINK}\r?\n", re.MULTILINE)
# With these in its name a file cannot be linked to.
_UNFIT = frozenset("[]|#^\n")
TURN = (
    r"\[\[session_(?P<session>[^\]|#^\n]{1,255})"
    r"(?:\]\] #(?P<n>[0-9]{1,9})|#\^t[0-9]{1,9}\|#(?P<m>[0-9]{1,9}))"
)


def link_to(path: str, words: str = "") -> str:
    """Return the link to a file, empty where its name cannot stand in one."""
    target = path.removesuffix(".md")
    if not target or _UNFIT & set(target):
        return ""
    return f"[[{target}|{ARROW}{' ' if words else ''}{words}]]"


def turn_link(session: str, first: int, last: int = 0) -> str:
    """Return the link to a turn on the page of its session, or to the first of several."""
    run = f"-{last}" if last > first else ""
    return f"[[session_{session}#^t{first}|#{first}{run}]]"


def linked(text: str, places: Places) -> str:
    """Return a text in which each line with a mark links to its note."""

    def link(found: re.Match[str]) -> str:
        to = link_to(places(found["id"]))
        return f" {to} " if to else " "

    return _MARK.sub(link, unlinked(text))


def unlinked(text: str) -> str:
    """Return a text without the links before its marks."""
    return _MARKED.sub("", text) if f"|{ARROW}]]" in text else text


def bare_text(text: str) -> str:
    """Return the text of a note without the links that follow from where other notes lie."""
    if f"|{ARROW}" not in text:
        return text
    return _ALONE.sub("", _LISTED.sub("", unlinked(text)))


def related_links(
    sessions: Iterable[str], replaced: Iterable[str], others: Iterable[str], lang: Lang
) -> str:
    """Return what a card shows of its links: its sessions, what it replaces, what it names.

    Args:
        sessions: ids of the sessions it rests on.
        replaced: files of the cards it replaces.
        others: files of the notes it links to.
        lang: the language of the words.
    """
    comma, word = ("、", "取代 ") if lang is Lang.ZH else (", ", "replaces ")
    links = [f"[[session_{id}]]" for id in sessions]
    links += [f"{word}{link}" for path in replaced if (link := link_to(path, _stem(path)))]
    links += [link for path in others if (link := link_to(path, _stem(path)))]
    return comma.join(dict.fromkeys(links))


def without_targets(content: bytes, gone: Collection[str]) -> bytes:
    """Return the content of a note without the links to files that are gone."""
    if not gone:
        return content
    text = content.decode("utf-8", "surrogateescape")
    for path in gone:
        form = rf"\[\[{re.escape(path.removesuffix('.md'))}\|→(?: [^\[\]|\n]*)?\]\]"
        text = re.sub(rf"(?:(?:、|, )?(?:取代 |replaces )|(?:、|, )| )?{form}", "", text)
    return text.encode("utf-8", "surrogateescape")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


HEADING = re.compile(r"##(?:[ \t]+(?P<label>.*))?")
_TITLE = re.compile(r"#(?:[ \t]+(?P<title>.*))?")
# `- text`, `* text`, `1. text`, `2) text`.
_BULLET = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]+|$)")
# `Reason: …`, `原因：…`, and in bold `**Reason**: …` or `**Reason:** …`.
_LABELLED = re.compile(
    r"(?:\*\*(?P<bold>[^*:：\n]+)(?:\*\*[:：]|[:：]\*\*)|(?P<bare>[^*:：\n]+)[:：])[ \t]*"
)
_QUOTED = re.compile(r"> ?")
# The line below a quote: `— [[session_s1#^t2|#2]]`, or `— [[session_s1]] #2` as it once was.
_SOURCE = re.compile(rf"— {TURN}(?(m)\]\])")
# A text may hold lines that look like headings; a backslash keeps them text.
_ESCAPE = re.compile(r"(?=\\*##(?:[ \t]|$))")
_ESCAPED = re.compile(r"\\(?=\\*##(?:[ \t]|$))")
# Headings and rules between items belong to nobody; they end what is before them.
_DIVIDER = re.compile(r"#{1,6}(?:[ \t].*)?|(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_INDENT = re.compile(r"  |\t")
_BULLETS, _DIVIDERS, _BLANK = frozenset("-*+0123456789"), frozenset("#-*_"), frozenset(" \t")

_WORDS: dict[str, tuple[str, str]] = {
    # Titles
    "event": ("事件", "Event"),
    "digest": ("会话摘要", "Session digest"),
    "project": ("项目", "Project"),
    "agent": ("智能体", "Agent"),
    "identity": ("核心身份", "Core identity"),
    "day": ("日志", "Day"),
    "proposal": ("提议", "Proposal"),
    "session": ("会话", "Session"),
    # Events
    "at": ("时间", "Time"),
    "type": ("类型", "Type"),
    "participants": ("参与者", "Participants"),
    "content": ("内容", "Content"),
    "outcome": ("结果", "Outcome"),
    "lesson": ("教训", "Lesson"),
    # Digests
    "asked": ("提出的事", "Asked"),
    "ordered": ("要求", "Orders"),
    "decided": ("决定", "Decided"),
    "told": ("说到的事", "Told"),
    "found": ("查到和做了的（智能体自述）", "Found and done (the agent's account)"),
    "open": ("还没完", "Open"),
    # Cards
    "value": ("定义", "Definition"),
    "applies": ("适用场景", "When to use"),
    "usage": ("使用方法", "How to use"),
    "caveats": ("注意事项", "Caveats"),
    "links": ("相关链接", "Links"),
    "quotes": ("证据", "Evidence"),
    # Projects
    "goal": ("项目目标", "Goal"),
    "state": ("现状", "State"),
    "risks": ("风险", "Risks"),
    "progress": ("进度", "Progress"),
    "todos": ("待办", "To do"),
    "decisions": ("决策", "Decisions"),
    "preferences": ("偏好", "Preferences"),
    # Agents
    "persona": ("人设", "Persona"),
    "skills": ("技能", "Skills"),
    "relationships": ("关系", "Relationships"),
    # Identity
    "who": ("我是谁", "Who I am"),
    "beliefs": ("我相信什么", "What I believe"),
    "mission": ("我的使命", "My mission"),
    "abilities": ("我的能力", "My abilities"),
    "growth": ("我的成长", "My growth"),
    # Days
    "sessions": ("当日会话", "Sessions"),
    "events": ("当日事件", "Events"),
    "knowledge": ("新增知识", "Knowledge"),
    # Proposals
    "target": ("目标", "Target"),
    "section": ("章节", "Section"),
    "text": ("提议内容", "Proposed text"),
    "reason": ("理由", "Reason"),
    # Kinds of events, as people read them
    "decision": ("决策", "decision"),
    "finding": ("发现", "finding"),
    "failure": ("失败", "failure"),
    "success": ("成功", "success"),
}

_ALSO: dict[str, tuple[str, ...]] = {
    "todos": ("待办事项", "todo", "to-do", "to-dos", "todos"),
    "progress": ("项目进度",),
    "preferences": ("用户偏好",),
    "outcome": ("result",),
    "lesson": ("lessons",),
    "value": ("what it is",),
    "sessions": ("会话",),
    "events": ("事件",),
    "knowledge": ("知识",),
    "skills": ("技能进展",),
    "persona": ("角色",),
    "agent": ("代理",),
}


class Style(StrEnum):
    """How the blocks of a section are written."""

    TEXT = "text"
    """One block of free text."""
    LIST = "list"
    """One block an item, ``- item``."""
    QUOTES = "quotes"
    """One block a quote, ``> words`` and a line that says whose."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the body of one kind of note consists of, by label name."""

    prefix: str = ""
    """Label before the title, as in ``# Event: title``."""
    fields: tuple[str, ...] = ()
    sections: Mapping[str, Style] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """What a body says, by label name; absent and empty are the same."""

    title: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    sections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Piece(NamedTuple):
    """Lines ``first`` to before ``end`` of a body, and the text they hold."""

    first: int
    end: int
    text: str


@dataclass(slots=True)
class Outline:
    """Where the parts of a body stand, in lines from 0."""

    title: Piece | None = None
    fields: dict[str, Piece] = field(default_factory=dict)
    headings: dict[str, Piece] = field(default_factory=dict)
    """The whole section by label name; its text is the heading's."""
    preamble: int = 0
    """The line after the last one before the first section."""


def write(body: Body, layout: Layout, lang: Lang) -> list[str]:
    """Return the lines of a new body."""
    lines = [title_line(body.title, layout, lang)]
    fields = [name for name in layout.fields if body.fields.get(name)]
    lines += [""] if fields else []
    for name in fields:
        lines += field_lines(name, body.fields[name], lang)
    for name, style in layout.sections.items():
        if body.sections.get(name):
            lines += ["", f"## {label(name, lang)}", "", *blocks(body.sections[name], style)]
    return lines


def title_line(title: str, layout: Layout, lang: Lang) -> str:
    """Return the heading of a page."""
    prefix = f"{label(layout.prefix, lang)}: " if layout.prefix else ""
    return f"# {prefix}{title}".rstrip()


def field_lines(name: str, text: str, lang: Lang) -> list[str]:
    """Return the lines of a labelled field."""
    return item_lines(f"{label(name, lang)}: {text}")


def item_lines(text: str, bullet: str = "- ") -> list[str]:
    """Return the lines of a list item; all but the first are indented."""
    first, *rest = f"{bullet}{text}".split("\n")
    return [first.rstrip(), *(f"  {line}" if line else "" for line in rest)]


def blocks(texts: Sequence[str], style: Style, bullet: str = "- ") -> list[str]:
    """Return the lines of a section's blocks."""
    if style is Style.LIST:
        return [line for text in texts for line in item_lines(text, bullet)]
    parts = [block_lines(text, style) for text in texts]
    # The last empty line is the one that ends the section.
    return [line for part in parts for line in (*part, "")][:-1]


def block_lines(text: str, style: Style) -> list[str]:
    """Return the lines of one block of a section."""
    if style is Style.TEXT:
        return _escape_headings(text).split("\n")
    words, _, source = text.rpartition("\n")
    return [*(f"> {line}".rstrip() for line in words.split("\n")), "", source]


def _escape_headings(text: str) -> str:
    return "\n".join(f"\\{line}" if _ESCAPE.match(line) else line for line in text.split("\n"))


def read(lines: Sequence[str], layout: Layout) -> Body:
    """Return what a body says."""
    found = outline(lines, layout)
    title = found.title.text if found.title else ""
    fields = {name: piece.text for name, piece in found.fields.items()}
    sections = {
        name: tuple(piece.text for piece in pieces(lines, found.headings[name], style))
        for name, style in layout.sections.items()
        if name in found.headings
    }
    return Body(title, fields, sections)


def outline(lines: Sequence[str], layout: Layout) -> Outline:
    """Return where the parts of a body stand."""
    found = Outline()
    starts = [
        number for number, line in enumerate(lines) if line[:2] == "##" and HEADING.fullmatch(line)
    ]
    found.preamble = starts[0] if starts else len(lines)
    names = _by_spelling(tuple(layout.sections))
    for start, end in pairwise([*starts, len(lines)]):
        heading = HEADING.fullmatch(lines[start])
        words = fold((heading["label"] if heading else "") or "").rstrip("：:")
        # Of two sections with one heading the first counts, and the other stays as it is.
        if (name := names.get(words)) and name not in found.headings:
            found.headings[name] = Piece(start, end, words)
    _read_preamble(lines[: found.preamble], layout, found)
    return found


@cache
def _by_spelling(names: tuple[str, ...]) -> Mapping[str, str]:
    return {word: name for name in names for word in spellings(name)}


def _read_preamble(lines: Sequence[str], layout: Layout, found: Outline) -> None:
    for number, line in enumerate(lines):
        if line[:1] == "#" and (title := _TITLE.fullmatch(line)):
            text = _strip_prefix(title["title"] or "", layout.prefix)
            found.title = Piece(number, number + 1, one_line(text))
            break
    names = _by_spelling(layout.fields)
    for piece in items(lines, 0):
        if not _BULLET.match(lines[piece.first]) or not (start := _LABELLED.match(piece.text)):
            continue
        name = names.get(fold(start["bold"] or start["bare"]))
        if name and name not in found.fields:
            text = clean(piece.text[start.end() :])
            found.fields[name] = Piece(piece.first, piece.end, text)


def _strip_prefix(title: str, prefix: str) -> str:
    start = _LABELLED.match(title)
    if prefix and start and fold(start["bold"] or start["bare"]) in spellings(prefix):
        return title[start.end() :]
    return title


def pieces(lines: Sequence[str], section: Piece, style: Style) -> list[Piece]:
    """Return the blocks of a section."""
    first, inner = section.first + 1, lines[section.first + 1 : section.end]
    if style is Style.LIST:
        return [one._replace(text=unlinked(one.text)) for one in items(inner, first) if one.text]
    if style is Style.QUOTES:
        return _parse_quotes(inner, first)
    text = clean("\n".join(line[1:] if _ESCAPED.match(line) else line for line in inner))
    used = [number for number, line in enumerate(inner) if line.strip()]
    return [Piece(first + used[0], first + used[-1] + 1, text)] if text and used else []


def items(lines: Sequence[str], first: int) -> list[Piece]:
    """Return list items and paragraphs; an item goes on over indented lines."""
    found: list[tuple[int, list[str]]] = []
    fresh = True
    for number, line in enumerate(lines):
        # The first sign tells nearly always which of the three patterns may fit.
        sign = line[:1]
        bullet = _BULLET.match(line) if sign in _BULLETS else None
        indent = _INDENT.match(line) if sign in _BLANK else None
        if sign in _DIVIDERS and _DIVIDER.fullmatch(line):
            found.append((number, []))
            fresh = True
        elif bullet or (fresh and not indent and line.strip()):
            found.append((number, [line[bullet.end() :] if bullet else line]))
            fresh = False
        elif found and found[-1][1]:
            found[-1][1].append(line[indent.end() :] if indent else line)
            fresh = not line.strip()
    return [_make_piece(start + first, texts) for start, texts in found if texts]


def _make_piece(first: int, lines: list[str]) -> Piece:
    used = max((number for number, line in enumerate(lines) if line.strip()), default=0)
    return Piece(first, first + used + 1, clean("\n".join(lines)))


def _parse_quotes(lines: Sequence[str], first: int) -> list[Piece]:
    found: list[Piece] = []
    words: list[str] = []
    start = 0
    for number, line in enumerate(lines, first):
        if line.startswith(">"):
            start = start if words else number
            words.append(_QUOTED.sub("", line, count=1))
        elif source := _SOURCE.fullmatch(line.strip()):
            text = f"{clean(chr(10).join(words))}\n{source[0]}"
            # A source without a quote above it is a person's own line.
            found += [Piece(start, number + 1, text)] if words else []
            words = []
        elif line.strip():
            words = []
    return found


def quote_block(session: str, n: int, text: str) -> str:
    """Return the block of a quote: its words, then the line that says whose."""
    return f"{text}\n— {turn_link(session, n)}"


def quoted(block: str) -> tuple[str, int, str]:
    """Return session, turn number and words of a quote's block."""
    words, _, line = block.rpartition("\n")
    source = _SOURCE.fullmatch(line)
    assert source is not None, "a block of quotes ends in its source"
    return source["session"], int(source["n"] or source["m"]), words


def body_lines(parts: Iterable[str]) -> str:
    """Return lines as the text of a body."""
    return "".join(f"{part}\n" for part in parts)


def label(name: str, lang: Lang) -> str:
    """Return the words for a label in a language."""
    chinese, english = _WORDS[name]
    return chinese if lang is Lang.ZH else english


def spellings(name: str) -> frozenset[str]:
    """Return every spelling the parser takes for a label, folded."""
    return frozenset(fold(word) for word in (*_WORDS[name], *_ALSO.get(name, ())))


def fold(text: str) -> str:
    """Return a label as it is compared: case and white space do not count."""
    return " ".join(text.split()).casefold()

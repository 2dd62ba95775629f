"""Statements of any Markdown or text file: list items and paragraphs.

Why it exists: MEMORY.md trees, daily logs and people's notes are lists under headings.
Code, tables, quotations and lines that only point to another file are no statements. A
statement is known by its words: another wording is another statement.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from kimi_memory import hookimpl
from kimi_memory.domain.foreign_note import Memo
from kimi_memory.domain.screen import TranscriptFile
from kimi_memory.errors import FormatError
from kimi_memory.formats import frontmatter
from kimi_memory.nlp.basic.patterns import normalise, regex
from kimi_memory.nlp.dates.timestamps import find_moment

SYSTEM = "markdown"
_SUFFIXES = {".md", ".markdown", ".txt"}
_FENCE = regex(r"\s{0,3}(?:```|~~~)")
# Possessive, or a line of many # and blanks would take its length squared.
_HEADING = regex(r"(#{1,6}) ++(.*?[^ #]|#+)[ #]*+")
_BULLET = regex(r"(\s*)(?:[-*+•]|\d{1,3}[.)、])\s+(?:\[[ xX]\]\s+)?(.*)")
# "[Redis](redis.md) — our cache": the statement stands in the other file.
_POINTER = regex(r"\[[^\]]*\]\((?!\w+:)[^)\s]+\.md\)(?:\s*(?:[—–:-]|——).*)?")
_OTHER = regex(r"\s*(?:\||>|<!--|---+\s*$|\*\*\*+\s*$|!\[)")
_BLOCK_ID = regex(r"(?<!\s)\s++\^[A-Za-z0-9-]+\s*+$")
_SOURCE = regex(
    r"(\b\w{1,20}://\S+|\[\^[^\[\]]{1,200}\]|session[:_][\w.-]+)|(?:source|来源|出处)[:：]\s*(\S.{0,200})"
)
# Shorter is a bullet without words, or a rule.
_LEAST = 4


@hookimpl(trylast=True)
def read_memories(file: TranscriptFile, system: str) -> Iterable[Memo] | None:
    """Read the statements of a text; None for a file that is not text."""
    if system not in ("", SYSTEM) or PurePath(file.name).suffix.lower() not in _SUFFIXES:
        return None
    with file.open() as stream:
        text = stream.read().decode("utf-8", "replace")
    first = 1
    try:
        front = frontmatter.read(text, file.name)
        text, first = front.body, front.first_body_line
    except FormatError:
        text = text.removeprefix("\ufeff")
    return _yield_memos(text, first)


def _yield_memos(text: str, first: int) -> Iterator[Memo]:
    seen: Counter[str] = Counter()
    for line, heading, words in _yield_statements(text):
        mark = hashlib.sha256(normalise(words).encode("utf-8", "replace")).hexdigest()[:12]
        seen[mark] += 1
        yield Memo(
            system=SYSTEM,
            # By its words and not its line: a statement that moves is still the same one.
            id=f"{mark}.{seen[mark]}" if seen[mark] > 1 else mark,
            text=words,
            line=line + first - 1,
            title=heading,
            created=find_moment(words),
            sources=tuple(found[0] for found in _SOURCE.finditer(words)),
        )


def _yield_statements(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, nearest heading and words of each statement."""
    heading, fenced = "", False
    start, parts = 0, list[str]()
    for number, line in enumerate([*text.split("\n"), ""], 1):
        fence = _FENCE.match(line) is not None
        title = None if fenced else _HEADING.fullmatch(line)
        bullet = None if fenced else _BULLET.fullmatch(line)
        apart = fence or fenced or title or bullet or not line.strip() or _OTHER.match(line)
        if apart and parts:
            yield from _filter_statement(start, heading, parts)
            parts = []
        fenced ^= fence
        heading = title[2] if title else heading
        if bullet or not apart:
            start = start if parts else number
            parts.append(bullet[2] if bullet else line.strip())


def _filter_statement(line: int, heading: str, parts: list[str]) -> Iterator[tuple[int, str, str]]:
    words = _BLOCK_ID.sub("", " ".join(parts)).strip()
    if len(words.encode()) >= _LEAST and not _POINTER.fullmatch(words):
        yield line, heading, words

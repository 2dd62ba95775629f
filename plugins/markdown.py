"""Chunks of Markdown pages: under their headings, with code, tables and items whole.

Why it exists: recall returns pieces of a page, and a piece should be something a
person would point at. Cutting each 512 tokens tears code and loses the heading that
says what a list is about.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kimi_memory import hookimpl
from kimi_memory.domain.search_types import Chunk, ChunkSizes
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.sentences import estimate, pieces, sentences

CODE = 2
"""Code up to so many times the size of a chunk stays whole, though its chunk is then larger."""
PIECE_CHARS = 240
"""A sentence longer than a chunk is cut into pieces of this length, whatever its script."""

Kind = Literal["heading", "code", "table", "item", "text"]
Reader = Callable[[Sequence[str], int], int]

_ATX = regex(r" {0,3}(#{1,6})(?=[ \t]|$)")
_CLOSING_MARKS = regex(r"(?:(?<=[ \t])|^)#+$")
# Two hyphens at least: a single one is an empty item of a list.
_SETEXT = regex(r"^ {0,3}(?:(=++)|(-{2,}+))[ \t]*+$")
# No backtick may follow on the line: one that closes there is code within a sentence.
_FENCE = regex(r"[ \t]{0,200}(`{3,}(?=[^`]*$)|~{3,})")
_INDENTED = regex(r"(?: {4}| {0,3}\t)")
# At most nine digits, as in CommonMark.
_ITEM = regex(r"[ \t]{0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_RULING = frozenset("|:- \t")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines ``first`` to before ``last``, from 0, that belong together."""

    kind: Kind
    first: int
    last: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Atom:
    """Characters that are never cut, and what they cost with the break after them."""

    start: int
    end: int
    tokens: int


# It can split any text, so plugins that know one kind of page are asked before it.
@hookimpl(trylast=True)
def split_note(text: str, sizes: ChunkSizes) -> list[Chunk]:
    """Split at headings first, then into chunks of whole blocks, lines or sentences."""
    page = _Page(text, sizes)
    found = (
        _yield_sections(page.lines) if sizes.headings else [((), list(_yield_blocks(page.lines)))]
    )
    return [chunk for trail, blocks in found for chunk in page.chunks(trail, blocks)]


class _Page:
    """A text with the offsets of its lines."""

    def __init__(self, text: str, sizes: ChunkSizes) -> None:
        self.text, self.sizes = text, sizes
        raw = text.split("\n")
        self.lines = [line.removesuffix("\r") for line in raw]
        self.starts = [0]
        for line in raw:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def chunks(self, trail: tuple[str, ...], blocks: Sequence[Block]) -> Iterator[Chunk]:
        """Pack the atoms of one section into chunks that overlap a little."""
        atoms = [atom for block in blocks for atom in self._yield_atoms(block)]
        for first, last in _pack_atoms(atoms, self.sizes):
            start, end = atoms[first].start, atoms[last].end
            yield Chunk(
                self._line_number(start), self._line_number(end - 1), self.text[start:end], trail
            )

    def _line_number(self, at: int) -> int:
        return bisect_right(self.starts, at)

    def _yield_atoms(self, block: Block) -> Iterator[Atom]:
        start, end = self.starts[block.first], self._line_end(block.last - 1)
        tokens, most = estimate(self.text[start:end]), self.sizes.max_tokens
        # A paragraph is always cut at its sentences, so that chunks can overlap by some of them.
        whole = {"text": 0, "code": CODE * most}.get(block.kind, most)
        if tokens <= whole:
            yield Atom(start, end, tokens + 1)
            return
        for n in range(block.first, block.last):
            if self.lines[n].strip():
                yield from self._line_atoms(self.starts[n], self._line_end(n))

    def _line_end(self, n: int) -> int:
        return self.starts[n] + len(self.lines[n])

    def _line_atoms(self, start: int, end: int) -> Iterator[Atom]:
        tokens = estimate(self.text[start:end])
        if tokens <= self.sizes.overlap_tokens:
            yield Atom(start, end, tokens + 1)
            return
        for first, last in sentences(self.text[start:end]):
            for a, b in self._split_to_fit(start + first, start + last):
                yield Atom(a, b, estimate(self.text[a:b]) + 1)

    def _split_to_fit(self, start: int, end: int) -> list[tuple[int, int]]:
        if estimate(self.text[start:end]) <= self.sizes.max_tokens:
            return [(start, end)]
        return pieces(self.text, start, end, min(PIECE_CHARS, self.sizes.max_tokens // 2))


def _pack_atoms(atoms: Sequence[Atom], sizes: ChunkSizes) -> Iterator[tuple[int, int]]:
    """Yield the first and last atom of each chunk."""
    first, total = 0, 0
    for n, atom in enumerate(atoms):
        if total and total + atom.tokens > sizes.max_tokens:
            yield first, n - 1
            first, total = _find_overlap(atoms, n, sizes)
        total += atom.tokens
    if atoms:
        yield first, len(atoms) - 1


def _find_overlap(atoms: Sequence[Atom], n: int, sizes: ChunkSizes) -> tuple[int, int]:
    """Return where the chunk that goes on with atom `n` starts, and what that costs."""
    room = min(sizes.overlap_tokens, sizes.max_tokens - atoms[n].tokens)
    first, total = n, 0
    while first > 0 and total + atoms[first - 1].tokens <= room:
        first -= 1
        total += atoms[first].tokens
    return first, total


def _yield_sections(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """Yield the blocks under each heading with the heading trail.

    A heading with nothing of its own before a deeper one goes with that one.
    """
    trail: list[tuple[int, str]] = []
    held: list[Block] = []
    for block in _yield_blocks(lines):
        if block.kind == "heading":
            bare = all(one.kind == "heading" for one in held)
            if held and not (bare and block.level > held[-1].level):
                yield tuple(title for _, title in trail), held
                held = []
            trail = [one for one in trail if one[0] < block.level]
            trail.append((block.level, block.title))
        held.append(block)
    if held:
        yield tuple(title for _, title in trail), held


def _yield_blocks(lines: Sequence[str]) -> Iterator[Block]:
    at = 0
    while at < len(lines):
        if lines[at].strip():
            block = _read_block(lines, at)
            yield block
            at = block.last
        else:
            at += 1


def _read_block(lines: Sequence[str], at: int) -> Block:
    atx = _ATX.match(lines[at])
    if atx:
        title = _CLOSING_MARKS.sub("", lines[at][atx.end() :].strip())
        return Block("heading", at, at + 1, len(atx[1]), title.strip())
    for kind, read in _READERS:
        last = read(lines, at)
        if last > at:
            return Block(kind, at, last)
    setext = _match_underline(lines, at)
    if setext:
        return Block("heading", at, at + 2, 1 if setext[1] else 2, lines[at].strip())
    return Block("text", at, _text_end(lines, at))


def _code_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the fenced code that opens here, else `at`."""
    return at if _INDENTED.match(lines[at]) else _fence_end(lines, at)


def _fence_end(lines: Sequence[str], at: int) -> int:
    opening = _FENCE.match(lines[at])
    if not opening:
        return at
    mark = opening[1]
    for n in range(at + 1, len(lines)):
        line = lines[n].strip()
        if len(line) >= len(mark) and line == mark[0] * len(line):
            return n + 1
    # An unclosed fence runs to the end of the page, as in CommonMark.
    return max((n for n in range(at, len(lines)) if lines[n].strip()), default=at) + 1


def _table_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the table that starts here, else `at`."""
    if at + 1 >= len(lines) or "|" not in lines[at]:
        return at
    rule = lines[at + 1]
    if "|" not in rule or "-" not in rule or not _RULING.issuperset(rule):
        return at
    last = at + 2
    while last < len(lines) and "|" in lines[last]:
        last += 1
    return last


def _item_end(lines: Sequence[str], at: int) -> int:
    """Return the line after the list item that starts here, with all inside it, else `at`."""
    if not _ITEM.match(lines[at]):
        return at
    last = n = at + 1
    while n < len(lines):
        line = lines[n]
        inside = line.startswith(("  ", "\t"))
        # After a blank line, or where a block starts, what is not indented is out of the item;
        # else it goes on with its last line ("lazy continuation" of CommonMark).
        if line.strip() and not inside and (last < n or _starts_block(lines, n)):
            break
        n = max(n + 1, _fence_end(lines, n)) if inside else n + 1
        last = n if line.strip() else last
    return last


def _text_end(lines: Sequence[str], at: int) -> int:
    last = at + 1
    while last < len(lines) and lines[last].strip() and not _starts_block(lines, last):
        last += 1
    return last


def _starts_block(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    return bool(
        any(pattern.match(line) for pattern in (_ATX, _ITEM, _FENCE, _SETEXT))
        or _match_underline(lines, at)
        or _table_end(lines, at) > at
    )


def _match_underline(lines: Sequence[str], at: int) -> re.Match[str] | None:
    """Return the underline that makes this line a heading, if there is one."""
    if at + 1 >= len(lines) or _SETEXT.match(lines[at]):
        return None
    return _SETEXT.match(lines[at + 1])


_READERS: tuple[tuple[Kind, Reader], ...] = (
    ("code", _code_end),
    ("table", _table_end),
    ("item", _item_end),
)

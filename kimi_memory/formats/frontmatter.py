"""Front matter: the block of keys at the head of a Markdown file, read safely.

Nothing a file can contain makes this raise anything but `FormatError`, which names
the line and what to do about it. The lines we write ourselves are read without a YAML
parser, many times faster; whatever is not surely of this form is left to that parser.
Both agree on every block that is read without it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kimi_memory.errors import FormatError
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.nlp.basic.safe_text import Value, typed

if TYPE_CHECKING:
    from kimi_memory.formats import frontmatter_yaml

# A head has some twenty lines; a rule at the end of a long file must not feed all of it to YAML.
MAX_BYTES = 64 * 1024
BOM = "\ufeff"

_OPENING = re.compile("\ufeff?---[ \t]*(\r\n|\n|\r)")
_CLOSING = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")
# Tab, line feed and carriage return are text; where others stand, it is no text file.
_CONTROL = bytes({*range(0x20), 0x7F} - {0x09, 0x0A, 0x0D})
_UNREADABLE = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_NEWLINE = re.compile("\r\n|\n|\r")
# "<<<<<<< HEAD" as git leaves it, at the beginning of a line: the rest would read as YAML.
_CONFLICT = regex(r"(?:(?<=\n)|(?<=\r)|\A)(?:<{7} |>{7} |={7}(?=[\r\n]))")
# After blank and comment lines, what a person who means front matter begins with.
_SHAPED = regex(
    r"(?:[ \t]*(?:#[^\n\r]*)?[\n\r]+)*+[ \t]*+(?:[\w\"'][^\n\r:]*:(?:\s|\Z)|[\[{&%<?!]|\*\w)"
)
# Tabs, control characters and what YAML 1.1 takes for line breaks.
_ODD = re.compile("[\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_INDICATOR = frozenset("-?:,[]{}#&*!|>'\"%@` ")
# Only what begins like a number or a word of JSON can be anything but text.
_TYPED = frozenset("0123456789ntf")
_SPECIAL = _INDICATOR | _TYPED | {""}
_NEGATIVE = re.compile(r"-[0-9][0-9.e+-]*")
# "[a, b/c, d-1]": plain words only; quotes and nesting are for the YAML reader.
_FLOW = re.compile(r"\[(?:[^\W_][\w./+-]*(?:, ?[^\W_][\w./+-]*)*)?\]")
# A longer one is no key of anybody, but prose with a colon.
_LONGEST_NAME = 100
_NO_LIST: list[Value] = []


class FrontMatter(NamedTuple):
    """The keys of a file and the text after them."""

    values: dict[str, Value]
    body: str
    first_body_line: int
    """Number of the line the body begins on, from 1."""
    lines: Mapping[str, int] = MappingProxyType({})
    """Number of the line each key stands on, from 1."""


class Block(NamedTuple):
    """Where the front matter stands in a text, as character offsets."""

    start: int
    """After the opening line."""
    end: int
    """Before the closing line."""
    body: int
    """After the closing line."""
    newline: str
    """What ended the opening line."""


def decode(content: bytes, path: str) -> str:
    """Return the text of a file; a byte order mark stays in it.

    Raises:
        FormatError: The bytes are not UTF-8 text.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError(path, 1, "this is UTF-16 text", "Save it as UTF-8")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _decode_error(content, error.start, path) from None
    if len(content.translate(None, _CONTROL)) < len(content):
        found = next(sign for sign in text if sign.encode() in _CONTROL)
        line = line_at(text, text.index(found))
        why = f"a control character (U+{ord(found):04X}) stands here; is this a text file?"
        raise FormatError(path, line, why, "Remove it and save the file as UTF-8 text")
    return text


def _decode_error(content: bytes, at: int, path: str) -> FormatError:
    line = content.count(b"\n", 0, at) + 1
    if b"\0" in content[:4096]:
        return FormatError(path, line, "this is not a text file", "Move it out of the memory")
    return FormatError(path, line, "these bytes are not UTF-8 (perhaps GBK)", "Save it as UTF-8")


def line_at(text: str, index: int) -> int:
    """Return the number of the line that holds the character at `index`, from 1."""
    if text.find("\r", 0, index) < 0:
        return text.count("\n", 0, index) + 1
    return sum(1 for _ in _NEWLINE.finditer(text, 0, index)) + 1


def read(text: str, path: str) -> FrontMatter:
    """Return the front matter and body of a text; no front matter means no values.

    Raises:
        FormatError: There is front matter, and it is broken, too large or unsafe.
    """
    block = find_block(text, path)
    found = _read_values(text, block, path) if block else None
    if block is None or found is None:
        return FrontMatter({}, text[1:] if text.startswith(BOM) else text, 1)
    values, lines = found
    return FrontMatter(values, text[block.body :], line_at(text, block.body), lines)


def find_block(text: str, path: str) -> Block | None:
    """Return where front matter would stand: between two rules at the very start."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _find_closing(text, opening.end())
    if closing is not None:
        return Block(opening.end(), closing.start(), closing.end(), opening[1])
    # A rule at the very top is Markdown, too: only what looks like keys is front matter gone
    # wrong.
    if _SHAPED.match(text, opening.end()):
        raise FormatError(path, 1, "the front matter is never closed", "Add a line of ---")
    return None


def _find_closing(text: str, start: int) -> re.Match[str] | None:
    # Line ends of old Macs are rare; all others are found by `find`, quick on a long body.
    if text.find("\r---", start - 1) >= 0:
        return _CLOSING.search(text, start)
    at = text.find("\n---", start - 1)
    while at >= 0:
        if found := _CLOSING.match(text, at + 1):
            return found
        at = text.find("\n---", at + 4)
    return None


def load_block(text: str, block: Block, path: str) -> frontmatter_yaml.Tree | None:
    """Read a block with the YAML reader; None if it is prose between two rules."""
    shaped = _SHAPED.match(text, block.start, block.end) is not None
    try:
        tree = _load_block(text, block, path)
    except FormatError:
        if shaped:
            raise
        return None
    if tree.values is None and shaped:
        raise FormatError(path, 2, "the front matter is not a mapping", "Write 'key: value' lines")
    return tree if tree.values is not None else None


def _load_block(text: str, block: Block, path: str) -> frontmatter_yaml.Tree:
    inner = text[block.start : block.end]
    if _is_large(inner):
        why = f"the front matter is larger than {MAX_BYTES // 1024} KiB"
        raise FormatError(path, 1, why, "Move what is long into the body")
    if found := _UNREADABLE.search(inner):
        why = f"a character YAML cannot hold (U+{ord(found[0]):04X}) stands here"
        raise FormatError(path, line_at(text, block.start + found.start()), why, "Remove it")
    if found := _CONFLICT.search(inner):
        line = line_at(text, block.start + found.start())
        raise FormatError(path, line, "a merge left a conflict marker", "Resolve the conflict")
    # Few files need a whole YAML reader.
    from kimi_memory.formats.frontmatter_foreign import load_tree

    return load_tree(text, block[:3], path, line_at(text, block.start))


def _is_large(inner: str) -> bool:
    return len(inner) * 4 > MAX_BYTES and len(inner.encode("utf-8", "surrogatepass")) > MAX_BYTES


def _read_values(
    text: str, block: Block, path: str
) -> tuple[dict[str, Value], Mapping[str, int]] | None:
    inner = text[block.start : block.end]
    # What we write ourselves needs no YAML parser.
    if not _is_large(inner) and (quick := load_canonical(inner, first=2)) is not None:
        return quick
    tree = load_block(text, block, path)
    if tree is None or tree.values is None:
        return None
    starts = [found.end() for found in _NEWLINE.finditer(text, 0, block.body)]
    lines = {
        name: bisect_right(starts, block.start + place.key[0]) + 1
        for name, place in tree.places.items()
    }
    return tree.values, lines


class _OtherFormError(Exception):
    """This block is for the YAML reader."""


def load_canonical(block: str, first: int = 1) -> tuple[dict[str, Value], dict[str, int]] | None:
    """Return values and line numbers by key, or None for a block of another form.

    Args:
        block: Whole lines, without the rules around them.
        first: The number of its first line.
    """
    if "\r" in block:
        block = block.replace("\r\n", "\n")
    lines = block.split("\n")
    # Most blocks are wholly printable, which is quicker to see than what is odd.
    if not "".join(lines).isprintable() and _ODD.search(block):
        return None
    lines.pop()
    try:
        return _parse_lines(lines, first)
    except _OtherFormError:
        # Valid YAML of another hand: the slower reader takes it.
        return None


def _parse_lines(block: list[str], first: int) -> tuple[dict[str, Value], dict[str, int]]:
    values: dict[str, Value] = {}
    lines: dict[str, int] = {}
    name, items = "", _NO_LIST
    for number, line in enumerate(block, first):
        if line[:4] == "  - ":
            if items is _NO_LIST:
                raise _OtherFormError
            text = line[4:]
            items.append(
                _parse_special_scalar(text) if text[:1] in _SPECIAL else _parse_plain_scalar(text)
            )
            values[name] = items
            continue
        name, found, text = line.partition(": ")
        if not found:
            if line[-1:] != ":":
                raise _OtherFormError
            name = line[:-1]
        if name in values or not name.isidentifier() or len(name) > _LONGEST_NAME:
            raise _OtherFormError
        lines[name] = number
        items = _NO_LIST if text else []
        values[name] = _parse_value(text) if text[:1] in _SPECIAL else _parse_plain_scalar(text)
    return values, lines


def _parse_plain_scalar(text: str) -> str:
    if ": " in text or " #" in text or text[-1] in ": ":
        raise _OtherFormError
    return text


def _parse_value(text: str) -> Value:
    if not text:
        return None
    if text[0] != "[":
        return _parse_special_scalar(text)
    if not _FLOW.fullmatch(text):
        raise _OtherFormError
    inner = text[1:-1]
    return [typed(item.strip(" ")) for item in inner.split(",")] if inner else []


def _parse_special_scalar(text: str) -> Value:
    first = text[:1]
    if first in _TYPED:
        return typed(_parse_plain_scalar(text))
    # An escape may spell half a character, which JSON takes and YAML refuses.
    if first == '"' and text[-1] == '"' and "\\u" not in text:
        if "\\" not in text and text.count('"') == 2:
            return text[1:-1]
        try:
            found = json.loads(text)
        except ValueError:
            raise _OtherFormError from None
        return str(found)
    if _NEGATIVE.fullmatch(text):
        return typed(text)
    raise _OtherFormError


def id_of(content: bytes, path: str) -> str:
    """Return the id of the note in a file; empty where there is none."""
    try:
        return str(read(decode(content, path), path).values.get("id") or "")
    except FormatError:
        # A broken note has no id that anything could rely on.
        return ""

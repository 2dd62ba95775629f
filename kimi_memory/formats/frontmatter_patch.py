"""Patching front matter: new values for some keys, every other byte as it was."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from kimi_memory.errors import FormatError
from kimi_memory.formats.frontmatter import BOM, Block, find_block, load_block, read
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import Value, after_key, entry, same, written

if TYPE_CHECKING:
    from kimi_memory.formats.frontmatter_yaml import Place

_ITEM = re.compile(r"[ \t]*-[ \t]+")
_NEWLINE = re.compile("\r\n|\n|\r")
_REMEDY = "Write the front matter as plain 'key: value' lines"


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters ``text[start:end]`` give way to `new`."""

    start: int
    end: int
    new: str


def patch_values(text: str, values: Mapping[str, Value], path: str) -> str:
    """Return `text` with these front matter values; None takes a key away.

    Only the lines of keys whose value differs are touched; new keys come at the end
    of the block, which is made if there is none.

    Raises:
        FormatError: The front matter is broken, or in a form that cannot be patched
            without touching more than was asked.
    """
    before = read(text, path)
    changed = {
        name: value for name, value in values.items() if not same(before.values.get(name), value)
    }
    if not changed:
        return text
    result = apply(text, _plan_edits(text, changed, path))
    wanted = {**before.values, **changed}
    kept = {name for name in wanted if name not in changed or changed[name] is not None}
    # Read back before anything is written: an edit by place must never harm the keys beside it.
    if not _has_values(result, {name: wanted[name] for name in kept}, before.body):
        line = min((before.lines.get(name, 1) for name in changed), default=1)
        raise FormatError(path, line, "this cannot be changed without harming the rest", _REMEDY)
    return result


def _has_values(text: str, values: dict[str, Value], body: str) -> bool:
    try:
        found = read(text, "")
    except FormatError:
        # What we patched must be readable; if not, the head is written anew.
        return False
    return same(found.values, values) and found.body == body


def apply(text: str, edits: list[Edit]) -> str:
    """Return `text` after edits that do not overlap; at one place the first comes first."""
    # From the end, so that the places of the others stay right.
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))[::-1]:
        text = text[: edit.start] + edit.new + text[edit.end :]
    return text


def _plan_edits(text: str, changed: Mapping[str, Value], path: str) -> list[Edit]:
    block = find_block(text, path)
    tree = load_block(text, block, path) if block else None
    if block is None or tree is None:
        # A page of a person without a head keeps its first line where they put it, below ours.
        return [_new_block(text, changed)]
    # "{a: 1, b: 2}" has no lines that could be replaced one by one.
    if tree.flow:
        raise FormatError(path, 2, "the front matter is written in braces", _REMEDY)
    patcher = _Patcher(text, block, tree.places)
    edits = []
    for name, value in changed.items():
        edits += patcher.change(name, value) if name in tree.places else []
    added = {name: value for name, value in changed.items() if name not in tree.places}
    return [*edits, Edit(block.end, block.end, patcher.added(added))]


def _new_block(text: str, changed: Mapping[str, Value]) -> Edit:
    found = _NEWLINE.search(text)
    newline = found[0] if found else "\n"
    start = 1 if text.startswith(BOM) else 0
    lines = [line for name, value in changed.items() for line in entry(name, value)]
    return Edit(start, start, newline.join(["---", *lines, "---", ""]))


class _Patcher:
    """Edits for the keys of one block."""

    def __init__(self, text: str, block: Block, places: Mapping[str, Place]) -> None:
        self._text, self._block, self._places = text, block, places
        self._lines = [0, *(found.end() for found in _NEWLINE.finditer(text))]
        starts = [block.start + place.key[0] for place in places.values()]
        self._starts = sorted([*(self._line_start(start) for start in starts), block.end])
        self._indent = text[self._line_start(starts[0]) : starts[0]] if starts else ""
        if self._indent.strip(" "):
            # Something stands before the first key, such as a mark of YAML: it is no indentation.
            self._indent = ""

    def added(self, values: Mapping[str, Value]) -> str:
        """Return the lines of new keys."""
        lines = [
            self._indent + line + self._block.newline
            for name, value in values.items()
            if value is not None
            for line in entry(name, value)
        ]
        return "".join(lines)

    def change(self, name: str, value: Value) -> list[Edit]:
        """Return the edits that give a key another value, or take it away."""
        place = self._places[name]
        whole = self._find_key_lines(place)
        if value is None:
            return [Edit(whole.start, whole.end, "")]
        start, end = (self._block.start + index for index in place.value)
        if self._is_spliceable(place, value, self._text[start:end]):
            space = " " if self._text[start - 1] == ":" else ""
            new = written(value, flow=place.shape == "flow")
            return [Edit(start, end, space + new)]
        # Line by line, so that comments between the items of a list stay where they are.
        if place.items and isinstance(value, list) and value and place.shape == "list":
            edits = self._change_items(place, value)
            if edits is not None:
                return edits
        key = self._text[whole.start : self._block.start + place.key[1]]
        first, *rest = after_key(value)
        lines = [key + first, *(self._indent + line for line in rest)]
        return [Edit(whole.start, whole.end, "".join(line + self._block.newline for line in lines))]

    @staticmethod
    def _is_spliceable(place: Place, value: Value, old: str) -> bool:
        # What runs over lines is written anew as a whole; its places are not those of one value.
        if "\n" in old or "\r" in old:
            return False
        if place.shape in {"plain", "quoted"}:
            return not isinstance(value, list | dict)
        return place.shape == "flow" and isinstance(value, list | dict)

    def _find_key_lines(self, place: Place) -> Edit:
        """Return the lines of a key, without comments and blank lines after them."""
        start = self._line_start(self._block.start + place.key[0])
        end = next(line for line in self._starts if line > start)
        is_block = place.shape == "block"
        while (last := self._line_start(end - 1)) > start:
            line = self._text[last:end].strip("\r\n")
            bare = line if is_block else line.strip(" \t")
            if bare and not bare.startswith("#"):
                break
            end = last
        return Edit(start, end, "")

    def _change_items(self, place: Place, value: list[Value]) -> list[Edit] | None:
        spans = [(self._block.start + start, self._block.start + end) for start, end in place.items]
        lines = [self._item_line(start, end) for start, end in spans]
        # An item that is a map or runs over lines: then the whole key is written anew.
        if None in lines:
            return None
        rows = [line for line in lines if line is not None]
        marker = self._text[rows[0][0] : spans[0][0]]
        old = [written(item) for item in self._old_items(place)]
        new = [written(item) for item in value]
        edits = []
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag == "equal":
                continue
            # With their own bullet and indentation, as they stand in the file.
            added = "".join(marker + item + self._block.newline for item in new[j1:j2])
            at = rows[i1][0] if i1 < len(rows) else rows[-1][1]
            edits += [Edit(start, end, "") for start, end in rows[i1 + 1 : i2]]
            edits.append(Edit(at, rows[i1][1] if i2 > i1 else at, added))
        return edits

    def _old_items(self, place: Place) -> list[Value]:
        from kimi_memory.formats import frontmatter_yaml

        start = self._line_start(self._block.start + place.key[0])
        end = next(line for line in self._starts if line > start)
        values = frontmatter_yaml.load(self._text[start:end], "", 1).values or {}
        found = next(iter(values.values()))
        return found if isinstance(found, list) else []

    def _item_line(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the line of an item, or None if it is not one plain line."""
        first = self._line_start(start)
        if not _ITEM.fullmatch(self._text, first, start) or self._line_start(end) != first:
            return None
        return first, self._lines[bisect_right(self._lines, end)]

    def _line_start(self, index: int) -> int:
        return self._lines[bisect_right(self._lines, index) - 1]

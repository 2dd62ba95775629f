"""Splicing note bodies: the parts that changed, and no other line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from kimi_memory.domain.note import Lang
from kimi_memory.formats import body_layout
from kimi_memory.formats.body_layout import Body, Layout, Piece, Style, label

# What stays of a field's line: "- **时间**：", "- Value: ", as the person wrote it.
_PREFIX = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])[ \t]++(?:\*\*[^*]+\*\*[:：]?|[^:：]+[:：])[ \t]*")
_TITLE_PREFIX = re.compile(r"#[ \t]++[^:：]+[:：][ \t]*")
_BULLET = re.compile(r"[-*+][ \t]")
_NEWLINE = re.compile("\r\n|\n|\r")


def patch(body: str, page: Layout, lang: Lang, old: Body, new: Body) -> str:
    """Return `body` with the parts in which `new` differs from `old`."""
    lines = _Lines(body, page, lang)
    if old.title != new.title:
        lines.set_title(new.title)
    for name in page.fields:
        if old.fields.get(name, "") != new.fields.get(name, ""):
            lines.set_field(name, new.fields.get(name, ""))
    for name, style in page.sections.items():
        if old.sections.get(name, ()) != new.sections.get(name, ()):
            lines.set_section(name, style, new.sections.get(name, ()))
    return lines.text()


class _Lines:
    """The lines of one body while it is being patched."""

    def __init__(self, body: str, page: Layout, lang: Lang) -> None:
        # New lines end as the first one does: an editor on Windows shows mixed endings as changes.
        found = _NEWLINE.search(body)
        self._newline = found[0] if found else "\n"
        ends = [match.end() for match in _NEWLINE.finditer(body)]
        cuts = zip([0, *ends], [*ends, len(body)], strict=True)
        self._raw = [body[start:end] for start, end in cuts if end > start]
        self._page, self._lang = page, lang

    def text(self) -> str:
        return "".join(self._raw)

    @property
    def _plain_lines(self) -> list[str]:
        return [line.rstrip("\r\n") for line in self._raw]

    def _replace_lines(self, first: int, end: int, lines: Sequence[str]) -> None:
        new = [line + self._newline for line in lines]
        # A file whose last line has no newline keeps that, too.
        if new and end == len(self._raw) and first < end and self._raw[-1] == self._plain_lines[-1]:
            new[-1] = lines[-1]
        if new and 0 < first == len(self._raw) and self._raw[-1] == self._plain_lines[-1]:
            self._raw[-1] += self._newline
        self._raw[first:end] = new

    def set_title(self, title: str) -> None:
        found = body_layout.outline(self._plain_lines, self._page).title
        line = body_layout.title_line(title, self._page, self._lang)
        if found is None:
            self._replace_lines(0, 0, [line, ""])
            return
        kept = _TITLE_PREFIX.match(self._raw[found.first])
        if self._page.prefix and kept and title:
            line = kept[0].rstrip() + (" " if kept[0].rstrip().endswith(":") else "") + title
        self._replace_lines(found.first, found.end, [line])

    def set_field(self, name: str, text: str) -> None:
        found = body_layout.outline(self._plain_lines, self._page)
        if name not in found.fields:
            self._insert_field(name, text, found)
            return
        piece = found.fields[name]
        kept = _PREFIX.match(self._plain_lines[piece.first])
        new = body_layout.field_lines(name, text, self._lang)
        if kept:
            bullet = kept[0].rstrip() + ("" if kept[0].rstrip().endswith("：") else " ")
            new = body_layout.item_lines(text, bullet)
        self._replace_lines(piece.first, piece.end, new if text else [])

    def _insert_field(self, name: str, text: str, found: body_layout.Outline) -> None:
        new = body_layout.field_lines(name, text, self._lang)
        at, there = self._page.fields.index(name), found.fields
        before = [there[one].end for one in self._page.fields[:at] if one in there]
        after = [there[one].first for one in self._page.fields[at:] if one in there]
        # Beside the fields that are there, wherever a person moved them; else below the title.
        if before:
            self._replace_lines(max(before), max(before), new)
        elif after:
            self._replace_lines(min(after), min(after), new)
        elif found.title:
            end = found.title.end
            gap = [""] if end < len(self._raw) and self._plain_lines[end].strip() else []
            self._replace_lines(end, end, ["", *new, *gap])
        else:
            self._replace_lines(0, 0, [*new, ""])

    def set_section(self, name: str, style: Style, texts: Sequence[str]) -> None:
        found = body_layout.outline(self._plain_lines, self._page)
        if name not in found.headings:
            self._add_section(name, style, texts, found)
            return
        section = found.headings[name]
        old = body_layout.pieces(self._plain_lines, section, style)
        if not old:
            self._fill_section(section, body_layout.blocks(texts, style))
            return
        self._merge_blocks(old, texts, style)
        if not texts:
            self._drop_bare(name)

    def _drop_bare(self, name: str) -> None:
        """Take away a section in which nothing is left, not even a person's remark."""
        section = body_layout.outline(self._plain_lines, self._page).headings[name]
        first, end = section.first, section.end
        if any(line.strip() for line in self._plain_lines[first + 1 : end]):
            return
        while end == len(self._raw) and first and not self._plain_lines[first - 1].strip():
            first -= 1
        self._replace_lines(first, end, [])

    def _fill_section(self, section: Piece, lines: Sequence[str]) -> None:
        at = section.first + 1
        is_last = section.end == len(self._raw) and at == section.end
        self._replace_lines(at, at, ["", *lines] if is_last else ["", *lines, ""][: len(lines) + 2])

    def _merge_blocks(self, old: Sequence[Piece], texts: Sequence[str], style: Style) -> None:
        # Without `autojunk`, which leaves out what comes often in a list of 200 and more.
        codes = SequenceMatcher(None, [piece.text for piece in old], texts, autojunk=False)
        bullet = self._find_bullet(old)
        # From the end: lines above an edit keep their numbers.
        for tag, i1, i2, j1, j2 in reversed(codes.get_opcodes()):
            if tag == "equal":
                continue
            new = body_layout.blocks(texts[j1:j2], style, f"{bullet} ")
            if tag == "insert":
                self._insert_blocks(old, i1, new, style)
                continue
            # One by one: a person's remark may stand between two blocks.
            for piece in reversed(old[i1:i2]):
                lines = new if piece is old[i1] else []
                self._replace_lines(
                    piece.first, piece.end if lines else self._find_gap_end(piece), lines
                )

    def _find_gap_end(self, piece: Piece) -> int:
        """Return where the blank lines after a block end that should go with it."""
        plain, end = self._plain_lines, piece.end
        if piece.first and plain[piece.first - 1].strip():
            return end
        while end < len(plain) and not plain[end].strip():
            end += 1
        is_last = end == len(plain) or body_layout.HEADING.fullmatch(plain[end])
        return piece.end if is_last else end

    def _find_bullet(self, pieces: Sequence[Piece]) -> str:
        """Return what items of a list begin with."""
        bullets = (_BULLET.match(self._raw[piece.first]) for piece in pieces)
        return next((found[0][0] for found in bullets if found), "-")

    def _insert_blocks(self, old: Sequence[Piece], at: int, new: list[str], style: Style) -> None:
        if at == 0:
            tight = style is Style.LIST and bool(_BULLET.match(self._raw[old[0].first]))
            self._replace_lines(old[0].first, old[0].first, new if tight else [*new, ""])
            return
        end = old[at - 1].end
        follows = end < len(self._raw) and self._plain_lines[end].strip()
        tight = not follows or bool(_BULLET.match(self._raw[end]))
        gap = [] if style is Style.LIST else [""]
        self._replace_lines(end, end, [*gap, *new] if tight else [*gap, *new, ""])

    def _add_section(
        self, name: str, style: Style, texts: Sequence[str], found: body_layout.Outline
    ) -> None:
        lines = [f"## {label(name, self._lang)}", "", *body_layout.blocks(texts, style)]
        order, there = list(self._page.sections), found.headings
        later = [there[one].first for one in order[order.index(name) :] if one in there]
        if later:
            self._replace_lines(min(later), min(later), [*lines, ""])
        else:
            end = len(self._raw)
            gap = [""] if end and self._plain_lines[-1].strip() else []
            self._replace_lines(end, end, [*gap, *lines])

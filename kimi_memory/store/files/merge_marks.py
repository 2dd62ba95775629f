"""The marks that a merge leaves where two versions of a file do not fit together."""

from __future__ import annotations

import re

_OURS = b"<<<<<<< "
_BASE = b"|||||||"
_MIDDLE = b"======="
_THEIRS = b">>>>>>> "
# A fence of a code block as CommonMark has it: indented by three spaces at most.
_FENCE = re.compile(rb" {0,3}(```+|~~~+)")


WHY = "a merge left its marks in it"


def marks_in(path: str, content: bytes) -> str:
    """Return why a file is not used, where a merge left its marks in it; empty elsewhere."""
    return WHY if has_marks(path, content) else ""


def has_marks(path: str, content: bytes) -> bool:
    """Whether a merge left its marks in a file: all of them, in order, outside of a code block.

    A line of equals signs alone is a heading, and what shows the marks in a block of code
    is about git. Records hold neither.
    """
    return line_of_marks(path, content) > 0


def line_of_marks(path: str, content: bytes) -> int:
    """Return the line where the marks of a merge begin, 0 where there are none."""
    # The last of the marks, and the rarest: nearly every file is done here.
    if b"\n" + _THEIRS not in content:
        return 0
    fence, begun, middle = b"", 0, False
    for number, line in enumerate(content.splitlines(), 1):
        block = _FENCE.match(line) if path.endswith(".md") and not begun else None
        if block is not None:
            fence = _update_fence(fence, block[1])
        elif fence:
            continue
        elif line.startswith(_OURS):
            begun, middle = number, False
        elif begun and line == _MIDDLE:
            middle = True
        elif begun and middle and line.startswith(_THEIRS):
            return begun
    return 0


def _update_fence(fence: bytes, mark: bytes) -> bytes:
    """Return the mark of the block of code that is open after a line that is one."""
    if not fence:
        return mark
    return b"" if mark[:1] == fence[:1] and len(mark) >= len(fence) else fence

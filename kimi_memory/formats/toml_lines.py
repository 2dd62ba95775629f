"""Lines of a TOML file, for messages: the parser of the standard library names none."""

from __future__ import annotations

import re


def find_line(text: str, name: str, below: str = "") -> int:
    """Return the line of a table's head, or of a key in it; 1 where it is spelled differently.

    Args:
        text: the file.
        name: a table, or a key.
        below: the table of the key; empty for what stands above the first table.
    """
    lines, inside = text.splitlines(), not below
    for number, line in enumerate(lines, 1):
        if head := re.match(r"\s*\[+\s*([^\]]*?)\s*\]+", line):
            if not below and head[1] == name:
                return number
            inside = head[1] == below if below else False
        elif inside and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[.=]", line):
            return number
    return 1

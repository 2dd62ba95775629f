"""Citations: a path, and the lines of it that are meant, as hits name them."""

from __future__ import annotations

import re

# Nine digits at most: `int` refuses some thousands of them with an error of its own.
_LINES = re.compile(r"#L(?P<first>\d{1,9})(?:-L?(?P<last>\d{1,9}))?$")


_COMMIT = re.compile(r"@(?P<commit>[0-9a-f]{7,40})$")


def split_commit(path: str) -> tuple[str, str]:
    """Return the path and the commit of ``path@5bb61efd18``; the commit is empty if not named."""
    found = _COMMIT.search(path)
    return (path[: found.start()], found["commit"]) if found else (path, "")


def split_citation(text: str) -> tuple[str, int, int]:
    """Return the path, the first line and the last of ``path#L2-L5``; lines are 0 if not named."""
    found = _LINES.search(text)
    if found is None:
        return text, 0, 0
    first = max(1, int(found["first"]))
    return text[: found.start()], first, max(first, int(found["last"] or first))

"""Diffs for people: without what only keeps the books, in colours on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from kimi_memory.cli.terminal import find_width, paint_diff, say, wrap
from kimi_memory.nlp.basic.safe_text import printable

_STAMP = re.compile(r"[+-](?:updated|verified): \d{4}-")
"""When a note was written or looked at: each job sets it anew."""
_BOOKS = re.compile(r"(?:mid-term/jobs/|short-term/recalls|mid-term/tombstones)")
"""Files that say how something was done; what was done stands in the others."""


def show_diff(diff: str, indent: str = "", *, whole: bool = False) -> None:
    """Print a diff.

    Args:
        diff: a unified one of any number of files.
        indent: stands before each line.
        whole: also the stamps and records that only keep the books.
    """
    width = find_width()
    for line in diff.splitlines() if whole else fold_books(diff):
        for part in wrap(f"{indent}{printable(line)}", width):
            # All parts of a long line look like its first.
            print(indent + paint_diff(line[:1] + part.removeprefix(indent).removeprefix(line[:1])))


def fold_books(diff: str) -> Iterator[str]:
    """Yield the lines of a diff that say something; files of records are only counted."""
    left_out = 0
    lines = diff.splitlines()
    starts = [at for at, line in enumerate(lines) if _is_start(lines, at)]
    yield from lines[: starts[0] if starts else None]
    for start, end in pairwise([*starts, len(lines)]):
        file = lines[start:end]
        if _BOOKS.match(_find_path(file)):
            left_out += 1
        else:
            yield from _without_stamps(file)
    if left_out:
        yield say("({count} files of records left out; --all shows them)", count=left_out)


def _is_start(lines: list[str], at: int) -> bool:
    """Whether the part of a file begins at a line."""
    if lines[at].startswith("diff --git "):
        return True
    # git's own line stands above these two; a removed line may look like the first.
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if not (lines[at].startswith("--- ") and below.startswith("+++ ")):
        return False
    return not any(line.startswith("diff --git ") for line in lines[max(0, at - 6) : at])


def _find_path(file: list[str]) -> str:
    named = [line[6:] for line in file[:7] if line.startswith(("--- a/", "+++ b/"))]
    return named[-1] if named else ""


def _without_stamps(file: list[str]) -> Iterator[str]:
    """Yield a file's part without the stamps, and without hunks of stamps alone."""
    starts = [at for at, line in enumerate(file) if line.startswith("@@ ")]
    hunks = [_drop_stamps(file[start:end]) for start, end in pairwise([*starts, len(file)])]
    told = [hunk for hunk in hunks if any(line[:1] in ("+", "-") for line in hunk[1:])]
    # A renamed file has no hunks, and says something all the same.
    if told or not hunks:
        yield from file[: starts[0] if starts else None]
        yield from chain.from_iterable(told)


def _drop_stamps(hunk: list[str]) -> list[str]:
    return [line for line in hunk if not _STAMP.match(line)]

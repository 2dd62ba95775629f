"""What a line of a file names, and where: notes, pages, turns."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

KINDS = "card|event|digest|project|agent|identity|day|proposal"
# Lines of a folder that somebody else made are read, too: each part ends at a sign that it cannot
# hold, or after so many letters, or one long line would hold up the editor for minutes.
_SPOT = re.compile(
    r"\[\[session_(?P<linked>[^\[\]|#\n]+)(?:#\^t(?P<anchor>\d{1,9}))?(?:\|[^\]\n]{0,400})?\]\]"
    r"(?: #(?P<n>\d{1,9}))?"
    r"|(?<!\\)\[\[(?P<page>[^\[\]|#^\n]+)(?:[#^|][^\]\n]{0,400})?\]\]"
    r"|session:(?P<session>[^\s#\"',\]]{1,200})#(?P<turn>\d{1,9})(?:-\d{1,9})?"
    rf"|\^?(?P<id>(?:{KINDS})-[0-9a-z]{{4,40}})(?![\w-])"
)
_TURN = re.compile(r'^\{"kind":"turn","n":(?P<n>\d{1,9}),')
_ANCHOR = re.compile(r"^(?:### #|\^t)(?P<n>\d{1,9})\b")
_SESSION = re.compile(r"(?:^|/)session_(?P<id>[^/]+)\.(?:jsonl|md)$")


class Spot(NamedTuple):
    """One thing that a line names."""

    kind: str
    """``note``, ``page`` or ``turn``."""
    name: str
    """An id, the target of a link, or ``session:<id>#<n>``; of a session as a whole no number."""
    first: int
    last: int
    """Columns in characters, the second one past the end."""


@lru_cache(maxsize=16384)
def spots_in(line: str) -> tuple[Spot, ...]:
    """Return what a line names, from left to right.

    A document is asked line by line, so that a key stroke costs one line and not all.
    """
    return tuple(map(_read_spot, _SPOT.finditer(line))) if len(line) < 65536 else ()


def _read_spot(found: re.Match[str]) -> Spot:
    span = found.span()
    if found["linked"]:
        n = found["anchor"] or found["n"]
        name = f"session:{found['linked']}#{n}" if n else f"session:{found['linked']}"
        return Spot("turn", name, *span)
    if found["page"]:
        return Spot("page", found["page"].strip(), *span)
    if found["session"]:
        return Spot("turn", f"session:{found['session']}#{found['turn']}", *span)
    return Spot("note", found["id"], *span)


def spot_at(line: str, column: int) -> Spot | None:
    """Return what a line names at a column."""
    return next((one for one in spots_in(line) if one.first <= column <= one.last), None)


def session_of(path: str) -> str:
    """Return the session of a file; empty where the file belongs to no session."""
    found = _SESSION.search(path)
    return found["id"] if found else ""


def turn_of_line(path: str, line: str) -> str:
    """Return the turn that a line of a session's file begins, as a source names it."""
    session = session_of(path)
    found = (_TURN if path.endswith(".jsonl") else _ANCHOR).match(line) if session else None
    return f"session:{session}#{found['n']}" if found else ""

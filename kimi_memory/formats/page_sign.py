"""The sign of a generated page: its own hash, by which an edit of it can be recognized."""

from __future__ import annotations

import hashlib
import re

from kimi_memory.formats.frontmatter import BOM

_MARK = re.compile(r"^generated: ([0-9a-f]{12})$", re.MULTILINE)
BLANK = "0" * 12


def may_rewrite(text: str) -> bool:
    """Whether nobody would miss what a page says: it is generated, or empty."""
    return is_generated(text) or not text.removeprefix(BOM).strip()


def signed(text: str) -> str:
    """Return a page with its own hash where zeros stand."""
    # A hash of itself, as a page has nowhere else to say how it was written.
    return text.replace(f"generated: {BLANK}", f"generated: {_hash_text(text)}", 1)


def sign_of(text: str) -> str:
    """Return the hash a page was generated with; empty for a page that was not."""
    found = _MARK.search(_normalise_newlines(text))
    return found[1] if found else ""


def is_generated(text: str) -> bool:
    """Whether a page is exactly what the generator wrote."""
    found = _MARK.search(text)
    if found is None:
        return False
    blank = text[: found.start(1)] + BLANK + text[found.end(1) :]
    return _hash_text(blank) == found[1]


def _normalise_newlines(text: str) -> str:
    # An editor that only changed the line ends made no edit.
    return text.removeprefix(BOM).replace("\r\n", "\n").replace("\r", "\n")


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]

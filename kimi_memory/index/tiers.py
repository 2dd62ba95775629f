"""The tier a file lies in."""

from __future__ import annotations

TIERS = ("short-term", "episodic", "mid-term", "semantic", "long-term")


def tier_of(path: str) -> str:
    """Return the tier a path lies in, ``page`` outside of all."""
    head = path.partition("/")[0]
    return head if head in TIERS else "page"

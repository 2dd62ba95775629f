"""The line that says what became of a note after the point that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_memory.cli.words import say

if TYPE_CHECKING:
    from kimi_memory.domain.past import Since


def format_since(now: Since) -> str:
    """Return in a line what became of a note."""
    row = f"{say(now.change)} {now.at:%Y-%m-%d}"
    if not now.note:
        return row
    value = " ".join(now.says.split())
    by = say('by "{value}" ({note})', value=value, note=now.note)
    return f"{row} {by}"

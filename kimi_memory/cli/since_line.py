"""The line that says what became of a note after the point that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kimi_memory.cli.shared import say

if TYPE_CHECKING:
    from kimi_memory.domain.past import Since


def format_since(now: Since) -> str:
    """Return in a line what became of a note."""
    day = f"{now.at:%Y-%m-%d}"
    if not now.note:
        return f"{say(now.change)} {day}"
    text = 'superseded {day} by "{value}" ({note})'
    if now.change == "changed":
        text = 'changed {day} to "{value}" ({note})'
    return say(text, day=day, value=" ".join(now.says.split()), note=now.note)

"""A progress line on standard error, for people only."""

from __future__ import annotations

import sys
import time
from typing import Self

from kimi_memory.cli.shared import on_terminal, say

# With numbers and words beside it, the bar fits into 80 columns.
_WIDTH = 24
# Ten pictures in a second look smooth, and cost the work nothing.
_PAUSE = 0.1


class Progress:
    """Counts things done; silent unless standard error is a terminal."""

    def __init__(self, unit: str) -> None:
        self._unit, self._shown = unit, 0.0
        self._count, self._began = 0, time.monotonic()
        # In a log file, a line that rewrites itself is one long line of control characters.
        self._visible = on_terminal()

    def add(self, count: int) -> None:
        """Count some more of an unknown total."""
        self._count += count
        if self._is_due():
            self._print_line(f"{self._count} {say(self._unit)}")

    def set(self, done: int, total: int) -> None:
        """Show a bar: so many done of so many."""
        if not self._is_due(last=done == total):
            return
        filled = _WIDTH * done // max(1, total)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        left = (time.monotonic() - self._began) * (total - done) / max(1, done)
        self._print_line(f"{bar} {done}/{total} {say(self._unit)} · {_format_left(left)}")

    def _is_due(self, *, last: bool = False) -> bool:
        # To write a line for each of 100,000 files would take longer than the files.
        return self._visible and (last or time.monotonic() - self._shown > _PAUSE)

    def _print_line(self, text: str) -> None:
        self._shown = time.monotonic()
        print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._visible and self._shown:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


def _format_left(seconds: float) -> str:
    if seconds < 90:
        return say("{seconds} s left", seconds=round(seconds))
    return say("{minutes} min left", minutes=round(seconds / 60))

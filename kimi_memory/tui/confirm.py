"""A question with its diff: ``y`` does it, and no other key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from kimi_memory.tui.rows import Part
from kimi_memory.tui.two_panes import Parts


class Confirm(ModalScreen[bool]):
    """Shows what would be done, and waits."""

    # Enter is the key that a hand presses by itself, so it leaves everything as it is.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)"),
        Binding("escape,enter,n,q", "dismiss(False)"),
        Binding("j,down", "scroll(1)"),
        Binding("k,up", "scroll(-1)"),
    ]

    def __init__(self, question: str, parts: Iterable[Part], sure: str) -> None:
        super().__init__()
        self._question, self._parts, self._sure = question, list(parts), sure

    def compose(self) -> ComposeResult:
        """Build the box."""
        with Vertical(id="confirm"):
            yield Static(Parts([(self._question, "bold")]), markup=False)
            with VerticalScroll():
                yield Static(Parts(self._parts), markup=False)
            yield Static(Parts([(self._sure, "reverse")]), id="sure", markup=False)

    def action_scroll(self, lines: int) -> None:
        """Move the diff."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

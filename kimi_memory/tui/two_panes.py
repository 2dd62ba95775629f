"""A list with what stands beside its row; both are read by workers, page by page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from rich.console import Console, ConsoleOptions
from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from kimi_memory.errors import KimiMemoryError
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.nlp.basic.sentences import cut, pad, wrap
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.rows import Page, Part, Row, Source

_NEAR = 20
"""The next page is read when the cursor comes so near to the end."""


class Rows(OptionList):
    """The list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]


class TwoPanes(Vertical):
    """A tab: a field for words, a list, what stands beside its row."""

    class Counted(Message):
        """The list was read."""

        def __init__(self, panes: TwoPanes, total: int) -> None:
            super().__init__()
            self.panes, self.total = panes, total

    def __init__(self, name: str, source: Source, desk: Desk, hint: str = "") -> None:
        super().__init__(id=f"panes-{name}")
        self.source, self._desk, self._hint = source, desk, hint
        self.rows: list[Row] = []
        self._next, self._words = "", ""
        self._is_reading = self._is_read = False

    def compose(self) -> ComposeResult:
        """Build the widgets."""
        if self._hint:
            yield Input(placeholder=self._hint)
        with Horizontal():
            with Vertical(classes="left"):
                yield Rows()
                yield Static("", classes="count", markup=False)
            with VerticalScroll(classes="right", can_focus=True):
                yield Static("", classes="card", markup=False)

    def open(self) -> None:
        """Read the first rows, where that was not done yet."""
        if not self._is_read:
            self.reload()

    @property
    def row(self) -> Row | None:
        """The row the cursor is on."""
        at = self.query_one(Rows).highlighted
        return self.rows[at] if at is not None and at < len(self.rows) else None

    def forget(self) -> None:
        """Read the list anew when it is opened next."""
        self._is_read = False

    def reload(self) -> None:
        """Read the list anew; the cursor stays near where it was."""
        self._is_reading = self._is_read = True
        self._read(self._words, "", self.query_one(Rows).highlighted or 0)

    @work(thread=True, exclusive=True, group="rows")
    def _read(self, words: str, after: str, at: int) -> None:
        worker = get_current_worker()
        try:
            page = self._desk.ask(lambda: self.source.page(words, after))
        except KimiMemoryError as error:
            self.app.call_from_thread(self._show_problem, self._desk.tell(str(error)))
            return
        if not worker.is_cancelled:
            self.app.call_from_thread(self._take, page, at, bool(after))

    def _show_problem(self, problem: str) -> None:
        self._is_reading = False
        self.query_one(".count", Static).update(Text(printable(problem), style="yellow"))

    def _take(self, page: Page, at: int, more: bool) -> None:
        rows = self.query_one(Rows)
        options = [Option(_draw_row(row)) for row in page.rows]
        if more:
            self.rows += page.rows
            rows.add_options(options)
        else:
            self.rows = list(page.rows)
            rows.clear_options()
            rows.add_options(options)
            rows.highlighted = min(at, len(self.rows) - 1) if self.rows else None
        self._next, self._is_reading = page.next, False
        self.query_one(".count", Static).update(self._count(page.total))
        if not self.rows:
            self._show_detail([("", "")])
        self.post_message(self.Counted(self, page.total))

    def _count(self, total: int) -> str:
        say = self._desk.say
        if not total:
            return say["nothing"] if self._words or not self._hint else ""
        return say["in_all"].format(count=len(self.rows), total=total)

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        if self._next and not self._is_reading and event.option_index + _NEAR >= len(self.rows):
            self._is_reading = True
            self._read(self._words, self._next, 0)
        self.show_row()

    @on(OptionList.OptionSelected)
    def _chosen(self) -> None:
        self.add_class("reading")
        self.query_one(".right").focus()

    @on(Input.Submitted)
    def _asked(self, event: Input.Submitted) -> None:
        self._words = event.value
        self._is_reading = True
        self._read(self._words, "", 0)
        self.query_one(Rows).focus()

    def show_row(self) -> None:
        """Read what stands beside the row."""
        if (row := self.row) is not None:
            self._read_detail(row)

    @work(thread=True, exclusive=True, group="detail")
    def _read_detail(self, row: Row) -> None:
        worker = get_current_worker()
        try:
            parts = self._desk.ask(lambda: list(self.source.detail(row)))
        except KimiMemoryError as error:
            parts = [(self._desk.tell(str(error)), "yellow")]
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_detail, parts)

    def _show_detail(self, parts: Iterable[Part]) -> None:
        self.query_one(".card", Static).update(Parts(parts))


def _draw_row(row: Row) -> Text:
    drawn = Text(no_wrap=True, overflow="ellipsis")
    for cell in row.cells:
        text = printable(cell.text).replace("\n", " ")
        width = cell.width - 1
        # A blank after each piece, whatever its script.
        drawn.append(f"{pad(cut(text, width), width)} " if cell.width else text, cell.style)
    return drawn


class Parts:
    """Lines as the terminal shows them: nothing in them is markup, nothing hidden.

    Args:
        parts: the lines, each with its style.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = [(printable(text), style) for text, style in parts]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for text, style in self._parts:
            # Not as the library breaks them: no line of Chinese begins with a full stop.
            for whole in text.split("\n"):
                hang = len(whole) - len(whole.lstrip())
                for line in wrap(whole, options.max_width, hang):
                    yield Text(line, style, overflow="fold")

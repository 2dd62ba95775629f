"""The panel: five tabs, the keys of the pages, decisions with their diff and undo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import App, ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static, TabbedContent, TabPane

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import KimiMemoryError
from kimi_memory.jobs.correct import Correct
from kimi_memory.nlp.basic.safe_text import printable
from kimi_memory.operations.forget import forget
from kimi_memory.operations.job_list import run_kind
from kimi_memory.tui.confirm import Confirm
from kimi_memory.tui.desk import Desk
from kimi_memory.tui.held_rows import Found, Held
from kimi_memory.tui.job_rows import Work
from kimi_memory.tui.rows import Part, Row, Source, show_diff
from kimi_memory.tui.session_rows import Sessions
from kimi_memory.tui.two_panes import Rows, TwoPanes
from kimi_memory.tui.waiting_rows import Waits

TABS = ("held", "search", "review", "sessions", "jobs")
WIDE = 80
"""In fewer columns only one pane is shown."""
# A person does not notice a second, and the look costs a call of the system for each file.
_LIVE_SECONDS = 1.0
Do = Callable[[bool], Sequence[JobReport]]
"""Does something, or with True only shows it."""


class Panel(App[None]):
    """A memory in a terminal.

    Args:
        memory: an open memory.
        lang: of its own words, ``en`` or ``zh``.
        edit: opens a person's editor with a text and returns what they made of it.
    """

    CSS_PATH = "panel.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(n), f"number({n})", show=False) for n in range(1, 10)),
        Binding("slash", "find", show=False),
        Binding("escape", "leave", show=False),
        *(
            Binding(key, action, show=False)
            for key, action in {
                "a": "answer(True)", "x": "answer(False)", "e": "edit", "f": "forget",
                "u": "undo", "z": "undo", "o": "old", "b": "both", "v": "neither",
                "d": "run_kind('daily')", "w": "run_kind('weekly')", "h": "check",
                "r": "reload", "question_mark": "help", "q": "quit",
            }.items()
        ),
    ]  # fmt: skip

    def __init__(self, memory: Memory, lang: str, edit: Callable[[str], str]) -> None:
        super().__init__(ansi_color=True)
        # An animated line below the tabs could end where a label stood before it grew.
        self.animation_level = "none"
        self.title = memory.settings.memory.name or memory.root.name
        self._desk, self._edit = Desk(memory, lang), edit
        desk, say = self._desk, self._desk.say
        self._held, self._waits, self._work = Held(desk), Waits(desk), Work(desk)
        self._sessions, hints = Sessions(desk), {"held": say["filter"], "search": say["ask"]}
        sources: list[Source] = [self._held, Found(desk), self._waits, self._sessions, self._work]
        self._panes = {
            name: TwoPanes(name, source, desk, hints.get(name, ""))
            for name, source in zip(TABS, sources, strict=True)
        }
        self._done: list[str] = []
        self._tail = ("", 0)

    def compose(self) -> ComposeResult:
        """Build tabs and the line of keys."""
        yield Static(printable(self.title), id="name", markup=False)
        with TabbedContent(initial="held"):
            for number, name in enumerate(TABS, 1):
                with TabPane(f"{number} {self._desk.say[name]}", id=name):
                    yield self._panes[name]
        with Vertical(id="foot"):
            yield Static("", id="said", markup=False)
            yield Static("", id="keys", markup=False)

    def on_mount(self) -> None:
        """Begin in the list of what is held."""
        self._show_keys()
        self._panes["held"].open()
        self._panes["held"].query_one(Rows).focus()
        self.set_interval(_LIVE_SECONDS, self._follow)

    def on_resize(self) -> None:
        """Hide one pane where both have no room."""
        self.set_class(self.size.width < WIDE, "narrow")

    @property
    def _tab(self) -> str:
        return self.query_one(TabbedContent).active

    @property
    def _pane(self) -> TwoPanes:
        return self._panes[self._tab]

    def rows_of(self, tab: str) -> list[Row]:
        """Return the rows that a tab has read."""
        return self._panes[tab].rows

    @property
    def is_settled(self) -> bool:
        """Whether everything that was asked of the memory stands on the screen."""
        return all(worker.is_finished for worker in self.workers)

    def _row(self, *kinds: str) -> Row | None:
        """Return the row the cursor is on, where it is of a kind."""
        row = self._pane.row
        return row if row is not None and row.kind in kinds else None

    def _show_keys(self) -> None:
        say = self._desk.say
        shown = {
            "held": "/ find  e edit  f forget  o all",
            "search": "/ find  e edit  f forget",
            "review": "a accept  x reject  e edit",
            "sessions": "r reload",
            "jobs": "d daily  w weekly  h checks",
        }[self._tab or "held"]
        words = f"{shown}  u undo  ? help  q quit".split()
        pairs = zip(words[::2], words[1::2], strict=True)
        line = "  ".join(f"{key} {say[f'key_{name}']}" for key, name in pairs)
        self.query_one("#keys", Static).update(line)

    def _tell(self, text: str) -> None:
        self.query_one("#said", Static).update(printable(text))

    @on(TabbedContent.TabActivated)
    def _changed_tab(self) -> None:
        self._show_keys()
        self._pane.open()
        self._pane.query_one(Rows).focus()

    @on(TwoPanes.Counted)
    def _counted(self, event: TwoPanes.Counted) -> None:
        """Show on the tab how much waits; that is asked once the first list stands there."""
        self._panes["review"].open()
        if event.panes is self._panes["review"]:
            label = f"3 {self._desk.say['review']}" + (f" ({event.total})" if event.total else "")
            self.query_one(TabbedContent).get_tab("review").label = label

    def _follow(self) -> None:
        """Read an open session again where it grew."""
        row = self._row("session") if self._tab == "sessions" else None
        if row is None:
            return
        now = (row.id, self._sessions.size(row))
        if now != self._tail:
            self._tail = now
            self._pane.show_row()

    # Keys

    def action_number(self, number: int) -> None:
        """Open a tab; in a contradiction choose a side."""
        row = self._row("dispute") if self._tab == "review" else None
        if row is not None:
            self._settle(row, number)
        elif number <= len(TABS):
            self.query_one(TabbedContent).active = TABS[number - 1]

    def action_find(self) -> None:
        """Go to the field for words; from a tab without one to the search."""
        if not self._pane.query(Input):
            self.query_one(TabbedContent).active = "search"
            self.call_after_refresh(self._panes["search"].query_one(Input).focus)
            return
        self._pane.query_one(Input).focus()

    def action_leave(self) -> None:
        """Leave the field or the right pane."""
        self._pane.remove_class("reading")
        self._pane.query_one(Rows).focus()
        self._tell("")

    def action_help(self) -> None:
        """Show the keys."""
        say = self._desk.say
        self.push_screen(Confirm(say["key_help"], [(say["help"], "")], "Esc"))

    def action_reload(self) -> None:
        """Read the list again."""
        self._pane.reload()

    def action_old(self) -> None:
        """List what was replaced as well, or no more."""
        if self._tab == "held":
            self._held.with_old = not self._held.with_old
            self._pane.reload()

    def action_check(self) -> None:
        """Run every check."""
        if self._tab == "jobs":
            self._tell(self._desk.say["reading"])
            self._check()

    @work(thread=True, exclusive=True, group="check")
    def _check(self) -> None:
        self._desk.ask(self._work.check)
        self.call_from_thread(self._panes["jobs"].reload)
        self.call_from_thread(self._tell, "")

    # Decisions

    def action_answer(self, accept: bool) -> None:
        """Accept or reject what waits; its diff stands beside it."""
        row = self._row("waiting")
        if row is not None:
            self._carry_out(lambda: [self._waits.answer(row, accept=accept)])

    def action_both(self) -> None:
        """Say that both sides are true."""
        row = self._row("dispute")
        if row is not None:
            self._settle(row, both=True)

    def _settle(self, row: Row, side: int = 0, *, value: str = "", both: bool = False) -> None:
        settle = self._waits.settle
        self._propose(
            "would_settle", lambda dry: [settle(row, side, value=value, both=both, dry_run=dry)]
        )

    def action_neither(self) -> None:
        """Say what is so instead of either side."""
        if self._row("dispute") is not None:
            self.action_edit()

    def action_edit(self) -> None:
        """Say it in one's own words: accept so, settle so, correct so."""
        row = self._row("waiting", "dispute", "card")
        if row is None:
            return
        before = self._words_of(row)
        text = self._edit_apart(before)
        if not text or (text == before and row.kind != "waiting"):
            self._tell(self._desk.say["unchanged"])
        elif row.kind == "waiting":
            self._carry_out(lambda: [self._waits.answer(row, accept=True, text=text)])
        elif row.kind == "dispute":
            self._settle(row, value=text)
        else:
            memory = self._desk.memory
            self._propose(
                "would_correct",
                lambda dry: [memory.run(Correct(memory, row.id, text), dry_run=dry)],
            )

    def _edit_apart(self, before: str) -> str:
        """Return what a person's editor makes of a text, while the panel is away."""
        try:
            with self.suspend():
                return self._edit(before)
        except SuspendNotSupported:  # Nothing is drawn, so the editor has the screen already.
            return self._edit(before)
        except KimiMemoryError as error:
            self._tell(self._desk.tell(str(error)))
            return ""

    def _words_of(self, row: Row) -> str:
        if row.kind != "card":
            return self._waits.text_of(row)
        return str(getattr(self._desk.ask(lambda: self._desk.memory.get(row.id)).note, "value", ""))

    def action_forget(self) -> None:
        """Forget a card or an event."""
        row = self._row("card", "event")
        if row is not None:
            wanted, memory = Wanted(note=row.id), self._desk.memory
            self._propose("would_forget", lambda dry: [forget(memory, wanted, dry_run=dry)])

    def action_run_kind(self, kind: str) -> None:
        """Run a job after a look at what it would do."""
        if self._tab == "jobs":
            memory, what = self._desk.memory, self._desk.say[f"key_{kind}"]
            self._propose("would_run", lambda dry: run_kind(memory, kind, dry_run=dry), kind=what)

    def action_undo(self) -> None:
        """Take the last decision back; on the tab of jobs the chosen one."""
        row = self._row("job")
        id = row.id if row is not None else (self._done[-1] if self._done else "")
        if not id:
            self._tell(self._desk.say["nothing_done"])
            return
        parts = self._desk.ask(
            lambda: [(one.path, "") for one in self._desk.memory.jobs.load(id).effects]
        )
        self._confirm(self._desk.say["would_undo"], [(id, "dim"), *parts], lambda: self._undo(id))

    @work(thread=True, exclusive=True, group="deed")
    def _undo(self, id: str) -> None:
        try:
            self._desk.ask(lambda: self._desk.memory.undo(id))
        except KimiMemoryError as error:
            self.call_from_thread(self._tell, self._desk.tell(str(error)))
            return
        self._done = [one for one in self._done if one != id]
        self.call_from_thread(self._finish, self._desk.say["undone"].format(what=id))

    def _propose(self, question: str, do: Do, **values: str) -> None:
        """Show what would be done, and do it after ``y``."""
        self._tell(self._desk.say["reading"])
        self._look(self._desk.say[question].format(**values), do)

    @work(thread=True, exclusive=True, group="deed")
    def _look(self, question: str, do: Do) -> None:
        try:
            reports = self._desk.ask(lambda: do(True))
        except KimiMemoryError as error:
            self.call_from_thread(self._tell, self._desk.tell(str(error)))
            return
        parts = [part for one in reports for part in self._draw_report(one)]
        if not parts:
            self.call_from_thread(self._tell, self._desk.say["no_change"])
            return
        self.call_from_thread(self._tell, "")
        self.call_from_thread(
            self._confirm, question, parts, lambda: self._carry_out(lambda: do(False))
        )

    def _draw_report(self, report: JobReport) -> Iterable[Part]:
        yield from ((line, "yellow") for line in report.left_out)
        yield from show_diff(report.diff, self._desk.say)

    def _confirm(self, question: str, parts: Iterable[Part], do: Callable[[], object]) -> None:
        def decided(sure: bool | None) -> None:
            self._tell("" if sure else self._desk.say["unchanged"])
            if sure:
                do()

        self.push_screen(Confirm(question, parts, self._desk.say["sure"]), decided)

    @work(thread=True, exclusive=True, group="deed")
    def _carry_out(self, do: Callable[[], Sequence[JobReport]]) -> None:
        try:
            reports = self._desk.ask(do)
        except KimiMemoryError as error:
            self.call_from_thread(self._tell, self._desk.tell(str(error)))
            return
        ids = [one.id for one in reports if one.id]
        self._done += ids
        what = ", ".join(ids) or ", ".join(one.subject for one in reports if one.subject)
        said = self._desk.say["done"].format(what=what) if what else self._desk.say["no_change"]
        self.call_from_thread(self._finish, said)

    def _finish(self, said: str) -> None:
        self._tell(said)
        for name in ("held", "review", "jobs"):
            self._panes[name].forget()
        self._pane.reload()

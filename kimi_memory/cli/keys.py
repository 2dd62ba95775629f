"""Decisions one by one on a terminal: a key for each, undo, and other words in an editor."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from kimi_memory.cli.shared import count_columns, find_width, paint, say, show
from kimi_memory.domain.job import JobReport
from kimi_memory.errors import KimiMemoryError, UsageError
from kimi_memory.nlp.basic.safe_text import printable

try:
    import termios
    import tty
except ImportError:  # Windows has none of both: there an answer ends with Enter.
    termios = None  # type: ignore[assignment]  # absent there

_ENDS = ("\x03", "\x04", "\x1b", "q")
"""Ctrl-C, Ctrl-D, Escape; and a terminal that was closed."""
_ESCAPE_SECONDS = 0.05
"""An arrow sends Escape and more; the more comes at once."""
Read = Callable[[str], str]
"""Shows what may be typed and returns the key that was."""


def can_walk() -> bool:
    """Whether a person is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_key(prompt: str) -> str:
    """Show a prompt and return one key, without Enter where the terminal can do that."""
    print(prompt, end="", flush=True)
    if termios is None:
        return sys.stdin.readline()[:1].lower()
    stdin = sys.stdin.fileno()
    before = termios.tcgetattr(stdin)
    try:
        # Keys that were typed ahead stay.
        tty.setcbreak(stdin, termios.TCSADRAIN)
        key = _read_one(stdin)
    finally:
        termios.tcsetattr(stdin, termios.TCSADRAIN, before)
    print(key if key.isprintable() else "")
    return "q" if key in _ENDS else key.lower()


def _read_one(stdin: int) -> str:
    """Return one key; an empty text for those that send several, such as arrows."""
    # Not through the buffer of Python, which would keep a second key from the next question.
    key = os.read(stdin, 1)
    if key == b"\x1b" and select.select([stdin], [], [], _ESCAPE_SECONDS)[0]:
        os.read(stdin, 16)
        return ""
    missing = {0b110: 1, 0b1110: 2}.get(key[0] >> (5 if key[0] < 0xE0 else 4), 0) if key else 0
    return (key + (os.read(stdin, missing) if missing else b"")).decode("utf-8", "replace") or "q"


def edit_text(text: str, suffix: str = ".md") -> str:
    """Return what a person makes of a text in their editor; empty where they leave nothing.

    Raises:
        UsageError: no editor could be started.
    """
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="kimi-memory-") as folder:
        path = Path(folder) / f"text{suffix}"
        path.write_text(f"{text}\n", encoding="utf-8")
        try:
            # As git does: EDITOR may hold options.
            subprocess.run([*shlex.split(command), str(path)], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            why = f"The editor {command!r} failed. Set EDITOR to one you have."
            raise UsageError(why) from error
        return path.read_text(encoding="utf-8-sig").strip()


class Walk:
    """Goes through what waits, one by one.

    Args:
        keys: a letter for each decision, with its word.
        decide: carries out the decision of a letter about the thing of a number; returns None
            where nothing was decided after all.
        undo: takes the job of an id back.
        read: where keys come from.
    """

    def __init__(
        self,
        keys: Mapping[str, str],
        decide: Callable[[int, str], JobReport | None],
        undo: Callable[[str], object],
        read: Read = read_key,
    ) -> None:
        self._keys, self._decide, self._undo, self._read = keys, decide, undo, read
        self._done: list[tuple[int, str]] = []

    def run(self, count: int, present: Callable[[int], None]) -> int:
        """Show each of so many things and ask about it; return how many were decided."""
        at, shown = 0, -1
        while at < count:
            if at != shown:
                present(at)
                shown = at
            key = self._read(self._prompt)
            if key == "q":
                break
            if key == "s":
                at += 1
            elif key == "u":
                at, shown = self._take_back(at), -1
            elif key in self._keys:
                at += self._carry_out(at, key)
        return len(self._done)

    @property
    def _prompt(self) -> str:
        keys = {**self._keys, "s": say("skip"), "u": say("undo"), "q": say("quit")}
        rows, room = [list[str]()], find_width() - 3
        for key, word in keys.items():
            used = sum(count_columns(f"{one} {keys[one]}  ") for one in rows[-1])
            if room > 0 and rows[-1] and used + count_columns(f"{key} {word}") > room:
                rows.append([])
            rows[-1].append(key)
        lines = ("  ".join(f"{paint(one, 'bold')} {keys[one]}" for one in row) for row in rows)
        return "\n".join(lines) + " › "

    def _carry_out(self, at: int, key: str) -> bool:
        """Carry out a decision; return whether there is no more to decide about the thing."""
        try:
            report = self._decide(at, key)
        except KimiMemoryError as error:
            show(paint(printable(str(error)), "yellow"))
            return False
        if report is None:
            return False
        self._done.append((at, report.id))
        show(f"  ✓ {self._keys[key]}  {report.id}".rstrip())
        return True

    def _take_back(self, at: int) -> int:
        """Take the last decision back; return the number of what it was about."""
        if not self._done:
            show(say("Nothing was decided yet."))
            return at
        number, job = self._done[-1]
        if not job:
            show(say("That was no job, so it cannot be taken back here."))
            return at
        self._undo(job)
        self._done.pop()
        show(say("Taken back: {job}", job=job))
        return number

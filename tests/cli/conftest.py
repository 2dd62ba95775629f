"""A memory that commands find, and a terminal on which a person types."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kimi_memory.cli import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> Path:
    """A memory made by ``init``, found through the environment."""
    path = tmp_path / "memory"
    assert run(["init", str(path), "--name", "测试", "--language", "zh"]) == 0
    capsys.readouterr()
    monkeypatch.setenv("KIMI_MEMORY", str(path))
    return path


MARK, PATIENCE = b"\x1e", 30.0
"""What is written when a program has given the terminal back, and seconds until it must be read."""


class Screen:
    """A terminal: the person's end of it, and the program's."""

    def __init__(self) -> None:
        self._ours, self._theirs = os.openpty()
        self._shown, self._guard = b"", threading.Lock()
        self._marks = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        # Without a reader the program would wait as soon as the buffer is full.
        while True:
            try:
                more = os.read(self._ours, 4096)
            except OSError:
                return
            with self._guard:
                self._shown += more

    def type(self, keys: str) -> None:
        """Type keys, also ahead of the question."""
        os.write(self._ours, keys.encode())

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Let this process read and write on the terminal."""
        with (
            open(self._theirs, encoding="utf-8", closefd=False) as stdin,
            open(self._theirs, "w", encoding="utf-8", buffering=1, closefd=False) as stdout,
            pytest.MonkeyPatch.context() as patch,
        ):
            # Not in a fixture: pytest takes both for itself again as the test begins.
            patch.setattr("sys.stdin", stdin)
            patch.setattr("sys.stdout", stdout)
            yield
        os.write(self._theirs, MARK)
        self._marks += 1

    @property
    def end(self) -> int:
        """The program's end of it, for another process."""
        return self._theirs

    @property
    def text(self) -> str:
        """What is on it, once no more comes."""
        last, same, until = b"", 0, time.monotonic() + PATIENCE
        while same < 5:
            time.sleep(0.005)  # What was written is there; the reader only has to be scheduled.
            with self._guard:
                # On a busy machine that takes its time: it has read all once it has the last mark.
                waits = self._shown.count(MARK) < self._marks and time.monotonic() < until
                same = 0 if waits or self._shown != last else same + 1
                last = self._shown
        plain = last.replace(MARK, b"")
        return plain.decode("utf-8", "replace").replace("\r\n", "\n")

    def close(self) -> None:
        """Hang up."""
        os.close(self._theirs)
        # A reader that lives on would read from the next terminal, which gets the same number.
        self._reader.join(PATIENCE)
        os.close(self._ours)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """A terminal of 80 columns without colours and without a pager."""
    variables = {"COLUMNS": "80", "LINES": "40", "NO_COLOR": "1", "PAGER": "cat", "TERM": "xterm"}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    terminal = Screen()
    yield terminal
    terminal.close()


@pytest.fixture
def shown_by(screen: Screen) -> Callable[..., str]:
    """Run a command on the terminal, with keys typed ahead; return what stands there then."""

    def answer(*words: str, keys: str = "") -> str:
        before = len(screen.text)
        screen.type(keys)
        with screen.taken():
            assert run(list(words)) == 0
        return screen.text[before:]

    return answer

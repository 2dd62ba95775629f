"""``watch`` as a real process: it reports, ends when asked to, and stands alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread

import pytest

from kimi_memory.cli import run

WATCH = [sys.executable, "-m", "kimi_memory", "watch", "--settle", "200"]
DEADLINE_SECONDS = 60


class Watcher:
    """A process that watches; it is ended with the test."""

    def __init__(self, *words: str) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*WATCH, *words], stdout=pipe, stderr=pipe, text=True)
        self._lines = SimpleQueue[str]()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def line(self) -> str:
        """Return the next line it prints."""
        return self._lines.get(timeout=DEADLINE_SECONDS)

    def end(self, how: signal.Signals) -> tuple[int, str]:
        """End it; return its exit code and what it said on standard error."""
        self.process.send_signal(how)
        code = self.process.wait(DEADLINE_SECONDS)
        self._reader.join()
        with self.process as process:
            assert process.stderr is not None
            return code, process.stderr.read()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))


@pytest.fixture
def watcher(folder, request) -> Iterator[Watcher]:
    """A process that watches the folder."""
    begun = Watcher(*getattr(request, "param", ()))
    yield begun
    if begun.process.poll() is None:
        begun.end(signal.SIGKILL)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["interrupt", "terminate"])
@pytest.mark.parametrize("watcher", [("--json",)], indirect=True, ids=[""])
def test_it_tells_what_changed_and_ends_cleanly(
    folder,
    watcher: Watcher,
    ending: signal.Signals,
) -> None:
    assert json.loads(watcher.line())["cause"] == "start"
    (folder / "a/b").mkdir(parents=True)
    (folder / "a/b/c.md").write_text("zebra 斑马\n", encoding="utf-8")
    changed: list[str] = []
    while "a/b/c.md" not in changed:
        changed += json.loads(watcher.line())["changed"]
    assert watcher.end(ending) == (0, "")


def test_people_see_a_line_a_batch_and_a_second_watch_is_refused(
    folder,
    watcher: Watcher,
    capsys,
) -> None:
    assert " units (" in watcher.line()
    assert run(["watch"]) == 32
    assert f"held by process {watcher.process.pid}" in capsys.readouterr().err
    (folder / "a.md").write_text("zebra\n", encoding="utf-8")
    assert watcher.line().endswith("  a.md")
    assert watcher.end(signal.SIGTERM) == (0, "")


def test_spans_must_be_above_zero(folder, capsys) -> None:
    assert run(["watch", "--every", "0"]) == 2
    assert "above zero" in capsys.readouterr().err

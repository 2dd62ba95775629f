"""The progress line: how far, and how long it will take."""

from __future__ import annotations

import io
import sys

import pytest

from kimi_memory.cli import progress
from kimi_memory.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("locale", "says"),
    [
        ("C.UTF-8", ["250/1000 files · 30 s left", "500/1000 files · 5 min left"]),
        ("zh_CN.UTF-8", ["250/1000 文件 · 还剩 30 秒", "500/1000 文件 · 还剩 5 分钟"]),
    ],
)
def test_a_bar_says_how_long_it_will_take(
    monkeypatch: pytest.MonkeyPatch, locale: str, says: list[str]
) -> None:
    now, terminal = [100.0], Terminal()
    monkeypatch.setenv("LC_ALL", locale)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with Progress("files") as shown:
        for at, done in ((110.0, 250), (400.0, 500)):
            now[0] = at
            shown.set(done, 1000)
    lines = terminal.getvalue().split("\r\x1b[2K")
    assert [line.partition(" ")[2] for line in lines if line] == says

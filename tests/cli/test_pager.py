"""Long output, page by page."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.cli.pager import paged
from tests.cli.conftest import Screen


@pytest.mark.parametrize(("lines", "is_paged"), [(3, False), (60, True)])
def test_only_what_is_longer_than_the_terminal_goes_to_the_pager(
    screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int, is_paged: bool
) -> None:
    kept = tmp_path / "paged"
    monkeypatch.setenv("PAGER", f"tee {kept}")
    with screen.taken(), paged():
        for number in range(lines):
            print(f"第{number}行")
    assert kept.exists() == is_paged
    if is_paged:
        assert kept.read_text(encoding="utf-8").count("\n") == lines
    else:
        assert "第2行" in screen.text


def test_a_pager_that_is_not_there_loses_nothing(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "no-such-pager")
    with screen.taken(), paged():
        print("x\n" * 60)
    assert screen.text.count("x") == 60


def test_a_pipe_gets_lines_as_they_come(capsys) -> None:
    with paged():
        print("first")
        assert capsys.readouterr().out == "first\n"

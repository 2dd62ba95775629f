"""Decisions one by one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.cli.keys import Walk, edit_text
from kimi_memory.domain.job import JobReport
from kimi_memory.errors import UsageError


def go(
    keys: str, decide: Callable[[int, str], JobReport | None]
) -> tuple[int, list[int], list[str]]:
    """Walk through three things with keys; return how many were decided, shown, and undone."""
    typed, shown, undone = iter(keys), list[int](), list[str]()
    walk = Walk({"a": "accept", "x": "reject"}, decide, undone.append, lambda prompt: next(typed))
    return walk.run(3, shown.append), shown, undone


def done(at: int, key: str) -> JobReport:
    return JobReport(f"job-{at}{key}", "review", "")


@pytest.mark.parametrize(
    ("keys", "decided", "shown", "undone"),
    [
        ("aax", 3, [0, 1, 2], []),
        ("sq", 0, [0, 1], []),
        ("a?uxq", 1, [0, 1, 0, 1], ["job-0a"]),
        ("uaaa", 3, [0, 0, 1, 2], []),
    ],
    ids=["all", "skip and quit", "undo", "nothing to undo"],
)
def test_each_key_does_what_it_says(
    keys: str, decided: int, shown: list[int], undone: list[str]
) -> None:
    assert go(keys, done) == (decided, shown, undone)


def test_what_cannot_be_done_is_said_and_asked_again(capsys) -> None:
    def refuse(at: int, key: str) -> JobReport | None:
        if key == "a":
            raise UsageError("It changed meanwhile.")
        return None

    assert go("axq", refuse)[0] == 0
    assert "It changed meanwhile." in capsys.readouterr().out


def test_what_was_no_job_is_not_taken_back(capsys) -> None:
    assert go("auq", lambda at, key: JobReport("", "review", ""))[0] == 1
    assert "no job" in capsys.readouterr().out


def test_other_words_come_from_the_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i s/old/new/ "$2"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", f"{editor} --wait")
    assert edit_text("the old words") == "the new words"
    monkeypatch.setenv("VISUAL", "false")
    with pytest.raises(UsageError, match="Set EDITOR"):
        edit_text("x")


def test_the_keys_are_broken_between_two_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    prompts: list[str] = []
    keys = {"1": "this is right", "2": "this is right", "b": "both", "v": "neither, but …"}

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return "q"

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    Walk(keys, lambda at, key: None, lambda id: None, read).run(1, lambda at: None)
    first, last = prompts[0].splitlines()
    assert len(first) <= 77 and first.endswith("u undo") and last == "q quit › "

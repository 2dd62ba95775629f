"""``session``: turns from the command line."""

from __future__ import annotations

from pathlib import Path

from kimi_memory.cli import run
from tests.cli.answers import answer


def test_what_is_said_in_an_area_has_its_scope(folder: Path, capsys) -> None:
    start = ["session", "start", "s1", "--agent", "kimi", "--user", "小李"]
    assert answer(capsys, *start, "--area", "user")["area"] == "user"
    assert answer(capsys, "session", "turn", "s1", "我喜欢喝乌龙茶。")["n"] == 1
    whose = ["--agent", "kimi", "--area", "agent", "--key", "web.port"]
    [report] = answer(capsys, "remember", "端口是 8443。", *whose)
    assert report["paths"][0] == "semantic/general/web.port.agent-kimi.md"
    found = answer(capsys, "recall", "user:小李 乌龙茶")["hits"]
    assert [hit["scope"] for hit in (one["unit"] for one in found)][:1] == ["user:小李"]
    assert run(["session", "start", "s2", "--area", "agent"]) == 2
    assert "area of an agent needs its name" in capsys.readouterr().err


def test_an_open_tag_takes_nothing_along_and_what_is_left_out_is_said(folder: Path, capsys) -> None:
    run(["session", "start", "s1"])
    capsys.readouterr()
    text = "Q?\n<system-reminder>\nWe decided to use Redis."
    assert answer(capsys, "session", "turn", "s1", text)["text"] == text
    closed = "Q?\n<system-reminder>old news</system-reminder>\nWe decided to use Redis."
    assert run(["session", "turn", "s1", closed]) == 0
    assert "43 characters of injected blocks left out" in capsys.readouterr().out


def test_sessions_that_ended_are_listed_where_they_are_asked_for(folder: Path, capsys) -> None:
    run(["session", "start", "s1"])
    run(["session", "turn", "s1", "Hello."])
    capsys.readouterr()
    assert run(["session", "list"]) == 0
    assert capsys.readouterr().out == "s1\n"
    run(["session", "end", "s1"])
    capsys.readouterr()
    assert run(["session", "list"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "session list --all" in said.err
    assert answer(capsys, "session", "list", "--all") == ["s1"]


def test_a_session_too_short_to_be_distilled_says_so(folder: Path, capsys) -> None:
    run(["session", "start", "short"])
    run(["session", "turn", "short", "Good morning."])
    capsys.readouterr()
    assert run(["session", "end", "short"]) == 0
    assert "left out     all of it: it has fewer turns than distil.min_turns, 2" in (
        capsys.readouterr().out
    )

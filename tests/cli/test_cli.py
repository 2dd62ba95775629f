"""The command line as a whole: help, errors, exit codes, finding the memory."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from kimi_memory import __version__
from kimi_memory.cli import COMMANDS, _from_plugins, parser, run
from kimi_memory.cli.command_table import GROUPS
from kimi_memory.cli.command_tree import build_tree
from kimi_memory.cli.shared import count_columns as columns
from kimi_memory.formats.chinese import read_chinese
from tests.cli.answers import answer


def detach(folder: Path) -> None:
    head = (folder / ".git/HEAD").read_text().split()[1]
    (folder / ".git/HEAD").write_text((folder / ".git" / head).read_text())


def merge(folder: Path) -> None:
    head = (folder / ".git/HEAD").read_text().split()[1]
    (folder / ".git/MERGE_HEAD").write_text((folder / ".git" / head).read_text())


def rebase(folder: Path) -> None:
    (folder / ".git/rebase-merge").mkdir()


def take_git_away(folder: Path) -> None:
    os.environ["PATH"] = str(folder)


@pytest.mark.parametrize("break_history", [detach, merge, rebase, take_git_away])
def test_what_is_stored_is_answered_as_stored_where_history_cannot_be_written(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    break_history: Callable[[Path], None],
) -> None:
    monkeypatch.setenv("PATH", os.environ["PATH"])
    assert run(["remember", "The staging port is 6543."]) == 0
    break_history(folder)
    assert run(["session", "turn", "s", "We decided to use SQLite as the database."]) == 0
    assert "session:s#1" in capsys.readouterr().out
    assert run(["remember", "The production port is 7654."]) == 0
    assert "history is behind" in capsys.readouterr().out
    assert run(["session", "end", "s"]) == 0
    for asked in (["recall", "production port"], ["context", "production port"], ["status"]):
        assert run(asked) == 0
    shown = capsys.readouterr().out
    assert "7654" in shown
    assert list(folder.glob("episodic/sessions/*/session_s.jsonl"))


def test_what_waited_for_history_is_committed_once_it_can_be(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rebase(folder)
    assert run(["remember", "The production port is 7654."]) == 0
    assert "history is behind" in capsys.readouterr().out
    (folder / ".git/rebase-merge").rmdir()
    assert run(["remember", "The staging port is 6543."]) == 0
    shown = subprocess.run(
        ["git", "-C", str(folder), "status", "--porcelain"], capture_output=True, check=True
    )
    assert shown.stdout == b""


def test_settings_that_cannot_be_read_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "memory.toml").unlink()
    (folder / "memory.toml").symlink_to("/proc/self/mem")
    assert run(["recall", "port"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "memory.toml cannot be read" in line


def test_every_command_has_help_and_json() -> None:
    actions = next(a for a in parser()._actions if a.dest == "command").choices
    assert actions is not None
    assert set(COMMANDS) <= set(actions)
    for name, sub in actions.items():
        assert "--json" in sub.format_help(), name
        assert sub.description.endswith("."), name


def all_parsers(name: str, parser: ArgumentParser) -> Iterator[tuple[str, ArgumentParser]]:
    """Yield every parser of the command line with the words that lead to it."""
    yield name, parser
    for action in parser._actions:
        if isinstance(action, _SubParsersAction):
            for step, below in action.choices.items():
                yield from all_parsers(f"{name} {step}", below)


def test_every_command_step_argument_and_heading_has_its_chinese() -> None:
    known, tree = read_chinese(), build_tree(parser())
    texts = {node.about for node in tree.walk()}
    texts |= {group.title or "" for node in tree.walk() for group in node.parser._action_groups}
    texts |= {command.group for command in _from_plugins()} | set(GROUPS)
    actions = (one for node in tree.walk() for one in (*node.arguments, *node.options))
    texts |= {one.help or "" for one in actions}
    missing = sorted(text for text in texts if text and text not in known)
    assert not missing, f"these have no line in kimi_memory/formats/zh.toml: {missing}"


def test_help_is_chinese_where_the_terminal_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    with pytest.raises(SystemExit):
        run(["config", "set", "--help"])
    said = capsys.readouterr().out
    assert said.startswith("用法：kimi-memory config set ")
    assert "只给看差异，什么都不写" in said
    assert "每个命令都有:" in said
    with pytest.raises(SystemExit):
        run(["review", "--help"])  # Its usage is longer than a line.
    assert capsys.readouterr().out.startswith("用法：kimi-memory review ")
    with pytest.raises(SystemExit):
        run(["--help"])
    said = capsys.readouterr().out
    assert "\n开始\n  init  " in said
    assert "找出能回答问题的原文" in said


@pytest.mark.parametrize("lang", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_every_help_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    monkeypatch.setenv("LC_ALL", lang)
    monkeypatch.setenv("COLUMNS", "80")
    shown = {name: each.format_help() for name, each in all_parsers("", parser())}
    wide = [(name, one) for name in shown for one in shown[name].split("\n") if columns(one) > 80]
    assert not wide
    assert "warmth" in shown[" list"]


def test_memory_and_json_are_taken_at_every_depth() -> None:
    found = dict(all_parsers("", parser()))
    assert {" session start", " hook status", " serve token add"} <= set(found)
    for name, each in found.items():
        assert {"--json", "--memory"} <= set(each._option_string_actions), name


@pytest.mark.parametrize(
    "words",
    [
        ["session", "start", "s1", "--json", "--memory", "PATH"],
        ["session", "--json", "start", "s1", "--memory", "PATH"],
        ["session", "--memory", "PATH", "start", "s1", "--json"],
        ["--memory", "PATH", "--json", "session", "start", "s1"],
    ],
    ids=["after the step", "around it", "before it", "before the command"],
)
def test_memory_and_json_mean_the_same_wherever_they_stand(
    folder: Path, capsys, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.setenv("KIMI_MEMORY", str(folder / "elsewhere"))
    assert run([str(folder) if word == "PATH" else word for word in words]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "s1"


def test_the_commands_of_the_shipped_skill_work(folder: Path, capsys) -> None:
    text = files("kimi_memory.integrations").joinpath("plugin/skills/kimi-memory/SKILL.md")
    said = re.findall(r"`kimi-memory ([^`]*)`", text.read_text(encoding="utf-8"))
    kept = answer(capsys, "remember", "The cat is called Miau.")
    note = kept[0]["operations"][0]["target"]
    place = next((folder / "semantic").rglob("*.md")).relative_to(folder)
    for line in said:
        filled = line.replace("NOTE", note).replace("semantic/trailhead/note.md", place.as_posix())
        assert run(shlex.split(filled)) == 0, line
    assert {"undo", "undo --dry-run"} <= set(said)


def test_the_main_job_by_hand(folder: Path, capsys) -> None:
    assert answer(capsys, "session", "start", "s1", "--project", "菜谱")["id"] == "s1"
    turn = answer(capsys, "session", "turn", "s1", "我们决定用 SQLite 当数据库，因为部署简单。")
    assert turn["n"] == 1
    answer(capsys, "session", "turn", "s1", "好的。", "--role", "assistant")
    [report] = answer(capsys, "session", "end", "s1")
    assert report["kind"] == "distil"
    assert [r["subject"] for r in answer(capsys, "consolidate", "daily")]
    assert answer(capsys, "consolidate", "weekly")
    hits = answer(capsys, "recall", "数据库用什么")["hits"]
    assert any("SQLite" in hit["snippet"] for hit in hits)
    card = next(hit["unit"]["id"] for hit in hits if hit["unit"]["kind"] == "card")
    trace = answer(capsys, "trace", card)
    assert [evidence["verified"] for evidence in trace["evidence"]] == [True]
    kinds = {commit["trailers"].get("Kind") for commit in answer(capsys, "log")}
    assert {"init", "distil", "daily", "weekly"} <= kinds
    assert answer(capsys, "undo", report["id"], "--dry-run")["id"] == report["id"]


def test_search_is_recall(folder: Path, capsys) -> None:
    run(["remember", "The train to Oslo leaves at nine.", "--key", "train.oslo"])
    capsys.readouterr()
    assert run(["search", "train", "Oslo"]) == 0
    assert "train.oslo" in capsys.readouterr().out


def test_a_question_without_an_answer_says_so(folder: Path, capsys) -> None:
    assert run(["recall", "zzzunknownzzz"]) == 0
    assert capsys.readouterr().out == "Nothing found.\n"


def test_get_prints_lines_of_a_file_and_notes_by_short_id(folder: Path, capsys) -> None:
    assert run(["get", "memory.toml", "--from", "4", "--lines", "1"]) == 0
    assert capsys.readouterr().out == "[memory]\n"
    report = answer(capsys, "remember", "端口是 8080", "--key", "port.web", "--type", "fact")
    card = report[0]["operations"][0]["target"] if isinstance(report, list) else ""
    assert run(["get", card[:-2]]) == 0
    assert "端口是 8080" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["get", "no-such-thing"], 11, "No note or file"),
        (["get", "../../etc/passwd"], 21, "not a safe place"),
        (["get", "MEMORY.md", "--from", "0"], 2, "counted from 1"),
        (["trace", "card-nothing"], 11, "No note"),
        (["undo", "distil-nothing"], 11, "No job"),
        (["recall", "x", "--limit", "-1"], 2, "below zero"),
        (["serve", "--below", "nowhere", "--port", "0"], 2, "nowhere is no folder. Name the"),
        (["recall", "x", "--since", "someday"], 2, "is no date"),
        (["context", "x", "--budget", "-5"], 2, "below zero"),
        (["session", "end", "nothing"], 11, "No session"),
        (["session", "state", "s", "--task", "[1]"], 2, "--task is not a JSON object. Give"),
        (["session", "state", "s", "--task", "Write"], 2, "--task is not JSON (line 1, column 1:"),
        (["session", "state", "s", "--variables", '{"a": 1'], 2, "--variables is not JSON (line"),
        (["session", "state", "s", "--variables", '{"a": NaN}'], 2, "--variables is not JSON ("),
        (["session", "state", "s", "--task", '{"a":' * 9999], 2, "nested too deep). Give an"),
        (["ingest", "nowhere.jsonl"], 2, "does not exist"),
        (["consolidate", "daily", "--date", "2026-13-01"], 2, "is no date"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_mistakes_are_one_line_with_a_remedy_and_an_exit_code(
    folder: Path, capsys, words: list[str], code: int, why: str
) -> None:
    assert run(words) == code
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert error.startswith("kimi-memory: ")


def test_a_broken_settings_file_is_named_with_its_line(folder: Path, capsys) -> None:
    (folder / "memory.toml").write_text("[memory]\nlanguage = 'fr'\n", encoding="utf-8")
    assert run(["status"]) == 20
    assert "memory.language is 'fr'. Choose one of auto, zh, en." in capsys.readouterr().err


def test_without_a_memory_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.delenv("KIMI_MEMORY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert run(["status"]) == 10
    assert "kimi-memory init" in capsys.readouterr().err


def test_the_nearest_folder_above_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.delenv("KIMI_MEMORY")
    monkeypatch.chdir(folder / "semantic")
    assert answer(capsys, "status")["root"] == str(folder)


def test_status_shows_what_the_parts_of_a_memory_take(folder: Path, capsys) -> None:
    assert run(["remember", "The staging port is 6543."]) == 0
    capsys.readouterr()
    assert run(["status"]) == 0
    [line] = re.findall(r"^Size +(.*)$", capsys.readouterr().out, re.MULTILINE)
    whole, parts = re.fullmatch(r"([\d.]+ (?:KiB|MiB)) \((.*)\)", line).groups()
    named = dict(part.split(" ", 1) for part in parts.split(", "))
    assert {"history", "derived", "page", "semantic", "short-term"} <= set(named)
    assert whole != named["history"]


@pytest.mark.parametrize("steps", ["session list", "serve token list", "branch list"])
def test_what_every_command_takes_may_stand_before_and_behind_its_step(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys, steps: str
) -> None:
    monkeypatch.delenv("KIMI_MEMORY")
    monkeypatch.chdir(folder.parent)
    step, shared, said = steps.split(), ["--memory", str(folder), "--json"], set()
    for at in range(len(step) + 1):
        assert run([*step[:at], *shared, *step[at:]]) == 0
        said.add(capsys.readouterr().out)
    assert len(said) == 1
    json.loads(said.pop())


def test_control_characters_never_reach_the_terminal(folder: Path, capsys) -> None:
    page = folder / "semantic/evil.md"
    page.write_text("# evil \u202egnp.exe\u009b31m page\n", encoding="utf-8")
    run(["recall", "evil page"])
    out = capsys.readouterr().out
    assert "\u202e" not in out
    assert "\u009b" not in out
    assert "evil" in out


def test_the_version_is_told(capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        run(["--version"])
    assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "gbk"])
def test_a_terminal_of_another_encoding_shows_what_it_can(folder: Path, encoding: str) -> None:
    assert run(["remember", "我们决定用 kestrel · 茶 🍵。", "--memory", str(folder)]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "kimi_memory", "recall", "kestrel", "--memory", str(folder)],
        env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"kestrel" in done.stdout


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m kimi_memory plugins | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("s1", "--role", "assistant", "Tea is fine."),
        ("s1", "Tea is fine.", "--role", "assistant"),
        ("--role", "assistant", "s1", "Tea is fine."),
        ("--role", "assistant", "s1", "--", "Tea is fine."),
    ],
)
def test_options_may_stand_between_arguments(folder: Path, capsys, words: tuple[str, ...]) -> None:
    answer(capsys, "session", "start", "s1")
    turn = answer(capsys, "session", "turn", *words)
    assert (turn["role"], turn["text"]) == ("assistant", "Tea is fine.")


@pytest.mark.parametrize("words", [["config"], ["session"], ["hook"], ["branch"]])
def test_a_command_without_its_step_names_the_steps(words: list[str], capsys) -> None:
    assert run(words) == 2
    said = capsys.readouterr().err
    [step, *_] = build_tree(parser(words[0])).steps[0].steps
    assert f"'kimi-memory {words[0]}' takes one of these words: {step.words[-1]}, " in said


def test_a_statement_needs_no_quotation_marks(folder: Path, capsys) -> None:
    words = ["The", "train", "to", "Oslo", "leaves", "at", "nine."]
    answer(capsys, "remember", "--key", "train.oslo", *words)
    assert "The train to Oslo leaves at nine." in answer(capsys, "get", "train.oslo")["text"]


def test_who_is_waited_for_is_told_so(folder: Path, screen, capsys) -> None:
    screen.type("The train to Oslo leaves at nine.\n\x04")
    with screen.taken():
        assert run(["remember", "--key", "train.oslo"]) == 0
    assert "Ctrl D on a line of its own" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["lsp", "mcp"])
def test_a_server_for_programs_does_not_wait_for_a_person(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pygls")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert run([name]) == 2
    assert "talks to it" in capsys.readouterr().err

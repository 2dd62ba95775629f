"""``kimi-memory`` alone, its help, and words that are no command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory import __version__
from kimi_memory.cli import COMMANDS, parser, run
from kimi_memory.cli.command_table import EXAMPLES, MEANT
from kimi_memory.cli.overview import format_next
from tests.cli.answers import answer


def test_alone_in_a_memory_it_shows_how_that_is_and_what_next(folder: Path, capsys) -> None:
    assert run([]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"测试  {folder}\n0 cards")
    assert "kimi-memory remember" in said
    run(["remember", "The train to Oslo leaves at nine."])
    capsys.readouterr()
    assert run([]) == 0
    said = capsys.readouterr().out
    assert "1 card and" in said
    assert "kimi-memory recall" in said
    assert run(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cards"] == 1


def test_elsewhere_it_shows_the_commands_by_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.delenv("KIMI_MEMORY", raising=False)
    monkeypatch.chdir(tmp_path)
    assert run([]) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit):
        run(["--help"])
    assert capsys.readouterr().out == shown
    for name, help in COMMANDS.items():
        assert f"  {name} " in shown
        assert help in shown
    titles = [line for line in shown.splitlines() if line and line[0].isupper()]
    assert titles.index("Begin") < titles.index("Ask") < titles.index("Examples")
    assert "more" not in titles
    assert "  demo " in shown.split("Store")[0]


def test_what_is_pressing_comes_first() -> None:
    lines = list(format_next({"review": 3}, held=5))
    assert len(lines) == 3
    assert "kimi-memory review" in lines[0]
    assert "3 wait" in lines[0]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("trce", "trace"), ("recal", "recall"), ("introspect", "consolidate introspect"),
     ("show", "get"), ("delete", "forget"), ("demmo", "demo")],
)  # fmt: skip
def test_a_word_that_is_no_command_is_answered_with_what_was_meant(
    capsys, word: str, meant: str
) -> None:
    assert run([word]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"Did you mean 'kimi-memory {meant}'?" in line


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["recall", "port", "--limt", "3"], "--limit"),
        (["recall", "port", "--memmory=a"], "--memory"),
        (["session", "turn", "s", "x", "--rolle", "user"], "--role"),
        (["undo", "--dryrun"], "--dry-run"),
    ],
)
def test_an_option_that_is_none_is_answered_with_what_was_meant(
    capsys, words: list[str], meant: str
) -> None:
    assert run(words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert f"Did you mean '{meant}'? See 'kimi-memory {words[0]} --help'." in line


def test_a_word_like_no_command_leads_to_the_list(capsys) -> None:
    assert run(["zzzzzz"]) == 2
    said = capsys.readouterr().err
    assert "Did you mean" not in said
    assert "kimi-memory --help" in said


def test_a_wrong_choice_and_a_missing_argument_are_one_line(capsys) -> None:
    for words, why in ((["session", "strt"], "mean 'start'?"), (["get"], "kimi-memory get --help")):
        assert run(words) == 2
        [line] = capsys.readouterr().err.splitlines()
        assert why in line


def test_words_of_other_programs_lead_to_commands_that_exist() -> None:
    names = {"--version", "--help", *COMMANDS}
    assert {meant.split()[0] for meant in MEANT.values()} <= names
    assert not set(MEANT) & set(COMMANDS)
    for example in EXAMPLES:
        assert example.split()[0] in COMMANDS


def test_errors_are_json_where_it_was_asked_for(folder: Path, capsys) -> None:
    assert run(["get", "nonsense", "--json"]) == 11
    shown = capsys.readouterr()
    found = json.loads(shown.out)["error"]
    assert found["code"] == "not_found"
    assert "'nonsense'" in found["message"]
    assert "kimi-memory" in found["remedy"]
    assert "nonsense" in shown.err
    assert run(["get", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"
    assert run(["get", "--", "--json"]) == 21
    assert capsys.readouterr().out == ""


def test_recall_ends_with_one_where_nothing_is_found_and_that_was_asked_for(
    folder: Path, capsys
) -> None:
    assert run(["recall", "zzzunknown", "--exit-code"]) == 1
    capsys.readouterr()
    answer(capsys, "remember", "The train to Oslo leaves at nine.")
    assert run(["recall", "train", "--exit-code"]) == 0


def test_the_version_loads_nothing_of_the_command_line() -> None:
    check = (
        "import sys; from kimi_memory.__main__ import main; sys.argv = ['kmem', '--version'];"
        "assert main() == 0; print(*(m for m in sys.modules if m.startswith('kimi_memory')))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    said = f"kimi-memory {__version__}\n"
    assert done.stdout == f"{said}kimi_memory kimi_memory.__main__\n"


def test_a_question_loads_nothing_that_merges(folder: Path, capsys) -> None:
    answer(capsys, "remember", "The port is 8080.", "--key", "port")
    check = (
        "import sys; from kimi_memory.cli import run;"
        f"code = run(['recall', 'port', '--as-of', 'now', '--memory', {str(folder)!r}]);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert loaded[0] == "0" and "kimi_memory.past.past_memory" in loaded
    assert "The port is 8080." in done.stdout
    unneeded = {"merge.trees", "formats.job_file", "index.locate"}
    assert not {f"kimi_memory.{name}" for name in unneeded} & set(loaded)


def test_options_before_the_command_load_no_other_command(folder: Path, capsys) -> None:
    check = (
        "import sys; from kimi_memory.cli import run;"
        f"code = run(['--json', '--memory', {str(folder)!r}, 'held']);"
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    loaded = done.stderr.split()
    assert loaded[0] == "0"
    assert "kimi_memory.cli.list_" in loaded
    assert not {f"kimi_memory.cli.{name}" for name in ("recall", "serve", "lsp")} & set(loaded)
    assert run([f"--memory={folder}", "hell"]) == 2
    assert "There is no command 'hell'. Did you mean" in capsys.readouterr().err


def test_every_command_of_a_plugin_is_in_a_group() -> None:
    shown = parser(overview=True).format_help()
    assert "\nMore\n" not in shown

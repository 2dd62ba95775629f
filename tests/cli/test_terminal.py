"""Text laid out for a terminal."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.cli import run
from kimi_memory.cli.shared import show_field
from kimi_memory.cli.terminal import count_columns, cut, pad, paint, paint_diff, wrap
from tests.cli.conftest import Screen


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("port", 4), ("端口", 4), ("e\u0301", 1), ("a端，", 5)]
)
def test_hanzi_take_two_columns_and_accents_none(text: str, columns: int) -> None:
    assert count_columns(text) == columns


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("  one two three", ["  one two", "    three"]),
        ("短的一行", ["短的一行"]),
        ("数据很小，断网也要能看。", ["数据很小，", "  断网也要", "  能看。"]),
        ("他说（断网）也能看", ["他说（断", "  网）也能", "  看"]),
        ("semantic/trailhead/note.md", ["semantic/trailhead/note.md"]),
    ],
    ids=["words", "short", "marks stay behind", "brackets", "an address stays whole"],
)
def test_lines_break_between_words_and_hanzi(line: str, lines: list[str]) -> None:
    assert list(wrap(line, 11)) == lines


def test_what_belongs_to_a_name_stays_in_its_column(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    with screen.taken():
        show_field("says", "数据库不用了，改用 SQLite，因为断网也要能看。")
    first, *rest = screen.text.splitlines()
    assert first.startswith("  says     数据库")
    assert rest and all(line.startswith(f"{' ' * 11}{line.strip()[0]}") for line in rest)


def test_without_a_width_lines_stay_whole() -> None:
    assert list(wrap("one " * 100, 0)) == ["one " * 100]


_TEXT = st.text(st.sampled_from("ab 端口，。（）“”.\u0301"), max_size=60)


@given(_TEXT, st.integers(10, 40))
def test_breaking_keeps_every_letter(line: str, columns: int) -> None:
    lines = list(wrap(line, columns))
    assert "".join("".join(lines).split()) == "".join(line.split())
    for one in lines[1:]:
        assert not one.lstrip().startswith(("，", "。", "）", "”"))


@given(_TEXT, st.integers(2, 30))
def test_a_cut_text_fits(text: str, columns: int) -> None:
    assert count_columns(cut(text, columns)) <= columns
    assert count_columns(pad(cut(text, columns), columns)) == columns


def test_colours_are_for_terminals_that_have_them(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR")
    assert paint("yes", "bold") == "yes"
    with screen.taken():
        assert paint("yes", "bold") == "\x1b[1myes\x1b[0m"
        assert paint_diff("+new").startswith("\x1b[32m")
        assert paint_diff("-old").startswith("\x1b[31m")
        assert paint_diff(" same") == " same"
        monkeypatch.setenv("TERM", "dumb")
        assert paint_diff("+new") == "+new"
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("NO_COLOR", "1")
        assert paint_diff("+new") == "+new"


_SCREENS = Path(__file__).parent / "__snapshots__"
_COMMANDS = ("review --help", "status", "recall 数据库", "review list", "list --sort key", "config")
_PASSING = re.compile(
    r"(?m)^.*(/|KiB|[0-9a-f]{10} ).*\n(  +\S.*KiB.*\n)?"
    r"|\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d\.\d+)?)?"
    r"|(?<=-)(?=[a-z]*\d)[0-9a-z]{8,26}\b"
)
"""Places, sizes, moments and ids: they differ from run to run."""


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with something to show, made by its commands."""
    folder = tmp_path_factory.mktemp("screens") / "kitchen"
    assert run(["init", str(folder), "--name", "小灶", "--language", "zh"]) == 0
    there = ["--memory", str(folder)]
    for said, key in (
        ("我们决定用 SQLite 当数据库，因为一家人的数据很小，断网也要能看。", "decision.database"),
        ("Never deploy on a Friday evening, the last time it broke at dinner.", "rule.deploy"),
    ):
        assert run(["remember", said, "--key", key, *there]) == 0
    page = folder / "MEMORY.md"
    page.write_text(page.read_text("utf-8") + "- db.pool：二十个连接\n", "utf-8")
    assert run(["review", "pages", *there]) == 0
    return folder


@pytest.mark.parametrize("lang", ["en_US.UTF-8", "zh_CN.UTF-8"])
@pytest.mark.parametrize("columns", [80, 120])
def test_commands_look_on_a_real_terminal_as_they_were_approved(
    kitchen: Path, columns: int, lang: str
) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    program = f"{shlex.quote(sys.executable)} -m kimi_memory"
    lines = [f"export LC_ALL={lang}", f"cd {shlex.quote(str(kitchen))}", "clear"]
    lines += [f"{program} {command}" for command in _COMMANDS]
    shown = run_in_tmux("; ".join(lines), columns)
    # A blank stands for what differs, so that a line that is too long is seen all the same.
    shown = _PASSING.sub(lambda found: "" if "\n" in found[0] else "·" * len(found[0]), shown)
    kept = _SCREENS / f"commands-{columns}-{lang[:2]}.txt"
    if os.environ.get("KIMI_SNAPSHOTS") == "write":
        kept.write_text(shown, "utf-8")
    assert shown == kept.read_text("utf-8")
    assert max(map(count_columns, shown.splitlines())) <= columns


def run_in_tmux(line: str, columns: int) -> str:
    """Return what stands on a terminal behind a line of a shell."""
    # A server of its own: the one before may not have gone yet.
    tmux = ["tmux", "-L", f"kimi-screens-{uuid4().hex}", "-f", "/dev/null"]
    size = ["-x", str(columns), "-y", "220"]
    variables = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    session = [*tmux, "new-session", "-d", *size, f"{line}; echo '# end'; sleep 60"]
    subprocess.run(session, check=True, env=variables)
    try:
        deadline, shown = time.monotonic() + 60, ""
        while "# end" not in shown:
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
            done = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, check=True)
            shown = done.stdout.decode()
        return "".join(f"{one.rstrip()}\n" for one in shown.partition("# end")[0].splitlines())
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)

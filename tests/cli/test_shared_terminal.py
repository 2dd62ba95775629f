"""Text laid out for a terminal."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kimi_memory
from kimi_memory.cli import run
from kimi_memory.cli.shared import (
    count_columns,
    cut,
    pad,
    paged,
    paint,
    paint_diff,
    say,
    say_finding,
    show_field,
    translate,
    wrap,
)
from kimi_memory.errors import _LISTED_BY, DivergedError, KimiMemoryError, RemoteError
from kimi_memory.formats.chinese import read_chinese
from kimi_memory.formats.terms import TERMS
from kimi_memory.past.beliefs import SIGNS
from kimi_memory.store.git.network import _REMEDIES
from tests.cli.conftest import Screen
from tests.test_errors import MADE

CHINESE = re.compile(r"[\u4e00-\u9fff]")
TEXTS = {"misfits", "of_another_key", "chain_problems", "_compare_units", "_compare_words", "fix"}
TEXTS |= {"_skip_reason", "_fix_history", "_check_codex", "_check_openclaw", "_check_hermes"}
TEXTS |= {"_find_rank_changes", "_yield_status_notes"}
"""Functions that make the text of a finding, and no finding of it."""
NO_TEXTS = {"host 7", "openclaw: 7", "7: 7", "Files found changed by doctor"}
"""The name of a check, what a program says, two texts of these, and the subject of a commit."""


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


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "跳过"),
        ({"LANG": "en_US.UTF-8"}, "skip"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "skip"),
        ({}, "skip"),
    ],
)
def test_the_language_is_that_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert say("skip") == said
    assert say("A text without a translation") == "A text without a translation"


@pytest.mark.parametrize(
    ("text", "many", "one"),
    [
        ("{count} versions received", "2 versions received", "1 version received"),
        ("{count} files were changed", "2 files were changed", "1 file was changed"),
        ("{count} of them wait", "2 of them wait", "1 of them waits"),
        ("{all} memories: {count} done", "2 memories: 2 done", "1 memory: 1 done"),
        ("at {count} is", "at 2 is", "at 1 is"),
    ],
)
def test_nouns_and_verbs_agree_with_the_number_before_them(text: str, many: str, one: str) -> None:
    assert say(text, count=2, all=2) == many
    assert say(text, count=1, all=1) == one


def test_a_name_is_no_number() -> None:
    assert say("{name} names nothing any more.", name="1") == "1 names nothing any more."


@pytest.mark.parametrize("count", ["1 turn of", "3 turns of"])
def test_a_message_is_chinese_whatever_the_number(
    monkeypatch: pytest.MonkeyPatch, count: str
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    said = say_finding(f"it changed {count} the ended session short-term/a.jsonl")
    assert CHINESE.search(said)
    assert "turn" not in said


def test_both_languages_have_the_same_places_for_values() -> None:
    for english, chinese in read_chinese().items():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", chinese))


def _format(node: ast.expr) -> str:
    """Return a text of the source, with ``{}`` where a value stands."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_format(part) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _format(node.value) if ast.unparse(node.value).startswith("counted(") else "{}"
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "counted":
        return f"{{}} {_format(node.args[1])}"
    return node.value if isinstance(node, ast.Constant) else "{}"  # type: ignore[return-value]  # a text


def _find_texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Raise | ast.Compare):
        return
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "counted":
        return  # Words of the text around it.
    if isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield _format(node)
    for child in ast.iter_child_nodes(node):
        # The parts of a text are no texts, but those inside its values are.
        parts = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
        if not parts and not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield from _find_texts(child)


def _list_finding_texts() -> list[str]:
    """Return every text of the source that ``verify`` or ``doctor`` can print."""
    found = []
    top = Path(kimi_memory.__file__).parent
    for path in sorted([*top.rglob("*.py"), *top.parent.joinpath("plugins").glob("*.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if {"lsp", "tui"} & set(path.parts):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and (
                node.name in TEXTS or re.search(r"\b(Finding|_fault|_sound)\(", ast.unparse(node))
            ):
                said = ast.get_docstring(node, clean=False)
                body = (text for one in node.body for text in _find_texts(one))
                found += [text for text in body if text != said and " " in text.strip()]
    return found


def test_every_text_of_a_finding_has_its_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new message goes into the table ``findings`` of zh.toml, with a name for each value."""
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    texts = _list_finding_texts()
    assert len(texts) > 100
    values = {text.replace("{}", "7") for text in texts} - NO_TEXTS
    assert not [text for text in values if not CHINESE.search(say_finding(text))]


def test_a_finding_is_chinese_whole_with_its_values(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["remember", "我住在成都", "--key", "me.city"])
    card = next((folder / "semantic").rglob("*.md"))
    card.write_text(card.read_text("utf-8").replace("> 我住在成都", "> 我住在北京"), "utf-8")
    capsys.readouterr()
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "✗ 引文：有一句引文不在 " in out
    assert "请改正引文，或卡片的出处。" in out
    assert run(["verify", "--rebuild"]) == 0
    assert "✓ 同样的文件得出同样的索引：" in capsys.readouterr().out


def test_what_stands_inside_a_finding_is_translated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    told = "card-a links to card-b, which is archived"
    assert say_finding(told) == "card-a 链接到 card-b，它已归档"
    assert say_finding("a sentence of a plugin: stays") == "a sentence of a plugin: stays"


# Of these two, every word is their caller's.
_WORDED = [one[0] for one in MADE if not isinstance(one[0], DivergedError | RemoteError)]


@pytest.mark.parametrize("error", _WORDED, ids=[type(one).__name__ for one in _WORDED])
def test_every_error_of_the_tree_has_its_own_words_in_chinese(
    monkeypatch: pytest.MonkeyPatch, error: KimiMemoryError
) -> None:
    said = str(error)
    assert translate(said) == said
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    chinese = translate(said)
    assert re.search("[\u4e00-\u9fff]", chinese)
    # What is quoted, a path or a command, is the same in both languages.
    for quoted in re.findall(r"'[^']+'", said):
        assert quoted in chinese


def test_a_slip_is_answered_in_the_language_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    memory = ["--memory", str(tmp_path / "m")]
    run(["init", str(tmp_path / "m")])
    capsys.readouterr()
    for words, said in [
        (["get", "茶", *memory], "没有笔记或文件 '茶'。用 'kimi-memory list' 列出记忆里的内容。"),
        (["serch"], "没有 'serch' 这个命令。是指 'kimi-memory search' 吗？"),
        (["remember", "x", "--dry"], "不认识的参数：--dry。见 'kimi-memory remember --help'。"),
        (["recall", "--limit", "x", "y"], "参数 --limit 要整数，不能是 'x'。"),
    ]:
        assert run(words) != 0
        assert said in capsys.readouterr().err
    # Programs read the English words, whatever the terminal speaks.
    assert run(["get", "茶", "--json", *memory]) != 0
    assert "No note or file '茶'." in capsys.readouterr().out


def test_the_terminal_and_the_pages_call_a_state_and_a_type_by_one_name() -> None:
    held = read_chinese()
    names = {name.removeprefix("change_"): term for name, term in TERMS.items()} | dict(TERMS)
    differing = {name for name, (_, chinese) in names.items() if held.get(name, chinese) != chinese}
    # Here a place that a memory is synced with; on a page whose word it is.
    assert differing == {"remote"}


def test_trace_speaks_chinese_and_its_columns_stand_below_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    memory = ["--memory", str(tmp_path / "m")]
    run(["init", str(tmp_path / "m")])
    run(["remember", "我们决定用 SQLite。", "--key", "decision.database", *memory])
    capsys.readouterr()
    assert run(["trace", "decision.database", *memory]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  状态     认定中" in lines
    assert "    引文   我们决定用 SQLite。" in lines
    assert any(line.startswith("  支持     session:") and line.endswith("属实") for line in lines)


def test_whatever_is_not_found_has_a_chinese_name() -> None:
    sources = (path.read_text("utf-8") for path in Path(kimi_memory.__file__).parent.rglob("*.py"))
    named = {what for text in sources for what in re.findall(r'NotFoundError\(\s*"([^"]+)"', text)}
    named |= {several for several, _ in _LISTED_BY.values()}
    assert len(named) > 30
    assert [what for what in sorted(named) if what not in read_chinese()] == []


# Commands over history and copies.
_OF_COPIES = ("sync", "merge", "branch", "fork", "remote", "pick", "rollback", "bisect", "blame")


_OF_COPIES += ("diff", "name", "replay", "migrate", "trust", "attest", "purge", "timeline")


@pytest.mark.parametrize("name", _OF_COPIES)
def test_every_sentence_of_a_command_on_copies_has_its_chinese(name: str) -> None:
    path = Path(kimi_memory.__file__).parent / f"cli/{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls = [node for node in calls if isinstance(node.func, ast.Name)]
    shown = [node for node in calls if node.func.id in {"show", "show_result", "show_note"}]
    texts = [_format(text) for node in shown for text in _own_texts(node)]
    texts = [text.replace("kimi-memory: ", "") for text in texts if text]
    assert not [text for text in texts if re.search("[A-Za-z]{2}", re.sub("{}|#L", "", text))]
    said = {text for node in calls if node.func.id == "say" for text in _own_texts(node.args[0])}
    said |= {
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {"text", "sent"}
        for text in _own_texts(node.value)
    }
    words = [text.value for text in said if isinstance(text, ast.Constant)]
    assert [word for word in words if word and word not in read_chinese()] == []


def _own_texts(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the texts that are printed as they stand, not those that another call is given."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr) or (
            isinstance(child, ast.Constant) and isinstance(child.value, str)
        ):
            yield child
        elif not isinstance(child, ast.Call | ast.Dict | ast.keyword | ast.Attribute):
            yield from _own_texts(child)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node


# Operations over history and copies, and jobs.
_ON_COPIES = ("sync_remotes", "remotes", "merge_copy", "branches", "new_copies", "new_folders")
_ON_COPIES += ("pick", "rollback", "bundles", "replay", "adopt_memory", "attest", "migrate")
_ON_COPIES += ("migrate_ssh", "migrate_remote", "follow_purge", "purge_everywhere", "take_in")
_ON_COPIES += ("prove_purges", "code_branches", "drop_folders", "encrypted_drops", "encryption")
_ON_COPIES += ("bundle_signatures", "verify_history", "undo_many", "replay_block")
_ON_COPIES += ("links", "review_queue", "backup")
_JOBS = ("undo", "pick", "merge_repair", "adopt", "merging", "rollback", "settle", "vouching")
_JOBS += ("purge", "forget", "correct", "review", "rename")


def test_every_error_of_jobs_history_and_copies_has_its_chinese(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    top = Path(kimi_memory.__file__).parent
    paths = [top / f"operations/{name}.py" for name in _ON_COPIES]
    paths += [top / f"jobs/{name}.py" for name in _JOBS]
    paths += [top / f"cli/{name}.py" for name in (*_OF_COPIES, "versions", "verify", "undo", "get")]
    raised = [
        node
        for path in [
            *paths,
            *top.glob("past/*.py"),
            *top.glob("store/git/*.py"),
            top / "store/files/outside.py",
        ]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        # Others catch a ValueError, and say it in their own words.
        if isinstance(node, ast.Raise) and "ValueError" not in ast.unparse(node.exc or node)
    ]
    texts = [_format(text) for node in raised for text in _raised_texts(node)]
    texts += [remedy for _, remedy in _REMEDIES]
    assert len(texts) > 250
    sentences = {
        one
        for text in texts
        for one in re.split(r"(?<=[.?]) (?=[A-Z'7])", text.replace("{}", "7").rstrip(".") + ".")
        if " " in one and re.search("[a-z]", one)
    }
    # A reason comes after the name of its remote, gate or file; some end in a value.
    before = ("", "hub: ", "Gate losses stopped the job: ", "a.bundle ")
    found = {
        one
        for one in sentences
        for start in before
        if CHINESE.search(shown := translate(start + one)) and one.rstrip(".") not in shown
    }
    assert sentences - found == {
        "Nothing of it was taken7.",
        "Finish it with 7git, or abort it; what was written since is committed afterwards.",
        "The repository in 7 7, then purge again.",
        "7 Then accept 7 again.",
        "error: 7 is missing or damaged.",  # As git says it.
    }


def test_the_name_of_a_thing_is_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert translate("No file in that version 'a.md'.") == "没有那个版本里的文件 'a.md'。"
    assert translate("/srv/a has no history.") == "/srv/a 没有历史。"


def _raised_texts(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr | ast.Constant):
            if isinstance(child, ast.JoinedStr) or isinstance(child.value, str):
                yield child
        elif not isinstance(child, ast.Attribute):
            yield from _raised_texts(child)


SPOKEN = ("sealed", "space", "space_issuer", "cluster", "deploy", "node")


AGENTS = ("agent_command", "exec_command", "fleet_command")


def _list_said(path: Path) -> Iterator[str]:
    """Yield every text that a module gives to `say`; where it is chosen before, both of them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)):
        given: dict[str, list[str]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                texts = [text for text in _find_texts(node.value) if "{}" not in text]
                given.setdefault(node.targets[0].id, []).extend(texts)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "say" and node.args:
                asked = node.args[0]
                if isinstance(asked, ast.Name):
                    yield from given.get(asked.id, ())
                elif isinstance(asked, ast.Constant | ast.IfExp):
                    yield from _find_texts(asked)


def test_what_teams_and_machines_are_shown_has_its_chinese() -> None:
    """A new sentence of these commands goes into a table of zh.toml."""
    top = Path(kimi_memory.__file__).parent
    paths = [*(top / f"cli/{name}.py" for name in SPOKEN),
             *(top.parent / f"plugins/agent_runs/{name}.py" for name in AGENTS)]  # fmt: skip
    said = {text for path in paths for text in _list_said(path)}
    assert len(said) > 60
    assert not sorted(said - read_chinese().keys())


def test_a_team_reads_chinese(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for line in ("create shop", "add lin --role writer", "share --name tea", "check lin purge",
                 "who --action purge", "verify", "log", "list shop", "remove lin"):  # fmt: skip
        run(["space", *line.split()])
    out = capsys.readouterr().out
    assert "拒绝：lin (writer) 不可以在这里 purge：没有策略允许" in out
    assert all(CHINESE.search(line) for line in out.splitlines())


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


def test_every_reason_of_a_job_has_its_chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    top = Path(kimi_memory.__file__).parent
    calls = [
        node
        for path in top.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (
            isinstance(node, ast.Call)
            and any(ast.unparse(one).startswith("Op.") for one in node.args)
        )
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "edits.write")
    ]
    reasons = {_format(one) for node in calls for one in node.args if isinstance(one, _TEXTS)}
    assert len(reasons) > 40
    # Of these, part of the words stands elsewhere.
    reasons -= {"", "{} on {}", "repeats what was {}", "{} said on {}", "{} {} by hand"}
    reasons -= {"a person edited its line in {}{}"}
    reasons |= {"taken back in words on {}", "repeats what was taken back in words"}
    reasons |= {f"{kind} said on {{}}" for kind in ("decision", "finding", "failure", "success")}
    reasons |= {f"a person edited its line in {{}}{more}" for more in ("", ", moved under {}")}
    # A timeline names what became of a card in a word.
    assert [one for one in (*SIGNS, "moved", "evidence") if one not in read_chinese()] == [
        "forgotten"
    ]
    said = {one: translate(one.replace("{}", "card-7")) for one in reasons}
    assert sorted(one for one, chinese in said.items() if not CHINESE.search(chinese)) == []


_TEXTS = (ast.Constant, ast.JoinedStr)

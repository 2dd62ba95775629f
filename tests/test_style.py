"""The house style: sizes, docstrings, names, suppressions, and where tests lie."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from io import StringIO
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CODE = ("kimi_memory", "plugins", "templates", "docs", "benchmarks", "integrations", "tests")

LONG_FILE, MAX_FILE, MAX_FUNCTION, MAX_POSITIONAL = 400, 600, 50, 5
LONG_FILES = 0.1
"""So many files of the package may be long: those that every turn or question passes."""

BANNED_NAMES = re.compile(r"(Manager|Helper|Handler|Processor|Utils?|Data|Info)$")
BANNED_MODULES = {"utils", "util", "helpers", "helper", "data", "info", "misc", "common", "manager"}
VERBS = {
    *("return", "returns", "get", "gets", "make", "makes", "provide", "provides", "contain"),
    *("contains", "implement", "implements", "handle", "handles", "define", "defines", "this"),
    *("these", "here", "create", "creates", "read", "reads", "write", "writes", "run", "runs"),
    *("build", "builds", "parse", "parses", "do", "does"),
}
RIDDLES = re.compile(
    r"\b(?:told|whoever|somebody's own|what is wanted|for what is none|to be believed)\b",
    re.IGNORECASE,
)
"""Words that hide who does what: a caller, a user, an owner; says, shows, reports, is known."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SUPPRESSION = re.compile(
    r"(noqa|type: ignore|pragma: no (?:cover|branch))"
    r"(\[[\w, -]+\]|: ?[A-Z]+\d+(?:, ?[A-Z]+\d+)*)?"
)
WHOLE = {
    "test_architecture.py": "imports of all modules",
    "test_style.py": "all sources",
    "test_import.py": "what an import loads",
    "test_packaging.py": "the wheel",
    "test_docs.py": "the pages",
    "test_translations.py": "the Chinese pages",
    "test_sample.py": "the sample memory",
    "browser/*": "the pages in a real browser",
    "cluster/*": "nodes that are killed and paused, and guards that are taken away",
    "test_hooks.py": "every hook with its bundled plugins",
    "test_benchmarks.py": "the run of all benchmarks",
    "test_laws.py": "laws of every kind of job",
    "test_mutants.py": "the maker of mutants, which are put into any module",
    "test_matrix.py": "contradictions through the whole system",
    "test_copies.py": "copies of one memory, joined by plain git",
    "test_git_processes.py": "what acts of the whole ask of git",
    "test_patterns.py": "every pattern and its worst input",
    "test_unconfirmed.py": "what nobody confirmed, over each surface",
    "test_put_out.py": "who is put out amid what they began, at each door",
    "test_poison.py": "poison through every way into a memory",
    "test_purged.py": "hashes of a purged value, wherever they could stand",
    "test_forgotten_words.py": "what only holds a forgotten value",
    "test_sidecars.py": "damaged and forged files under .kimi/",
    "test_secrets.py": "secrets through every door of a memory",
    "test_areas.py": "what is private, through every job and reader",
    "test_real_data.py": "real conversations through the whole system",
    "faults/*": "kills, injected errors and races",
    "hostile/*": "what attackers and accidents do, counted",
    "fuzz/*": "hostile input to any parser",
    "examples/*": "the examples, with a scripted model",
    "vscode/*": "the extension for VS Code, alone and in a real server",
    "hosts/*": "agent programs, the real ones, with our hooks in an empty home",
}
"""Test modules of the whole system, which mirror no module, and what they are about."""

Check = Callable[[str, str], Iterator[str]]


@lru_cache(maxsize=2)
def nodes(text: str) -> tuple[ast.AST, ...]:
    """Return the tree of a module and all in it; several checks look one after the other."""
    return tuple(ast.walk(ast.parse(text)))


def functions(text: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def comments(text: str, having: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], str]]:
    """Give the comments in which a pattern is found: their line, what was found, and the text."""
    # To look for the comments of a file takes long, and few files have what is looked for.
    if not having.search(text):
        return
    for token in tokenize.generate_tokens(StringIO(text).readline):
        if token.type == tokenize.COMMENT and (found := having.search(token.string)):
            yield token.start[0], found, token.string


def sizes_hold(path: str, text: str) -> Iterator[str]:
    """A file has at most 600 lines, a function 50; tables of test cases may be longer."""
    if path.startswith("tests/"):
        return
    if (lines := text.count("\n")) > MAX_FILE:
        yield f"{path}: {lines} lines"
    for node in functions(text):
        if (lines := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION:
            yield f"{path}:{node.lineno}: {node.name} has {lines} lines"


def parameters_are_few(path: str, text: str) -> Iterator[str]:
    """A function takes at most five positional parameters."""
    for node in functions(text):
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
        if (many := len([n for n in names if n not in {"self", "cls"}])) > MAX_POSITIONAL:
            yield f"{path}:{node.lineno}: {node.name} takes {many} positional parameters"


def modules_say_what_they_are_about(path: str, text: str) -> Iterator[str]:
    """The first line of a module's docstring is a noun phrase with a full stop."""
    line = (ast.get_docstring(nodes(text)[0]) or "").partition("\n")[0]
    if not line:
        yield f"{path}: no docstring"
    elif not line.endswith((".", "。", "::", ":")):
        yield f"{path}: the docstring's first line does not end: {line!r}"
    elif line.split()[0].lower() in VERBS:
        yield f"{path}: the docstring opens with {line.split()[0]!r}, not with a noun"


def names_mean_something(path: str, text: str) -> Iterator[str]:
    """No Manager, Helper, Handler, Processor, utils, data, info, do_."""
    if Path(path).stem in BANNED_MODULES:
        yield f"{path}: a module's name says its subject"
    for node in nodes(text):
        name = getattr(node, "name", None)
        if isinstance(node, ast.ClassDef) and BANNED_NAMES.search(node.name):
            yield f"{path}:{node.lineno}: class {name}"
        elif (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith(("do_", "_do_", "handle_", "process_"))
            # what http.server calls for a request has a name of its own
            and not re.fullmatch("do_[A-Z]+", node.name)
        ):
            yield f"{path}:{node.lineno}: function {name}"


def suppressions_give_reasons(path: str, text: str) -> Iterator[str]:
    """A suppression names its rule and then its reason; mypy wants a # before the reason."""
    for line, mark, comment in comments(text, SUPPRESSION):
        kind, rule, reason = mark[1], mark[2], comment[mark.end() :]
        if rule is None and not kind.startswith("pragma"):
            yield f"{path}:{line}: {kind} names no rule"
        # a hook specification has no body: the rule is the reason
        elif rule != "[empty-body]" and not re.search(r"\w", reason):
            yield f"{path}:{line}: {kind} gives no reason"
        elif kind.startswith("type") and reason.strip() and not reason.strip().startswith("#"):
            yield f"{path}:{line}: mypy ignores a type: ignore without # before its reason"


def nothing_is_unfinished(path: str, text: str) -> Iterator[str]:
    """No open ends and no places of the machine the code was written on."""
    marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error"]
    marks += [str(ROOT)] if len(ROOT.parts) > 2 else []
    for number, line in enumerate(text.splitlines(), 1):
        yield from (f"{path}:{number}: {mark}" for mark in marks if mark in line)


def words_are_plain(path: str, text: str) -> Iterator[str]:
    """Docstrings, comments and names say what is meant, in the words of docs/glossary.md."""
    if not path.startswith(("kimi_memory/", "plugins/")):
        return
    for node in nodes(text):
        if isinstance(node, DOCUMENTED) and (
            found := RIDDLES.search(ast.get_docstring(node) or "")
        ):
            yield f"{path}:{getattr(node, 'lineno', 1)}: {found[0]!r} in a docstring"
    for line, found, _ in comments(text, RIDDLES):
        yield f"{path}:{line}: {found[0]!r} in a comment"


def names_of_tests_are_sentences(path: str, text: str) -> Iterator[str]:
    """The name of a test has two words at least."""
    if not path.startswith("tests/"):
        return
    for node in functions(text):
        if node.name.startswith("test_") and node.name.count("_") < 2:
            yield f"{path}: {node.name}"


CHECKS: tuple[Check, ...] = (
    sizes_hold,
    parameters_are_few,
    modules_say_what_they_are_about,
    names_mean_something,
    suppressions_give_reasons,
    nothing_is_unfinished,
    words_are_plain,
    names_of_tests_are_sentences,
)


def sources() -> Iterator[tuple[str, str]]:
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


@cache
def broken() -> dict[str, list[str]]:
    """Return what breaks each check, from one walk through all sources."""
    found: dict[str, list[str]] = {check.__name__: [] for check in CHECKS}
    for path, text in sources():
        for check in CHECKS:
            found[check.__name__] += check(path, text)
    return found


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_style_holds(check: Check) -> None:
    lines = broken()[check.__name__]
    assert not lines, f"{check.__doc__}\n" + "\n".join(lines)


def test_nine_files_in_ten_are_short() -> None:
    lines = [text.count("\n") for path, text in sources() if path.startswith(CODE[:2])]
    assert sum(count > LONG_FILE for count in lines) < LONG_FILES * len(lines)


LONG = "def f():\n" + "    x = 1\n" * 50
PLANTED: list[tuple[Check, str]] = [
    (sizes_hold, "x = 1\n" * 601),
    (sizes_hold, LONG),
    (parameters_are_few, "def f(a, b, c, d, e, f): ..."),
    (modules_say_what_they_are_about, "x = 1"),
    (modules_say_what_they_are_about, '"""Words of text"""'),
    (modules_say_what_they_are_about, '"""This module reads words."""'),
    (names_mean_something, "class CardManager: ..."),
    (names_mean_something, "def do_it(): ..."),
    (suppressions_give_reasons, "x = 1  # no" + "qa"),
    (suppressions_give_reasons, "x = 1  # no" + "qa: S603"),
    (suppressions_give_reasons, "x = 1  # type: " + "ignore[misc]"),
    (suppressions_give_reasons, "x = 1  # type: " + "ignore[misc]  a good reason"),
    (suppressions_give_reasons, "x = 1  # pragma: " + "no cover"),
    (nothing_is_unfinished, "x = 1  # TO" + "DO: later"),
    (nothing_is_unfinished, f"x = '{ROOT}/a'"),
    (words_are_plain, '"""What whoever asks may see."""'),
    (words_are_plain, "x = 1  # which is told of later"),
    (names_of_tests_are_sentences, "def test_words(): ..."),
]


@pytest.mark.parametrize(("check", "text"), PLANTED)
def test_a_planted_breach_is_found(check: Check, text: str) -> None:
    path = "tests/test_a.py" if check is names_of_tests_are_sentences else "kimi_memory/a.py"
    assert list(check(path, text))


GOOD = (
    '''"""Words of Chinese and English text."""


class Words:
    def split(self, a, b, c, d, e, *, flag=False):
        return a  # no'''
    + """qa: S603  our own argv
"""
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_good_code_passes(check: Check) -> None:
    assert not list(check("kimi_memory/nlp/words.py", GOOD))


def mirrored(path: str, modules: set[str]) -> bool:
    """Whether a path under tests/ is that of a module's tests, or listed above."""
    if any(Path(path).match(pattern) for pattern in WHOLE):
        return True
    folder, _, name = path.rpartition("/")
    stem = name.removeprefix("test_").removesuffix(".py")
    place = folder if folder.split("/")[0] == "plugins" else f"kimi_memory/{folder}".rstrip("/")
    # The tests of one module may stand in several files, each named after a part of it.
    words = stem.split("_")
    stems = ["_".join(words[:many]) for many in range(1, len(words) + 1)]
    found = {f"{place}/{one}{end}" for one in stems for end in (".py", "/__init__.py")}
    return bool(found & modules) or (
        f"{place}/__init__.py" in modules and stem == place.split("/")[-1]
    )


TEXTS = ("*.md", "docs/**/*.md", "changelog.d/*.md", "integrations/**/*.md", "Makefile", "*.toml")


def test_no_text_names_a_machine_or_an_open_end() -> None:
    found = (path for pattern in TEXTS for path in ROOT.glob(pattern))
    paths = [path for path in found if "node_modules" not in path.parts]
    broken = [
        line
        for path in paths
        for line in nothing_is_unfinished(path.name, path.read_text(encoding="utf-8"))
    ]
    assert len(paths) > 8
    assert not broken, "\n".join(broken)


def test_what_the_makefile_sets_is_read() -> None:
    recipes = [line for line in (ROOT / "Makefile").read_text("utf-8").splitlines() if "\t" in line]
    names = {name for line in recipes for name in re.findall(r"\b([A-Z][A-Z_]+)=", line)} - {"PATH"}
    read = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert names
    assert not {name for name in names if f'environ.get("{name}"' not in read}


def test_every_test_module_mirrors_a_module() -> None:
    modules = {
        p.relative_to(ROOT).as_posix()
        for f in ("kimi_memory", "plugins")
        for p in (ROOT / f).rglob("*.py")
    }
    tests = [p.relative_to(ROOT / "tests").as_posix() for p in (ROOT / "tests").rglob("test_*.py")]
    strays = [path for path in sorted(tests) if not mirrored(path, modules)]
    assert not strays, f"these mirror no module: {', '.join(strays)}"


@pytest.mark.parametrize(
    ("path", "belongs"),
    [
        ("store/wal/test_journal.py", True),
        ("store/wal/test_journal_repair.py", True),
        ("store/wal/test_repair_journal.py", False),
        ("plugins/test_words.py", True),
        ("hooks/test_host.py", True),
        ("test_style.py", True),
        ("store/test_store.py", True),
        ("store/test_misc.py", False),
        ("test_words.py", False),
    ],
)
def test_mirroring_is_judged_by_path(path: str, belongs: bool) -> None:
    modules = {"kimi_memory/store/wal/journal.py", "kimi_memory/store/__init__.py"}
    assert mirrored(path, modules | {"kimi_memory/hooks/host.py", "plugins/words.py"}) is belongs


def test_every_test_of_the_whole_exists() -> None:
    assert not [pattern for pattern in WHOLE if not list((ROOT / "tests").rglob(pattern))]

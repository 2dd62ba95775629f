"""The pages: generated ones are fresh, code blocks run, links lead somewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

import pytest

from kimi_memory.cli import run

ROOT = Path(__file__).parent.parent
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("*/README.md")])
BLOCK = re.compile(r"^```python(?P<title>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = re.compile(r"^```sh run\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
TRANSLATED = sorted((ROOT / "docs/zh").glob("*.md"))
LINK = re.compile(r"\[[^\]\n]+\]\((?!\w+:)(?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    return load_script("generate")


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    return load_script("pictures")


@pytest.fixture(scope="module")
def site() -> ModuleType:
    return load_script("site")


def load_script(name: str) -> ModuleType:
    """Return a module of docs/."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / f"docs/{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_fresh(generate: ModuleType) -> None:
    assert not generate.stale(ROOT / "docs"), "run python -m docs.generate"


def test_a_stale_page_is_named(
    generate: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert generate.main(["--folder", str(tmp_path)]) == 0
    assert generate.main(["--folder", str(tmp_path), "--check"]) == 0
    (tmp_path / "errors.md").write_text("old", encoding="utf-8")
    (tmp_path / "hooks.md").unlink()
    assert generate.main(["--folder", str(tmp_path), "--check"]) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "hooks.md",
        "errors.md",
    ]


def test_pictures_are_fresh_and_name_files_that_exist(pictures: ModuleType) -> None:
    assert not list(pictures.stale(ROOT / "docs")), "run python -m docs.pictures"
    stops = [stop.path for trip in pictures.TRIPS.values() for stop in trip]
    assert [path for path in stops if not (ROOT / path).is_file()] == []
    top = {name.split(".")[0] for layer in pictures.layers() for name in layer}
    folders = {path.parent.name for path in (ROOT / "kimi_memory").glob("*/__init__.py")}
    assert folders <= top


def files_entered(arguments: list[str]) -> list[str]:
    """Run a command in this process; return the files of ours that it calls, in order."""
    entered: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and (not entered or entered[-1] != path):
            entered.append(path)

    sys.setprofile(profile)
    try:
        assert run(arguments) == 0
    finally:
        sys.setprofile(None)
    return [path.removeprefix(f"{ROOT}/") for path in entered]


def test_the_trips_name_files_in_the_order_in_which_commands_enter_them(
    pictures: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = str(tmp_path / "memory")
    assert run(["init", root]) == 0
    for text in ("My dentist is Doctor Abernathy.", "The deploy port is 8080."):
        assert run(["remember", text, "--memory", root]) == 0
    assert run(["session", "start", "s", "--memory", root]) == 0
    said = ["session", "turn", "s", "--role", "user", "--memory", root]
    assert run([*said, "The deploy port is 8081."]) == 0
    commands = {
        "A turn comes in": [*said, "My dentist is Doctor Berg."],
        "A question goes out": ["recall", "who is my dentist", "--memory", root],
        "A card reaches a page": ["session", "end", "s", "--memory", root],
    }
    assert commands.keys() == pictures.TRIPS.keys()
    for title, arguments in commands.items():
        entered = iter(files_entered(arguments))
        # Templates are read and not called.
        stops = [stop.path for stop in pictures.TRIPS[title] if stop.path.endswith(".py")]
        # An iterator goes on where it stopped: each stop has to come after the one before.
        assert [stop for stop in stops if stop not in entered] == [], title


def test_a_stale_picture_is_named(
    pictures: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pictures.main(["--folder", str(tmp_path)]) == 0
    assert pictures.main(["--folder", str(tmp_path), "--check"]) == 0
    (tmp_path / "trips.svg").write_text("old", encoding="utf-8")
    assert pictures.main(["--folder", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "trips.svg is stale"


def test_every_setting_has_a_meaning(generate: ModuleType) -> None:
    bare = [line for line in generate.settings().splitlines() if re.search(r"\|\s*\|$", line)]
    assert not bare


def test_every_choice_of_a_setting_stands_in_its_row(generate: ModuleType) -> None:
    assert '`"score" \\| "70/30" \\| "rrf"`' in generate.settings()


def test_every_command_and_argument_has_a_meaning(generate: ModuleType) -> None:
    page = generate.commands()
    assert page is not None, "there is no command line to describe"
    bare = [line for line in page.splitlines() if re.search(r"\| +\|$|\|  ?One of", line)]
    bare += re.findall(r"^#+ (.+)\n\n(?=#|\|)", page, re.MULTILINE)
    assert not bare, "without help: " + "; ".join(bare)


def test_arguments_are_described_with_their_choices(generate: ModuleType) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--for", choices=["start", "task"], help="what it is for")
    parser.add_argument("words", nargs="+", help="what to look for")
    below = parser.add_subparsers().add_parser("end", aliases=["stop"], help="end it")
    below.add_argument("--rank", action="store_true", help="for machines")
    below.add_argument("--json", action="store_true", help="of every command")
    page = "\n".join(generate.command(parser, "kmem", "ask"))
    assert page.startswith("## kmem\n\nAsk.\n")
    assert "| `--for FOR` | What it is for. One of `start`, `task`. |" in page
    assert "| `words` | What to look for. |" in page
    assert "### kmem end\n\nEnd it.\n" in page and "kmem stop" not in page
    assert "| `--rank` | For machines. |" in page and "--json" not in page


def blocks(page: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, file name ("" to run) and code of a page's Python blocks."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        title = re.search(r"file=(\S+)", found["title"])
        yield text.count("\n", 0, found.start()) + 1, title[1] if title else "", found["code"]


@pytest.mark.parametrize("page", [p for p in PAGES if any(blocks(p))], ids=lambda page: page.name)
def test_code_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's blocks run in order, in one folder; those with file= are put there instead."""
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": page.stem}
    for line, name, code in blocks(page):
        if name:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(code, encoding="utf-8")
        else:
            # as many lines before it as on the page, so that a traceback points there
            exec(compile("\n" * line + code, str(page), "exec"), space)


@pytest.mark.parametrize(
    "page", [p for p in PAGES if SHELL.search(p.read_text("utf-8"))], ids=lambda page: page.name
)
def test_command_lines_run(page: Path, tmp_path: Path) -> None:
    """A page's blocks marked ``sh run`` run in order, in one shell, beside the sample."""
    shutil.copytree(ROOT / "memory", tmp_path / "memory")
    lines = "\n".join(found["code"] for found in SHELL.finditer(page.read_text("utf-8")))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    argv = ["bash", "-euo", "pipefail", "-xc", lines]
    environ = os.environ | {"PATH": path}
    ran = subprocess.run(
        argv, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-1500:] + ran.stderr[-1500:]


def anchors(page: Path) -> set[str]:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken(page: Path) -> Iterator[str]:
    for found in LINK.finditer(page.read_text(encoding="utf-8")):
        target = page.parent / found["path"] if found["path"] else page
        if not target.exists():
            yield f"{page.name}: {found[0]}"
        elif found["anchor"] and target.suffix == ".md" and found["anchor"] not in anchors(target):
            yield f"{page.name}: {found[0]} names no heading there"


@pytest.mark.parametrize("page", PAGES + TRANSLATED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert not list(broken(page))


def _read_named_options() -> Iterator[tuple[str, str, str]]:
    """Yield page, command and option of every option that a page names with its command."""
    for page in [*PAGES, *TRANSLATED]:
        for code in re.findall(r"`([^`\n]+)`", page.read_text("utf-8")):
            for part in re.split(r"[;|&]", code):
                words = part.removeprefix("kimi-memory ").split() or [""]
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", part):
                    yield page.name, words[0], option


def test_every_option_that_a_page_names_is_one_of_its_command() -> None:
    """A page that says of an option that it is there, or that it is not, is held to it."""
    known = defaultdict[str, str](str)
    page = (ROOT / "docs/commands.md").read_text("utf-8")
    for found in re.finditer(r"^#+ kimi-memory (\w+).*?(?=^#+ |\Z)", page, re.M | re.S):
        known[found[1]] += found[0] + "--json --memory --help"
    named = [one for one in _read_named_options() if one[1] in known]
    assert len(named) > 90
    assert ("README.md", "recall", "--as-of") in named
    wrong = {one for one in named if one[2] not in known[one[1]]}
    # OpenClaw's own command, and git's own options.
    git = {("copies.md", "git", "--depth"), ("copies.md", "git", "--unshallow")}
    assert wrong == git | {("agents.md", "agent", "--local")}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    shutil.copy(ROOT / "LICENSE", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "# 标题\n[a](LICENSE) [b](gone.md) [c](#标题) [d](#gone) [e](https://x.org)\n", "utf-8"
    )
    assert [line.split()[1] for line in broken(page)] == ["[b](gone.md)", "[d](#gone)"]


def test_a_failing_block_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# x\n\n```python file=a.py\nx = 1\n```\n\n```python\nassert False\n```\n", "utf-8"
    )
    with pytest.raises(AssertionError) as caught:
        test_code_blocks_run(page, tmp_path, monkeypatch)
    assert (tmp_path / "a.py").read_text("utf-8") == "x = 1\n"
    assert caught.traceback[-1].lineno + 1 == 8


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    linked = {found["path"] for found in LINK.finditer(index)}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_a_page_of_the_site_links_to_pages_of_the_site(site: ModuleType) -> None:
    text = "[errors.md](../errors.md#no) ![x](../ui.svg) [code](../../kimi_memory/config.py)"
    assert site.adapt_links(text, "docs/zh/recall.md", "zh") == (
        "[Errors and exit codes](errors.md#no) ![x](ui.svg) code"
    )
    text = "[docs/errors.md](docs/errors.md) [中文](README.zh.md) [in](CONTRIBUTING.md) [o](https://x.org)"
    assert site.adapt_links(text, "README.md", "en") == (
        "[Errors and exit codes](errors.md) [中文](../zh/overview.html) [in](contributing.md) "
        "[o](https://x.org)"
    )


def test_a_block_of_code_says_to_the_site_what_it_reads(site: ModuleType) -> None:
    text = "```python file=a/b.py\n[x](y.md)\n```\n\n```sh run\nls\n```"
    adapted = '```python title="a/b.py"\n[x](y.md)\n```\n\n```sh\nls\n```'
    assert site.adapt_links(text, "docs/recall.md", "en") == adapted


def test_a_link_finds_the_heading_of_a_translation(site: ModuleType) -> None:
    english, chinese = (site.slugs(site.page_text("correcting.md", one)) for one in ("en", "zh"))
    heading = chinese[english.index("settle-a-conflict")]
    text = "[settle](correcting.md#settle-a-conflict)"
    assert (
        site.adapt_links(text, "docs/file-format.md", "zh") == f"[settle](correcting.md#{heading})"
    )
    assert site.adapt_links(text, "docs/file-format.md", "en") == text
    assert heading == "裁决冲突"


def test_a_page_without_translation_says_so(site: ModuleType) -> None:
    assert site.page_text("errors.md", "zh").startswith(site.GENERATED + "# Errors")
    assert site.page_text("contributing.md", "zh").startswith(site.UNTRANSLATED + "# Contributing")
    assert site.page_text("errors.md", "en").startswith("# Errors")
    assert site.page_text("overview.md", "zh").startswith("# kimi_memory\n\n给信念用的 Git")


def test_a_stale_translation_is_named(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "docs/zh").mkdir(parents=True)
    for name in ("new.md", "old.md", "gone.md", "bare.md"):
        (tmp_path / "docs" / name).write_text("# A page\n", encoding="utf-8")
        (tmp_path / "docs/zh" / name).write_text("# 一页\n", encoding="utf-8")
    for name in ("new.md", "old.md", "gone.md", "old.md"):
        site.mark(name, tmp_path)
    assert (tmp_path / "docs/zh/old.md").read_text("utf-8").count("<!--") == 1
    (tmp_path / "docs/old.md").write_text("# Another page\n", encoding="utf-8")
    (tmp_path / "docs/gone.md").unlink()
    assert list(site.stale(tmp_path)) == [
        "zh/bare.md: its first line does not name bare.md and its hash",
        "zh/gone.md: there is no gone.md",
        "zh/old.md: old.md has changed since it was translated",
    ]


KINDS = ("added", "changed", "fixed", "removed", "security")


def test_changelog_fragments_are_named_and_written_for_users() -> None:
    fragments = sorted((ROOT / "changelog.d").glob("*.md"))
    assert fragments
    for path in fragments:
        if path.name != "README.md":
            assert re.fullmatch(rf"[a-z][a-z0-9-]*\.({'|'.join(KINDS)})\.md", path.name), path.name
            text = path.read_text(encoding="utf-8")
            assert text.rstrip().endswith((".", "。")) and not text.startswith("#"), path.name
    readme = (ROOT / "changelog.d/README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in readme for kind in KINDS)

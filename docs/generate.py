"""Reference pages, made from the sources: hooks, errors, settings, commands.

``python -m docs.generate`` writes them; with ``--check`` it names the stale ones.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest.mock import patch

from docs.manual import manuals
from kimi_memory import config, errors
from kimi_memory.cli import parser
from kimi_memory.domain.job_registry import JOBS, JobEntry, scheduled
from kimi_memory.hooks import specs
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.rules.slot_list import DEFINITIONS
from kimi_memory.operations.setting_list import read_meanings

FOLDER = Path(__file__).parent


def heading(title: str, source: str, about: str) -> list[str]:
    """Return the first lines of a page."""
    made = f"<!-- Made by `python -m docs.generate` from {source}; change that. -->"
    return [made, f"# {title}", "", about, ""]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, with an empty one after it."""
    lines = [head, ["---"] * len(head), *rows]
    return [
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
        for row in lines
    ] + [""]


def plain(text: str | None) -> str:
    """Return a docstring as Markdown: its code marks are single backticks there."""
    return inspect.cleandoc(text or "").replace("``", "`").replace("Raises:\n    ", "Raises: ")


# Hooks


def sections(module: ast.Module, source: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield each hook with the comment line it stands under, in story order."""
    lines = source.splitlines()
    banner = ""
    for before, node in zip([None, *module.body], module.body, strict=False):
        first = min((d.lineno for d in getattr(node, "decorator_list", [])), default=node.lineno)
        for line in lines[before.end_lineno if before and before.end_lineno else 0 : first - 1]:
            banner = line.removeprefix("# ") if line.startswith("# ") else banner
        if isinstance(node, ast.FunctionDef) and node.name in specs.SPECS:
            yield banner, node


def hooks() -> str:
    """Return the page of hooks."""
    source = inspect.getsource(specs)
    users: dict[str, list[str]] = {}
    for loaded in Host(entry_points=False).loaded:
        for hook in loaded.hooks:
            users.setdefault(hook, []).append(loaded.name)
    page = heading("Hooks", "kimi_memory/hooks/specs.py", plain(specs.__doc__))
    banner = ""
    for section, node in sections(ast.parse(source), source):
        if section != banner:
            banner = section
            page += [f"## {banner}", ""]
        takes = ", ".join(ast.unparse(argument) for argument in node.args.args)
        gives = ast.unparse(node.returns) if node.returns else "None"
        used = ", ".join(f"`{name}`" for name in users.get(node.name, [])) or "none"
        page += [f"### {node.name}", "", "```text", f"{node.name}({takes}) -> {gives}", "```", ""]
        page += [plain(ast.get_docstring(node)), "", f"Bundled plugins: {used}.", ""]
    return "\n".join(page)


# Errors


Error = type[errors.KimiMemoryError]


def tree(kind: Error, depth: int = 0) -> Iterator[tuple[int, Error]]:
    """Yield an error and everything below it, by exit code."""
    yield depth, kind
    below = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    for each in sorted(below, key=lambda each: each.exit_code):
        yield from tree(each, depth + 1)


def error_page() -> str:
    """Return the page of errors and exit codes."""
    about = (
        "Everything raised on purpose is a `KimiMemoryError`. On the command line it becomes one "
        "line on standard error and the exit code of its class."
    )
    rows = [
        [f"{'· ' * depth}`{kind.__name__}`", str(kind.exit_code), plain(kind.__doc__)]
        for depth, kind in tree(errors.KimiMemoryError)
    ]
    page = heading("Errors and exit codes", "kimi_memory/errors.py", about)
    return "\n".join([*page, *table(["error", "exit code", "meaning"], rows)])


# Settings


def written(value: object) -> str:
    """Return a default as one would write it in TOML."""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, str):
        return f'`"{value}"`'
    return f"`{value}`" if isinstance(value, int | float) else ""


def settings_table(given: NamedTuple) -> list[str]:
    """Return the table of one tuple of settings."""
    about = read_meanings(type(given))
    rows = [
        [f"`{name}`", f"`{about[name][0]}`", written(default), about[name][1]]
        for name, default in given._asdict().items()
    ]
    return table(["key", "type", "default", "meaning"], rows)


def schedule_table() -> list[str]:
    """Return the table of the times of jobs."""
    rows = [
        [f"`{job.name}`", "`str`", written(job.time), f"{job.summary}. {WHEN[job.span]}"]
        for job in scheduled()
    ]
    return table(["key", "type", "default", "meaning"], rows)


WHEN = {
    "day": "A time of day, in the time of the machine.",
    "week": "A day (mon to sun) and a time.",
    "memory": "A time, with a day or for every day; never if empty.",
}


def settings() -> str:
    """Return the page of settings."""
    page = heading("Settings", "kimi_memory/config.py", plain(config.__doc__))
    page += ["## memory.toml", "", "Lies in the memory folder and travels with it.", ""]
    for name, given in config.Settings()._asdict().items():
        rows = schedule_table() if name == "schedule" else settings_table(given)
        page += [f"### [{name}]", "", *rows]
    page += ["## config.toml", "", "Lies in your own config directory, never in a memory.", ""]
    page += ["| setting |", "|---|"]
    page += [f"| {text} |" for _, text in read_meanings(config.UserConfig).values()]
    return "\n".join([*page, ""])


# Commands


Below = list[tuple[str, str, argparse.ArgumentParser]]


def children(parser: argparse.ArgumentParser) -> Below:
    """Return the commands below a parser: name, one line about it, parser; no aliases."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {each.dest: each.help or "" for each in action._choices_actions}
            named = [name for name in action.choices if name in about] or list(action.choices)
            return [(name, about.get(name, ""), action.choices[name]) for name in named]
    return []


def sentence(text: str) -> str:
    """Return a help text as a sentence; empty stays empty."""
    plain = text.replace("%%", "%").strip().rstrip(".")
    return f"{plain[0].upper()}{plain[1:]}." if plain else ""


SHARED = ("json", "memory")
"""Options of every command and step, which the head of the page explains."""


def arguments(parser: argparse.ArgumentParser) -> list[list[str]]:
    """Return a row for every argument of a command but --help and the shared ones."""
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction | argparse._SubParsersAction):
            continue
        if action.option_strings and action.dest in SHARED:
            continue
        name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
        if action.option_strings and action.nargs != 0:
            name += f" {action.metavar or action.dest.upper()}"
        allowed = ", ".join(f"`{choice}`" for choice in action.choices or () if choice != "")
        choices = f" One of {allowed}." if allowed else ""
        rows.append([f"`{name}`", sentence(action.help or "") + choices])
    return rows


def command(
    parser: argparse.ArgumentParser, name: str, about: str, depth: int = 2
) -> Iterator[str]:
    """Yield the lines about a command and the ones below it."""
    yield from [f"{'#' * min(depth, 4)} {name}", ""]
    if text := sentence(parser.description or about):
        yield from [text, ""]
    if rows := arguments(parser):
        yield from table(["argument", "meaning"], rows)
    for child, line, below in children(parser):
        yield from command(below, f"{name} {child}", line, depth + 1)


def commands() -> str:
    """Return the page of commands."""
    about = (
        "Every command and every step below it takes `--help`, `--json` (print JSON for programs) "
        "and `--memory PATH` (the memory folder; else `KIMI_MEMORY`, else the nearest one above). "
        "`kmem` is short for `kimi-memory`."
    )
    page = heading("Commands", "kimi_memory/cli", about)
    # A developer's own plugins add commands that are not ours to document.
    with own_plugins_alone():
        return "\n".join([*page, *command(parser(), "kimi-memory", "")])


@contextmanager
def own_plugins_alone() -> Iterator[None]:
    """Leave out the plugins that a developer has."""
    with TemporaryDirectory() as home, patch.dict(os.environ, {"XDG_CONFIG_HOME": home}):
        yield


# Jobs


def started(job: JobEntry) -> str:
    """Return what starts a job."""
    own = f"`consolidate {job.name}`, {written(job.time)}" if job.time else ""
    after = f"after `{job.after}`" if job.after else ""
    return ", ".join(filter(None, (own, after))) or "on request"


def jobs() -> str:
    """Return the page of jobs."""
    rows = [
        [f"`{job.name}`", f"{job.summary}.", started(job), "yes" if job.dry_run else "no"]
        for job in JOBS
    ]
    page = heading("Jobs", "kimi_memory/domain/job_registry.py", JOBS_ABOUT)
    return "\n".join([*page, *table(["job", "what it does", "started by", "dry run"], rows)])


JOBS_ABOUT = """A job plans typed operations over the notes as they are; gates check the plan; then
its files change in one transaction, one commit and one record in `mid-term/jobs/`, and `undo`
takes it back byte for byte. The same inputs are a job that is done already. How to run one from
a program, and how to add one: [adding-jobs.md](adding-jobs.md)."""


# Slots


def slots() -> str:
    """Return the page of slots."""
    page = heading("Slots", "kimi_memory/nlp/rules/slot_list.py", SLOTS)
    about = {"person": "Of a person", "people": "People and animals of a person"}
    about |= {"any": "Of a person or a project", "project": "Of a project"}
    for sort, title in about.items():
        rows = [
            [
                f"`{one.name}`",
                "many" if one.many else "one",
                one.means,
                f"{one.english} · {one.chinese}",
            ]
            for one in DEFINITIONS
            if one.about == sort
        ]
        page += [f"## {title}", "", *table(["slot", "values", "what it is", "nouns"], rows)]
    return "\n".join(page)


SLOTS = """What a statement can be about so that a later one meets it. A key is a holder and
a slot: `user.home`, `user.sister.birthday`, `project.database`, `tom.birthday`; where there
are several of a kind, which one stands before the slot: `project.api-port`,
`user.dentist-appointment`. Of `one` a second value is another value of the same thing: it
replaces the first when a word of change says so, else both wait in `conflicts/`. Of `many`
it is one more. What has no slot supersedes, confirms and contradicts nothing.

```python
from kimi_memory.nlp.rules.slots import slot_of

slot = slot_of("We migrated from MySQL to Postgres")
assert (slot.key, slot.value, slot.before) == ("project.database", "Postgres", "MySQL")
assert slot_of("我对花生过敏").key == "user.allergies"
assert slot_of("The build is slow today") is None
```
"""


PAGES: dict[str, Callable[[], str]] = {
    "hooks.md": hooks,
    "errors.md": error_page,
    "settings.md": settings,
    "commands.md": commands,
    "slots.md": slots,
    "jobs.md": jobs,
}


def pages() -> dict[str, str]:
    """Return the text of every page by file name."""
    made = {name: make() for name, make in PAGES.items()}
    tidy = {name: re.sub(r"\n{3,}", "\n\n", text) for name, text in made.items()}
    with own_plugins_alone():
        roff = {f"man/{name}": text for name, text in manuals(parser()).items()}
    return {name: text.rstrip() + "\n" for name, text in tidy.items()} | roff


def stale(folder: Path) -> list[str]:
    """Return the names of pages in `folder` that are not as the sources say."""
    return [
        name
        for name, text in pages().items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, or check them."""
    options = argparse.ArgumentParser(prog="python -m docs.generate", description=main.__doc__)
    options.add_argument("--check", action="store_true", help="write nothing, exit 1 if stale")
    options.add_argument("--folder", type=Path, default=FOLDER, help="where the pages lie")
    chosen = options.parse_args(argv)
    if chosen.check:
        for name in (old := stale(chosen.folder)):
            print(f"{name} is stale: run python -m docs.generate", file=sys.stderr)
        return 1 if old else 0
    for name, text in pages().items():
        (chosen.folder / name).parent.mkdir(exist_ok=True)
        (chosen.folder / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Figures of the code itself: ``python -m benchmarks.house [PACKAGE…] --json``.

What a reader of the sources meets: lines, words of names, ties between modules, files that a
real command enters. Other packages are measured by the same rules where their folders are named.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

HERE = Path(__file__).parent.parent
OURS = (HERE / "kimi_memory", HERE / "plugins")
PROFILED = {
    "turn": ("session", "turn", "s", "--role", "user", "The deploy window opens at 18:30."),
    "question": ("recall", "When does the deploy window open?"),
    "remember": ("remember", "The deploy window opens at 18:30 on Thursdays."),
}
"""Commands whose way through the files is followed, in this order in one memory."""
LOADED = "import sys, {name}; print(*sys.modules)"
_OPTIMIZED = 1
"""A flag of the code of functions, which that of modules and classes has not."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def measure_sources(folders: Sequence[Path]) -> dict[str, float]:
    """Return the figures that the sources of a package alone tell."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lines = [text.count("\n") for text in texts.values()]
    sizes = [(node.end_lineno or 0) - node.lineno + 1 for _, node in _functions(trees)]
    names = [node.name.strip("_") for _, node in _functions(trees)]
    words = [len(name.split("_")) for name in names]
    letters = [len(name) for name in names]
    modules = {_module_name(path, folders): path for path in paths}
    ties = [len(set(_imported(trees[path], name, modules))) for name, path in modules.items()]
    return {
        "files": len(paths),
        "lines": sum(lines),
        "lines a file, median": statistics.median(lines),
        "lines a file, longest": max(lines),
        "lines a function, median": statistics.median(sizes),
        "lines a function, longest": max(sizes),
        "words a function name, mean": round(statistics.mean(words), 2),
        "words a function name, median": statistics.median(words),
        "letters a function name, mean": round(statistics.mean(letters), 2),
        "letters a function name, median": statistics.median(letters),
        "comment lines, %": round(100 * sum(map(_comments, paths)) / sum(lines), 2),
        "imports a module": round(statistics.mean(ties), 2),
        "imports inside functions": sum(map(_late_imports, trees.values())),
    }


def measure_client() -> dict[str, float]:
    """Return what importing the client loads in a fresh interpreter."""
    found = loaded_by("kimi_memory.client")
    return {
        "client: modules of ours": sum(name.split(".")[0] == "kimi_memory" for name in found),
        "client: modules": len(found),
        "client: numpy": int("numpy" in found),
    }


def loaded_by(module: str) -> list[str]:
    """Return the names of all modules that stand loaded once one is imported."""
    command = [sys.executable, "-c", LOADED.format(name=module)]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=HERE
    ).stdout.split()


def measure_commands() -> dict[str, float]:
    """Return the files that real commands enter, and the pairs of files that call each other."""
    figures: dict[str, float] = {}
    for name, calls in follow_commands().items():
        figures[f"{name}: files entered"] = len({called for _, called in calls})
        figures[f"{name}: hand-overs"] = len({pair for pair in calls if pair[0] != pair[1]})
    return figures


def follow_commands() -> dict[str, list[tuple[str, str]]]:
    """Return the calls of real commands in one new memory, each from a file into a file."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        root, environment = str(Path(folder) / "memory"), {**os.environ, "HOME": folder}
        for arguments in (["init", root], ["session", "start", "s", "--memory", root]):
            _run_profiled(arguments, environment)
        return {
            name: _run_profiled([*words, "--memory", root], environment)
            for name, words in PROFILED.items()
        }


def _run_profiled(
    arguments: Sequence[str], environment: Mapping[str, str]
) -> list[tuple[str, str]]:
    with tempfile.NamedTemporaryFile() as found:
        code = f"import benchmarks.house; benchmarks.house.follow_command({found.name!r})"
        command = [sys.executable, "-c", code, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment, cwd=HERE)
        pairs = json.loads(Path(found.name).read_text(encoding="utf-8"))
    return [(caller, called) for caller, called in pairs]


def follow_command(path: str) -> None:
    """Run the command line of this process; write down which file called which."""
    from kimi_memory.__main__ import main

    pairs: set[tuple[str, str]] = set()
    profile = _profiler(pairs)
    threading.setprofile(profile)
    sys.setprofile(profile)
    code = main()
    sys.setprofile(None)
    Path(path).write_text(json.dumps(sorted(pairs)), encoding="utf-8")
    sys.exit(code)


def _profiler(pairs: set[tuple[str, str]]) -> Callable[[FrameType, str, Any], None]:
    known = tuple(f"{folder}{os.sep}" for folder in OURS)

    def profile(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_flags & _OPTIMIZED:
            return
        if not code.co_filename.startswith(known):
            return
        above = [one.f_code for one in _callers(frame) if one.f_code.co_filename.startswith(known)]
        # What a module or a class calls while it is imported is no step of the command.
        if all(one.co_flags & _OPTIMIZED for one in above):
            pairs.add((above[0].co_filename if above else "", code.co_filename))

    return profile


def _callers(frame: FrameType) -> Iterator[FrameType]:
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame


def _functions(trees: Mapping[Path, ast.Module]) -> Iterator[tuple[Path, Function]]:
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                yield path, node


def _comments(path: Path) -> int:
    with path.open("rb") as file:
        return sum(token.type == tokenize.COMMENT for token in tokenize.tokenize(file.readline))


def _late_imports(tree: ast.Module) -> int:
    """Count the import statements that stand in functions."""
    return len(
        {
            node
            for function in ast.walk(tree)
            if isinstance(function, Function)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
    )


def _module_name(path: Path, folders: Sequence[Path]) -> str:
    folder = next(folder for folder in folders if path.is_relative_to(folder))
    dotted = ".".join((folder.name, *path.relative_to(folder).with_suffix("").parts))
    dotted = dotted.removesuffix(".__init__")
    return re.sub(r"^plugins\b", "kimi_memory.plugins", dotted)


def _at_runtime(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what only a type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")):
            yield node
            yield from _at_runtime(node)


def _imported(tree: ast.Module, name: str, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules of the same package that a module imports to run, early or late."""
    package = name if modules[name].stem == "__init__" else name.rpartition(".")[0]
    for node in _at_runtime(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            whole = ".".join(
                [*(base if node.level else ()), *([node.module] if node.module else ())]
            )
            for alias in node.names:
                inner = f"{whole}.{alias.name}"
                if found := inner if inner in modules else whole if whole in modules else "":
                    yield found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.house", description=__doc__)
    parser.add_argument("packages", nargs="*", type=Path, help="folders of other packages")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    if chosen.packages:
        found = {str(folder): measure_sources([folder]) for folder in chosen.packages}
    else:
        figures = measure_sources(OURS) | measure_client() | measure_commands()
        found = {"kimi_memory": figures}
    if chosen.json:
        print(json.dumps(found))
        return 0
    for name, figures in found.items():
        print(name)
        for figure, value in figures.items():
            print(f"  {figure:34}{value:>10,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

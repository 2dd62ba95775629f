"""Mutants: small defects put into modules, to see whether the mirrored tests find them.

``python -m tests.mutants`` takes the modules that differ from a base, ``python -m tests.mutants
kimi_memory/recall/ranking.py`` those that are named. Of each it makes a seeded sample of mutants,
one after the other, and runs the module's own test file on each. No file is changed: the process
that runs the tests compiles the mutant as it imports the module. A command that a test starts in
a process of its own meets no mutant.
"""

from __future__ import annotations

import argparse
import ast
import importlib.abc
import importlib.machinery
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from types import CodeType, ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SAMPLE, LEAST, SEED = 12, 90.0, 20
MUTANT = "KIMI_MEMORY_MUTANT"
"""The variable that says which mutant the process of the tests imports: ``path:number``."""

Edit = Callable[[], None]

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult},
    **{ast.Div: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.Mod: ast.Mult},
    **{ast.Break: ast.Continue, ast.Continue: ast.Break},
}
_CACHES = frozenset({"lru_cache", "cache", "keep_results", "dataclass"})
"""What stands in these calls decides how fast a thing is, or what only a type checker sees."""


_NOTHING = frozenset({"None", "[]", "()", "{}", "''", "0", "False", "frozenset()", "b''"})
"""Results that a test without a type may take for None; the type checker does not."""
_LARGE = 10
"""From this number on a bound is halved, below it grows by one."""


class Mutation(NamedTuple):
    """One small defect: where it stands, what it is, and how it is put into the tree."""

    line: int
    words: str
    apply: Edit


def mutations(tree: ast.Module) -> list[Mutation]:
    """Return the defects that can be put into a module, in the order of its text."""
    return list(_mutations_of(tree))


def _mutations_of(node: ast.AST) -> Iterator[Mutation]:
    if _is_left_alone(node):
        return
    yield from _own_mutations(node)
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, ast.stmt) and _is_droppable(inner):
                yield _drop_statement(value, inner)
            if isinstance(inner, ast.AST):
                yield from _mutations_of(inner)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether a defect here could not be noticed: types, docstrings, sizes of caches."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test).endswith("TYPE_CHECKING")
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in _CACHES
    # It guards against what types and tests of the caller rule out.
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    return isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)


def _own_mutations(node: ast.AST) -> Iterator[Mutation]:
    match node:
        case ast.Compare():
            yield from (
                _swap(node, "ops", sign, at)
                for at, sign in enumerate(node.ops)
                if type(sign) in _SWAPPED
            )
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign():
            if type(node.op) in _SWAPPED and not _joins_types(node):
                yield _swap(node, "op", node.op)
        case ast.If() | ast.IfExp() | ast.While():
            yield _negate_test(node)
        case ast.Constant(value=bool() | int() as old):
            yield _change_constant(node, old)
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) not in _NOTHING:
            yield Mutation(node.lineno, "return None", lambda: setattr(node, "value", None))


def _joins_types(node: ast.BoolOp | ast.BinOp | ast.AugAssign) -> bool:
    """Whether ``|`` stands between the names of classes, as in ``isinstance(x, A | B)``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.BitOr):
        return False
    return ast.unparse(node.right).split(".")[-1][:1].isupper()


def _swap(node: ast.AST, field: str, sign: ast.AST, at: int | None = None) -> Mutation:
    other = _SWAPPED[type(sign)]()

    def apply() -> None:
        if at is None:
            setattr(node, field, other)
        else:
            getattr(node, field)[at] = other

    words = f"{type(sign).__name__} becomes {type(other).__name__}"
    return Mutation(getattr(node, "lineno", 0), words, apply)


def _negate_test(node: ast.If | ast.IfExp | ast.While) -> Mutation:
    turned = ast.UnaryOp(ast.Not(), node.test)
    return Mutation(node.lineno, "the test is negated", lambda: setattr(node, "test", turned))


def _change_constant(node: ast.Constant, old: int) -> Mutation:
    # One more of a large bound is what no test should care about.
    number = old + 1 if old < _LARGE else old // 2
    value = not old if isinstance(old, bool) else number
    words = f"{old} becomes {value}"
    return Mutation(node.lineno, words, lambda: setattr(node, "value", value))


def _is_droppable(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call | ast.Yield | ast.YieldFrom | ast.Await)
    return isinstance(node, ast.Raise | ast.AugAssign | ast.Delete)


def _drop_statement(body: list[ast.stmt], node: ast.stmt) -> Mutation:
    def apply() -> None:
        body[body.index(node)] = ast.copy_location(ast.Pass(), node)

    words = ast.unparse(node).partition("\n")[0]
    return Mutation(node.lineno, f"left out: {words[:60]}", apply)


def compile_mutant(path: Path, number: int) -> CodeType:
    """Return the code of a module with one of its defects."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    mutations(tree)[number].apply()
    return compile(ast.fix_missing_locations(tree), str(path), "exec")


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads one module as a mutant; its byte code is not kept."""

    number = 0

    def get_code(self, fullname: str) -> CodeType:
        return compile_mutant(Path(self.path), self.number)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds every module where it is, and hands one of them to the loader of mutants."""

    def __init__(self, path: Path, number: int) -> None:
        self._path, self._number = path, number

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith("kimi_memory"):
            return None
        finders = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in finders)
        found = next((spec for spec in specs if spec is not None), None)
        if found is not None and found.origin and Path(found.origin).resolve() == self._path:
            loader = _Loader(name, found.origin)
            loader.number = self._number
            found.loader = loader
        return found


def pytest_load_initial_conftests() -> None:
    """Let the process of the tests import the mutant; conftest.py imports the package."""
    if place := os.environ.get(MUTANT):
        path, _, number = place.rpartition(":")
        sys.meta_path.insert(0, _Finder(Path(path).resolve(), int(number)))


def find_tests(path: Path) -> list[Path]:
    """Return the test files that mirror a module: one of its name, or several of its parts."""
    parts = path.relative_to(ROOT).parts
    folder = ROOT.joinpath("tests", *(parts[:-1] if parts[0] == "plugins" else parts[1:-1]))
    stem = path.parent.name if path.name == "__init__.py" else path.stem
    longer = tuple(f"test_{one.stem}" for one in path.parent.glob(f"{stem}_*.py"))
    named = [*folder.glob(f"test_{stem}.py"), *folder.glob(f"test_{stem}_*.py")]
    own = sorted(test for test in named if not (longer and test.name.startswith(longer)))
    above = folder.parent / f"test_{stem}.py"
    return own or [above] * above.exists()


def run_tests(tests: Sequence[Path], mutant: str, seconds: float | None) -> bool:
    """Run test files on a mutant, or on the module as it is; tell whether it passes."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-mutant-") as folder:
        # Derandomized: the same mutants die in each run. What a law found stays in the folder.
        environment = {**os.environ, MUTANT: mutant, "HYPOTHESIS_PROFILE": "ci", "TMPDIR": folder}
        environment |= {"HYPOTHESIS_STORAGE_DIRECTORY": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        options = ["-x", "-q", "-p", "tests.mutants", "-p", "no:cacheprovider", "--no-header"]
        command = [sys.executable, "-m", "pytest", *options, f"--basetemp={folder}/t"]
        command += map(str, tests)
        quiet = subprocess.DEVNULL
        try:
            ended = subprocess.run(
                command,
                check=False,
                env=environment,
                cwd=ROOT,
                stdout=quiet,
                stderr=quiet,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return False
    return ended.returncode == 0


def try_module(
    path: Path, tests: Sequence[Path], sample: int, seed: int
) -> tuple[int, list[Mutation]]:
    """Return how many mutants of a module were made, and those that its tests let live."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    known = mutations(deepcopy(tree))
    name = path.relative_to(ROOT).as_posix()
    numbers = random.Random(f"{seed} {name}")
    chosen = sorted(numbers.sample(range(len(known)), min(sample, len(known))))
    begun = time.monotonic()
    if not run_tests(tests, "", None):
        sys.exit(f"the tests of {name} fail on the module as it is: mend them first")
    # A defect may loop for ever; ten times as long as the sound module is as good as dead.
    seconds = 10 * (time.monotonic() - begun) + 10
    living = [known[at] for at in chosen if run_tests(tests, f"{path}:{at}", seconds)]
    return len(chosen), living


def changed_modules(base: str) -> list[Path]:
    """Return the modules that differ from a commit or branch, uncommitted changes as well."""
    named = ("--name-only", "--diff-filter=d", base, "--", "kimi_memory", "plugins")
    command = ["git", "diff", *named]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if name.endswith(".py")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make mutants, run tests, print who lives; 1 when too many do."""
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", type=Path, help="files; what changed if none")
    parser.add_argument("--base", default="main", help="what changed is seen from here")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=SEED, help="another seed, other mutants")
    parser.add_argument("--least", type=float, default=LEAST, help="percent that must die")
    chosen = parser.parse_args(arguments)
    paths = [module.resolve() for module in chosen.modules] or changed_modules(chosen.base)
    if not paths:
        print(f"No module differs from {chosen.base}. Name some.")
    made = lived = 0
    for path in paths:
        if not (tests := find_tests(path)):
            print(f"{path.relative_to(ROOT)}: no test file mirrors it")
            continue
        count, living = try_module(path, tests, chosen.sample, chosen.seed)
        made, lived = made + count, lived + len(living)
        print(f"{path.relative_to(ROOT)}: {count - len(living)} of {count} killed", flush=True)
        for mutation in living:
            print(f"  line {mutation.line} lives: {mutation.words}", flush=True)
    killed = 100 * (made - lived) / made if made else 100.0
    print(f"{killed:.0f} % of {made} mutants killed")
    return 0 if killed >= chosen.least else 1


if __name__ == "__main__":
    sys.exit(main())

"""Exports and imports of bundles that die at any step: all of it is there, or nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.operations.bundles import export_bundle, import_bundle, unpack_copy
from kimi_memory.operations.migrate import migrate
from kimi_memory.store.git.bundle import read_bundle
from tests.faults.acts import leftovers
from tests.faults.test_merge_kills import LONG, KillAtCall, killed, make_copies
from tests.test_copies import errors, git

STEPS = (
    "operations/bundles.py",
    "operations/migrate.py",
    "operations/new_folders.py",
    "operations/merge_copy.py",
    "store/git/bundle.py",
    "store/git/incoming.py",
)


def export(root: Path, opening: Opening) -> None:
    with Memory.open(root / "b", opening) as memory:
        export_bundle(memory, root / "new.bundle")


def merge(root: Path, opening: Opening) -> None:
    with Memory.open(root / "a", opening) as memory:
        import_bundle(memory, root / "b.bundle")


def unpack(root: Path, opening: Opening) -> None:
    unpack_copy(root / "b.bundle", root / "c", opening)


def move(root: Path, opening: Opening) -> None:
    with Memory.open(root / "b", opening) as memory:
        migrate(memory, root / "d")


def check_move(root: Path, opening: Opening, at: int) -> None:
    with Memory.open(root / "b", opening) as source:
        if not source.store.moved:
            assert leftovers(source.root) == [], at
            source.remember("It still takes writes.")
            return
        with Memory.open(root / "d", opening) as there:
            assert source.store.moved == str(root / "d"), at
            assert errors(there) == errors(source), at
            assert set(source.store.files()) <= set(there.store.files()), at


def check_export(root: Path, opening: Opening, at: int) -> None:
    path = root / "new.bundle"
    if path.exists():
        assert read_bundle(path), at
    else:
        export(root, opening)


def check_merge(root: Path, opening: Opening, at: int) -> None:
    merge(root, opening)
    with Memory.open(root / "a", opening) as memory:
        assert leftovers(memory.root) == [], at
        assert not list((memory.root / ".kimi").glob("incoming-*")), at
        assert errors(memory) == [], at
        assert git(memory.root, "status", "--porcelain").strip() == "", at
        head = git(root / "b", "rev-parse", "HEAD").strip()
        git(memory.root, "merge-base", "--is-ancestor", head, "HEAD")


def check_unpack(root: Path, opening: Opening, at: int) -> None:
    if not (root / "c").exists():
        unpack(root, opening)
    with Memory.open(root / "c", opening) as copy, Memory.open(root / "b", opening) as source:
        assert errors(copy) == errors(source), at
        assert git(copy.root, "status", "--porcelain").strip() == "", at


@pytest.mark.parametrize(
    ("act", "check", "kills"),
    [
        pytest.param(export, check_export, 3, id="export"),
        pytest.param(merge, check_merge, 3, id="merge"),
        pytest.param(unpack, check_unpack, 3, id="unpack"),
        pytest.param(move, check_move, 3, id="move"),
        pytest.param(move, check_move, 0, id="move, every step", marks=LONG),
        pytest.param(export, check_export, 0, id="export, every step", marks=LONG),
        pytest.param(merge, check_merge, 0, id="merge, every step", marks=LONG),
        pytest.param(unpack, check_unpack, 0, id="unpack, every step", marks=LONG),
    ],
)
def test_a_kill_at_any_step_leaves_all_or_nothing(
    act: Callable[[Path, Opening], None],
    check: Callable[[Path, Opening, int], None],
    kills: int,
    swift: Path,
    opening: Opening,
) -> None:
    def home(root: Path) -> Opening:
        return replace(opening, home=Home(root / "config", root / "state"))

    make_copies(swift / "0", home(swift / "0"))
    with Memory.open(swift / "0" / "b", home(swift / "0")) as memory:
        export_bundle(memory, swift / "0" / "b.bundle")

    def work(root: Path, kill: KillAtCall) -> None:
        sys.setprofile(kill)
        try:
            act(root, home(root))
        finally:
            sys.setprofile(None)

    shutil.copytree(swift / "0", swift / "count")
    counting = KillAtCall(0, STEPS, None if kills else swift / "count")
    work(swift / "count", counting)
    assert counting.count > 20
    for at in counting.choose(kills):
        root = swift / str(at)
        shutil.copytree(swift / "0", root)
        kill = KillAtCall(at, STEPS)
        assert killed(lambda root=root, kill=kill: work(root, kill)), at
        check(root, home(root), at)
        shutil.rmtree(root)

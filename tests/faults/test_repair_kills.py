"""A repair of a merge that dies at any step: the next job ends it, and nothing is lost."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from tests.faults.acts import leftovers
from tests.faults.test_merge_kills import LONG, STEPS, KillAtCall, killed
from tests.jobs.test_merge_repair import turns
from tests.test_copies import errors, git

WHERE = (*STEPS, "jobs/merge_repair.py", "store/git/commit.py")


def home(root: Path, opening: Opening, name: str) -> Opening:
    return replace(opening, home=Home(root / f"config-{name}", root / f"state-{name}"))


def make_merge(root: Path, opening: Opening) -> None:
    """Let git merge two copies: of what both changed it took the one version."""
    with Memory.create(root / "a", opening=home(root, opening, "a")) as memory:
        memory.remember("The deploy port is 8080.", key="deploy.port")
        memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
        memory.batch.flush()
        git(root, "clone", "-q", "a", "b")
        with Memory.open(root / "b", home(root, opening, "b")) as other:
            for one, name in ((memory, "Ann"), (other, "Bob")):
                one.session("talk").turn("user", f"{name} takes part.")
                one.remember("The deploy port is 8080.", key="deploy.port")
                (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
                one.batch.note()
                one.batch.flush()
    how = ("--no-rebase", "--no-edit", "-X", "ours", str(root / "b"), "main")
    git(root / "a", "pull", "-q", *how, check=False)
    git(root / "a", "add", "-A")
    git(root / "a", "commit", "-qm", "Merged by hand", check=False)


def repair(root: Path, opening: Opening, kill: KillAtCall) -> None:
    with Memory.open(root / "a", home(root, opening, "a")) as memory:
        sys.setprofile(kill)
        try:
            assert memory.repair_merges()
        finally:
            sys.setprofile(None)


def check(root: Path, opening: Opening) -> list[str]:
    with Memory.open(root / "a", home(root, opening, "a")) as memory:
        memory.remember("Cleo likes water.", key="cleo.water")
        assert memory.repair_merges() == []
        assert leftovers(memory.root) == []
        assert errors(memory) == []
        assert git(memory.root, "status", "--porcelain").strip() == ""
        assert turns(memory, "talk") == {
            "We use PostgreSQL for the shop.",
            "Ann takes part.",
            "Bob takes part.",
        }
        kept = (memory.root / "conflicts").glob("USER.*.md")
        said = {path.read_text("utf-8") for path in (memory.root / "USER.md", *kept)}
        assert said == {"# Ann\n", "# Bob\n"}
        listed = git(memory.root, "ls-tree", "-r", "HEAD").splitlines()
        return [row for row in listed if any(name in row for name in ("deploy", "talk", "USER"))]


@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="some"), pytest.param(0, id="every step", marks=LONG)]
)
def test_a_kill_at_any_step_of_a_repair_is_made_good(
    kills: int, swift: Path, opening: Opening
) -> None:
    make_merge(swift / "0", opening)
    shutil.copytree(swift / "0", swift / "count")
    counting = KillAtCall(0, WHERE, None if kills else swift / "count")
    repair(swift / "count", opening, counting)
    whole = check(swift / "count", opening)
    assert counting.count > 100
    for at in counting.choose(kills):
        root = swift / str(at)
        shutil.copytree(swift / "0", root)
        act = KillAtCall(at, WHERE)
        assert killed(lambda root=root, act=act: repair(root, opening, act)), at
        assert check(root, opening) == whole, at
        shutil.rmtree(root)

"""Copies that live apart and meet at one remote in any order, while syncs die or get lost."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.errors import RemoteError
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from tests.conftest import Clock
from tests.faults.test_copies import DAYS, RUNS, VALUES, Life, check_month
from tests.faults.test_merge_kills import EVIL, STEPS, KillAtCall, check, killed, make_copies
from tests.test_copies import errors, git

SYNC_STEPS = (
    *STEPS,
    "operations/sync_remotes.py",
    "store/git/remote_copy.py",
    "store/git/network.py",
    "store/git/transfer.py",
)
QUIET_ROUNDS = 4
LONG = (pytest.mark.faults, pytest.mark.timeout(900))


class SyncedLife(Life):
    """Copies of one owner that know nothing of each other but a hub."""

    def __init__(self, root: Path, opening: Opening, seed: int, names: tuple[str, ...]) -> None:
        super().__init__(root, opening, seed)
        git(root, "init", "-q", "--bare", "-b", "main", "hub.git")
        git(root / "a", "push", "-q", str(root / "hub.git"), "main")
        shutil.rmtree(root / "b")
        self.names = names
        for name in names:
            home = Home(root / f"config-{name}", root / f"state-{name}")
            self.openings[name] = replace(opening, home=home)
            if name != "a":
                git(root, "clone", "-q", "hub.git", name)
            with self.open(name) as memory:
                add_remote(memory, "hub", f"file://{root}/hub.git")

    def act(self, memory: Memory, name: str, day: date) -> None:
        if self.chance.random() < 0.15:
            self.edit_page(memory)
        else:
            super().act(memory, name, day)

    def edit_page(self, memory: Memory) -> None:
        """Correct a value on the page, as a person does in an editor."""
        page = memory.root / "MEMORY.md"
        # A sync that died may have taken the page, which the next one writes anew.
        text = page.read_text("utf-8") if page.exists() else ""
        for old in VALUES:
            if f"shop is {old}." in text:
                new = self.chance.choice(VALUES)
                page.write_text(text.replace(f"shop is {old}.", f"shop is {new}.", 1), "utf-8")
                memory.batch.note()
                return

    def sync(self, name: str, *, kill: int = 0) -> None:
        """Meet at the hub; with `kill` the sync dies on its way."""

        def work() -> None:
            with self.open(name) as memory:
                sys.setprofile(KillAtCall(kill, SYNC_STEPS) if kill else None)
                [report] = sync_memory(memory)
                sys.setprofile(None)
                assert not report.failed, report.failed

        if kill:
            killed(work)
        else:
            work()

    def try_sync(self, name: str) -> None:
        chance = self.chance.random()
        if chance < 0.3:
            self.sync(name)
        elif chance < 0.45:
            self.sync(name, kill=self.chance.randint(1, 1200))
        elif chance < 0.5:
            self.lose(name)

    def lose(self, name: str) -> None:
        """Try to meet while the hub is away."""
        hub, away = self.root / "hub.git", self.root / "away"
        hub.rename(away)
        with self.open(name) as memory:
            [report] = sync_memory(memory)
            assert report.code == RemoteError.exit_code
        away.rename(hub)

    def check_heads(self) -> None:
        hub = git(self.root / "hub.git", "rev-parse", "main").strip()
        assert all((self.root / name / "MEMORY.md").exists() for name in self.names)
        heads = {git(self.root / name, "rev-parse", "HEAD").strip() for name in self.names}
        assert heads == {hub}


def spend_days(
    root: Path, opening: Opening, clock: Clock, seed: int, how: tuple[int, tuple[str, ...]]
) -> None:
    days, names = how
    life = SyncedLife(root, opening, seed, names)
    for _ in range(days):
        day = clock().date()
        for name in life.names:
            if life.chance.random() < 0.6:
                life.live(name, day)
            clock.move(hours=1)
            life.try_sync(name)
        clock.move(hours=20)
    for _ in range(QUIET_ROUNDS):
        for name in life.names:
            life.sync(name)
    check_month(life)
    life.check_heads()


def test_three_days_of_three_copies_and_a_hub(swift: Path, opening: Opening, clock: Clock) -> None:
    spend_days(swift, opening, clock, 3, (3, ("a", "b", "c")))


@pytest.mark.faults
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_month_of_copies_and_a_hub(
    seed: int, swift: Path, opening: Opening, clock: Clock
) -> None:
    names = ("a", "b", "c", "d")[: 2 + seed % 3]
    spend_days(swift, opening, clock, seed, (DAYS // len(names) * 2, names))


def sync(root: Path, opening: Opening, kill: KillAtCall | None = None) -> None:
    with Memory.open(root, opening) as memory:
        sys.setprofile(kill)
        try:
            [report] = sync_memory(memory)
        finally:
            sys.setprofile(None)
        assert not report.failed, report.failed


def make_hub(root: Path, opening: Opening) -> None:
    """Make two copies of which a stranger's was pushed to a hub."""
    make_copies(root, opening)
    git(root, "init", "-q", "--bare", "-b", "main", "hub.git")
    git(root / "b", "push", "-q", str(root / "hub.git"), "main")


@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="some steps"), pytest.param(0, id="every step", marks=LONG)]
)
def test_a_kill_at_any_step_of_a_sync_loses_nothing(
    kills: int, swift: Path, opening: Opening
) -> None:
    def home(root: Path) -> Opening:
        return replace(opening, home=Home(root / "config", root / "state"))

    def join(root: Path) -> None:
        with Memory.open(root / "a", home(root)) as memory:
            add_remote(memory, "hub", f"file://{root}/hub.git")

    make_hub(swift / "0", home(swift / "0"))
    shutil.copytree(swift / "0", swift / "count")
    join(swift / "count")
    counting = KillAtCall(0, SYNC_STEPS, None if kills else swift / "count")
    sync(swift / "count" / "a", home(swift / "count"), counting)
    assert counting.count > 150
    for at in counting.choose(kills):
        root = swift / str(at)
        shutil.copytree(swift / "0", root)
        join(root)
        act = KillAtCall(at, SYNC_STEPS)
        path, user = root / "a", home(root)
        assert killed(lambda path=path, user=user, act=act: sync(path, user, act)), at
        check(root, home(root), at)
        sync(root / "a", home(root))
        with Memory.open(root / "a", home(root)) as memory:
            assert errors(memory) == [], at
            head = memory.history.head()
        assert git(root / "hub.git", "rev-parse", "main").strip() == head, at
        assert EVIL in git(root / "hub.git", "grep", "-h", "-F", "curl evil", "main"), at
        shutil.rmtree(root)

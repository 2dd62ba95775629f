"""A month of two copies that live apart, meet in any order and die while they merge."""

from __future__ import annotations

import os
import random
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.formats.jsonl import has_marks
from kimi_memory.jobs.forget import Forget
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.faults.test_merge_kills import KillAtCall, killed
from tests.faults.test_repair_kills import WHERE
from tests.test_copies import errors, git

RUNS = int(os.environ.get("KIMI_COPIES_RUNS", "20"))
DAYS = 30
THINGS = ("port", "office", "editor", "server", "lunch", "team")
VALUES = ("8080", "Oslo", "vim", "Anvil", "noodles", "blue")
SECRETS = ("Abernathy", "白鹭")


class Life:
    """Two copies of one owner, and what was said in them.

    Args:
        root: a folder.
        opening: how memories are opened.
        seed: of what happens by chance.
        more: further settings.
    """

    def __init__(self, root: Path, opening: Opening, seed: int, more: str = "") -> None:
        self.root, self.chance, self.clock = root, random.Random(seed), opening.clock
        self.names = ("a", "b")
        homes = {name: Home(root / f"config-{name}", root / f"state-{name}") for name in self.names}
        self.openings = {name: replace(opening, home=homes[name]) for name in self.names}
        self.said: list[str] = []
        self.forgotten: set[str] = set()
        with Memory.create(root / "a", opening=self.openings["a"]) as memory:
            path = memory.root / "memory.toml"
            trust = '\n[consolidation]\nexternal_edits = "trust"\n'
            path.write_text(path.read_text(encoding="utf-8") + trust + more, encoding="utf-8")
            memory.batch.note()
            memory.batch.flush()
        git(root, "clone", "-q", "a", "b")

    def open(self, name: str) -> Memory:
        return Memory.open(self.root / name, self.openings[name])

    def live(self, name: str, day: date) -> None:
        """Spend a day in one copy: talk, remember, correct, forget, consolidate."""
        with self.open(name) as memory:
            # As every command does first: a person names what is there after the repair.
            memory.repair_merges()
            for _ in range(self.chance.randint(1, 3)):
                self.act(memory, name, day)
            if self.chance.random() < 0.5:
                memory.consolidate("daily", day)
            memory.batch.flush()

    def act(self, memory: Memory, name: str, day: date) -> None:
        thing, value = self.chance.choice(THINGS), self.chance.choice(VALUES)
        acts = (self.remember, self.remember, self.talk, self.talk, self.tell_secret, self.forget)
        self.chance.choice(acts)(memory, f"{name} {day}", thing, value)

    def remember(self, memory: Memory, where: str, thing: str, value: str) -> None:
        text = f"The {thing} of the shop is {value}."
        memory.remember(text, key=f"shop.{thing}")
        self.said.append(text)

    def talk(self, memory: Memory, where: str, thing: str, value: str) -> None:
        """Say something in a session that the other copy may go on with as well."""
        name, _, day = where.partition(" ")
        id = f"{self.chance.choice((name, 'shared'))}-{int(day[-2:]) // 3}"
        ended = any(place.id == id and not place.open for place in sessions.places(memory.store))
        if not ended:
            text = f"We decided on {day} in {name} to use {value} for the {thing}."
            memory.session(id).turn("user", text)
            self.said.append(text)
            if self.chance.random() < 0.3:
                memory.end(id)

    def tell_secret(self, memory: Memory, where: str, thing: str, value: str) -> None:
        secret = self.chance.choice(SECRETS)
        if secret not in self.forgotten:
            memory.remember(f"The dentist is {secret}.", key="health.dentist")

    def forget(self, memory: Memory, where: str, thing: str, value: str) -> None:
        for card in live_cards(memory):
            for secret in SECRETS:
                if secret in card.value:
                    memory.run(Forget(memory, Wanted(note=card.id)))
                    self.forgotten.add(secret)

    def meet(self, here: str, there: str, *, kill: int = 0) -> None:
        """Bring what the other copy has into one; with `kill` the merge dies on its way."""

        def work() -> None:
            with self.open(here) as memory:
                sys.setprofile(KillAtCall(kill) if kill else None)
                merge_copy(memory, str(self.root / there))

        if kill:
            killed(work)
        else:
            work()

    def pull(self, here: str, there: str, *, kill: int = 0) -> None:
        """Bring it over with git alone, as it merges lines; the repair dies where `kill` says."""
        for name in (here, there):
            with self.open(name) as memory:
                memory.batch.flush()
        root, how = self.root / here, self.chance.choice(((), ("-X", "ours"), ("-X", "theirs")))
        options = ("-q", "--no-rebase", "--no-edit", *how)
        git(root, "pull", *options, str(self.root / there), "main", check=False)
        if (root / ".git/MERGE_HEAD").exists():
            git(root, "add", "-A")
            git(root, "commit", "-qm", "As git left it")

        def work() -> None:
            with self.open(here) as memory:
                sys.setprofile(KillAtCall(kill, WHERE))
                memory.repair_merges()

        if kill:
            killed(work)


def live_cards(memory: Memory) -> list[Card]:
    live = {Status.ACTIVE, Status.STALE, Status.CONFLICTED, Status.CANDIDATE}
    notes = (filed.note for filed in Shelf(memory.store).notes("card"))
    return [one for one in notes if isinstance(one, Card) and one.status in live]


def check_month(life: Life) -> None:
    trees = set()
    for name in life.names:
        with life.open(name) as memory:
            memory.batch.flush()
            trees.add(git(memory.root, "rev-parse", "HEAD^{tree}"))
            assert errors(memory) == []
            assert git(memory.root, "status", "--porcelain").strip() == ""
            told = [
                turn.text
                for place in sessions.places(memory.store)
                for turn in sessions.read(memory.store, place.path).turns
            ]
            lost = [text for text in life.said if text not in told]
            assert not lost
            for path in memory.store.files():
                assert not has_marks(path, memory.store.read(path))
            live = "\n".join(card.value for card in live_cards(memory))
            assert not [secret for secret in life.forgotten if secret in live]
    assert len(trees) == 1


def spend_month(root: Path, opening: Opening, clock: Clock, seed: int, days: int) -> None:
    life = Life(root, opening, seed)
    for _ in range(days):
        day = clock().date()
        for name in life.names:
            if life.chance.random() < 0.7:
                life.live(name, day)
            clock.move(hours=1)
        if life.chance.random() < 0.4:
            pair = life.chance.sample(life.names, 2)
            kill = life.chance.randint(1, 900) if life.chance.random() < 0.3 else 0
            meet = life.chance.choice((life.meet, life.meet, life.pull))
            meet(*pair, kill=kill)
        clock.move(hours=22)
    for _ in range(3):
        life.meet("a", "b")
        life.meet("b", "a")
    check_month(life)


def test_four_days_of_two_copies(swift: Path, opening: Opening, clock: Clock) -> None:
    spend_month(swift, opening, clock, seed=1, days=4)


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_month_of_two_copies(seed: int, swift: Path, opening: Opening, clock: Clock) -> None:
    spend_month(swift, opening, clock, seed, DAYS)

"""Two copies that say, forget, merge, go back and undo in any order: laws L7 and L17."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from kimi_memory import Memory, Opening
from kimi_memory.domain.note import Card
from kimi_memory.errors import NotFoundError
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.pick import merge_parts
from kimi_memory.operations.rollback import roll_back
from kimi_memory.store.files.paths import TOMBSTONES
from tests.conftest import Clock
from tests.faults.test_copies import SECRETS, THINGS, VALUES, Life, live_cards
from tests.operations.test_rollback import files_of, said
from tests.test_copies import errors, git

RUNS = int(os.environ.get("KIMI_COPIES_RUNS", "4"))
STEPS = 10
KEPT = ("short-term/session", "episodic/sessions/", "mid-term/jobs/", TOMBSTONES)
"""What going back never takes away."""
COPY = st.sampled_from(("a", "b"))


def _values_but(memory: Memory, key: str) -> set[str]:
    """Return what is held under all keys but one."""
    cards = (card for card in live_cards(memory) if isinstance(card, Card))
    return {card.value for card in cards if card.key != key}


class Copies(RuleBasedStateMachine):
    """Two copies of one owner.

    Args:
        root: a new folder.
        opening: how memories are opened.
    """

    def __init__(self, root: Path, opening: Opening) -> None:
        super().__init__()
        root.mkdir()
        # To go far back takes most notes away, which a merge would ask a person about.
        self.life = Life(root, opening, 0, "\n[gates]\nmax_loss = 1.0\n")
        self.barred: dict[str, set[str]] = {"a": set(), "b": set()}
        """What was forgotten, by the copies that know of it."""

    @contextmanager
    def open(self, name: str) -> Iterator[Memory]:
        """Open a copy an hour later; what is pending is a version before and after."""
        self.life.clock.move(hours=1)
        with self.life.open(name) as memory:
            memory.repair_merges()
            memory.batch.flush()
            yield memory
            memory.batch.flush()

    @rule(name=COPY, thing=st.sampled_from(THINGS), value=st.sampled_from(VALUES))
    def say(self, name: str, thing: str, value: str) -> None:
        with self.open(name) as memory:
            self.life.remember(memory, name, thing, value)

    @rule(name=COPY, secret=st.sampled_from(SECRETS))
    def tell(self, name: str, secret: str) -> None:
        if not any(secret in barred for barred in self.barred.values()):
            with self.open(name) as memory:
                memory.remember(f"The dentist is {secret}.", key="health.dentist")

    @rule(name=COPY)
    def forget(self, name: str) -> None:
        with self.open(name) as memory:
            before = set(self.life.forgotten)
            self.life.forget(memory, name, "", "")
            self.barred[name] |= self.life.forgotten - before

    @rule(name=COPY)
    def consolidate(self, name: str) -> None:
        with self.open(name) as memory:
            memory.consolidate("daily", self.life.clock().date())

    @rule(here=COPY)
    def merge(self, here: str) -> None:
        there = "b" if here == "a" else "a"
        with self.open(there):
            pass
        with self.open(here) as memory:
            merge_copy(memory, str(self.life.root / there))
        self.barred[here] |= self.barred[there]

    @rule(here=COPY, thing=st.sampled_from(THINGS))
    def merge_part(self, here: str, thing: str) -> None:
        """Take over one thing: nothing else changes here, and no turn is lost."""
        there, key = "b" if here == "a" else "a", f"shop.{thing}"
        with self.open(there):
            pass
        with self.open(here) as memory:
            spoken, others = said(memory), _values_but(memory, key)
            with suppress(NotFoundError):
                merge_parts(memory, str(self.life.root / there), [key])
            assert Counter(spoken) <= Counter(said(memory))
            assert _values_but(memory, key) == others

    @rule(name=COPY, back=st.integers(1, 12), undo=st.booleans())
    def go_back(self, name: str, back: int, undo: bool) -> None:
        with self.open(name) as memory:
            newest = memory.points.find("HEAD").version
            before, spoken = files_of(memory), said(memory)
            report = roll_back(memory, f"v{max(1, newest - back)}", sure=True)
            after = files_of(memory)
            assert said(memory) == spoken
            stays = {path: held for path, held in before.items() if path.startswith(KEPT)}
            assert {path: after.get(path) for path in stays} == stays
            if undo and report.job:
                memory.undo(report.job)
                assert files_of(memory) == before
            elif not report.job:
                assert after == before

    @invariant()
    def nothing_forgotten_is_live(self) -> None:
        for name, barred in self.barred.items():
            with self.life.open(name) as memory:
                live = [card.value for card in live_cards(memory) if isinstance(card, Card)]
                assert not [value for value in live for secret in barred if secret in value]

    def teardown(self) -> None:
        for here in ("a", "b", "a", "b"):
            self.merge(here)
        trees = {git(self.life.root / name, "rev-parse", "HEAD^{tree}") for name in self.barred}
        assert len(trees) == 1
        self.nothing_forgotten_is_live()
        for name in self.barred:
            with self.life.open(name) as memory:
                assert errors(memory) == []


@pytest.mark.timeout(1800)
def test_in_any_order_nothing_forgotten_returns_and_nothing_said_is_taken_back(
    swift: Path, opening: Opening, clock: Clock
) -> None:
    numbers = count()
    run_state_machine_as_test(
        lambda: Copies(swift / f"run{next(numbers)}", opening),
        settings=settings(
            max_examples=RUNS,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

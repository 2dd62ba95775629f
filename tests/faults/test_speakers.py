"""Threads of several processes speak in one session, while others end it."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.errors import KimiMemoryError
from kimi_memory.store.notes import sessions
from tests.faults.test_races import run_all


def speak(root: Path, opening: Opening, who: int, threads: int, turns: int) -> None:
    """Say so much; what was refused is said again. What was answered as stored is written down."""
    acknowledged: list[tuple[str, str, int]] = []
    with Memory.open(root, replace(opening, background=who % 2 == 0)) as memory:

        def say(thread: int) -> None:
            for n in range(turns):
                ref, turn = f"{who}-{thread}-{n}", None
                while turn is None:
                    try:
                        handle = memory.session("s")
                        turn = handle.turn("user", f"Turn {ref}.", ref=ref)
                        assert turn is not None, "stored once before?"
                        acknowledged.append((ref, handle.id, turn.n))
                    except KimiMemoryError:
                        continue  # It has just ended, or the lock was held too long.

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(say, range(threads)))
    (root.parent / f"said-{who}.json").write_text(json.dumps(acknowledged), encoding="utf-8")


def end_often(root: Path, opening: Opening, times: int) -> None:
    with Memory.open(root, opening) as memory:
        for _ in range(times):
            for place in sessions.parts(memory.store, "s"):
                if place.open:
                    memory.end(place.id)


def check(root: Path, opening: Opening, processes: int, threads: int, turns: int) -> None:
    """Check that each turn stands once, where it was said to stand, and the numbers go on."""
    Memory.create(root, opening=opening).close()
    works = [lambda who=who: speak(root, opening, who, threads, turns) for who in range(processes)]
    assert run_all([*works, lambda: end_often(root, opening, 3)]) == [0] * (processes + 1)
    said = [
        tuple(one)
        for who in range(processes)
        for one in json.loads((root.parent / f"said-{who}.json").read_text(encoding="utf-8"))
    ]
    with Memory.open(root, opening) as memory:
        stored, numbers = [], []
        for place in sessions.parts(memory.store, "s"):
            assert sessions.chain_problems(memory.store, place.path) == []
            found = sessions.read(memory.store, place.path).turns
            stored += [(turn.ref, place.id, turn.n) for turn in found]
            numbers += [turn.n for turn in found]
        assert memory.store.journal.verify() == []
    assert Counter(stored) == Counter(said)
    assert numbers == list(range(1, processes * threads * turns + 1))


def test_no_turn_of_many_speakers_is_lost_or_doubled(tmp_path: Path, opening: Opening) -> None:
    check(tmp_path / "m", opening, 2, 3, 4)


@pytest.mark.faults
def test_none_of_thousand_turns_is_lost_or_doubled(tmp_path: Path, opening: Opening) -> None:
    check(tmp_path / "m", opening, 4, 8, 32)

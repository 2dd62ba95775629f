"""Fleet jobs over real memories by real workers: one that fails keeps no other waiting."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.cluster.fleet import consolidate_unit, find_memories, run_fleet
from kimi_memory.domain.fleet import PoolWish, Unit, UnitResult
from kimi_memory.hooks.host import Host

WORDS = "We decided to use {} for the orders of shop {}, because it scales."


def fill(root: Path, home: Home, sessions: int = 1) -> None:
    with Memory.create(root, opening=Opening(home=home, background=False)) as memory:
        for number in range(sessions):
            session = memory.session(f"s-{number}")
            session.turn("user", WORDS.format(f"engine-{number}", root.name))
            session.turn("assistant", "Good.")
            memory.mark_ended(session.id)


@pytest.fixture
def unit_of(home: Home) -> Callable[..., Unit]:
    def make(root: Path, **more: object) -> Unit:
        fields = (str(root), root.name, "daily", str(home.config), str(home.state))
        return Unit(*fields, **more)  # type: ignore[arg-type]  # fields by name

    return make


def work(units: list[Unit], workers: int = 2, on: str = "process") -> dict[str, UnitResult]:
    host = Host(entry_points=False)
    pool = host.answer("open_pool", name=on, wish=PoolWish(workers, consolidate_unit))
    with closing(pool):
        return {one.unit.name: one for one in run_fleet(pool, units)}


def check_fleet(tmp_path: Path, home: Home, unit_of: Callable[..., Unit], on: str) -> None:
    """A damaged memory, a locked-out one and one without news, among those with work."""
    for name in ("one", "two", "three"):
        fill(tmp_path / name, home)
    Memory.create(tmp_path / "idle", opening=Opening(home=home, background=False)).close()
    fill(tmp_path / "torn", home)
    (tmp_path / "torn/memory.toml").write_text("[memory\n")
    (tmp_path / "gone").mkdir()
    names = ("torn", "one", "gone", "two", "idle", "three")
    found = work([unit_of(tmp_path / name) for name in names], on=on)
    assert found.keys() == set(names)
    assert {name: one.outcome for name, one in found.items()} == {
        "torn": "failed", "one": "done", "gone": "failed", "two": "done", "idle": "idle",
        "three": "done",
    }  # fmt: skip
    assert "memory.toml" in found["torn"].why and "is not a memory" in found["gone"].why
    for name in ("one", "two", "three"):
        with Memory.open(tmp_path / name, Opening(home=home, background=False)) as memory:
            assert not memory.waiting()
            assert "engine-0" in memory.recall("Which engine for orders?").hits[0].unit.text
    assert {one.outcome for one in work([unit_of(tmp_path / "one")], on=on).values()} == {"idle"}


def test_a_failing_memory_keeps_no_other_waiting(
    tmp_path: Path, home: Home, unit_of: Callable[..., Unit]
) -> None:
    check_fleet(tmp_path, home, unit_of, "process")


def test_ray_does_the_same(tmp_path: Path, home: Home, unit_of: Callable[..., Unit]) -> None:
    pytest.importorskip("ray", reason="needs the library of kimi-memory[ray]")
    check_fleet(tmp_path, home, unit_of, "ray")


def tell_niceness(unit: Unit) -> UnitResult:
    return UnitResult(unit, "done", str(os.nice(0)))


def test_workers_of_ray_yield_no_more_than_who_asked(unit_of: Callable[..., Unit]) -> None:
    """Else a job over a thousand memories waits hours for a machine that somebody uses."""
    pytest.importorskip("ray", reason="needs the library of kimi-memory[ray]")
    host = Host(entry_points=False)
    with closing(host.answer("open_pool", name="ray", wish=PoolWish(1, tell_niceness))) as pool:
        pool.submit(unit_of(Path("one")))
        assert pool.wait().why == str(os.nice(0))


class Line:
    """A pool with one worker, in this process; it notes in which order it worked."""

    workers = 1

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self._waiting: list[Unit] = []

    def submit(self, unit: Unit) -> None:
        self._waiting.append(unit)

    def wait(self) -> UnitResult:
        unit = self._waiting.pop(0)
        self.done.append((unit.name, unit.round))
        return consolidate_unit(unit)

    def close(self) -> None:
        """Nothing to end."""


def test_a_large_memory_lets_others_have_their_turn(
    tmp_path: Path, home: Home, unit_of: Callable[..., Unit]
) -> None:
    fill(tmp_path / "large", home, sessions=4)
    names = ("small", "little", "tiny")
    for name in names:
        fill(tmp_path / name, home)
    line = Line()
    units = [unit_of(tmp_path / name, per_round=0.000001) for name in ("large", *names)]
    found = {one.unit.name: one for one in run_fleet(line, units)}
    assert {one.outcome for one in found.values()} == {"done"}
    # One session in each round, and everybody else in between.
    assert [one for one in line.done if one[0] == "large"][:3] == [
        ("large", 1), ("large", 2), ("large", 3)
    ]  # fmt: skip
    assert max(line.done.index((name, 1)) for name in names) < line.done.index(("large", 2))
    with Memory.open(tmp_path / "large", Opening(home=home, background=False)) as memory:
        assert not memory.waiting()
    assert found["large"].jobs >= 4


def test_memories_inside_of_memories_are_none_of_the_fleet(tmp_path: Path, home: Home) -> None:
    fill(tmp_path / "a/b/one", home)
    (tmp_path / "a/b/one/deep").mkdir()
    (tmp_path / "a/b/one/deep/memory.toml").write_text("")
    (tmp_path / "a/.git/x").mkdir(parents=True)
    (tmp_path / "a/.git/x/memory.toml").write_text("")
    (tmp_path / "a/loop").symlink_to(tmp_path / "a")
    assert [one.name for one in find_memories(tmp_path)] == ["one"]


def test_the_command_tells_which_failed(
    tmp_path: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("m/one", "m/torn"):
        fill(tmp_path / name, home)
    (tmp_path / "m/torn/memory.toml").write_text("[memory\n")
    place = [str(tmp_path / "m")]
    assert run(["fleet", "consolidate", "daily", *place, "--dry-run"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run(["fleet", "consolidate", "daily", *place, "--workers", "1"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"✗ {tmp_path / 'm/torn'}: ")
    assert out[-1] == "2 memories: 1 done, 0 nothing to do, 0 led elsewhere, 1 failed"
    assert run(["fleet", "consolidate", "daily", f"{tmp_path}/m/one", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["outcome"], found["name"]) == ("idle", "one")
    assert run(["fleet", "consolidate", "daily", str(tmp_path / "none")]) == 2
    assert run(["fleet", "consolidate", "daily", *place, "--on", "boats"]) == 2

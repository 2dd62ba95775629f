"""Fleet jobs: many memories, one damaged among them, by each pool and by one worker or several.

``python -m benchmarks.fleet --memories 1000 --workers 2 --on ray``
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import tempfile
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cluster.fleet import consolidate_unit, run_fleet
from kimi_memory.domain.fleet import PoolWish, Unit, UnitResult
from kimi_memory.domain.ids import new_id
from kimi_memory.hooks.host import Host

_MADE = 8
_EVERY = 50
"""One memory in so many is damaged."""
_TURNS = (
    "We decided to use {engine} for the orders of shop {name}, because it scales.",
    "Rule: we never deploy shop {name} on Fridays.",
    "我住在成都，喜欢深色主题。",
)
_ENGINES = ("PostgreSQL", "SQLite", "DuckDB", "MySQL")


def fill(unit: Unit) -> UnitResult:
    """Make a memory with a session that waits."""
    number = int(unit.name)
    opening = Opening(home=Home(Path(unit.config), Path(unit.state)), background=False)
    with Memory.create(Path(unit.folder), opening=opening) as memory:
        session = memory.session("first")
        for text in _TURNS:
            said = text.format(engine=_ENGINES[number % len(_ENGINES)], name=unit.name)
            session.turn("user", said)
        memory.mark_ended(session.id)
    return UnitResult(unit, "done")


def measure(units: list[Unit], on: str, workers: int) -> tuple[Counter[str], float]:
    """Return what became of the units, and how long all of them took."""
    host = Host(entry_points=False)
    pool = host.answer("open_pool", name=on, wish=PoolWish(workers, consolidate_unit))
    with closing(pool):
        began = time.perf_counter()
        found = Counter(str(one.outcome) for one in run_fleet(pool, units))
        return found, time.perf_counter() - began


def make_units(base: Path, count: int, workers: int) -> list[Unit]:
    """Return units over new memories."""
    home = Home(base / "config", base / "state")
    home.key()
    units = [
        Unit(str(base / f"{n:05}"), str(n), "daily", str(home.config), str(home.state))
        for n in range(count)
    ]
    made = units[:_MADE]
    pool = Host(entry_points=False).answer(
        "open_pool", name="process", wish=PoolWish(workers, fill)
    )
    with closing(pool):
        wrong = [one for one in run_fleet(pool, made) if one.outcome != "done"]
    assert not wrong, wrong[0].why
    for number, unit in enumerate(units[_MADE:], _MADE):
        _copy(Path(made[number % _MADE].folder), Path(unit.folder))
    for unit in units[_EVERY - 1 :: _EVERY]:
        (Path(unit.folder) / "memory.toml").write_text("[memory\n", encoding="utf-8")
    return units


def _copy(source: Path, target: Path) -> None:
    """Make a memory of another one: with an id of its own, as making each takes a second."""
    shutil.copytree(source, target, symlinks=True)
    path = target / "memory.toml"
    text = path.read_text(encoding="utf-8")
    id = new_id("memory", datetime.now(UTC))
    path.write_text(re.sub(r"memory-\w+", id, text, count=1), encoding="utf-8")


def main() -> None:
    """Measure one pool."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--memories", type=int, default=100)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--on", default="process")
    options.add_argument("--once", action="store_true", help="not a second time, without news")
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    base = Path(tempfile.mkdtemp(dir=given.folder, prefix="fleet-"))
    try:
        units = make_units(base, given.memories, given.workers)
        found, seconds = measure(units, given.on, given.workers)
        again, idle = (
            (Counter[str](), 0.0) if given.once else measure(units, given.on, given.workers)
        )
    finally:
        shutil.rmtree(base)
    print(
        json.dumps(
            {
                "pool": given.on, "workers": given.workers, "memories": given.memories,
                "first": dict(found), "seconds": round(seconds, 1),
                "again": dict(again), "again_seconds": round(idle, 1),
            }
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()

"""Cost of daily and weekly jobs as a memory grows: ``python -m benchmarks.jobs --json``.

One day of sessions is distilled, and the daily job and that of the week are run over it,
in memories that hold few and many cards already. The cards are of the last week, so that
none is due; some of the sessions tell of failures, whose causes the weekly job looks for
among all cards, and some links wait for it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.graph import SUGGESTED
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, CardType, Link, LinkRel, Status
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host

NOW = datetime(2026, 3, 2, 20, tzinfo=UTC)


def measure(cards: int, sessions: int) -> dict[str, float]:
    """Return seconds of distilling a day and of its jobs in a memory of so many cards."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        root = Path(folder)
        home = Home(root / "config", root / "state")
        host = Host(entry_points=False)
        opening = Opening(home=home, clock=lambda: NOW, host=host, background=False)
        Memory.create(root / "memory", opening=opening).close()
        _fill(root / "memory", cards)
        time.sleep(0.1)  # What was written just now may still change, and would be read again.
        with Memory.open(root / "memory", opening) as memory:
            memory.store.reconcile()
            memory.history.commit("Filled")
            for n in range(sessions):
                _talk(memory, n)
            os.sync()  # What fills the memory is not to be written while a job is timed.
            began = time.perf_counter()
            memory.distil_waiting()
            distilled = time.perf_counter()
            memory.consolidate("daily", NOW.date())
            daily = time.perf_counter()
            memory.consolidate("weekly", NOW.date())
            weekly = time.perf_counter()
    times = {
        "distil_s": distilled - began,
        "daily_s": daily - distilled,
        "weekly_s": weekly - daily,
    }
    return {name: round(seconds, 3) for name, seconds in times.items()}


def _fill(root: Path, cards: int) -> None:
    for n in range(cards):
        at = NOW - timedelta(days=2, minutes=n)
        card = Card(
            id=derived_id("card", at, str(n)),
            created=at,
            updated=at,
            status=Status.ACTIVE,
            title=f"Part {n}",
            type=CardType.FACT,
            key=f"part{n}.port",
            value=f"The port of Part{n} is {n}.",
            category=f"part{n % 97}",
            verified=at,
            links=_tied(cards) if n < 10 else (),
        )
        put(root, card)


def put(root: Path, card: Card) -> None:
    """Write a card to its place, as a person or a sync tool would."""
    path = root / codec.place(card)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(codec.render(card), encoding="utf-8")


def _tied(cards: int) -> tuple[Link, ...]:
    """Return a suggested link; as many wait in a small memory as in a large one."""
    at = NOW - timedelta(days=2, minutes=cards - 1)
    return (Link(derived_id("card", at, str(cards - 1)), LinkRel.SIMILAR_TO, 0.9, SUGGESTED),)


def _talk(memory: Memory, n: int) -> None:
    session = memory.session(f"day{n}", project="atlas")
    session.turn("user", f"The owner of Thing{n} is Person{n}.")
    session.turn("assistant", "好的。")
    session.turn("user", f"我们决定把 Job{n} 的超时时间定成 {n} 秒，因为够用。")
    if n % 10 == 0:
        session.turn("user", f"Lesson: Job{n} failed because the port of Part{n} was taken.")
    memory.mark_ended(session.id)


def _middle(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each time."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both sizes and print the ratio."""
    parser = argparse.ArgumentParser(prog="benchmarks.jobs", description=__doc__)
    parser.add_argument("--few", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3, help="of which the middle counts")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    # In turns, so that whatever else the machine does meets both.
    pairs = [
        (measure(chosen.few, chosen.sessions), measure(chosen.many, chosen.sessions))
        for _ in range(chosen.runs)
    ]
    few, many = map(_middle, zip(*pairs, strict=True))
    ratios = {f"{name}_ratio": round(many[name] / few[name], 2) for name in few}
    table = {"few": few, "many": many, **ratios}
    print(json.dumps(table) if chosen.json else "\n".join(f"{k}: {v}" for k, v in table.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

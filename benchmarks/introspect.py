"""Introspection of large memories: ``python -m benchmarks.introspect --json``.

The same sort of memory is made with 1,000 and with 10,000 cards: facts of few words that
share most of them, one in twenty a duplicate of another and one in twenty nearly so, all
of different ages. The job plans and gates everything and stops before the first byte;
its time may grow little more than the number of cards does.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, CardType, Lang
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host
from kimi_memory.operations.introspect import Introspection, introspect

NOW = datetime(2026, 2, 27, 9, tzinfo=UTC)
KINDS = ("gateway", "queue", "cache", "database", "proxy", "scheduler", "mailer", "index")
PLACES = ("staging", "production", "the lab", "the old cluster", "Oslo", "Shanghai", "the edge")
PARTS = ("网关", "消息队列", "缓存", "数据库", "代理", "调度器", "邮件服务", "索引")
SITES = ("测试环境", "生产环境", "实验室", "老集群", "上海机房", "北京机房", "边缘节点")
SMALL, LARGE = 1_000, 10_000


def fact(chance: random.Random) -> str:
    """Return a fact in one of the two languages."""
    number, load = chance.randrange(100_000), chance.randrange(100)
    if chance.random() < 0.5:
        return (
            f"The {chance.choice(KINDS)} {number} of {chance.choice(PLACES)} listens on port "
            f"{chance.randrange(65536)} and is {load} % full"
        )
    return (
        f"{chance.choice(SITES)}的{chance.choice(PARTS)} {number} 监听"
        f" {chance.randrange(65536)} 端口，用了百分之 {load}"
    )


def facts(count: int) -> list[str]:
    """Return facts of which some are duplicates of others, or nearly so."""
    chance = random.Random(count)
    made = [fact(chance) for _ in range(count)]
    for at in range(0, count - 1, 20):
        made[at + 1] = f"{made[at]}."
        made[(at + 2) % count] = f"{made[at]}, 周二 it was checked"
    return made


def write(root: Path, count: int) -> None:
    """Write so many cards into a memory, a hundred a category."""
    for number, value in enumerate(facts(count)):
        at = NOW - timedelta(days=number % 200)
        card = Card(
            id=f"card-{number:06d}",
            created=at,
            updated=at,
            verified=at,
            lang=Lang.EN if value.startswith("The") else Lang.ZH,
            title=value[:40],
            type=CardType.FACT,
            key=f"fact.{number:06d}",
            value=value,
            category=f"c{number // 100:03d}",
        )
        path = root / codec.place(card)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(codec.render(card), encoding="utf-8")


def spent(count: int, runs: int) -> tuple[float, Introspection]:
    """Return the median seconds of an introspection over so many cards, and its report."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        home = Home(Path(folder) / "config", Path(folder) / "state")
        opening = Opening(
            home=home, clock=lambda: NOW, host=Host(entry_points=False), background=False
        )
        with Memory.create(Path(folder) / "memory", opening=opening) as memory:
            write(memory.root, count)
            times = []
            for _ in range(runs):
                began = time.perf_counter()
                found = introspect(memory, dry_run=True)
                times.append(time.perf_counter() - began)
    return statistics.median(times), found


def measure(runs: int) -> dict[str, float]:
    """Return times, their ratio, and what was found."""
    small, first = spent(SMALL, runs)
    large, found = spent(LARGE, runs)
    return {
        "small": SMALL,
        "large": LARGE,
        "small_s": round(small, 3),
        "large_s": round(large, 3),
        "ratio": round(large / small, 2),
        "small_merged": first.summary.merged,
        "large_merged": found.summary.merged,
        "large_waiting": sum(found.summary.waiting.values()),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.introspect", description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.runs)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:14}{value:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

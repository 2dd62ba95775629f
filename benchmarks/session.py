"""The end of a session and what is shown of it: ``python -m benchmarks.session --json``.

The labelled talks of this folder are one session of some hundred turns. Its end is set against
one reading of its file by words; the block for a prompt against a recall of the same prompt;
the block at the start against reading all files of the memory. Each takes turns with its peer.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.hooks.host import Host

TALKS = Path(__file__).parent / "gold" / "talks.jsonl"
NOW = datetime(2026, 3, 2, 20, tzinfo=UTC)
PROMPTS = 20
_WORD = re.compile(r"\w+")

Pair = tuple[float, float]
"""Milliseconds of ours and of the peer."""


def said(turns: int) -> list[tuple[str, str]]:
    """Return role and text of the first turns of the talks."""
    talks = map(json.loads, TALKS.read_text("utf-8").splitlines())
    rows = ((turn["role"], turn["text"]) for talk in talks for turn in talk["turns"])
    return list(islice(rows, turns))


def measure(turns: int, runs: int) -> dict[str, dict[str, float]]:
    """Return the median time of each, that of its peer, and the median of their ratios."""
    rows = said(turns)
    # What a process does once, compiling patterns first of all, is no part of the figures.
    _lived(rows)
    pairs: dict[str, list[Pair]] = {}
    for _ in range(runs):
        for name, found in _lived(rows).items():
            pairs.setdefault(name, []).extend(found)
    return {name: {"turns": len(rows), **_figures(found)} for name, found in pairs.items()}


def _lived(rows: Sequence[tuple[str, str]]) -> dict[str, list[Pair]]:
    """Live through one session in a new memory, and measure its end and some blocks."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        root = Path(folder) / "memory"
        home = Home(Path(folder, "config"), Path(folder, "state"))
        opening = Opening(home=home, clock=lambda: NOW, host=Host(entry_points=False))
        with Memory.create(root, opening=opening) as memory:
            handle = memory.session("bench")
            for role, text in rows:
                handle.turn(role, text)
            memory.written()
            [path] = root.glob("**/session_bench.jsonl")
            read = _ms(_read_words, path)  # Before, as it is archived then.
            end = [(_ms(memory.end, "bench"), read)]
            memory.index.refresh()
            prompts = [text for role, text in rows if role == "user"][-PROMPTS:]
            task = [(_ms(memory.context, "task", one), _ms(memory.recall, one)) for one in prompts]
            start = [(_ms(memory.context, "start"), _ms(_read_all, root)) for _ in prompts]
    return {"end": end, "context task": task[1:], "context start": start[1:]}


def _ms(call: Callable[..., object], *given: object) -> float:
    began = time.perf_counter()
    call(*given)
    return (time.perf_counter() - began) * 1000


def _read_words(path: Path) -> int:
    lines = path.read_text("utf-8").splitlines()
    return sum(len(_WORD.findall(json.loads(line).get("text", ""))) for line in lines)


def _read_all(root: Path) -> int:
    return sum(len(path.read_bytes()) for path in root.rglob("*") if path.is_file())


def _figures(pairs: Sequence[Pair]) -> dict[str, float]:
    ours, theirs = zip(*pairs, strict=True)
    return {
        "ms": round(statistics.median(ours), 2),
        "peer_ms": round(statistics.median(theirs), 2),
        "ratio": round(statistics.median(mine / its for mine, its in pairs), 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.session", description=__doc__)
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.turns, chosen.runs)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, row in found.items():
            print(f"{name:16}{row['ms']:>10} ms{row['peer_ms']:>10} ms{row['ratio']:>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

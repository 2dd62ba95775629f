"""One note of a large folder: ``python -m benchmarks.large --few 1000 --many 100000 --json``.

``get`` and ``trace`` of one card by fresh processes of the real command, in a folder of many
indexed notes against one of few; the two take turns, so that a busy machine slows both alike.
Then the folder is copied in once more, and the look at so many new files is timed, with what
another process waits that stores a turn in the middle of it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.recall_start import COMMAND, memory, spent, texts
from kimi_memory import Memory

PER_FOLDER = 1000
CARD = """---
id: {id}
kind: card
type: fact
key: note.n{number}
status: active
created: 2026-03-01T09:00:00Z
updated: 2026-03-01T09:00:00Z
---

# Note {number}

{text}
"""


def id_of(number: int) -> str:
    """Return the id of a card by its number."""
    return f"card-{number:026d}"


def write_cards(root: Path, notes: int) -> None:
    """Write notes as cards of a person."""
    for number, text in texts(notes):
        folder = root / "semantic" / f"{number // PER_FOLDER:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        card = CARD.format(id=id_of(number), number=number, text=text)
        (folder / f"{number:06d}.md").write_text(card, encoding="utf-8")


def asked(few: int, many: int, pairs: int) -> dict[str, float]:
    """Return the median times of one note in both folders, and their ratios."""
    found: dict[str, float] = {}
    with ExitStack() as stack:
        places = [(n, *stack.enter_context(memory(n, write_cards))) for n in (few, many)]
        for command in ("get", "trace"):
            times: dict[int, list[float]] = {few: [], many: []}
            for _ in range(pairs):
                for notes, root, home in places:
                    ask = [*COMMAND, command, id_of(notes // 2), "--memory", str(root)]
                    times[notes].append(spent(ask, home))
            low, high = (statistics.median(times[n]) for n in (few, many))
            found |= {f"{command}_{few}_ms": round(low, 1), f"{command}_{many}_ms": round(high, 1)}
            found[f"{command}_ratio"] = round(high / low, 2)
    return found


@contextmanager
def _speaking(root: Path, home: Mapping[str, str], waits: list[float]) -> Iterator[None]:
    """Store one turn after the other by processes of their own, and note what each takes."""
    over = threading.Event()

    def speak() -> None:
        while not over.is_set():
            turn = [*COMMAND, "session", "turn", "beside", "Said.", "--memory", str(root)]
            waits.append(spent(turn, home))

    thread = threading.Thread(target=speak)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def copied_in(many: int) -> dict[str, float]:
    """Return how fast files that were copied in are looked at, and what others wait meanwhile."""
    waits: list[float] = []
    with memory(0, lambda root, notes: None) as (root, home):
        write_cards(root, many)
        shutil.rmtree(root / ".kimi" / "index", ignore_errors=True)
        os.environ |= home
        with Memory.open(root) as opened, _speaking(root, home, waits):
            began = time.perf_counter()
            found = opened.store.reconcile()
            seconds = time.perf_counter() - began
    return {
        "files": len(found),
        "files_a_second": round(len(found) / seconds),
        "turns_beside": len(waits),
        "longest_turn_ms": round(max(waits), 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.large", description=__doc__)
    parser.add_argument("--few", type=int, default=1000)
    parser.add_argument("--many", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = asked(chosen.few, chosen.many, chosen.pairs) | copied_in(chosen.many)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20}{value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

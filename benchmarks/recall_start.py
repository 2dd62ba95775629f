"""Recall by process start: ``python -m benchmarks.recall_start --notes 10000 --json``.

A fresh process of the real command opens a memory of so many notes and answers one
question; its time is set against a process that only imports whoosh and usearch. The
two take turns, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PER_FOLDER = 100
QUESTION = "w17 w203 w999"
IMPORT = (sys.executable, "-W", "ignore", "-c", "import whoosh, usearch.index")
COMMAND = (sys.executable, "-m", "kimi_memory")


def texts(notes: int) -> Iterator[tuple[int, str]]:
    """Yield numbers of notes and texts of about 100 words, drawn by Zipf's law."""
    chance = random.Random(7)
    words = [f"w{n}" for n in range(20_000)]
    weights = [1 / (n + 10) for n in range(len(words))]
    for number in range(notes):
        yield number, " ".join(chance.choices(words, weights, k=100))


def write_pages(root: Path, notes: int) -> None:
    """Write notes as pages of one's own."""
    for number, text in texts(notes):
        folder = root / "notes" / f"{number // PER_FOLDER:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06d}.md").write_text(f"# Note {number}\n\n{text}\n", encoding="utf-8")


def spent(command: Sequence[str], home: Mapping[str, str]) -> float:
    """Return the wall time of a command in milliseconds."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=home)
    return (time.perf_counter() - began) * 1000


@contextmanager
def memory(
    notes: int, write: Callable[[Path, int], None] = write_pages
) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield an indexed memory and the environment of a user who has nothing else."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        home = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": folder,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        root = Path(folder) / "memory"
        spent([*COMMAND, "init", str(root)], home)
        write(root, notes)
        spent([*COMMAND, "index", "--memory", str(root)], home)
        yield root, home


def measure(notes: int, pairs: int) -> dict[str, float]:
    """Return the median times of both processes and their ratio."""
    recalls, imports = [], []
    with memory(notes) as (root, home):
        recall = [*COMMAND, "recall", "--json", "--memory", str(root), QUESTION]
        shown = subprocess.run(recall, check=True, capture_output=True, env=home).stdout
        assert json.loads(shown)["hits"], "nothing was found"
        spent(IMPORT, home)
        for _ in range(pairs):
            recalls.append(spent(recall, home))
            imports.append(spent(IMPORT, home))
    ratio = statistics.median(recalls) / statistics.median(imports)
    return {
        "notes": notes,
        "pairs": pairs,
        "recall_ms": round(statistics.median(recalls), 1),
        "imports_ms": round(statistics.median(imports), 1),
        "ratio": round(ratio, 2),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.recall_start", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.notes, chosen.pairs)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:12}{value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

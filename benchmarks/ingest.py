"""Transcripts taken in: ``python -m benchmarks.ingest --turns 5000 --json [FILE…]``.

A child process takes a transcript into a new memory; without files it is a made-up one
of so many turns. Its turns a second are set against a child that only parses the file
and appends the same words with one ``fdatasync`` per 200 lines, and its peak memory
against that child's. The peak is read from ``/proc``, so this one runs on Linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.turn import SAID

BATCH = 200
_REPORT = """
import json, re, sys, time
from pathlib import Path
folder, batch, files = Path(sys.argv[1]), int(sys.argv[2]), list(map(Path, sys.argv[3:]))
def report(turns, began):
    # getrusage counts what the parent used before this program was loaded.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) / 1024
    print(json.dumps({"turns": turns, "seconds": time.perf_counter() - began, "peak_mb": peak}))
"""
_INGEST = """
from kimi_memory import Memory, Opening
from kimi_memory.capture.ingest import open_file
from kimi_memory.api.options import Home
opening = Opening(home=Home(folder / "config", folder / "state"), background=False)
with Memory.create(folder / "memory", opening=opening) as memory:
    began = time.perf_counter()
    turns = sum(report.stored for report in memory.ingest(map(open_file, files)))
    report(turns, began)
"""
_PLAIN = """
import os
began, turns = time.perf_counter(), 0
fd = os.open(folder / "plain.jsonl", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
for file in files:
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    parsed = file.suffix == ".jsonl"
    said = [json.dumps(json.loads(line)) if parsed else line for line in lines]
    for first in range(0, len(said), batch):
        os.write(fd, "".join(said[first : first + batch]).encode())
        os.fdatasync(fd)
        turns += len(said[first : first + batch])
report(turns, began)
"""


def write(path: Path, turns: int) -> None:
    """Write a transcript of message lines."""
    roles = ("user", "assistant")
    with path.open("w", encoding="utf-8") as file:
        for n in range(turns):
            line = {"role": roles[n % 2], "content": f"{SAID[n % len(SAID)]} ({n})"}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def child(program: str, folder: Path, files: Sequence[Path]) -> dict[str, float]:
    """Return what a child process reports of itself."""
    command = [sys.executable, "-c", _REPORT + program, str(folder), str(BATCH), *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(turns: int, files: Sequence[Path]) -> dict[str, float]:
    """Return speed and peak memory of both processes."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        place = Path(folder)
        if not files:
            files = [place / "chat.jsonl"]
            write(files[0], turns)
        size = sum(file.stat().st_size for file in files)
        plain, taken = child(_PLAIN, place, files), child(_INGEST, place, files)
    return {
        "turns": taken["turns"],
        "megabytes": round(size / 1e6, 2),
        "seconds": round(taken["seconds"], 3),
        "turns_per_s": round(taken["turns"] / taken["seconds"]),
        "ratio_to_plain": round(taken["seconds"] / plain["seconds"], 1),
        "peak_mb": round(taken["peak_mb"], 1),
        "plain_peak_mb": round(plain["peak_mb"], 1),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.ingest", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="transcripts to take in instead")
    parser.add_argument("--turns", type=int, default=5000)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.turns, chosen.files)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:20}{value:>12}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

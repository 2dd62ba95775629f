"""All benchmarks: ``python -m benchmarks [--data DIR] [--json]``.

Recall quality and real transcripts need files that are not part of the project; the
folder is that of KIMI_MEMORY_DATA where none is named, and is skipped, aloud, where
there is none.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import ingest, quality, recall_start, turn

QUALITY = "*.dev.jsonl"
TRANSCRIPTS = "transcripts_*/*.md"

Measure = Callable[[], Mapping[str, Any]]


def measures(folder: Path | None, notes: int) -> dict[str, Measure]:
    """Return what can be measured, by name."""
    found: dict[str, Measure] = {
        "turn": lambda: {**turn.measure(500), **turn.processes(9)},
        "ingest": lambda: ingest.measure(5000, []),
        "recall start": lambda: recall_start.measure(notes, 5),
    }
    if folder is None:
        return found
    if transcripts := sorted(folder.glob(TRANSCRIPTS)):
        found["ingest, real transcripts"] = lambda: ingest.measure(0, transcripts)
    for path in sorted(folder.glob(QUALITY)):
        found[f"quality, {path.name}"] = partial(_quality, path)
    return found


def _quality(path: Path) -> Mapping[str, Any]:
    with path.open(encoding="utf-8") as lines:
        table = quality.measure(lines)
    return {name: value for name, value in table.items() if not isinstance(value, dict)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything and print a table of each."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("KIMI_MEMORY_DATA"))
    parser.add_argument("--notes", type=int, default=10_000, help="notes for recall start")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    folder = Path(chosen.data) if chosen.data else None
    if folder is None:
        print("recall quality: skipped, needs --data DIR or KIMI_MEMORY_DATA", file=sys.stderr)
    results = {}
    for name, measure in measures(folder, chosen.notes).items():
        results[name] = measure()
        if not chosen.json:
            _show(name, results[name])
    if chosen.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    return 0


def _show(name: str, table: Mapping[str, Any]) -> None:
    print(name)
    for key, value in table.items():
        print(f"  {key:22}{value:>12}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())

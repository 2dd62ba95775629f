"""What a vector lane adds to words: ``python -m benchmarks.vectors_quality FILE… --json``.

Files are those of `benchmarks.quality`. Every question is asked once per arm of the same
index: words alone, each way to join the lanes, and each weight. The model is
all-MiniLM-L6-v2 in numpy, so nothing is downloaded and no server is needed; without its
packages the benchmark says so and ends.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.minilm import NEEDS, MiniLM, is_installed
from benchmarks.quality import DEPTHS, LEFT_OUT, Scores, Written, moment
from kimi_memory.config import RecallTable
from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.search_types import Query
from kimi_memory.hooks.host import Host
from kimi_memory.index.index import Index
from kimi_memory.recall.engine import Recall
from kimi_memory.store.store import Store


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to ask."""

    name: str
    settings: RecallTable


ARMS = (
    Arm("words", RecallTable(snippet_chars=200, vector_weight=0.0)),
    *(
        Arm(f"score {weight:g}", RecallTable(snippet_chars=200, vector_weight=weight))
        for weight in (0.15, 0.3, 0.6)
    ),
    Arm("70/30", RecallTable(snippet_chars=200, fusion="70/30")),
    Arm("rrf", RecallTable(snippet_chars=200, fusion="rrf")),
)


def measure(memory: Mapping[str, Any], model: MiniLM, tables: dict[str, dict[str, Scores]]) -> None:
    """Ask every question of one memory in every arm."""
    dates = [at for at in (moment(doc.get("date")) for doc in memory["docs"]) if at]
    now = [max(dates, default=utcnow())]
    host = Host(entry_points=False)
    host.register(model, "minilm")
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        root = Path(folder)
        written = Written(root, memory["docs"])
        with Store.open(root, key=secrets.token_bytes(32)) as store:
            index = Index(store, host, key=secrets.token_bytes(32), clock=lambda: now[0])
            index.refresh()
            for query in memory["queries"]:
                if query.get("category") in LEFT_OUT or not query.get("evidence"):
                    continue
                now[0] = moment(query.get("date")) or max(dates, default=utcnow())
                for arm in ARMS:
                    recall = Recall(index, host, arm.settings, lambda: now[0])
                    answer = recall.search(Query(text=query["q"], limit=max(DEPTHS)))
                    found = list(dict.fromkeys(written.doc(hit.unit) for hit in answer.hits))
                    rows = tables.setdefault(arm.name, {})
                    for row in ("all", str(query.get("category", ""))):
                        scores = rows.setdefault(row, Scores())
                        scores.add(found, frozenset(query["evidence"]), answer.took_ms)
            index.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.vectors_quality", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--memories", type=int, default=99, help="so many per file at most")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    if not is_installed():
        print(f"skipped: install {', '.join(NEEDS)} (see benchmarks/minilm.py)", file=sys.stderr)
        return 0
    model, results = MiniLM(), {}
    for path in chosen.files:
        tables: dict[str, dict[str, Scores]] = {}
        for line in path.read_text(encoding="utf-8").splitlines()[: chosen.memories]:
            measure(json.loads(line), model, tables)
        results[str(path)] = {
            arm: {row: scores.table() for row, scores in sorted(rows.items())}
            for arm, rows in tables.items()
        }
    if chosen.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    for path, arms in results.items() if not chosen.json else ():
        print(f"{path}\n{'':12}{'':14}{'recall@10':>10}{'hit@10':>10}{'mrr':>8}{'questions':>11}")
        for arm, rows in arms.items():
            for row, table in rows.items():
                cells = f"{table['recall@10']:>10}{table['hit@10']:>10}{table['mrr']:>8}"
                print(f"{arm:12}{row[:13]:14}{cells}{table['questions']:>11}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

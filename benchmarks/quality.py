"""Evidence recall on labelled questions: ``python -m benchmarks.quality FILE… --json``.

A file holds one memory a line: ``{"corpus", "lang", "docs": [{"id", "session",
"speaker", "date", "text"}], "queries": [{"q", "evidence", "category", "date"}]}``.
Each memory is written as real files into a temporary folder, indexed on disk, and
asked through `Recall`. Public originals: LoCoMo (github.com/snap-research/locomo),
CMRC 2018 (github.com/ymcui/cmrc2018), LifeBench.
"""

from __future__ import annotations

import argparse
import json
import math
import secrets
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kimi_memory.config import RecallTable
from kimi_memory.host import Host
from kimi_memory.index import Index
from kimi_memory.model.records import archive_path, session_line, turn_line
from kimi_memory.model.session import Session
from kimi_memory.model.turn import Role, Turn
from kimi_memory.model.unit import Query, Unit
from kimi_memory.recall import Recall
from kimi_memory.store.store import Store

DEPTHS = (5, 10, 20)
LEFT_OUT = frozenset({"adversarial", "5", 5})
"""Categories whose questions have no answer in the memory."""
_UNDATED = datetime(2025, 1, 1, tzinfo=UTC)
_ROLES = {"user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT}


@dataclass(slots=True)
class Scores:
    """Sums of measures over questions."""

    questions: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    ms: float = 0.0

    def add(self, found: Sequence[str], evidence: frozenset[str], ms: float) -> None:
        """Add a question: the documents found, best first, and the right ones."""
        self.questions += 1
        self.ms += ms
        for name, value in _measures(found, evidence).items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def table(self) -> dict[str, float | int]:
        """Return the means, recall in percent."""
        count = max(1, self.questions)
        means = {name: round(100 * value / count, 2) for name, value in self.sums.items()}
        return {**means, "ms_per_query": round(self.ms / count, 3), "questions": self.questions}


def _measures(found: Sequence[str], evidence: frozenset[str]) -> dict[str, float]:
    right = [id in evidence for id in found]
    gain = sum(1 / math.log2(rank + 2) for rank, hit in enumerate(right[:10]) if hit)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(evidence))))
    measures = {f"recall@{k}": sum(right[:k]) / len(evidence) for k in DEPTHS}
    first = next((rank for rank, hit in enumerate(right, start=1) if hit), 0)
    return measures | {
        "hit@10": float(any(right[:10])),
        "mrr": 1 / first if first else 0.0,
        "ndcg@10": gain / best,
    }


def moment(text: str | None) -> datetime | None:
    """Return the day or month a date begins with, if it does."""
    for form, length in (("%Y-%m-%d", 10), ("%Y-%m", 7)):
        try:
            return datetime.strptime((text or "")[:length], form).replace(hour=12, tzinfo=UTC)
        except ValueError:
            continue
    return None


class Written:
    """A memory as files: where each document went."""

    def __init__(self, root: Path, docs: Sequence[Mapping[str, Any]]) -> None:
        self._root = root
        self._ids: dict[str, str] = {}
        sessions: dict[str, list[Mapping[str, Any]]] = {}
        for doc in docs:
            if doc.get("session"):
                sessions.setdefault(str(doc["session"]), []).append(doc)
            else:
                self._page(doc)
        for name, turns in sessions.items():
            self._session(name, turns)

    def doc(self, unit: Unit) -> str:
        """Return the id of the document a unit is of."""
        return self._ids.get(unit.id) or self._ids[unit.path]

    def _page(self, doc: Mapping[str, Any]) -> None:
        path = f"notes/{len(self._ids):06d}.md"
        self._put(path, f"{doc['text']}\n".encode())
        self._ids[path] = str(doc["id"])

    def _session(self, name: str, docs: Sequence[Mapping[str, Any]]) -> None:
        started = moment(docs[0].get("date")) or _UNDATED
        session = Session(id=name, started=started, host="benchmark")
        lines = [session_line(session)]
        for n, doc in enumerate(docs, start=1):
            speaker = str(doc.get("speaker") or "")
            role = _ROLES.get(speaker.lower())
            at = (moment(doc.get("date")) or _UNDATED) + timedelta(seconds=n)
            name_of = "" if role else speaker
            lines.append(turn_line(Turn(n, at, role or Role.USER, str(doc["text"]), name_of)))
            self._ids[f"session:{session.id}#{n}"] = str(doc["id"])
        self._put(archive_path(session), b"".join(lines))

    def _put(self, path: str, content: bytes) -> None:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def ask(
    memory: Mapping[str, Any], root: Path
) -> Iterator[tuple[str, list[str], frozenset[str], float]]:
    """Yield category, documents found, evidence and milliseconds of each question."""
    written = Written(root, memory["docs"])
    dates = [at for at in (moment(doc.get("date")) for doc in memory["docs"]) if at]
    now = [max(dates, default=_UNDATED)]
    host = Host(entry_points=False)
    with Store.open(root, key=secrets.token_bytes(32)) as store:
        index = Index(store, host, key=secrets.token_bytes(32), clock=lambda: now[0])
        index.refresh()
        recall = Recall(index, host, RecallTable(snippet_chars=200), lambda: now[0])
        for query in memory["queries"]:
            if query.get("category") in LEFT_OUT or not query.get("evidence"):
                continue
            now[0] = moment(query.get("date")) or max(dates, default=_UNDATED)
            began = time.perf_counter()
            answer = recall.search(Query(text=query["q"], limit=max(DEPTHS)))
            ms = (time.perf_counter() - began) * 1000
            found = list(dict.fromkeys(written.doc(hit.unit) for hit in answer.hits))
            yield str(query.get("category", "")), found, frozenset(query["evidence"]), ms
        index.close()


def measure(lines: Iterable[str]) -> dict[str, Any]:
    """Return the measures of one file, overall and by category."""
    overall, by_category = Scores(), dict[str, Scores]()
    for line in lines:
        if not line.strip():
            continue
        with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
            for category, found, evidence, ms in ask(json.loads(line), Path(folder)):
                overall.add(found, evidence, ms)
                by_category.setdefault(category, Scores()).add(found, evidence, ms)
    tables = {name: scores.table() for name, scores in sorted(by_category.items())}
    return {**overall.table(), "categories": tables}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    results = {}
    for path in chosen.files:
        with path.open(encoding="utf-8") as lines:
            results[str(path)] = measure(lines)
    if chosen.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    else:
        for path, table in results.items():
            _show(path, table)
    return 0


def _show(path: str, table: Mapping[str, Any]) -> None:
    rows = {"all": table, **table["categories"]}
    names = ["recall@5", "recall@10", "recall@20", "hit@10", "mrr", "ndcg@10", "ms_per_query"]
    print(f"{path}\n{'':24}{''.join(f'{name:>13}' for name in [*names, 'questions'])}")
    for name, row in rows.items():
        cells = "".join(f"{row.get(key, 0):>13}" for key in [*names, "questions"])
        print(f"{name[:23]:24}{cells}")


if __name__ == "__main__":
    sys.exit(main())

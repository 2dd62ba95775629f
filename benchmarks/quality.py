"""Evidence recall on labelled questions: ``python -m benchmarks.quality FILE… --json``.

A file holds one memory a line: ``{"corpus", "lang", "docs": [{"id", "session",
"speaker", "date", "text"}], "queries": [{"q", "evidence", "category", "date"}]}``.
Each memory is written as real files into a temporary folder, opened, indexed on disk and
asked like any other; ``--arms`` adds plain methods on the same questions. Public
originals: LoCoMo (github.com/snap-research/locomo), CMRC 2018
(github.com/ymcui/cmrc2018), LifeBench.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.arms import ARMS
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Role
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.domain.session import Session, Turn
from kimi_memory.formats.jsonl import archive_path, session_line, turn_line
from kimi_memory.hooks.host import Host

DEPTHS = (5, 10, 20)
LEFT_OUT = frozenset({"adversarial", "5"})
"""Categories whose questions have no answer in the memory."""
RESAMPLES, SEED = 1000, 7
"""Of the bootstrap that gives the 95 % interval of recall@10."""
_UNDATED = datetime(2025, 1, 1, tzinfo=UTC)
_ROLES = {"user": Role.USER, "human": Role.USER, "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT}


@dataclass(slots=True)
class Scores:
    """Measures over questions."""

    questions: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    ms: float = 0.0
    recalls: list[float] = field(default_factory=list)

    def add(self, found: Sequence[str], evidence: frozenset[str], ms: float) -> None:
        """Add a question: the documents found, best first, and the right ones."""
        self.questions += 1
        self.ms += ms
        measured = _measures(found, evidence)
        self.recalls.append(measured["recall@10"])
        for name, value in measured.items():
            self.sums[name] = self.sums.get(name, 0.0) + value

    def table(self) -> dict[str, Any]:
        """Return the means, recall in percent, with the interval of recall@10."""
        count = max(1, self.questions)
        means = {name: round(100 * value / count, 2) for name, value in self.sums.items()}
        return {
            **means,
            "ms_per_query": round(self.ms / count, 3),
            "questions": self.questions,
            "interval": {"recall@10": self.interval()},
        }

    def interval(self) -> list[float]:
        """Return where the mean of recall@10 lies with 95 % confidence."""
        chance, count = random.Random(SEED), len(self.recalls)
        if not count:
            return [0.0, 0.0]
        means = sorted(sum(chance.choices(self.recalls, k=count)) / count for _ in range(RESAMPLES))
        cut = RESAMPLES // 40
        return [round(100 * means[cut], 2), round(100 * means[-cut - 1], 2)]


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


def moment(text: object) -> datetime | None:
    """Return the day or month a date begins with, if it does."""
    for form, length in (("%Y-%m-%d", 10), ("%Y-%m", 7)):
        try:
            return datetime.strptime(str(text or "")[:length], form).replace(hour=12, tzinfo=UTC)
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
        for number, turns in enumerate(sessions.values()):
            # Names of sessions may be anything; as names of files they may not.
            self._session(f"s{number:06d}", turns)

    def doc(self, unit: Unit) -> str:
        """Return the id of the document a unit is of; its own where it is of none."""
        return self._ids.get(unit.id) or self._ids.get(unit.path) or unit.id

    def name_of(self, id: str) -> str:
        """Return the id of the document that a turn, or a part of a page, is of."""
        return self._ids.get(id) or self._ids.get(id.partition("#")[0]) or id

    def _page(self, doc: Mapping[str, Any]) -> None:
        path = f"notes/{len(self._ids):06d}.md"
        self._put(path, f"{_text(doc)}\n".encode())
        self._ids[path] = str(doc.get("id"))

    def _session(self, name: str, docs: Sequence[Mapping[str, Any]]) -> None:
        started = moment(docs[0].get("date")) or _UNDATED
        session = Session(id=name, started=started, host="benchmark")
        lines = [session_line(session)]
        for n, doc in enumerate(docs, start=1):
            speaker = str(doc.get("speaker") or "").strip()
            role = _ROLES.get(speaker.lower())
            at = (moment(doc.get("date")) or _UNDATED) + timedelta(seconds=n)
            name_of = "" if role else speaker
            lines.append(turn_line(Turn(n, at, role or Role.USER, _text(doc), name_of)))
            self._ids[f"session:{session.id}#{n}"] = str(doc.get("id"))
        self._put(archive_path(session), b"".join(lines))

    def _put(self, path: str, content: bytes) -> None:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _text(doc: Mapping[str, Any]) -> str:
    return str(doc.get("text") or "")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer key."""

    text: str
    evidence: frozenset[str]
    category: str
    now: datetime


def asked(memory: Mapping[str, Any]) -> list[Asked]:
    """Return the questions of a memory that have an answer in it."""
    dates = [at for doc in memory.get("docs", ()) if (at := moment(doc.get("date")))]
    latest = max(dates, default=_UNDATED)
    return [
        Asked(
            str(query.get("q") or ""),
            frozenset(map(str, query["evidence"])),
            str(query.get("category") or ""),
            moment(query.get("date")) or latest,
        )
        for query in memory.get("queries", ())
        if query.get("evidence") and str(query.get("category")) not in LEFT_OUT
    ]


def ask(memory: Mapping[str, Any], folder: Path) -> Iterator[tuple[Asked, list[str], float]]:
    """Yield each question, the documents found for it, and how many milliseconds that took."""
    now = [_UNDATED]
    opening = Opening(
        home=Home(folder / "config", folder / "state"),
        clock=lambda: now[0],
        host=Host(entry_points=False),
        background=False,
    )
    with Memory.create(folder / "memory", opening=opening) as opened:
        written = Written(folder / "memory", memory.get("docs", ()))
        opened.index.refresh()
        for question in asked(memory):
            now[0] = question.now
            query = Query(text=question.text, limit=max(DEPTHS))
            began = time.perf_counter()
            answer = opened.recall(query)
            ms = (time.perf_counter() - began) * 1000
            yield question, list(dict.fromkeys(written.doc(hit.unit) for hit in answer.hits)), ms


def plain(memory: Mapping[str, Any], arms: Mapping[str, Scores]) -> None:
    """Ask the plain methods the same questions, and add what they found to their scores."""
    docs = memory.get("docs", ())
    texts = [f"{doc.get('speaker') or ''} {_text(doc)}" for doc in docs]
    for name, scores in arms.items():
        find = ARMS[name](texts)
        for question in asked(memory):
            began = time.perf_counter()
            places = find(question.text, max(DEPTHS))
            ms = (time.perf_counter() - began) * 1000
            found = list(dict.fromkeys(str(docs[place].get("id")) for place in places))
            scores.add(found, question.evidence, ms)


def measure(lines: Iterable[str], *, arms: bool = False) -> dict[str, Any]:
    """Return the measures of one file, overall and by category."""
    overall, by_category = Scores(), dict[str, Scores]()
    beside = {name: Scores() for name in ARMS} if arms else {}
    for line in lines:
        if not line.strip():
            continue
        memory = json.loads(line)
        plain(memory, beside)
        with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
            for question, found, ms in ask(memory, Path(folder)):
                overall.add(found, question.evidence, ms)
                by_category.setdefault(question.category, Scores()).add(
                    found, question.evidence, ms
                )
    tables = {name: scores.table() for name, scores in sorted(by_category.items())}
    others = {"arms": {name: scores.table() for name, scores in beside.items()}} if arms else {}
    return {**overall.table(), **others, "categories": tables}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    parser.add_argument("--arms", action="store_true", help="measure plain methods too")
    chosen = parser.parse_args(arguments)
    results = {}
    for path in chosen.files:
        with path.open(encoding="utf-8") as lines:
            results[str(path)] = measure(lines, arms=chosen.arms)
    if chosen.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    else:
        for path, table in results.items():
            _show(path, table)
    return 0


def _show(path: str, table: Mapping[str, Any]) -> None:
    rows = {"all": table, **table["categories"], **table.get("arms", {})}
    names = ["recall@5", "recall@10", "recall@20", "hit@10", "mrr", "ndcg@10", "ms_per_query"]
    heads = "".join(f"{name:>13}" for name in [*names, "questions"])
    print(f"{path}\n{'':24}{heads}   95 % of recall@10")
    for name, row in rows.items():
        cells = "".join(f"{row.get(key, 0):>13}" for key in [*names, "questions"])
        low, high = row["interval"]["recall@10"]
        print(f"{name[:23]:24}{cells}   {low} to {high}")


if __name__ == "__main__":
    sys.exit(main())

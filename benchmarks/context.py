"""Evidence in a context block: ``python -m benchmarks.context FILE… [--json]``.

For each labelled question of a file (its form is that of `benchmarks.quality`) a block is
built under several budgets of tokens, through the public API on disk: `Memory.context`
against a plain arm that takes the hits of `Memory.recall` in their order until the block
is full, each on a line of its own. Reported are the share of the evidence that stands in
the block, the tokens spent, and the gain with its 95 % interval (paired bootstrap).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.quality import LEFT_OUT, Written, moment
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.search_types import Hit, Query
from kimi_memory.hooks.host import Host
from kimi_memory.nlp.basic.safe_text import fence
from kimi_memory.nlp.basic.sentences import estimate, snippet
from kimi_memory.recall.hit_lines import LINE_CHARS

BUDGETS = (250, 500, 1000, 2000)
HITS = 200
"""More than any budget holds."""
SHORTEST = 20
"""No line takes fewer tokens: label, place and a word."""
TIERS = ("semantic", "episodic")
"""What a context for a task is made of."""
_RESAMPLES = 1000


@dataclass(slots=True)
class Arm:
    """What one way of filling a block gave, question by question."""

    evidence: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def add(self, ids: Sequence[str], right: frozenset[str], tokens: int) -> None:
        """Note which documents stand in a block, and what it costs."""
        self.evidence.append(len(right.intersection(ids)) / len(right))
        self.tokens.append(tokens)


def plain_line(hit: Hit) -> str:
    """Return a hit on a line of its own, labelled as in a context."""
    unit, text = hit.unit, " ".join(snippet(hit.snippet, (), LINE_CHARS)[0].split())
    day = f", {unit.at:%Y-%m-%d}" if unit.at else ""
    return f"- [{unit.trust}{day}] {unit.speaker or unit.role}: {text} ({hit.citation})"


def until_full(hits: Sequence[Hit], budget: int, question: str) -> tuple[list[Hit], int]:
    """Return the best hits that fit, and the tokens of their block; what is too long is left."""
    # A mark of hexadecimal digits, as the other arm has one: zeros would cost a third of it.
    nonce = hashlib.sha256(question.encode()).hexdigest()[:16]
    kept: list[Hit] = []
    tokens = 0
    for hit in hits:
        if budget - tokens < SHORTEST:
            break
        size = estimate(fence([plain_line(one) for one in [*kept, hit]], nonce))
        if size <= budget:
            kept.append(hit)
            tokens = size
    return kept, tokens


def ask(
    memory: Mapping[str, Any], root: Path, every: int
) -> Iterator[tuple[int, list[str], int, list[str], int, frozenset[str]]]:
    """Yield budget, documents and tokens of both arms, and the evidence, question by question."""
    dates = [at for at in (moment(doc.get("date")) for doc in memory["docs"]) if at]
    latest = max(dates, default=datetime.fromisoformat("2025-01-01T00:00+00:00"))
    now = [latest]
    opening = Opening(
        home=Home(root / "config", root / "state"),
        clock=lambda: now[0],
        host=Host(entry_points=False),
        background=False,
    )
    folder = root / "memory"
    with Memory.create(folder, opening=opening) as opened:
        written = Written(folder, memory["docs"])
        opened.index.refresh()
        asked = (q for q in memory["queries"] if q.get("category") not in LEFT_OUT)
        for query in islice((q for q in asked if q.get("evidence")), 0, None, every):
            now[0] = moment(query.get("date")) or latest
            right = frozenset(query["evidence"])
            hits = opened.recall(Query(text=query["q"], limit=HITS, tier=TIERS)).hits
            docs = {hit.unit.id: written.doc(hit.unit) for hit in hits}
            for budget in BUDGETS:
                kept, spent = until_full(hits, budget, query["q"])
                block = opened.context("task", query["q"], budget=budget)
                yield (
                    budget,
                    [docs[hit.unit.id] for hit in kept],
                    spent,
                    [docs.get(id, "") for id in block.lines],
                    block.tokens,
                    right,
                )


def measure(lines: Iterable[str], every: int = 1) -> dict[str, Any]:
    """Return both arms of one file by budget."""
    plain, chosen = ({budget: Arm() for budget in BUDGETS} for _ in range(2))
    for line in filter(str.strip, lines):
        with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
            for budget, first, spent, second, cost, right in ask(
                json.loads(line), Path(folder), every
            ):
                plain[budget].add(first, right, spent)
                chosen[budget].add(second, right, cost)
    return {str(budget): _row(plain[budget], chosen[budget]) for budget in BUDGETS}


def _row(plain: Arm, chosen: Arm) -> dict[str, float | int | list[float]]:
    gains = [after - before for before, after in zip(plain.evidence, chosen.evidence, strict=True)]
    return {
        "until_full": round(100 * fmean(plain.evidence), 2),
        "until_full_tokens": round(fmean(plain.tokens)),
        "context": round(100 * fmean(chosen.evidence), 2),
        "context_tokens": round(fmean(chosen.tokens)),
        "gain": round(100 * fmean(gains), 2),
        "gain_95": [round(100 * bound, 2) for bound in interval(gains)],
        "questions": len(gains),
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean; the resamples are the same at every run."""
    chance = random.Random(5)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[_RESAMPLES // 40], means[-_RESAMPLES // 40]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.context", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask only every so many questions")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    results = {}
    for path in chosen.files:
        with path.open(encoding="utf-8") as lines:
            results[str(path)] = measure(lines, chosen.every)
        if not chosen.json:
            _show(str(path), results[str(path)])
    if chosen.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    return 0


def _show(path: str, table: Mapping[str, Any]) -> None:
    names = ("until_full", "until_full_tokens", "context", "context_tokens", "gain", "gain_95")
    print(f"{path}\n{'budget':10}{''.join(f'{name:>18}' for name in names)}")
    for budget, row in table.items():
        print(f"{budget:10}{''.join(f'{row[name]!s:>18}' for name in names)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

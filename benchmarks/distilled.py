"""Cards of real conversations: ``python -m benchmarks.distilled FILE… --json``.

Files are those of `benchmarks.quality`. Each memory is asked twice, with its turns alone
and with the cards that distilling made of them. A card counts as the turns it quotes.
Beside recall stand the share of quotes that stand in their turns, and the share of
cards in the language of their evidence.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.quality import LEFT_OUT, Written, moment
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card
from kimi_memory.domain.search_types import Query, Unit
from kimi_memory.hooks.host import Host
from kimi_memory.jobs.trace import Tracer
from kimi_memory.nlp.basic.patterns import language_of
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf

DEPTH = 10
UNDATED = datetime(2025, 1, 1, tzinfo=UTC)


def measure(line: Mapping[str, Any], folder: Path) -> dict[str, float]:
    """Return the sums of one memory: questions, recall of both arms, cards, quotes, language."""
    dates = [at for at in (moment(doc.get("date")) for doc in line["docs"]) if at]
    now = max(dates, default=UNDATED)
    opening = Opening(
        home=Home(folder / "config", folder / "state"),
        clock=lambda: now,
        host=Host(entry_points=False),
        background=False,
    )
    Memory.create(folder / "memory", opening=opening).close()
    path = folder / "memory" / "memory.toml"
    path.write_text(f"{path.read_text('utf-8')}\n[history]\ngit = false\n", "utf-8")
    with Memory.open(folder / "memory", opening) as memory:
        written = Written(memory.root, line["docs"])
        before = list(_recalls(memory, line, written))
        for place in sessions.places(memory.store):
            memory.distil(place.id)
        after = list(_recalls(memory, line, written))
        return {
            "questions": len(before),
            "turns": sum(before),
            "with_cards": sum(after),
            **_cards(memory),
        }


def _recalls(memory: Memory, line: Mapping[str, Any], written: Written) -> Iterator[float]:
    quoted = _quoted(memory, written)
    for query in line["queries"]:
        if query.get("category") in LEFT_OUT or not query.get("evidence"):
            continue
        wanted = frozenset(query["evidence"])
        found: list[str] = []
        for hit in memory.recall(Query(text=query["q"], limit=2 * DEPTH)).hits:
            known = quoted.get(hit.unit.id)
            found += known if known is not None else [written.doc(hit.unit)]
        first = list(dict.fromkeys(id for id in found if id))[:DEPTH]
        yield len(wanted & set(first)) / len(wanted)


def _turn(place: str) -> Unit:
    return Unit(id=place, kind="turn", tier="episodic", path="", first=1, last=1, text="")


def _quoted(memory: Memory, written: Written) -> dict[str, list[str]]:
    """Return the turns that each card or event quotes, as the benchmark names them."""
    found: dict[str, list[str]] = {}
    shelf = Shelf(memory.store)
    for kind in ("card", "event"):
        for filed in shelf.notes(kind):
            places = [f"session:{s.session}#{s.first}" for s in filed.note.sources]
            found[filed.note.id] = [written.doc(_turn(place)) for place in places]
    return found


def _cards(memory: Memory) -> dict[str, float]:
    tracer, counts = Tracer(memory.store, memory.history), {"cards": 0, "same_language": 0}
    quotes = verified = 0
    for filed in Shelf(memory.store).notes("card"):
        if isinstance(filed.note, Card):
            evidence = list(tracer.evidence(filed.note))
            quotes += len(evidence)
            verified += sum(one.verified for one in evidence)
            counts["cards"] += 1
            said = " ".join(quote.text for quote in filed.note.quotes)
            counts["same_language"] += language_of(filed.note.value) == language_of(said)
    return {**counts, "quotes": quotes, "verified": verified}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the files named on the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.distilled", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=0, help="so many memories of a file; 0 for all")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    results = {str(path): _file(path, chosen.most) for path in chosen.files}
    if chosen.json:
        print(json.dumps(results, indent=1))
        return 0
    for path, table in results.items():
        print(path)
        for name, value in table.items():
            print(f"  {name:20}{value:>10.4g}")
    return 0


def _file(path: Path, most: int) -> dict[str, float]:
    total: dict[str, float] = {}
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for line in lines[: most or None]:
        with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
            for name, value in measure(json.loads(line), Path(folder)).items():
                total[name] = total.get(name, 0.0) + value
    asked, cards = max(1.0, total["questions"]), max(1.0, total["cards"])
    return {
        "questions": total["questions"],
        "recall@10, turns": total["turns"] / asked,
        "recall@10, with cards": total["with_cards"] / asked,
        "cards": total["cards"],
        "quotes verified": total["verified"] / max(1.0, total["quotes"]),
        "language of evidence": total["same_language"] / cards,
    }


if __name__ == "__main__":
    sys.exit(main())

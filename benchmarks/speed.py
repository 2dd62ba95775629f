"""Speed of index and recall against peers: ``python -m benchmarks.speed --notes 10000 --json``.

Every figure is a ratio of two medians of this run, in processor time where one process
does the work, in wall time where whole processes are compared. Ours and tantivy's queries
are taken in turns, so that what else the machine does meets both:

- hot_vs_tantivy: our keyword path by tantivy's, words of the query seen before
- hot_vs_fts5, hot_vs_whoosh: their time by ours, so many times we are faster
- cold_vs_tantivy: ours with nothing cached by tantivy's
- zh_vs_en: our time for a Chinese phrase by that for eight English words
- hybrid_vs_tantivy: a whole recall with vectors, but for embedding the question
- build_vs_tantivy: building our index from files by tantivy's from the same files
- build_growth, query_growth: per note, per query: so many notes by a tenth of them
- update_growth: one changed note searchable: so many notes by a tenth of them
- sync_vs_find: a look at an unchanged folder by ``find -printf``
- parse_vs_csafeloader: PyYAML's C loader by our reading of canonical front matter
- rebuild_rss_mb: peak of a full rebuild, vectors included, above the size of the notes
- searcher_rss_mb: what a warm searcher occupies above an empty interpreter, pages of the
  mapped index among it; searcher_own_mb: without those
- recall_process_vs_python: recall by a fresh process by the import of its libraries
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks import corpus, peers, record
from benchmarks.corpus import Language
from benchmarks.peers import Peer
from benchmarks.upkeep import Built, cpu, parse, process, rss, sync, update
from kimi_memory import Memory
from kimi_memory.domain.search_types import Query

QUERIES = 150
ROUNDS = 3
"""So often each side takes its turn."""
WORDS = 8
DIMENSIONS = 384

GOALS = {
    "hot_vs_tantivy": ("<=", 5.0),
    "hot_vs_fts5": (">=", 10.0),
    "hot_vs_whoosh": (">=", 50.0),
    "cold_vs_tantivy": ("<=", 20.0),
    "zh_vs_en": ("<=", 2.0),
    "hybrid_vs_tantivy": ("<=", 16.0),
    "build_vs_tantivy": ("<=", 22.0),
    "build_growth": ("<=", 1.3),
    "update_growth": ("<=", 2.0),
    "query_growth": ("<=", 6.0),
    "sync_vs_find": ("<=", 3.0),
    "parse_vs_csafeloader": (">=", 5.0),
    "rebuild_rss_mb": ("<=", 300.0),
    "searcher_rss_mb": ("<=", 300.0),
    "recall_process_vs_python": ("<=", 3.0),
}


def median_of(work: Callable[[str], object], queries: Iterable[str]) -> float:
    """Return the median processor time of a query in milliseconds."""
    return statistics.median(cpu(lambda q=query: work(q)) for query in queries) * 1000


def build(root: Path, language: Language, notes: int, data: Path | None) -> Built:
    """Make a memory of so many notes and build its index."""
    memory = Memory.create(root)
    paths = corpus.write(root, corpus.notes(language, notes, data))
    spent = cpu(lambda: memory.index.refresh(full=True))
    return Built(memory, paths, spent, queries(memory, paths, language))


def queries(memory: Memory, paths: Sequence[Path], language: Language) -> list[str]:
    """Return questions that notes answer: eight words, or ten characters, in a row."""
    chance, found = random.Random(3), list[str]()
    while len(found) < QUERIES:
        text = chance.choice(paths).read_text(encoding="utf-8")
        run = _han(text, chance) if language == "zh" else _english(memory, text, chance)
        if run:
            found.append(run)
    return found


def _han(text: str, chance: random.Random) -> str:
    runs = [run for run in text.split("，") if len(run) >= 10 and corpus.size(run) * 2 >= 10]
    run = chance.choice(runs) if runs else ""
    at = chance.randint(0, max(0, len(run) - 10))
    return run[at : at + 10] if corpus.size(run[at : at + 10]) >= 5 else ""


def _english(memory: Memory, text: str, chance: random.Random) -> str:
    """Return words in a row of which eight are worth a search."""
    said = [word for word in text.split() if word.isalpha()]
    start = chance.randint(0, max(0, len(said) - WORDS))
    for stop in range(start + WORDS, len(said) + 1):
        run = " ".join(said[start:stop])
        if len(set(memory.index.words.split(run))) == WORDS:
            return run
    return ""


def keyword(memory: Memory) -> Callable[[str], object]:
    """Return the keyword path alone: from words to the ten best rows."""
    from kimi_memory.recall.ranking import candidates

    searcher = memory.index.searcher()
    split = {}

    def ask(text: str) -> object:
        query = split.get(text) or split.setdefault(text, Query(text=text))
        words = list(dict.fromkeys(memory.index.words.split(text)))
        return candidates(searcher, query, words, None, room=10).rows

    return ask


def hot(memory: Memory, asked: Sequence[str]) -> float:
    """Return the median of queries whose words were all asked before."""
    ask = keyword(memory)
    for query in asked:
        ask(query)
    return median_of(ask, asked)


def cold(memory: Memory, asked: Sequence[str]) -> float:
    """Return the median of queries with nothing cached."""
    ask = keyword(memory)
    ask(asked[0])
    searcher, times = memory.index.searcher(), []
    for query in asked:
        searcher.forget()
        times.append(cpu(lambda q=query: ask(q)))
    return statistics.median(times) * 1000


def tokens(memory: Memory, paths: Iterable[Path]) -> tuple[list[str], dict[str, str]]:
    """Return every unit as numbered words, and the number of each word."""
    from kimi_memory.index.units import read_units

    numbers: dict[str, str] = {}
    found = []
    split = memory.index.split
    for path in paths:
        for unit in read_units(path.name, path.read_bytes(), split):
            words = memory.index.words.of_unit(unit)
            found.append(" ".join(numbers.setdefault(w, f"w{len(numbers)}") for w in words))
    return found, numbers


def turns(*sides: Callable[[], float]) -> list[float]:
    """Return the median of what each side measures, one after the other and again."""
    told = [[side() for side in sides] for _ in range(ROUNDS)]
    return [statistics.median(each) for each in zip(*told, strict=True)]


def tokenized(built: Built) -> tuple[list[str], list[list[str]]]:
    """Return every unit and every question as numbered words."""
    documents, numbers = tokens(built.memory, built.paths)
    asked = []
    for query in built.queries:
        words = dict.fromkeys(built.memory.index.words.split(query))
        asked.append([numbers[word] for word in words if word in numbers])
    return documents, asked


def tantivy_of(built: Built, documents: Iterable[str], scratch: Path) -> tuple[Peer, float]:
    """Return tantivy over the same tokens, and how long it takes to build from the files."""
    raw = peers.Tantivy(scratch / "raw")
    read = (path.read_text(encoding="utf-8") for path in built.paths)
    seconds = cpu(lambda: raw.fill("text", read))
    tantivy = peers.Tantivy(scratch / "tantivy")
    tantivy.fill("words", documents)
    return tantivy, seconds


def asking(peer: Peer, asked: Sequence[list[str]]) -> float:
    """Return the median of a peer's queries, asked before."""
    for words in asked:
        peer.ask(words)
    return statistics.median(cpu(lambda w=words: peer.ask(w)) for words in asked) * 1000


def slow_peers(documents: Sequence[str], asked: Sequence[list[str]], scratch: Path) -> list[float]:
    """Return the medians of SQLite FTS5 and stock Whoosh on the same tokens."""
    found = []
    for peer in (peers.Fts5(scratch / "fts5"), peers.Whoosh(scratch / "whoosh")):
        peer.fill(documents)
        # They take so much longer that a part of the questions tells.
        found.append(asking(peer, asked[: QUERIES // 5]))
    return found


def hybrid(built: Built, theirs: Callable[[], float]) -> list[float]:
    """Return the medians of whole recalls with a vector lane, the question's vector given."""
    from benchmarks.vectors import Given

    with Given(DIMENSIONS).plugged(built.memory) as memory:
        memory.index.refresh()
        for query in built.queries:
            memory.recall(query)
        lanes = memory.recall(built.queries[0]).lanes
        assert "vector" in lanes, lanes
        return turns(lambda: median_of(memory.recall, built.queries), theirs)


def measure(notes: int, data: Path | None, tell: Callable[[str], None]) -> dict[str, float]:
    """Return every figure for memories of so many notes, telling them as they come."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        scratch, found = Path(folder), dict[str, float]()
        for figures in _figures(scratch, notes, data):
            told = {name: round(value, 3) for name, value in figures.items()}
            tell(json.dumps(told))
            found |= told
    return {name: found[name] for name in (*GOALS, *sorted(found.keys() - GOALS))}


def _figures(scratch: Path, notes: int, data: Path | None) -> Iterator[dict[str, float]]:
    small = build(scratch / "small", "en", max(1, notes // 10), data)
    large = build(scratch / "large", "en", notes, data)
    each = large.build_seconds / large.size
    yield {
        "s_build": large.build_seconds,
        "units": len(large.memory.index.searcher()),
        "build_growth": each / (small.build_seconds / small.size),
        "parse_vs_csafeloader": parse(),
    }
    yield _searcher(large)
    yield _process(large)
    documents, asked = tokenized(large)
    tantivy, seconds = tantivy_of(large, documents, scratch)
    yield {"s_build_tantivy": seconds, "build_vs_tantivy": large.build_seconds / seconds}
    warm = yield from _queries(small, large, lambda: asking(tantivy, asked))
    yield from _peers(documents, asked, scratch, warm)
    yield {"sync_vs_find": sync(large)}
    changed, seldom = update(large), update(small)
    yield {"update_growth": changed / seldom, "ms_update": changed}
    yield _hybrid(large, lambda: asking(tantivy, asked))
    yield _rebuild(large)
    yield _chinese(large, data)
    small.memory.close()
    large.memory.close()


def _chinese(large: Built, data: Path | None) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as scratch:
        return _beside_chinese(large, build(Path(scratch) / "chinese", "zh", large.size, data))


def _beside_chinese(large: Built, built: Built) -> dict[str, float]:
    chinese, english = turns(
        lambda: hot(built.memory, built.queries), lambda: hot(large.memory, large.queries)
    )
    built.memory.close()
    return {"ms_hot_zh": chinese, "zh_vs_en": chinese / english}


def _queries(
    small: Built, large: Built, theirs: Callable[[], float]
) -> Generator[dict[str, float], None, float]:
    warm, whole, slow, few, tantivy = turns(
        lambda: hot(large.memory, large.queries),
        lambda: median_of(large.memory.recall, large.queries),
        lambda: cold(large.memory, large.queries),
        lambda: hot(small.memory, small.queries),
        theirs,
    )
    yield {"ms_hot": warm, "ms_cold": slow, "ms_tantivy": tantivy, "query_growth": warm / few}
    yield {"ms_recall": whole, "recall_vs_tantivy": whole / tantivy}
    yield {"hot_vs_tantivy": warm / tantivy, "cold_vs_tantivy": slow / tantivy}
    return warm


def _peers(
    documents: Sequence[str], asked: Sequence[list[str]], scratch: Path, warm: float
) -> Iterator[dict[str, float]]:
    fts5, whoosh = slow_peers(documents, asked, scratch)
    yield {"ms_fts5": fts5, "hot_vs_fts5": fts5 / warm}
    yield {"ms_whoosh": whoosh, "hot_vs_whoosh": whoosh / warm}


def _searcher(large: Built) -> dict[str, float]:
    held, own = rss(large, "recall")
    return {"searcher_rss_mb": held, "searcher_own_mb": own}


def _process(large: Built) -> dict[str, float]:
    return {"recall_process_vs_python": process(large)}


def _hybrid(large: Built, theirs: Callable[[], float]) -> dict[str, float]:
    whole, tantivy = hybrid(large, theirs)
    return {"ms_hybrid": whole, "hybrid_vs_tantivy": whole / tantivy}


def _rebuild(large: Built) -> dict[str, float]:
    text_mb = sum(path.stat().st_size for path in large.paths) / 1e6
    return {"rebuild_rss_mb": rss(large, "rebuild")[0] - text_mb, "mb_notes": text_mb}


def _beside_tantivy(large: Built) -> dict[str, float]:
    documents, asked = tokenized(large)
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as scratch:
        tantivy, _ = tantivy_of(large, documents, Path(scratch))
        return _hybrid(large, lambda: asking(tantivy, asked))


PARTS: dict[str, Callable[[Built, Path | None], dict[str, float]]] = {
    "searcher": lambda large, data: _searcher(large),
    "process": lambda large, data: _process(large),
    "hybrid": lambda large, data: _beside_tantivy(large),
    "rebuild": lambda large, data: _rebuild(large),
    "chinese": _chinese,
}
"""What can be measured by itself: the whole takes an hour at 100,000 notes."""


def part(name: str, notes: int, data: Path | None) -> dict[str, float]:
    """Return the figures of one of `PARTS` for a memory of so many notes."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        large = build(Path(folder) / "large", "en", notes, data)
        found = {"units": len(large.memory.index.searcher()), **PARTS[name](large, data)}
        large.memory.close()
    return {name: round(value, 3) for name, value in found.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=os.environ.get("KIMI_MEMORY_DATA"))
    parser.add_argument("--only", choices=PARTS, help="measure one part")
    parser.add_argument("--vectors", type=int, metavar="COUNT", help="measure vectors alone")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    parser.add_argument("--save", action="store_true", help="keep it in benchmarks/results")
    chosen = parser.parse_args(arguments)
    data = Path(chosen.data) if chosen.data else None
    if chosen.vectors:
        from benchmarks import vectors

        found, what = vectors.measure(chosen.vectors), f"vectors {chosen.vectors}"
    elif chosen.only:
        found = part(chosen.only, chosen.notes, data)
        what = f"only {chosen.only} --notes {chosen.notes}"
    else:
        found = measure(chosen.notes, data, lambda told: print(f"… {told}", file=sys.stderr))
        what = f"notes {chosen.notes}"
    if chosen.save:
        file = record.FOLDER / f"speed-{what.replace(' --', ' ').replace(' ', '-')}.json"
        record.save(file, f"python -m benchmarks.speed --{what} --json --save", found)
    print(json.dumps(found)) if chosen.json else _show(found)
    return 0


def _show(found: dict[str, float]) -> None:
    for name, value in found.items():
        sign, goal = GOALS.get(name, ("", 0.0))
        good = not sign or (value <= goal if sign == "<=" else value >= goal)
        wanted = f"{sign} {goal:g}" if sign else ""
        print(f"{name:26}{value:>12.3f}  {wanted:8}{'' if good else 'missed'}")


if __name__ == "__main__":
    sys.exit(main())

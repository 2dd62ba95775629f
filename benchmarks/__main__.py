"""All benchmarks: ``python -m benchmarks [NAME…] [--list] [--quick] [--data DIR] [--json]``.

Each runs in a process of its own and prints its table. What needs files that are not part
of the project (`--data`, or KIMI_MEMORY_DATA), packages that are not installed, or programs
of others (`--programs`, see `benchmarks.programs`) is skipped, aloud, with what it lacks.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.minilm import NEEDS as MODEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """One run of a module."""

    name: str
    module: str
    what: str
    arguments: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()
    """Arguments instead, for a look in a minute or two."""
    files: str = ""
    """Pattern of the data files it takes, each as an argument."""
    needs: tuple[str, ...] = ()
    """Packages that must be installed."""
    programs: bool = False
    """Whether it takes the folder of other programs."""


BENCHMARKS = (
    Benchmark(
        name="house",
        module="house",
        what="lines, names, imports, and the files that a command enters",
    ),
    Benchmark(
        name="history",
        module="history",
        what="the table of the past, blame, timeline and as of, by git and by the index",
        quick=("--notes", "1000", "--commits", "200", "--runs", "3"),
    ),
    Benchmark(
        name="turn",
        module="turn",
        what="one durable turn against a bare append and sync",
        arguments=("--turns", "500", "--runs", "9"),
        quick=("--turns", "100", "--runs", "3"),
    ),
    Benchmark(
        name="cluster",
        module="cluster",
        what="a turn of a memory on two machines against one of this machine alone",
        quick=("--turns", "200", "--failovers", "1"),
        needs=("psycopg",),
    ),
    Benchmark(
        name="permissions",
        module="permissions",
        what="decisions, lines of the audit log, and recall through a space",
        quick=("--times", "50", "--turns", "100"),
        needs=("cedarpy",),
    ),
    Benchmark(
        name="starts",
        module="starts",
        what="a program of an agent by each runtime, one that waits, and a turn in a sealed folder",
        quick=("--runs", "3", "--turns", "20"),
        needs=("pyrage",),
    ),
    Benchmark(
        name="worth",
        module="worth",
        what="how well the words of clauses and sentences tell what readers kept of them",
        files="judged/*.jsonl",
    ),
    Benchmark(
        name="secrets",
        module="secrets",
        what="invented secrets that are masked, and ordinary lines that are flagged",
    ),
    Benchmark(
        name="fleet",
        module="fleet",
        what="one job over many memories, a damaged one among them, by a pool of workers",
        quick=("--memories", "20", "--once"),
    ),
    Benchmark(
        name="session",
        module="session",
        what="the end of a session and the blocks shown of it",
        quick=("--turns", "100", "--runs", "1"),
    ),
    Benchmark(
        name="ingest",
        module="ingest",
        what="turns taken in a second, synthetic",
        arguments=("--turns", "5000"),
        quick=("--turns", "500"),
    ),
    Benchmark(
        name="ingest-real",
        module="ingest",
        what="turns taken in a second, real transcripts",
        files="transcripts_*/*.md",
    ),
    Benchmark(
        name="recall-start",
        module="recall_start",
        what="one question by a fresh process against its imports",
        arguments=("--notes", "10000", "--pairs", "9"),
        quick=("--notes", "500", "--pairs", "3"),
    ),
    Benchmark(
        name="editor",
        module="editor",
        what="the language server on a large folder: hover, links, completion, what is wrong",
        quick=("--cards", "1000", "--rounds", "5"),
        needs=("pygls",),
    ),
    Benchmark(
        name="large",
        module="large",
        what="one note of 100,000, and 100,000 files copied in",
        quick=("--few", "100", "--many", "2000", "--pairs", "3"),
    ),
    Benchmark(
        name="hook",
        module="hook",
        what="how long a hook keeps a person waiting",
        arguments=("--notes", "10000", "--pairs", "9"),
        quick=("--notes", "500", "--pairs", "3"),
    ),
    Benchmark(
        name="speed",
        module="speed",
        what="index and recall against tantivy, SQLite FTS5, stock Whoosh, faiss",
        arguments=("--notes", "10000"),
        quick=("--notes", "1000"),
        needs=("tantivy",),
    ),
    Benchmark(
        name="vectors",
        module="speed",
        what="vector search against faiss",
        arguments=("--vectors", "100000"),
        quick=("--vectors", "5000"),
        needs=("faiss",),
    ),
    Benchmark(
        name="web",
        module="web",
        what="the pages of a memory, each against its budget and datasette",
        arguments=("--notes", "1000", "100000"),
        quick=("--notes", "1000", "--runs", "3"),
        needs=("starlette", "uvicorn"),
    ),
    Benchmark(
        name="serving",
        module="serving",
        what="a server under load, and killed in the middle of it",
        arguments=("--notes", "10000", "--seconds", "60"),
        quick=("--notes", "500", "--seconds", "5"),
    ),
    Benchmark(
        name="jobs",
        module="jobs",
        what="daily and weekly jobs as a memory grows",
        quick=("--few", "50", "--many", "200", "--sessions", "5"),
    ),
    Benchmark(
        name="introspect",
        module="introspect",
        what="introspection as a memory grows",
        quick=("--runs", "1"),
    ),
    Benchmark(
        name="life",
        module="life",
        what="half a year of a synthetic life, lived and scored",
        quick=("--no-git",),
    ),
    Benchmark(
        name="replies",
        module="replies",
        what="recorded answers of models, each operation against a reader's verdict",
        files="gold/replies*.jsonl",
    ),
    Benchmark(
        name="knowledge",
        module="knowledge",
        what="what is kept of labelled real sessions, and what is worth it",
        files="gold/memory*.jsonl",
    ),
    Benchmark(
        name="quiet",
        module="quiet",
        what="silence where a memory has nothing to say, its evidence where it has",
        files="gold/memory*.jsonl",
    ),
    Benchmark(
        name="quiet-others",
        module="quiet",
        what="the same with labelled questions, of this memory and of others",
        files="*.dev.jsonl",
        quick=("--sample", "20"),
    ),
    Benchmark(
        name="blocks",
        module="blocks",
        what="what stands around an answer in the block of a prompt",
        files="gold/memory*.jsonl",
    ),
    Benchmark(
        name="blocks-others",
        module="blocks",
        what="the same with labelled questions",
        files="*.dev.jsonl",
        quick=("--sample", "20"),
    ),
    Benchmark(
        name="standing",
        module="standing",
        what="orders and preferences in the blocks of the questions they apply to",
        files="gold/memory*.jsonl",
    ),
    Benchmark(
        name="verdicts",
        module="verdicts",
        what="400 pairs of statements: the same, finer, changed, opposite, swapped, another thing",
        arguments=("--kept",),
    ),
    Benchmark(
        name="quality",
        module="quality",
        what="evidence recall, with plain methods on the same questions",
        arguments=("--arms",),
        files="*.dev.jsonl",
    ),
    Benchmark(
        name="vectors-quality",
        module="vectors_quality",
        what="what a vector lane adds to words",
        files="locomo.dev.jsonl",
        needs=MODEL,
    ),
    Benchmark(
        name="distilled",
        module="distilled",
        what="cards of real conversations beside their turns",
        files="locomo.dev.jsonl",
    ),
    Benchmark(
        name="context",
        module="context",
        what="evidence in a block, by value against top-k until full",
        quick=("--every", "25"),
        files="locomo.dev.jsonl",
    ),
    Benchmark(
        name="programs",
        module="programs",
        what="evidence recall and latency of memsearch, ReMe, basic-memory and qmd",
        quick=("--every", "25"),
        files="locomo.dev.jsonl",
        programs=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Place:
    """What there is to run with."""

    data: Path | None
    programs: Path | None
    quick: bool = False

    def lacks(self, one: Benchmark) -> str:
        """Return what a benchmark lacks here, empty when it can run."""
        if one.files and self.data is None:
            return f"needs {one.files} in --data DIR or KIMI_MEMORY_DATA"
        if one.files and not any(self._files(one)):
            return f"needs {one.files}, and {self.data} has none"
        missing = [name for name in one.needs if importlib.util.find_spec(name) is None]
        if missing:
            return f"needs the packages {', '.join(missing)}"
        if one.programs and self.programs is None:
            return "needs --programs DIR, see benchmarks/programs.py"
        return ""

    def command(self, one: Benchmark) -> list[str]:
        """Return the command that runs a benchmark."""
        given = one.quick if self.quick and one.quick else one.arguments
        where = ["--folder", str(self.programs)] if one.programs else []
        files = map(str, self._files(one))
        return [sys.executable, "-m", f"benchmarks.{one.module}", *files, *given, *where]

    def _files(self, one: Benchmark) -> list[Path]:
        return sorted(self.data.glob(one.files)) if one.files and self.data else []


def run(chosen: Sequence[Benchmark], place: Place, *, as_json: bool) -> Iterator[tuple[str, Any]]:
    """Run benchmarks in order; yields what each gave: its JSON, or why there is none."""
    for one in chosen:
        why = place.lacks(one)
        if why:
            _told(one, f"skipped: {why}", as_json=as_json)
            yield one.name, {"skipped": why}
            continue
        _told(one, one.what, as_json=as_json)
        command = [*place.command(one), *(["--json"] if as_json else [])]
        done = subprocess.run(
            command, stdout=subprocess.PIPE if as_json else None, text=True, check=False
        )
        if done.returncode:
            _told(one, f"failed with exit code {done.returncode}", as_json=True)
            yield one.name, {"failed": done.returncode}
        else:
            yield one.name, json.loads(done.stdout or "null") if as_json else {}


def _told(one: Benchmark, text: str, *, as_json: bool) -> None:
    """Say what goes on: on standard error where standard output is for machines."""
    print(f"\n== {one.name}: {text}", file=sys.stderr if as_json else sys.stdout, flush=True)


def chosen_of(names: Sequence[str]) -> list[Benchmark]:
    """Return the benchmarks of these names, all where none is given.

    Raises:
        ValueError: there is none of a name.
    """
    known = {one.name: one for one in BENCHMARKS}
    for name in names:
        if name not in known:
            raise ValueError(f"There is no benchmark {name!r}. There are: {', '.join(known)}.")
    return [known[name] for name in names] if names else list(BENCHMARKS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything, or what is named, and print a table of each."""
    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    parser.add_argument("--list", action="store_true", help="only say what there is and can run")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a first look")
    parser.add_argument("--data", type=Path, default=os.environ.get("KIMI_MEMORY_DATA"))
    parser.add_argument("--programs", type=Path, help="folder of the programs of others")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    try:
        chosen = chosen_of(given.names)
    except ValueError as error:
        parser.error(str(error))
    place = Place(Path(given.data) if given.data else None, given.programs, given.quick)
    if given.list:
        _list(chosen, place)
        return 0
    results: Mapping[str, Any] = dict(run(chosen, place, as_json=given.json))
    if given.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    skipped, failed = (
        [name for name, found in results.items() if found and state in found]
        for state in ("skipped", "failed")
    )
    done = len(results) - len(skipped) - len(failed)
    told = f"{len(skipped)} skipped{_named(skipped)}, {len(failed)} failed{_named(failed)}"
    print(f"\n{done} run, {told}", file=sys.stderr)
    return int(bool(failed))


def _named(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _list(chosen: Sequence[Benchmark], place: Place) -> None:
    for one in chosen:
        why = place.lacks(one)
        print(f"{one.name:18}{one.what}{f'  [skipped: {why}]' if why else ''}")


if __name__ == "__main__":
    sys.exit(main())

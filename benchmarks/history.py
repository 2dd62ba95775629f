"""What looking back costs, by what git and the index cost in the same run.

``python -m benchmarks.history [--notes N] [--commits N] [--runs N] [--processor] [--json]`` makes a
memory of cards with a long history, and measures the table of the past, blame, timeline, questions
as of earlier versions, merges, the sync of two copies, bundles, and signatures. Ratios hold on any
machine; the times beside them are of this one. On a machine that others use, ``--processor`` counts
the time of processors in place of that of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import joining
from benchmarks.stopwatch import Stopwatch
from benchmarks.syncing import BUSY, QUIET, measure_sync
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.note import Card, CardType
from kimi_memory.formats import codec
from kimi_memory.hooks.host import Host
from kimi_memory.operations.bundles import export_bundle, unpack_copy
from kimi_memory.operations.doctor import verify
from kimi_memory.recall.query_parser import parse
from kimi_memory.store.git.graph_file import write_graph_file

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
WORDS = [
    "deploy",
    "relay",
    "gateway",
    "mast",
    "anchor",
    "harbour",
    "ledger",
    "parser",
    "cache",
    "window",
]
PAGE, SHOWN = "MEMORY.md", 20
"""A page that shows so many cards."""
TARGETS = {
    "table by a full index": 1.0,
    "catching up by git log --raw of the new commits": 3.0,
    "blame of a card by git blame": 2.0,
    "blame of 20 cards on a page by git blame": 1.0,
    "timeline by git log of the path": 2.0,
    "as of, warm, by recall warm": 2.0,
    "first as of 10 commits back, by the command recall": 1.5,
    "first as of 100 commits back, by the command recall": 1.5,
    "first as of 500 commits back, by the command recall": 3.0,
    "first as of 900 commits back, by the command recall": 3.0,
    QUIET: 2.0,
    BUSY: 2.0,
    "export of a bundle by git bundle": 1.5,
    "import of a bundle by git unbundle and verify": 1.5,
    "bytes of a bundle by those of git": 1.05,
    **joining.TARGETS,
}
"""Most that each ratio may be."""


class Clock:
    """A clock that goes on by an hour at each commit."""

    now = START

    def __call__(self) -> datetime:
        """Return the moment."""
        return self.now


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--commits", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(arguments)
    place = Path(tempfile.mkdtemp(prefix="kimi-memory-history-"))
    try:
        watch = Stopwatch(asked.runs, processor=asked.processor)
        figures = measure(place, asked.notes, asked.commits, watch)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if asked.json:
        print(json.dumps(figures, indent=2))
        return 0
    for name, value in figures.items():
        most = f"  (at most {TARGETS[name]:g})" if name in TARGETS else ""
        print(f"{name:<52} {value:>10.3f}{most}")
    return 0


def measure(place: Path, notes: int, commits: int, watch: Stopwatch) -> dict[str, float]:
    """Return the figures of one memory."""
    clock = Clock()
    home = Home(place / "config/kimi_memory", place / "state/kimi_memory")
    opening = Opening(home=home, clock=clock, host=Host(entry_points=False), background=False)
    with Memory.create(place / "memory", opening=opening) as memory:
        paths = fill(memory, clock, notes, commits)
        # As the job of the week does.
        write_graph_file(memory.history.repository())
        index, table = watch.compare(
            lambda: memory.index.refresh(full=True),
            lambda: forget_table(memory) or memory.past.table(),
            2,
        )
        found = {
            "notes": float(notes),
            "commits": float(len(memory.points.graph().rows)),
            "table, seconds": table,
            "table, megabytes": (memory.root / ".kimi/past/past.db").stat().st_size / 1e6,
            "table by a full index": table / index,
        }
        found |= measure_catching_up(memory, clock, paths, watch)
        found |= measure_look_ups(memory, paths[0], watch)
        found |= measure_as_of(memory, commits, watch)
        found |= measure_bundles(memory, opening, place, watch)
        meeting = place / "meeting"
        meeting.mkdir()
        one = lambda copy, number: change(copy, clock, paths, number)  # noqa: E731  by number
        found |= measure_sync(memory, meeting, opening, one, watch)
        found[joining.ASKED] = joining.count_asked(memory)
        apart = place / "apart"
        apart.mkdir()
        found |= joining.measure_join(memory.root, apart, paths, watch)
        if shutil.which("ssh-keygen"):
            found |= joining.measure_signing(apart, opening, watch)
        return found


def fill(memory: Memory, clock: Clock, notes: int, commits: int) -> list[str]:
    """Write cards in one commit, then change one to nine of them in each of the others."""
    paths = []
    for number in range(notes):
        card = Card(
            id=f"card-{number:08d}", created=START, updated=START, type=CardType.FACT,
            title=f"{WORDS[number % 10]} {number}", key=f"{WORDS[number % 10]}.n{number}",
            value=f"The {WORDS[number % 10]} {number} is at {number % 977}.",
        )  # fmt: skip
        path = codec.place(card)
        full = memory.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(codec.render(card), encoding="utf-8")
        paths.append(path)
    write_page(memory, paths)
    memory.history.commit("Cards")
    for number in range(commits):
        change(memory, clock, paths, number)
    return paths


def change(memory: Memory, clock: Clock, paths: Sequence[str], number: int) -> None:
    """Change some cards and commit them; the first card at every twentieth time."""
    clock.now += timedelta(hours=1)
    chosen = {paths[(number * 7919 + step * 31) % len(paths)] for step in range(1 + number % 9)}
    chosen |= {paths[0]} if number % 20 == 0 else set()
    for path in chosen:
        full = memory.root / path
        text = full.read_text(encoding="utf-8").rpartition(" is at ")
        full.write_text(f"{text[0]} is at {number + 1000}.\n", encoding="utf-8")
    if chosen.intersection(paths[:SHOWN]):
        write_page(memory, paths)
        chosen.add(PAGE)
    trailers = {"Job": f"daily-{number:012x}", "Kind": "daily"}
    memory.history.commit(f"daily: {number}", trailers=trailers, only=chosen)


def write_page(memory: Memory, paths: Sequence[str]) -> None:
    """Write the page that shows the first cards, as a daily job does when one of them changed."""
    shown = []
    for number, path in enumerate(paths[:SHOWN]):
        said = (memory.root / path).read_text(encoding="utf-8").rpartition(": ")[2]
        shown.append(f"- {said.strip()} ^card-{number:08d}\n")
    page = f"# Memory\n\n{''.join(shown)}"
    (memory.root / PAGE).write_text(page, encoding="utf-8")


def measure_catching_up(
    memory: Memory, clock: Clock, paths: Sequence[str], watch: Stopwatch
) -> dict[str, float]:
    """Return what ten new commits cost the table, by what git needs to list them."""
    ours, theirs = [], []
    for run in range(watch.runs):
        head = memory.history.head()
        for number in range(10):
            change(memory, clock, paths, 5000 + run * 10 + number)
        git = ("git", "log", "--raw", "--format=%H%n%B", f"{head}..HEAD")
        theirs.append(watch.spend(lambda git=git: ask_git(memory, *git)))
        ours.append(watch.spend(memory.past.table))
    ratio = statistics.median(ours) / statistics.median(theirs)
    return {"catching up by git log --raw of the new commits": ratio}


def measure_look_ups(memory: Memory, path: str, watch: Stopwatch) -> dict[str, float]:
    """Return what blame and timeline cost, by what git needs for the same file."""
    git = lambda *words: lambda: ask_git(memory, "git", *words)  # noqa: E731  three of them
    blame, git_blame = watch.compare(
        lambda: memory.blame(path), git("blame", "--porcelain", "HEAD", path), watch.runs
    )
    # Below its heading: of a line that shows no card, the memory itself asks git.
    first, last = 3, SHOWN + 2
    cards, git_cards = watch.compare(
        lambda: memory.blame(f"{PAGE}:{first}-{last}"),
        git("blame", "--porcelain", f"-L{first},{last}", "HEAD", PAGE),
        watch.runs,
    )
    page, git_page = watch.compare(
        lambda: memory.blame(PAGE), git("blame", "--porcelain", "HEAD", PAGE), watch.runs
    )
    timeline, git_log = watch.compare(
        lambda: memory.timeline("card-00000000"), git("log", "--format=%H", "--", path), watch.runs
    )
    return {
        "blame, milliseconds": blame * 1000,
        "blame of a card by git blame": blame / git_blame,
        "blame of 20 cards on a page by git blame": cards / git_cards,
        "blame of the whole page by git blame": page / git_page,
        "timeline, milliseconds": timeline * 1000,
        "timeline by git log of the path": timeline / git_log,
    }


def measure_as_of(memory: Memory, commits: int, watch: Stopwatch) -> dict[str, float]:
    """Return what a question as of an earlier version costs, first and again."""
    memory.index.refresh()
    # As a commit of the memory does, which looks at all files: it reads again what was committed
    # in the same tick of the clock in which it was written.
    memory.history.commit("Nothing")
    memory.history.close()  # What it knows of the last commit is for other processes, too.
    question = "where is the harbour 15"
    plain_query = parse(question, memory.now())
    command = (sys.executable, "-m", "kimi_memory", "recall", question, "--memory", memory.root)
    place = memory.root.parent
    homes = {"XDG_CONFIG_HOME": f"{place}/config", "XDG_STATE_HOME": f"{place}/state"}
    found, ratios = {}, []

    def ask(*words: str) -> Callable[[], object]:
        whole = (*command, *words)
        around = {**os.environ, **homes}
        return lambda: subprocess.run(whole, check=True, capture_output=True, env=around)

    for back in (one for one in (10, 100, 500, 900) if one < commits):
        point = f"v{memory.points.find('HEAD').version - back}"
        first, cli = watch.compare(ask("--as-of", point), ask(), watch.runs)
        found[f"first as of {back} commits back, by the command recall"] = first / cli
        first = watch.spend(lambda point=point: memory.at(point).recall(question))
        again, plain = watch.compare(
            lambda point=point: memory.at(point).recall(question),
            lambda: memory.engine.search(plain_query),
            watch.runs * 6,
        )
        found[f"first as of {back} commits back, milliseconds"] = first * 1000
        found["recall warm, milliseconds"] = plain * 1000
        ratios.append(again / plain)
    if ratios:
        found["as of, warm, by recall warm"] = statistics.median(ratios)
    return found


def measure_bundles(
    memory: Memory, opening: Opening, place: Path, watch: Stopwatch
) -> dict[str, float]:
    """Return what bundles cost, by what git needs for its own of the same commits."""
    memory.batch.flush()
    names = iter(range(10_000))
    # Git would not replace what it packs for us by what it finds packed: both begin alike.
    ask_git(memory, "git", "repack", "-adq")

    def export(since: str = "") -> Path:
        path = place / f"{next(names)}.bundle"
        export_bundle(memory, path, since=since)
        return path

    def bundle(*span: str) -> Path:
        path = place / f"{next(names)}.git"
        ask_git(memory, "git", "bundle", "create", "-q", str(path), "main", *span)
        return path

    def unbundle(path: Path) -> None:
        folder = place / str(next(names))
        subprocess.run(("git", "init", "-q", folder), check=True)
        unpack = ("git", "-C", folder, "bundle", "unbundle", path)
        subprocess.run(unpack, check=True, capture_output=True)

    whole, plain, base = export(), bundle(), memory.history.resolve("HEAD~10")
    ours, git_whole = watch.compare(export, bundle, watch.runs)
    part, git_part = watch.compare(lambda: export(base), lambda: bundle(f"^{base}"), watch.runs)
    copies = [place / f"copy{run}" for run in range(watch.runs)]
    places = iter(copies)
    taken, unbundled = watch.compare(
        lambda: unpack_copy(whole, next(places), opening), lambda: unbundle(plain), watch.runs
    )
    with Memory.open(copies[0], opening) as copy:
        checked = watch.spend(lambda: verify(copy))
    return {
        "bundle, megabytes": whole.stat().st_size / 1e6,
        "bytes of a bundle by those of git": whole.stat().st_size / plain.stat().st_size,
        "export of a bundle by git bundle": ours / git_whole,
        "export of ten commits by git bundle": part / git_part,
        "import, seconds": taken,
        "import of a bundle by git unbundle and verify": taken / (unbundled + checked),
    }


def forget_table(memory: Memory) -> None:
    """Remove the table, on disk and in memory."""
    shutil.rmtree(memory.root / ".kimi/past", ignore_errors=True)
    vars(memory).pop("past", None)


def ask_git(memory: Memory, *words: str) -> None:
    """Run git over the memory."""
    subprocess.run(words, cwd=memory.root, check=True, capture_output=True)


if __name__ == "__main__":
    sys.exit(main())

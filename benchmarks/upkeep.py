"""What keeping an index costs: changes, looks at the folder, parsing, memory, processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import recall_start
from kimi_memory import Memory
from kimi_memory.domain.note import Card, CardType


@dataclass(frozen=True, slots=True)
class Built:
    """A memory of notes, its index built, and what that took."""

    memory: Memory
    paths: list[Path]
    build_seconds: float
    queries: list[str]

    @property
    def size(self) -> int:
        """Number of notes."""
        return len(self.paths)


def cpu(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work in seconds."""
    began = time.process_time()
    work()
    return time.process_time() - began


def update(built: Built, rounds: int = 25) -> float:
    """Return the median time from a note that changed to a view that finds its new word."""
    index, times = built.memory.index, []
    index.searcher()
    for number in range(rounds):
        path = built.paths[(number * 7919) % built.size]
        before, word = path.read_text(encoding="utf-8"), f"quokka{number}"
        path.write_text(f"{before}\n{word}\n", encoding="utf-8")
        name = path.relative_to(built.memory.root).as_posix()
        times.append(cpu(lambda n=name: index.hint([n])))
        began = time.process_time()
        rows, _ = index.searcher().postings(word)
        times[-1] += time.process_time() - began
        assert len(rows) == 1, f"{word} stands in {len(rows)} rows"
    return statistics.median(times) * 1000


def sync(built: Built, rounds: int = 9) -> float:
    """Return a look at the unchanged folder by a listing of it with find."""
    root, ours, theirs = built.memory.root, [], []
    find = ("find", str(root), "-printf", "%p %s %T@ %i\n")
    built.memory.index.refresh()
    for _ in range(rounds):
        began = time.perf_counter()
        built.memory.index.refresh()
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        subprocess.run(find, check=True, stdout=subprocess.DEVNULL)
        theirs.append(time.perf_counter() - began)
    return statistics.median(ours) / statistics.median(theirs)


def _card(number: int) -> Card:
    at = datetime(2026, 2, 27, 9, 0, tzinfo=UTC)
    return Card(
        id=f"card-{number:08d}",
        type=CardType.FACT,
        key=f"billing.port.p{number}",
        title="The port of the billing service, 结算服务的端口",
        value="The port is 5432.",
        created=at,
        updated=at,
        confidence=0.9,
        tags=("port", "端口"),
        project="billing",
    )


def parse(count: int = 2000) -> float:
    """Return PyYAML's time for canonical front matter by ours."""
    import yaml

    from kimi_memory.formats.codec import render
    from kimi_memory.formats.frontmatter import read

    texts = [render(_card(number)) for number in range(count)]
    ours = min(cpu(lambda: [read(text, "a.md").values for text in texts]) for _ in range(5))
    theirs = min(
        cpu(lambda: [yaml.load(t.split("---\n")[1], yaml.CSafeLoader) for t in texts])
        for _ in range(3)
    )
    return theirs / ours


_RSS = """
import resource, sys
def now():
    with open("/proc/self/statm") as file:
        _, all, mapped, *_ = file.read().split()
    page = resource.getpagesize() / 1e6
    return int(all) * page, (int(all) - int(mapped)) * page
empty, own = now()
from kimi_memory import Memory
memory = Memory.open(sys.argv[1])
if sys.argv[2] == "rebuild":
    from benchmarks.vectors import Given
    memory.host.register(Given(384), "given")
    assert memory.index.refresh(full=True).embedded
    # What getrusage tells starts with the size of the process that started this one.
    with open("/proc/self/status") as file:
        peak = next(line.split()[1] for line in file if line.startswith("VmHWM"))
    print(int(peak) * 1024 / 1e6 - empty, 0)
else:
    for line in sys.stdin:
        memory.recall(line.strip())
    print(now()[0] - empty, now()[1] - own)
"""


def rss(built: Built, what: str) -> tuple[float, float]:
    """Return the megabytes a process needs above an empty interpreter, and those of its own.

    The others are pages of the index, mapped; the system takes them back when it needs room.
    """
    argv = (sys.executable, "-W", "ignore", "-c", _RSS, str(built.memory.root), what)
    asked = "\n".join(query for query in built.queries)
    done = subprocess.run(argv, input=asked, check=True, capture_output=True, text=True)
    held, own = map(float, done.stdout.split())
    return held, own


def process(built: Built, pairs: int = 7) -> float:
    """Return recall by a fresh process by the import of its libraries, in wall time."""
    argv = [*recall_start.COMMAND, "recall", "--json", "--memory", str(built.memory.root)]
    imports = (sys.executable, "-W", "ignore", "-c", "import numpy, whoosh.index, usearch.index")
    home, recalls, bare = dict(os.environ), [], []
    for _ in range(pairs):
        recalls.append(recall_start.spent([*argv, built.queries[0]], home))
        bare.append(recall_start.spent(imports, home))
    return statistics.median(recalls) / statistics.median(bare)

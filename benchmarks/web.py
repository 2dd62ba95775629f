"""The pages of a memory: ``python -m benchmarks.web --notes 1000 100000 --json``.

A real server of a memory with so many cards is asked for each page over a socket, by a seat; the
time is from the request to the last byte. Beside it stands the processor time of the server, which
says more on a busy machine (Linux; else 0). Each page is set against its budget, and what twice its
budget misses is a failure (exit 1). The same rows in datasette, with the same filters counted,
are the peer: it serves tables and no memory, so it shows what a general tool takes. It lives in an
environment of its own (``--peer FOLDER``, filled by ``--install``) and is skipped, aloud, where it
is not there; so are the figures of the browser where there is no Chromium.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import signal
import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

from benchmarks import web_browser, web_peer
from benchmarks.recall_start import COMMAND, memory, texts
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home

PER_FOLDER = 1000
TYPES = ("decision", "fact", "rule", "preference", "concept", "gotcha", "pattern", "task-state")
PROJECTS = tuple(f"project-{n}" for n in range(24))
WAIT = 11
CARD = """---
id: {id}
kind: card
type: {type}
key: {key}
status: {status}
created: {at}
updated: {at}
project: {project}
confidence: {confidence}
{links}---

# Note {number}

{text}
"""
BUDGETS = {
    # name: (milliseconds at 1,000, at 100,000)
    "overview": (50, 150),
    "held": (15, 50),
    "held, next 50": (15, 50),
    "held, by type": (15, 50),
    "search": (25, 60),
    "note": (40, 80),
    "graph": (60, 120),
    "timeline": (150, 250),
    "review": (150, 250),
    "conflicts": (150, 250),
    "told": (150, 250),
    "sessions": (150, 250),
    "usage": (150, 250),
}
START_MS = (1000, 3000)
EVENT_MS = 1000
FIRST = {"kb": 40, "requests": 6, "paint_ms": 300}
NEXT_KB = (12, 25)
LARGE = 20_000
"""From so many notes on the second column of the budgets holds."""
MISSED = 2.0
"""So many times its budget is a failure: a machine may be busy."""


@dataclass(slots=True)
class Row:
    """One page: times, size, budget, and the peer's time for the same rows."""

    page: str
    first_ms: float
    median_ms: float
    best_ms: float
    """On a busy machine the best time says most of a page, and the others of its neighbours."""
    cpu_ms: float
    """Processor time of the server: of half of the requests it took no more."""
    kb: float
    budget_ms: float
    peer_ms: float | None = None

    @property
    def missed(self) -> bool:
        """Whether it takes more than twice its budget."""
        return self.best_ms > MISSED * self.budget_ms


@dataclass(slots=True)
class Report:
    """All figures of one size."""

    notes: int
    rows: list[Row]
    start_ms: float
    """From the start of the process to the first answer, which may say that it is opening …"""
    ready_ms: float
    ready_cpu_ms: float
    """… and to the first page, on the clock and of the processor."""
    again: tuple[int, int]
    """Both of a second start, when all files were read once."""
    event_ms: float
    browser: Mapping[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def failures(self) -> Iterator[str]:
        """Yield what takes more than twice its budget."""
        large = self.notes >= LARGE
        yield from (row.page for row in self.rows if row.missed)
        if self.start_ms > MISSED * START_MS[large]:
            yield "start"
        if self.event_ms > MISSED * EVENT_MS:
            yield "event"
        yield from (
            name for name, most in FIRST.items() if self.browser.get(name, 0) > MISSED * most
        )
        yield from (f"{row.page} (size)" for row in self.rows if row.kb > MISSED * NEXT_KB[large])


def id_of(number: int) -> str:
    """Return the id of a card by its number."""
    return f"card-{number:026d}"


def card_of(number: int, text: str) -> str:
    """Return the file of one card: of any type and project, linked with others, some in dispute."""
    chance = random.Random(number)
    status = "candidate" if number < WAIT else "conflicted" if number in (20, 21) else "active"
    status = "superseded" if status == "active" and number % 9 == 4 else status
    near = [n for n in (number - 1, number // 2) if n > 30 and number % 3]
    lines = [f"  - {id_of(n)} RELATES_TO {chance.uniform(0.2, 0.9):.2f} alike\n" for n in near]
    return CARD.format(
        id=id_of(number),
        type=TYPES[number % len(TYPES)],
        key="deploy.port" if number in (20, 21) else f"topic{number % 997}.n{number}",
        status=status,
        at=f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}T09:{number % 60:02d}:00Z",
        project=PROJECTS[number % len(PROJECTS)],
        confidence=f"{chance.uniform(0.5, 1.0):.2f}",
        links=f"links:\n{''.join(lines)}" if lines else "",
        number=number,
        text=" ".join(text.split()[:24]),
    )


def write_memory(root: Path, notes: int) -> None:
    """Write the cards of a memory, and sessions that some of them quote."""
    home = Home(root.parent / ".config" / "kimi_memory", root.parent / ".local/state/kimi_memory")
    with Memory.open(root, Opening(home=home, background=False)) as opened:
        for day in range(10):
            with opened.session(f"talk-{day}", project=PROJECTS[day], user="林夏") as session:
                for n in range(40):
                    session.turn("user", f"第 {day} 天第 {n} 句：端口是 {8000 + n}。")
            opened.remember(f"The gateway of day {day} is box{day}.", key=f"gateway.d{day}")
    # Last: each job above would have to take note of them.
    for number, text in texts(notes):
        folder = root / "semantic" / f"{number // PER_FOLDER:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:06d}.md").write_text(card_of(number, text), encoding="utf-8")


class Client:
    """A browser without a screen, with a seat."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        self.host = parts.netloc
        self._line = HTTPConnection(parts.hostname or "", parts.port or 80, timeout=600)
        code = urllib.parse.parse_qs(parts.query)["code"][0]
        form = urllib.parse.urlencode({"code": code})
        head = {"Sec-Fetch-Site": "same-origin"}
        head["Content-Type"] = "application/x-www-form-urlencoded"
        self._line.request("POST", "/ui/enter", form, head)
        answer = self._line.getresponse()
        answer.read()
        found = re.match(r"([^;]+)", answer.headers["set-cookie"])
        assert found
        self.cookie = found[1]

    def open(self, path: str) -> tuple[HTTPResponse, bytes]:
        """Return an answer with its bytes."""
        self._line.request("GET", urllib.parse.quote(path, safe="/?=&%:"), headers=self.headers())
        answer = self._line.getresponse()
        return answer, answer.read()

    def headers(self) -> dict[str, str]:
        """Return what every request says."""
        return {"Cookie": self.cookie}

    def read(self, path: str) -> tuple[float, bytes]:
        """Return how many milliseconds a page takes, and what it says."""
        began = time.perf_counter()
        answer, raw = self.open(path)
        spent = (time.perf_counter() - began) * 1000
        assert answer.status == 200, (path, answer.status, raw[-400:])
        return spent, raw


@contextmanager
def served(root: Path, home: Mapping[str, str]) -> Iterator[tuple[str, float, int]]:
    """Serve the pages of a memory; yields their address, when the process was begun, its number."""
    began = time.perf_counter()
    command = [*COMMAND, "ui", "--no-open", "--port", "0", "--memory", str(root)]
    process = subprocess.Popen(command, env=home, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield process.stdout.readline().strip(), began, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def processor_ms(process: int) -> float:
    """Return the processor time of another process; 0 where the system does not tell it."""
    if sys.platform != "linux":
        return 0.0
    # The clock of a process as Linux numbers it, by which ended threads count as well.
    return time.clock_gettime((~process << 3) | 2) * 1000


def first_page(client: Client, began: float) -> tuple[float, float]:
    """Return how long the first answer took, and the first page that is more than an opening."""
    raw = client.read("/ui/")[1]
    first = time.perf_counter() - began
    while b'http-equiv="refresh"' in raw:
        time.sleep(0.05)
        raw = client.read("/ui/")[1]
    return round(first * 1000), round((time.perf_counter() - began) * 1000)


def paths(client: Client, notes: int) -> Iterator[tuple[str, str]]:
    """Yield what is measured: names of budgets, and addresses."""
    yield "overview", "/ui/"
    yield "held", "/ui/held"
    found = re.search(rb'href="([^"]+)" rel="next"', client.read("/ui/held")[1])
    if found:
        yield "held, next 50", found[1].decode().replace("&amp;", "&")
    yield "held, by type", "/ui/held?type=decision&project=project-3&sort=confidence"
    yield "search", "/ui/search?q=w17 w203 w999"
    own = re.search(rb"/ui/note/(card-\w+)", client.read("/ui/held?q=gateway")[1])
    assert own
    yield "note", f"/ui/note/{own[1].decode()}"
    yield "graph", f"/ui/graph?id={id_of(min(notes, 60_000) // 2)}&hops=3"
    yield "timeline", "/ui/timeline?month=2026-03"
    yield "review", "/ui/review"
    yield "conflicts", "/ui/conflicts"
    yield "told", "/ui/told"
    yield "sessions", "/ui/sessions"
    yield "usage", "/ui/usage"


def measure(notes: int, runs: int, peer: Path) -> Report:
    """Build a memory, serve it, and ask for every page."""
    with memory(notes, write_memory) as (root, home):
        with served(root, home) as (url, began, process):
            client = Client(url)
            times = first_page(client, began)
            report = Report(notes, [], *times, round(processor_ms(process)), (0, 0), 0.0)
            large = notes >= LARGE
            for name, path in list(paths(client, notes)):
                first, raw = client.read(path)
                asked = [_read(client, path, process) for _ in range(runs)]
                times, spent = [one[0] for one in asked], [one[1] for one in asked]
                kb = len(gzip.compress(raw, 6)) / 1024
                report.rows.append(
                    Row(name, round(first, 1), round(statistics.median(times), 1),
                        round(min(times), 1), round(statistics.median(spent), 1),
                        round(kb, 1), BUDGETS[name][large])
                )  # fmt: skip
            report.event_ms = round(event_delay(client, root, home), 1)
            report.browser, why = web_browser.measure(client.host, client.cookie)
            report.skipped += [why] if why else []
        with served(root, home) as (url, began, process):
            report.again = first_page(Client(url), began)[1], round(processor_ms(process))
        if web_peer.is_installed(peer):
            cards = (card_of(number, text) for number, text in texts(notes))
            base = root.parent / "rows.db"
            found = web_peer.times(peer, base, cards, id_of(notes // 2), runs)
            for row in report.rows:
                row.peer_ms = found.get(row.page)
        else:
            report.skipped.append(f"datasette: not in {peer}; --install puts it there")
    return report


def _read(client: Client, path: str, process: int) -> tuple[float, float]:
    """Return how many milliseconds a page takes, and how many the server works for it."""
    before = processor_ms(process)
    return client.read(path)[0], processor_ms(process) - before


def event_delay(client: Client, root: Path, home: Mapping[str, str]) -> float:
    """Return how long after a turn was stored, by another process, an open page learns of it."""
    line = HTTPConnection(client.host, timeout=60)
    line.request("GET", "/ui/live", headers=client.headers())
    stream = line.getresponse()
    stream.readline()
    turn = [*COMMAND, "session", "turn", "beside", "Said.", "--memory", str(root)]
    with subprocess.Popen(turn, env=home, stdout=subprocess.DEVNULL) as process:
        while not stream.readline().startswith(b"data:"):
            pass
        told = time.time()
        process.wait()
    session = next((root / "short-term").glob("session_beside*.jsonl"))
    line.close()
    return max(0.0, (told - session.stat().st_mtime) * 1000)


def show(report: Report) -> None:
    """Print the table of one size."""
    print(f"{report.notes} statements; after the start of the server:")
    print(f"first answer {report.start_ms:.0f} ms; event to page {report.event_ms:.0f} ms")
    print(f"first page {report.ready_ms:.0f} ms, started again {report.again[0]:.0f} ms; "
          f"processor time {report.ready_cpu_ms:.0f} and {report.again[1]:.0f} ms")  # fmt: skip
    heads = "".join(f"{head:>9}" for head in ("first", "then", "best", "cpu", "budget"))
    print(f"{'page':16}{heads}{'KB gz':>8}{'datasette':>11}")
    for row in report.rows:
        peer = "–" if row.peer_ms is None else f"{row.peer_ms:.1f}"
        mark = "  MISSED" if row.missed else "  over" if row.best_ms > row.budget_ms else ""
        print(f"{row.page:16}{row.first_ms:>9.1f}{row.median_ms:>9.1f}{row.best_ms:>9.1f}{row.cpu_ms:>9.1f}"
              f"{row.budget_ms:>9.0f}{row.kb:>8.1f}{peer:>11}{mark}")  # fmt: skip
    if report.browser:
        found = ", ".join(f"{name} {value:g}" for name, value in report.browser.items())
        print(f"first page in Chromium, nothing cached: {found}")
    for line in report.skipped:
        print(f"skipped: {line}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 1 where something takes more than twice its budget."""
    parser = argparse.ArgumentParser(prog="benchmarks.web", description=__doc__)
    parser.add_argument("--notes", type=int, nargs="+", default=[1000])
    parser.add_argument("--runs", type=int, default=9)
    place = Path.home() / ".cache/kimi-memory-bench/datasette"
    parser.add_argument("--peer", type=Path, default=place)
    parser.add_argument("--install", action="store_true", help="install the peer where it is not")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    if chosen.install and not web_peer.is_installed(chosen.peer):
        web_peer.install(chosen.peer)
    failed = False
    for notes in chosen.notes:
        report = measure(notes, chosen.runs, chosen.peer)
        missed = list(report.failures())
        failed = failed or bool(missed)
        if chosen.json:
            rows = [{name: getattr(row, name) for name in Row.__slots__} for row in report.rows]
            found = {name: getattr(report, name) for name in Report.__slots__}
            print(json.dumps({**found, "rows": rows, "missed": missed}))
        else:
            show(report)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

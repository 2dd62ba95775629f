"""A server under load: ``python -m benchmarks.serving --notes 10000 --seconds 60 --json``.

Eight clients search and append at once, one append to three searches, each append durable
when it is answered. Then the same once more, and the server is killed in the middle. Lost
is what was acknowledged and is not in the memory afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.recall_start import COMMAND, memory
from kimi_memory import Memory, Opening
from kimi_memory.store.notes import sessions

CLIENTS = 8
SEARCHES = 3
"""So many to one append."""


@dataclass(slots=True)
class Load:
    """What the clients did and saw."""

    search_ms: list[float] = field(default_factory=list)
    append_ms: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """Return medians and the slowest hundredth."""
        found: dict[str, float] = {"searches": len(self.search_ms), "appends": len(self.append_ms)}
        for name, times in (("search", self.search_ms), ("append", self.append_ms)):
            found[f"{name} p50 ms"] = round(statistics.median(times), 2)
            found[f"{name} p99 ms"] = round(statistics.quantiles(times, n=100)[98], 2)
        found["search p99 / p50"] = round(found["search p99 ms"] / found["search p50 ms"], 2)
        return found | {"errors": len(self.errors)}


@contextmanager
def served(root: Path, home: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Serve a memory; the value is the process and its address."""
    command = [*COMMAND, "serve", "--memory", str(root), "--port", "0", "--rate", "0"]
    with subprocess.Popen(command, env=home, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        url = urlsplit(server.stdout.readline().split()[0])
        try:
            yield server, url.netloc
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def work(address: str, number: int, until: float, load: Load) -> None:
    """Search and append as one client until a moment, or until the server is gone."""
    chance = random.Random(number)
    line = HTTPConnection(address, timeout=60)
    try:
        for n in range(1_000_000):
            if time.monotonic() >= until:
                return
            if n % (SEARCHES + 1) == number % (SEARCHES + 1):
                text = f"Client {number} 的第 {n} 条记录 {chance.randrange(10**9)}"
                load.append_ms.append(_asked(line, "/append", {"content": text}, load))
                load.acknowledged.append(text)
            else:
                words = " ".join(f"w{min(19_999, int(chance.expovariate(1 / 900)))}" for _ in "123")
                load.search_ms.append(_asked(line, "/search", {"query": words}, load))
    except (OSError, HTTPException):
        return  # it was killed
    finally:
        line.close()


def _asked(line: HTTPConnection, path: str, sent: Mapping[str, str], load: Load) -> float:
    began = time.perf_counter()
    line.request("POST", path, json.dumps(sent), {"Content-Type": "application/json"})
    answer = line.getresponse()
    told = answer.read()
    if answer.status != 200:
        load.errors.append(f"{answer.status} {told[:200]!r}")
    return (time.perf_counter() - began) * 1000


def under_load(address: str, seconds: float, kill: subprocess.Popen[str] | None = None) -> Load:
    """Let all clients work for so long; kill the server in the middle if one is given."""
    load, until = Load(), time.monotonic() + seconds
    with ThreadPoolExecutor(CLIENTS) as pool:
        done = [pool.submit(work, address, n, until, load) for n in range(CLIENTS)]
        if kill is not None:
            time.sleep(seconds / 2)
            kill.kill()
    for one in done:
        one.result()
    return load


def lost(root: Path, acknowledged: Sequence[str]) -> int:
    """Return how many texts of these are in no session of a memory."""
    with Memory.open(root, Opening(background=False)) as opened:
        kept = {
            turn.text
            for place in sessions.places(opened.store)
            for turn in sessions.read(opened.store, place.path).turns
        }
    return len(set(acknowledged) - kept)


def measure(notes: int, seconds: float) -> dict[str, float]:
    """Return the figures of both runs."""
    with memory(notes) as (root, home):
        os.environ["HOME"] = home["HOME"]
        with served(root, home) as (_, address):
            work(address, 0, time.monotonic() + 2, Load())  # until all is loaded
            load = under_load(address, seconds)
        found = {**load.figures(), "lost": lost(root, load.acknowledged)}
        with served(root, home) as (server, address):
            killed = under_load(address, seconds / 2, server)
        told = {"acknowledged before a kill": len(killed.acknowledged)}
        return {**found, **told, "lost by the kill": lost(root, killed.acknowledged)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.serving", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.notes, chosen.seconds)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:28} {value:g}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

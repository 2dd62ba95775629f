"""The peer of `benchmarks.web`: datasette, serving the same rows from an environment of its own."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

FIELD = re.compile(r"^(?:id|type|key|status|created|project|confidence): (.*)$", re.MULTILINE)


def times(peer: Path, base: Path, cards: Iterable[str], one: str, runs: int) -> dict[str, float]:
    """Return by page how many milliseconds datasette takes for the same rows.

    Args:
        peer: its environment; see `is_installed`.
        base: where its database is made.
        cards: the files of the same cards.
        one: the id of the card whose page is asked for.
        runs: so often each page is asked for, after a first time.
    """
    fill_peer(base, cards)
    asked = {
        "held": "/rows/note?_sort_desc=at&_size=50&_facet=type&_facet=status&_facet=project",
        "held, by type": "/rows/note?type=decision&project=project-3&_sort_desc=confidence"
        "&_size=50&_facet=type&_facet=status&_facet=project",
        "search": "/rows/note?_search=w17+w203+w999&_size=20",
        "note": f"/rows/note/{one}",
    }
    port = 8000 + os.getpid() % 999
    command = [str(peer / "bin" / "datasette"), "serve", str(base), "-p", str(port),
               "--setting", "sql_time_limit_ms", "60000",
               "--setting", "facet_time_limit_ms", "60000"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            line = wait_for(port)
            return {
                page: round(sorted(ask(line, path) for _ in range(runs + 1))[runs // 2], 1)
                for page, path in asked.items()
            }
        finally:
            process.send_signal(signal.SIGTERM)


def is_installed(peer: Path) -> bool:
    """Whether datasette lies in an environment."""
    return (peer / "bin" / "datasette").is_file()


def fill_peer(base: Path, cards: Iterable[str]) -> None:
    """Write the same rows into a table with a full-text index."""
    with sqlite3.connect(base) as rows:
        rows.execute(
            "CREATE TABLE note(id TEXT PRIMARY KEY, type TEXT, key TEXT, status TEXT, at TEXT,"
            " project TEXT, confidence REAL, text TEXT)"
        )
        parsed = ([*FIELD.findall(card), card.rsplit("\n\n", 1)[-1].strip()] for card in cards)
        rows.executemany("INSERT INTO note VALUES (?, ?, ?, ?, ?, ?, ?, ?)", parsed)
        for column in ("type", "status", "project", "at", "confidence"):
            rows.execute(f"CREATE INDEX by_{column} ON note({column})")
        rows.execute("CREATE VIRTUAL TABLE note_fts USING fts5(text, content=note)")
        rows.execute("INSERT INTO note_fts(rowid, text) SELECT rowid, text FROM note")


def wait_for(port: int) -> HTTPConnection:
    """Return a line to a server once it listens."""
    for _ in range(600):
        line = HTTPConnection("127.0.0.1", port, timeout=600)
        with suppress(OSError):
            line.connect()
            return line
        time.sleep(0.1)
    raise SystemExit(f"Nothing listens on port {port} within a minute.")


def ask(line: HTTPConnection, path: str) -> float:
    """Return how many milliseconds a page of the peer takes."""
    began = time.perf_counter()
    line.request("GET", path)
    answer = line.getresponse()
    answer.read()
    assert answer.status == 200, (path, answer.status)
    return (time.perf_counter() - began) * 1000


def install(peer: Path) -> None:
    """Put datasette into an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", str(peer)], check=True)
    pip = [str(peer / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    # It imports pkg_resources, which later versions of setuptools have not.
    subprocess.run([*pip, "datasette", "setuptools<80"], check=True)

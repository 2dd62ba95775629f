"""How long a hook keeps a person waiting: ``python -m benchmarks.hook --notes 10000 --json``.

The real command as an agent program runs it, for a prompt with and without a server, at the
end of a turn and of a session, over a memory of cards of which some answer; each is set
against a process that takes its turn with it: the interpreter with json and socket, and the
bare import of what recall needs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.jobs import put
from benchmarks.recall_start import COMMAND, PER_FOLDER, QUESTION, memory, texts
from kimi_memory.agent_hooks import socket_protocol
from kimi_memory.domain.ids import derived_id
from kimi_memory.domain.note import Card, CardType, Status

BARE = (sys.executable, "-c", "import json, socket")
IMPORTS = (sys.executable, "-W", "ignore", "-c", "import numpy, whoosh.index, pluggy, yaml")
EVENTS = {"prompt": "UserPromptSubmit", "turn": "Stop", "session end": "SessionEnd"}


REST_SECONDS = 0.5
"""What a hook leaves behind to work on is done then, and slows down nobody else."""
NOW = datetime(2026, 3, 2, 20, tzinfo=UTC)


def write_cards(root: Path, notes: int) -> None:
    """Write notes as cards, which is what a prompt is told of."""
    for number, text in texts(notes):
        card = Card(
            id=derived_id("card", NOW, str(number)),
            created=NOW,
            updated=NOW,
            status=Status.ACTIVE,
            title=f"Note {number}",
            type=CardType.FACT,
            key=f"note{number}.text",
            value=text,
            category=f"part{number // PER_FOLDER}",
            verified=NOW,
        )
        put(root, card)


def payload(event: str, prompt: str) -> bytes:
    """Return what Claude Code writes to a hook."""
    said = {"session_id": "bench", "cwd": "/", "hook_event_name": event, "prompt": prompt}
    return json.dumps(said | {"transcript_path": "/nowhere.jsonl"}).encode()


def spent(command: Sequence[str], home: Mapping[str, str], given: bytes = b"") -> float:
    """Return the wall time of a command in milliseconds."""
    began = time.perf_counter()
    subprocess.run(command, input=given, check=True, stdout=subprocess.DEVNULL, env=home)
    return (time.perf_counter() - began) * 1000


@contextmanager
def served(root: Path, home: Mapping[str, str]) -> Iterator[None]:
    """Keep a server of a memory running."""
    server = subprocess.Popen([*COMMAND, "hook", "serve", "--memory", str(root)], env=home)
    try:
        while socket_protocol.ask(str(root), {"ping": True}) is None:
            time.sleep(0.05)
        yield
    finally:
        server.kill()
        server.wait()


def _race(
    hook: list[str], given: bytes, peer: Sequence[str], home: Mapping[str, str], pairs: int
) -> dict[str, float]:
    ours, theirs = [], []
    spent(hook, home, given)
    for _ in range(pairs):
        # Both come out of a rest, as they do when a person asks.
        time.sleep(REST_SECONDS)
        ours.append(spent(hook, home, given))
        time.sleep(REST_SECONDS)
        theirs.append(spent(peer, home))
    mine, other = statistics.median(ours), statistics.median(theirs)
    return {"ms": round(mine, 1), "peer_ms": round(other, 1), "ratio": round(mine / other, 2)}


def measure(notes: int, pairs: int, prompt: str = QUESTION) -> dict[str, dict[str, float]]:
    """Return median times and ratios of each kind of event."""
    with memory(notes, write_cards) as (root, home):
        config = Path(home["HOME"]) / ".config/kimi_memory"
        config.mkdir(parents=True)
        (config / "config.toml").write_text('server = "never"\n', encoding="utf-8")
        hook = [*COMMAND, "hook", "run", "--host", "claude", "--memory", str(root)]
        events = {name: payload(event, prompt) for name, event in EVENTS.items()}
        given = events["prompt"]
        told = subprocess.run(hook, input=given, check=True, capture_output=True, env=home).stdout
        assert b"w203" in told, "nothing was found"
        found = {"prompt, no server": _race(hook, given, IMPORTS, home, pairs)}
        for name in ("turn", "session end"):
            found[f"{name}, no server"] = _race(hook, events[name], BARE, home, pairs)
        with served(root, home):
            for name, said in events.items():
                found[f"{name}, server"] = _race(hook, said, BARE, home, pairs)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.hook", description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--prompt", default=QUESTION, help="what is typed, with w203 in it")
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.notes, chosen.pairs, chosen.prompt)
    if chosen.json:
        print(json.dumps(found))
    else:
        for name, row in found.items():
            print(f"{name:24}{row['ms']:>10} ms{row['peer_ms']:>10} ms{row['ratio']:>8}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

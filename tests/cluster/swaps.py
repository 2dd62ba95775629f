"""Cards that several processes compare and swap, and A10: one order of single steps explains it.

The search is that of Wing and Gong: of the attempts that had begun before any other had ended, one
is taken as the next step, and where nothing fits any more, another.
"""

from __future__ import annotations

import json
import math
import os
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kimi_memory import Memory
from kimi_memory.cluster import Cluster
from kimi_memory.domain.job import Actor, Create, Update, digest
from kimi_memory.errors import ChangedOnDiskError, NotPrimaryError, ReadOnlyError
from tests.cluster.nodes import Node, die_at_a_step, opening_of

_TIMES = 3
"""Attempts of one process on one card, so that a card has about a dozen of them."""
_SECONDS = 0.4
"""So long all processes are at one card; the clock of the machine says which it is."""


class Swap(NamedTuple):
    """An attempt to give a card a new content, where it has the one that was read."""

    began: float
    ended: float
    """When its answer came; never where none did."""
    expected: str
    """What was read; empty where there was no card."""
    wanted: str
    outcome: str
    """``ok``, ``changed`` where the card had another content, or ``unknown``."""

    def leads_to(self, now: str) -> Iterator[str]:
        """Yield what the card can have after this step; nothing where it cannot be the next."""
        fits = now == self.expected
        if fits and self.outcome != "changed":
            yield self.wanted
        if self.outcome == "unknown" or (self.outcome == "changed" and not fits):
            yield now


def is_explained(swaps: Sequence[Swap], last: str) -> bool:
    """Whether some order explains all answers, and the content that the card has in the end."""
    every, seen = (1 << len(swaps)) - 1, set[tuple[int, str]]()
    ways = [(0, "")]
    while ways:
        done, now = way = ways.pop()
        if way in seen:
            continue
        seen.add(way)
        if done == every and now == last:
            return True
        left = [n for n in range(len(swaps)) if not done >> n & 1]
        first = min((swaps[n].ended for n in left), default=0.0)
        ways += [
            (done | 1 << n, after)
            for n in left
            if swaps[n].began <= first
            for after in swaps[n].leads_to(now)
        ]
    return False


def swap(base: Path, name: str) -> None:
    """Swap cards until the process is killed; a line of history for each step."""
    die_at_a_step()
    history = base / f"swaps-{name}.jsonl"
    with (
        history.open("a", encoding="utf-8", buffering=1) as log,
        Cluster.open(opening=opening_of(base)) as cluster,
        cluster.memory("shop") as memory,
    ):
        while True:
            card = int(time.monotonic() / _SECONDS)
            for n in range(_TIMES):
                path, wanted = f"semantic/shop/swap-{card}.md", f"{name}-{os.getpid()}-{card}-{n}\n"
                expected = _read_card(memory, path)
                time.sleep(random.uniform(0.0, 0.01))
                log.write(json.dumps([time.monotonic(), "try", wanted, path, expected]) + "\n")
                outcome = swap_card(memory, path, expected, wanted)
                log.write(json.dumps([time.monotonic(), outcome, wanted]) + "\n")
            time.sleep(max(0.0, (card + 1) * _SECONDS - time.monotonic()))


def _read_card(memory: Memory, path: str) -> str:
    return memory.store.read(path).decode() if memory.store.exists(path) else ""


def swap_card(memory: Memory, path: str, expected: str, wanted: str) -> str:
    """Try to swap a card; return what is known of it."""
    update = Update(path, digest(expected.encode()), wanted.encode())
    change = update if expected else Create(path, wanted.encode())
    try:
        receipt = memory.store.apply([change], Actor("swapper"))
    except ChangedOnDiskError:
        return "changed"
    except (NotPrimaryError, ReadOnlyError):
        return "refused"
    except Exception:  # noqa: BLE001  of anything else it is not known what came of it
        return "unknown"
    return "unknown" if receipt.kept else "ok"


def read_swaps(nodes: Iterable[Node]) -> dict[str, list[Swap]]:
    """Return what was tried on each card, but for what was refused and so changed nothing."""
    found: dict[str, list[Swap]] = {}
    for node in nodes:
        for file in node.base.glob("swaps-*.jsonl"):
            for card, made in _read_history(file):
                if made.outcome != "refused":
                    found.setdefault(card, []).append(made)
    return found


def _read_history(file: Path) -> Iterator[tuple[str, Swap]]:
    tried: dict[str, tuple[str, Swap]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.endswith("]"):
            continue  # A kill cut it short: nothing was asked yet, or no answer noted.
        at, kind, wanted, *more = json.loads(line)
        if kind == "try":
            tried[wanted] = more[0], Swap(at, math.inf, more[1], wanted, "unknown")
        elif kind != "unknown":
            card, made = tried[wanted]
            tried[wanted] = card, made._replace(ended=at, outcome=kind)
    yield from tried.values()


def check_swaps(nodes: Sequence[Node]) -> Iterator[str]:
    """Yield the cards whose answers no order explains; A10."""
    for card, swaps in sorted(read_swaps(nodes).items()):
        place = nodes[0].folder / card
        last = place.read_text(encoding="utf-8") if place.exists() else ""
        if not is_explained(swaps, last):
            yield f"A10 {card}, at last {last!r}: {sorted(swaps)}"

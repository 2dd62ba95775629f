"""What it costs to bring two copies in step, by what git needs to carry the same commits."""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.stopwatch import Stopwatch
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.operations import sync_remotes
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.remotes import add_remote

COMMITS = 10
QUIET = "sync with nothing new by git status + ls-remote"
BUSY = "sync of 10 commits, less merge, by git fetch + push"
Changed = Callable[[Memory, int], None]


def measure_sync(
    memory: Memory, place: Path, opening: Opening, change: Changed, watch: Stopwatch
) -> dict[str, float]:
    """Return what syncing costs where nothing is new, and where both sides have ten commits.

    Args:
        memory: with a long history.
        place: an empty folder.
        opening: how its copies are opened.
        change: makes one commit; the number tells it from others.
        watch: measures.
    """
    hub = place / "hub.git"
    git(place, "init", "-q", "--bare", "-b", "main", str(hub))
    add_remote(memory, "hub", str(hub))
    sync(memory)
    git(place, "clone", "-q", str(hub), "peer")
    # Git, too, has to look whether a file was changed by hand.
    git(memory.root, "status", "--porcelain")

    def ask() -> None:
        git(memory.root, "status", "--porcelain")
        git(place, "ls-remote", str(hub), "main")

    quiet, asked = watch.compare(lambda: sync(memory), ask, watch.runs * 4)
    home = Home(place / "config-peer", place / "state-peer")
    with Memory.open(place / "peer", replace(opening, home=home)) as peer:
        spent = [meet(memory, peer, change, watch, run) for run in range(watch.runs)]
    ours = statistics.median(one for one, _ in spent)
    return {
        "sync with nothing new, milliseconds": quiet * 1000,
        QUIET: quiet / asked,
        "sync of 10 commits each, without its merge, milliseconds": ours * 1000,
        BUSY: ours / statistics.median(theirs for _, theirs in spent),
    }


def meet(
    memory: Memory, peer: Memory, change: Changed, watch: Stopwatch, run: int
) -> tuple[float, float]:
    """Let both sides commit; return what the sync took, and what git takes to carry it."""
    place, hub = peer.root.parent, peer.root.parent / "hub.git"
    git(peer.root, "pull", "-q", "--ff-only")
    for number in range(COMMITS):
        change(peer, 20_000 + run * COMMITS + number)
        change(memory, 30_000 + run * COMMITS + number)
    push = watch.spend(lambda: git(peer.root, "push", "-q"))
    git(place, "clone", "-q", "-b", "main", str(memory.root), f"raw{run}")
    fetch = watch.spend(lambda: git(place / f"raw{run}", "fetch", "-q", str(hub), "main"))
    merges = list[float]()

    def merge(*words: object, **options: object) -> object:
        made = []
        merges.append(watch.spend(lambda: made.append(merge_copy(*words, **options))))
        return made[0]

    sync_remotes.merge_copy = merge
    whole = watch.spend(lambda: sync(memory))
    sync_remotes.merge_copy = merge_copy
    return whole - sum(merges), fetch + push


def sync(memory: Memory) -> None:
    """Sync; a failure ends the run."""
    [report] = sync_remotes.sync_memory(memory)
    assert not report.failed, report.failed


def git(place: Path, *words: str) -> None:
    """Run git as a person does."""
    subprocess.run(["git", *words], cwd=place, check=True, capture_output=True)

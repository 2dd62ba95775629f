"""What a space costs: ``python -m benchmarks.permissions [--turns 1000] [--json]``.

A decision by policies, known and new; a line of the audit log; and recall by a member, through
the policies and the log, set against the same recall without a space, one after the other. All
of it in processor time: no part of it waits for anything but a disk, and other programs that run
meanwhile would be measured with it. A line has its share of the commits of the log.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from operator import truediv
from pathlib import Path
from statistics import median

from benchmarks.figures import print_figures
from benchmarks.turn import SAID, Times
from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.domain.search_types import Answer
from kimi_memory.server.guard import GuardPost, Request
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.server.routes import ROUTES
from kimi_memory.server.schema import Given
from kimi_memory.spaces.audit_log import EVERY, decision_record
from kimi_memory.spaces.space_folder import SpaceFolder

_AREAS = 50
"""So many areas a decision is asked for at once."""
_QUESTIONS = ("connection pool timeouts", "登录模块的测试", "who parses the manifest", "超时的日志")


def measure_decisions(space: SpaceFolder, memory: str, times: int) -> dict[str, float]:
    """Return what a decision costs, known and new, and a line of the log."""
    taken, areas = Times(clock=time.thread_time), tuple(f"user:member-{n}" for n in range(_AREAS))
    line = decision_record(space.name, "lin", "recall", space.decide("lin", "recall", memory))
    for n in range(times):
        taken.take("known", lambda: space.decide("lin", "recall", memory), 1)
        if n % 20 == 0:
            new = tuple(f"{area}-{n}" for area in areas)
            taken.take("new", partial(space.decide, "lin", "recall", memory, new), 1)
    before = _processor_time()
    for _ in range(2 * EVERY):
        taken.take("line", lambda: space.log.append(line, sync=False), 1)
    mean = (_processor_time() - before) / (2 * EVERY)
    return {
        "permission_known_us": round(taken.p50("known") * 1000, 1),
        "permission_new_us": round(taken.p50("new") * 1000 / _AREAS, 1),
        "audit_line_p50_us": round(taken.p50("line") * 1000, 1),
        "audit_line_mean_us": round(mean * 1_000_000, 1),
    }


def _processor_time() -> float:
    """Return the seconds of this process, and of git, which it called."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measure_recall(memory: Memory, post: GuardPost, times: int) -> dict[str, float]:
    """Return how much longer a member waits for an answer than somebody without a space."""
    route = next(one for one in ROUTES if one.name == "recall")
    guard = post.find()
    assert guard is not None
    member = Caller("bench", member="lin", scopes=frozenset({Scope.READ}))
    anybody = Caller("bench", scopes=frozenset({Scope.READ}))
    taken = Times(clock=time.thread_time)
    for n in range(times):
        given = route.given({"text": f"{_QUESTIONS[n % len(_QUESTIONS)]} {n}"})

        def plain(given: Given = given) -> Answer:
            found: Answer = route.deed(memory, anybody, given)
            return found

        def guarded(given: Given = given) -> None:
            asked = Request("recall", "http", Scope.READ, given)
            ruling = guard.rule(member, asked)
            guard.note(ruling, asked, route.deed(memory, ruling.caller, given))

        # Who comes second finds what the first one warmed up, so they take turns at that.
        for name, call in [("plain", plain), ("guarded", guarded)][:: 1 if n % 2 else -1]:
            taken.take(name, call, 1)
    return {
        "recall_p50_ms": taken.p50("plain"),
        "guarded_recall_p50_ms": taken.p50("guarded"),
        "guarded_recall_ratio": round(taken.p50("guarded") / taken.p50("plain"), 3),
        # Of each pair: a busy minute counts on both sides.
        "guarded_recall_pairs": round(
            median(map(truediv, taken.ms["guarded"], taken.ms["plain"])), 3
        ),
    }


def measure(turns: int, times: int) -> dict[str, float]:
    """Return all figures."""
    with tempfile.TemporaryDirectory(prefix="kimi-memory-bench-") as base:
        home, root = Home(Path(base) / "config", Path(base) / "state"), Path(base) / "memory"
        opening = Opening(home=home, background=False)
        with Memory.create(root, opening=opening) as memory:
            with memory.session("bench") as session:
                for n in range(turns):
                    session.turn("user", SAID[n % len(SAID)].format(n))
            space = SpaceFolder.create(home, "bench", Path(base) / "space")
            space.add("lin", ["reader"])
            space.share(memory.settings.memory.id, "memory", root)
            found = measure_decisions(space, memory.settings.memory.id, times)
            post = GuardPost(home, memory.settings.memory.id, root)
            return found | measure_recall(memory, post, times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.permissions", description=__doc__)
    parser.add_argument("--turns", type=int, default=1000, help="lines that the memory holds")
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="one JSON object for machines")
    chosen = parser.parse_args(arguments)
    found = measure(chosen.turns, chosen.times)
    print_figures(found, as_json=chosen.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())

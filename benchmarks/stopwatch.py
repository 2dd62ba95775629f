"""What a piece of work costs, on the clock or in time of processors, and two of them in turns.

On a machine that others use, the clock says what they do; the time of processors, with that of all
programs that were started, hardly changes.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable


class Stopwatch:
    """Measures work.

    Args:
        runs: how often a piece of work is done.
        processor: count the time of processors in place of that of the clock.
    """

    def __init__(self, runs: int, *, processor: bool = False) -> None:
        self.runs = runs
        self._now = _processor_seconds if processor else time.perf_counter

    def spend(self, work: Callable[[], object]) -> float:
        """Return the seconds that a piece of work takes."""
        began = self._now()
        work()
        return self._now() - began

    def measure(self, work: Callable[[], object], runs: int = 1) -> float:
        """Return the median of some runs, in seconds."""
        return statistics.median(self.spend(work) for _ in range(runs))

    def compare(
        self, ours: Callable[[], object], theirs: Callable[[], object], runs: int
    ) -> tuple[float, float]:
        """Return the medians of two pieces of work that are done in turns."""
        spent = [(self.spend(ours), self.spend(theirs)) for _ in range(runs)]
        one, other = zip(*spent, strict=True)
        return statistics.median(one), statistics.median(other)


def _processor_seconds() -> float:
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = map(resource.getrusage, whose)
    return sum(one.ru_utime + one.ru_stime for one in used)

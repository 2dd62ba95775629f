"""Fleet jobs: one job over many memories, by the workers of a pool."""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.cluster.purging import purge_shared
from kimi_memory.config import MARKER
from kimi_memory.domain.fleet import Pool, Unit, UnitResult
from kimi_memory.domain.job import JobReport
from kimi_memory.domain.job_registry import find_job, followers
from kimi_memory.errors import KimiMemoryError, NotPrimaryError
from kimi_memory.jobs.planner import load_planner
from kimi_memory.operations.expired import purge_expired
from kimi_memory.operations.forget import Doomed, PurgeReport, purge

_SKIPPED = frozenset({".git", ".kimi", "node_modules"})


def run_fleet(pool: Pool, units: Iterable[Unit]) -> Iterator[UnitResult]:
    """Yield what became of each unit, as they end; one that fails keeps no other waiting.

    A memory with sessions left after its seconds goes to the end of the queue, so that one with
    thousands of them does not hold up the others.

    Args:
        pool: who does the work; it is closed by who opened it.
        units: at most one for each memory.
    """
    queue, running = deque(units), 0
    done: dict[str, UnitResult] = {}
    while queue or running:
        # Twice as many as workers: each has its next one at hand, and the order still holds.
        while queue and running < 2 * pool.workers:
            pool.submit(queue.popleft())
            running += 1
        result = pool.wait()
        running -= 1
        found = _add_up(done.pop(result.unit.folder, None), result)
        if result.outcome == "more":
            done[result.unit.folder] = found
            queue.append(result.unit._replace(round=result.unit.round + 1))
        else:
            yield found


def _add_up(before: UnitResult | None, last: UnitResult) -> UnitResult:
    if before is None:
        return last
    counts = {
        name: getattr(before, name) + getattr(last, name)
        for name in ("jobs", "calls", "tokens_in", "tokens_out", "wall_s")
    }
    outcome = "done" if last.outcome == "idle" and counts["jobs"] else last.outcome
    return last._replace(outcome=outcome, **counts)


def consolidate_unit(unit: Unit) -> UnitResult:
    """Distil what waits in one memory, then run its job and those that follow it.

    Whatever goes wrong with it is in the result: the worker goes on with the next.
    """
    began = time.monotonic()
    try:
        result = _consolidate(unit, began)
    except NotPrimaryError as error:
        result = UnitResult(unit, "elsewhere", str(error))
    except KimiMemoryError as error:
        result = UnitResult(unit, "failed", str(error))
    except MemoryError:
        result = UnitResult(unit, "failed", f"it needs more than {unit.memory_mb} MB")
    except OSError as error:
        result = UnitResult(unit, "failed", error.strerror or str(error))
    return result._replace(wall_s=round(time.monotonic() - began, 3))


def _consolidate(unit: Unit, began: float) -> UnitResult:
    _bound_data(unit.memory_mb)
    job = find_job(unit.period)
    home = Home(Path(unit.config), Path(unit.state)) if unit.config else Home.of_user()
    opening = Opening(home=home, background=False)
    with Memory.open(unit.folder, opening) as memory:
        reports, left = _distil(memory, unit, began)
        if left:
            return _sum_up(unit, reports)._replace(outcome="more")
        reports += memory.consolidate(job.name)
        for follower in followers(job.name, dated=False):
            # A user who disables a plugin wants nothing of it, also not behind another job.
            if memory.host.has(follower.plugin):
                reports.append(memory.run(load_planner(follower)(memory)))
        if job.name == "daily":
            reports += purge_expired(memory, _destroy)
        with suppress(KimiMemoryError):  # What waits is committed by the next one who opens it.
            memory.batch.flush()
    return _sum_up(unit, reports)


def _destroy(memory: Memory, doomed: Doomed) -> PurgeReport:
    shared = memory.store.relay is not None
    return purge_shared(memory, doomed).report if shared else purge(memory, doomed, yes=True)


def _distil(memory: Memory, unit: Unit, began: float) -> tuple[list[JobReport], bool]:
    """Distil what waits, for so many seconds; say whether some of it still does."""
    if not unit.per_round:
        return memory.distil_waiting(), False
    reports: list[JobReport] = []
    for at, id in enumerate(memory.waiting()):
        # One in each round: a bound that is too small would let nothing happen for ever.
        if at and time.monotonic() - began > unit.per_round:
            return reports, True
        try:
            reports.append(memory.distil(id))
        except NotPrimaryError:
            raise
        except KimiMemoryError as error:
            reports.append(JobReport("", "distil", id, failed=str(error)))
    return reports, False


def _sum_up(unit: Unit, reports: Sequence[JobReport]) -> UnitResult:
    failed = [f"{one.kind} {one.subject}: {one.failed}" for one in reports if one.failed]
    jobs = sum(bool(one.id) for one in reports)
    result = UnitResult(
        unit, "failed" if failed else "done" if jobs else "idle", "; ".join(failed[:3]), jobs,
        sum(one.spent.calls for one in reports), sum(one.spent.tokens_in for one in reports),
        sum(one.spent.tokens_out for one in reports),
    )  # fmt: skip
    more = len(failed) - 3
    return result._replace(why=f"{result.why}; and {more} more") if more > 0 else result


def _bound_data(memory_mb: int) -> None:
    """Let this process hold no more data, so that one memory does not take all of the machine."""
    if memory_mb:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory_mb * 1024 * 1024, hard))


def find_memories(folder: Path, deepest: int = 4) -> Iterator[Path]:
    """Yield the memories below a folder, by name; not those inside of a memory."""
    if (folder / MARKER).is_file():
        yield folder
    elif deepest:
        for child in sorted(folder.iterdir()):
            if child.is_dir() and not child.is_symlink() and child.name not in _SKIPPED:
                yield from find_memories(child, deepest - 1)

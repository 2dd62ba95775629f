"""What a memory used: by its records of jobs and runs, so that nothing counts twice.

Nothing is kept for it. A job and a run have one record each, which travels with the memory: so
every copy and every node comes to the same sums, after restarts and merges, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import AgentRun, Usage
from kimi_memory.domain.ids import moment
from kimi_memory.domain.job import Job
from kimi_memory.jobs.job_usage import usage_of
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.operations.usage_records import read_jobs, read_receipts
from kimi_memory.runs.run_records import read_runs
from kimi_memory.store.files.disk import UNKNOWN, state_of

KEYS = ("memory", "day", "node", "agent", "user", "job", "model")
"""What usage can be summed by."""
FIGURES = (
    *("calls", "tokens_in", "tokens_out", "tokens_cached", "model_s", "cpu_s", "wall_s"),
    *("stored_bytes", "log_bytes", "reads", "writes"),
)
_BATCH = 500
_Record = tuple[str, Usage]
"""What was used, and the id by which it counts once."""


def list_usage(
    memory: Memory,
    since: date | None = None,
    jobs: Iterable[Job] | None = None,
    counted: set[str] | None = None,
) -> list[Usage]:
    """Return what a memory used: a row for each job, each run, each answer, and its sizes.

    Args:
        memory: an open memory.
        since: the first day, on the clocks of the memory; all that is known if not given.
        jobs: their records, where they were read already.
        counted: what was counted in other folders, such as copies and what a fork was made of; it
            does not count again, and what counts here is added.
    """
    name = memory.settings.memory.name or memory.root.name
    counted = set() if counted is None else counted
    jobs, runs = read_jobs(memory) if jobs is None else jobs, read_runs(memory)
    records = (
        # The same was asked of the same at another time, where a job was undone and run again.
        *((f"{job.id} {job.at}", usage_of(job, memory.zone)) for job in jobs),
        # Of one that was recorded again after a crash, the last record counts.
        *((run.id, usage_of_run(memory, run)) for run in reversed(runs)),
        *_list_log(memory),
    )
    reads = (
        Usage(day=f"{day_in(receipt.at, memory.zone)}", agent=receipt.to, reads=1)
        for receipt in read_receipts(memory)
    )
    rows = (*_list_new(records, counted), *reads)
    found = [replace(one, memory=name) for one in rows if since is None or one.day >= f"{since}"]
    return [*found, replace(_measure(memory), memory=name)]


def sum_usage(rows: Iterable[Usage], by: Sequence[str]) -> list[Usage]:
    """Return rows added up by some of `KEYS`, in the order of these."""
    found: dict[tuple[str, ...], Usage] = {}
    for one in rows:
        key = tuple(getattr(one, name) for name in by)
        old = found.get(key) or Usage(**dict(zip(by, key, strict=True)))
        sums = {name: getattr(old, name) + getattr(one, name) for name in FIGURES}
        found[key] = replace(old, **sums)
    rounded = ("model_s", "cpu_s", "wall_s")
    return [
        replace(one, **{name: round(getattr(one, name), 3) for name in rounded})
        for _, one in sorted(found.items())
    ]


def _list_new(records: Iterable[_Record], counted: set[str]) -> Iterator[Usage]:
    """Yield the rows of those that were not counted yet, and take them down."""
    for key, row in records:
        if key not in counted:
            counted.add(key)
            yield row


def usage_of_run(memory: Memory, run: AgentRun) -> Usage:
    """Return what a run used, with the machine that carried it out."""
    day = f"{day_in(moment(run.started), memory.zone)}"
    node = run.execution_node or run.reasoning_node
    return replace(run.usage, day=day, node=node, agent=run.agent, job="run")


def _measure(memory: Memory) -> Usage:
    """Return how large a memory is now."""
    store = memory.store
    # What was written a moment ago has no look yet.
    size = sum(
        (look if look != UNKNOWN else state_of(memory.root, path) or UNKNOWN)[0]
        for path, look in store.folder_scan.look().files.items()
    )
    return Usage(day=f"{memory.now().date()}", stored_bytes=size)


def _list_log(memory: Memory) -> Iterator[_Record]:
    """Yield how large the change log of a memory is, where it has one."""
    relay, logged, after = memory.store.relay, 0, 0
    while relay is not None:
        place = relay.position
        rows = place.log.read(place.place.memory, after, _BATCH)
        if not rows:
            break
        logged += sum(len(body) for _, body in rows)
        after = rows[-1][0]
    if logged:
        day = f"{memory.now().date()}"
        yield memory.settings.memory.id, Usage(day=day, log_bytes=logged)

"""Usage: what jobs, models, sessions and questions came to, day by day."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta

from kimi_memory.api.memory import Memory
from kimi_memory.domain.job import Job
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.dates.vocabulary import day_in
from kimi_memory.operations.usage_records import read_jobs, read_receipts
from kimi_memory.recall.day_counts import count_sessions, count_units, find_last

# A chart of a year is the widest that can be read.
MOST_DAYS = 366


@dataclass(frozen=True, slots=True)
class UsageDay:
    """What happened on one day."""

    day: date
    jobs: Mapping[str, int]
    """How many jobs ran, by kind."""
    sessions: int
    turns: int
    recalls: Mapping[str, int]
    """How many answers and blocks each agent got. Old receipts are counted and removed, so this
    reaches back two weeks."""


def usage(memory: Memory, days: int) -> list[UsageDay]:
    """Return the last days, oldest first; one on which nothing happened stands there, too.

    Where nothing happened for longer, they end with the last day on which something did.
    """
    count = min(max(days, 1), MOST_DAYS)
    recalls = _recalls_by_day(memory)
    # One state of the index for all three counts, or a day could have turns and no session.
    with memory.index.guard:
        searcher = memory.index.searcher()
        jobs = list_jobs(memory)
        last = find_last(searcher, ("turn",), memory.now())
        busy = [*jobs, *recalls, *([last.date()] if last else [])]
        dates = last_days(memory, busy, count)
        starts = day_starts(memory, dates)
        turns = count_units(searcher, ("turn",), starts)
        talks = count_sessions(searcher, starts)
    return [
        UsageDay(
            day,
            Counter(job.kind for job in jobs.get(day, ())),
            talks[number],
            turns[number],
            recalls.get(day, {}),
        )
        for number, day in enumerate(dates)
    ]


def last_days(memory: Memory, busy: Iterable[date], count: int) -> list[date]:
    """Return the last days, oldest first; they end today, or with the last busy day if it is past.

    Args:
        memory: an open memory.
        busy: days on which something happened.
        count: how many days.
    """
    today = memory.now().date()
    newest = max((day for day in busy if day <= today), default=today)
    end = newest if (today - newest).days >= count else today
    return [end - timedelta(days=ago) for ago in reversed(range(count))]


def day_starts(memory: Memory, days: Sequence[date]) -> list[datetime]:
    """Return the moment at which each day begins on the clocks of a memory, and the last ends."""
    ends = [*days, days[-1] + timedelta(days=1)]
    return [datetime.combine(day, time(), tzinfo=memory.now().tzinfo) for day in ends]


def list_jobs(memory: Memory) -> Mapping[date, Sequence[Job]]:
    """Return the records of all jobs by day; they are read once for each state of the index."""

    def read() -> Mapping[date, Sequence[Job]]:
        found: dict[date, list[Job]] = defaultdict(list)
        for job in read_jobs(memory):
            found[day_in(job.at, memory.zone)].append(job)
        return found

    with memory.index.guard:
        return memory.index.searcher().once("jobs by day", read)


def _recalls_by_day(memory: Memory) -> Mapping[date, Counter[str]]:
    found: dict[date, Counter[str]] = defaultdict(Counter)
    for receipt in read_receipts(memory):
        found[day_in(receipt.at, memory.zone)][receipt.to] += 1
    return found

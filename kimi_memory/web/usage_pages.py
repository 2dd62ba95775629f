"""The page of usage: what jobs, models, runs and agents came to, day by day and in sum."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from kimi_memory.api.memory import Memory
from kimi_memory.domain.agent_run import Usage
from kimi_memory.operations.usage_report import UsageDay, list_jobs, usage
from kimi_memory.runs.metering import list_usage, sum_usage
from kimi_memory.web.drawing import bars
from kimi_memory.web.page_types import Asked, Download, View

SPANS = (14, 30, 90, 365)
SUMS = {"job": ("job", "model"), "agent": ("agent",), "node": ("node",), "user": ("user",)}
"""What the table of sums can be added up by."""
FIGURES = (
    *("calls", "tokens_in", "tokens_out", "tokens_cached", "cpu_s", "wall_s", "reads", "writes"),
)
_HEAD = ("day", "what", "name", "count", "calls", "tokens_in", "tokens_out")


class DayUsage(NamedTuple):
    """What happened on one day, with what models were asked."""

    day: date
    jobs: Mapping[str, int]
    """How many jobs and runs of agents, by kind."""
    models: Mapping[str, Usage]
    sessions: int
    turns: int
    recalls: Mapping[str, int]


def show_usage(memory: Memory, asked: Asked) -> View | Download:
    """Show figures of the last days as bars and as tables, or return them as a file."""
    found = usage(memory, asked.number("days", 30))
    jobs = [job for ones in list_jobs(memory).values() for job in ones]
    rows = list_usage(memory, found[0].day, jobs)
    days = [*_join_days(found, rows)]
    if asked.get("as") == "csv":
        return Download(_write_csv(days), "text/csv; charset=utf-8", f"usage-{days[-1].day}.csv")
    by = asked.get("by") if asked.get("by") in SUMS else "job"
    [size] = sum_usage(rows, ())
    values = {
        "span": len(days), "last": days[-1].day, "spans": SPANS, "charts": _draw(days),
        "days": [one for one in reversed(days) if one.jobs or one.turns or one.recalls],
        "by": by, "ways": tuple(SUMS), **_sum_up(rows, by), "size": size,
    }  # fmt: skip
    return View("usage", "usage_page", values)


def _join_days(found: Sequence[UsageDay], rows: Sequence[Usage]) -> Iterator[DayUsage]:
    models: dict[str, dict[str, Usage]] = defaultdict(dict)
    for one in sum_usage([row for row in rows if row.calls], ("day", "model")):
        models[one.day][one.model] = one
    runs = Counter(row.day for row in rows if row.job == "run")
    for day in found:
        ran = runs[f"{day.day}"]
        jobs = {**day.jobs, "run": ran} if ran else day.jobs
        yield DayUsage(
            day.day, jobs, models[f"{day.day}"], day.sessions, day.turns, day.recalls
        )  # fmt: skip


def _sum_up(rows: Sequence[Usage], by: str) -> Mapping[str, object]:
    """Return the table of sums; a column without a figure would only make the others narrow."""
    sums = sum_usage(rows, SUMS[by])
    figures = [name for name in FIGURES if any(getattr(one, name) for one in sums)]
    shown = [one for one in sums if any(getattr(one, name) for name in figures)]
    return {"sums": shown, "keys": SUMS[by], "figures": figures}


def _draw(days: Sequence[DayUsage]) -> Mapping[str, object]:
    return {
        "usage_jobs": bars([(one.day, one.jobs) for one in days]),
        "usage_tokens": bars([(one.day, _tokens(one)) for one in days]),
        "usage_turns": bars([(one.day, {"turns": one.turns} if one.turns else {}) for one in days]),
        "usage_recalls": bars([(one.day, one.recalls) for one in days]),
    }


def _tokens(day: DayUsage) -> dict[str, int]:
    return {name: used.tokens_in + used.tokens_out for name, used in day.models.items()}


def _write_csv(days: Sequence[DayUsage]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_HEAD)
    writer.writerows(row for day in days for row in _rows(day))
    return text.getvalue()


def _rows(day: DayUsage) -> Iterator[tuple[object, ...]]:
    for kind, count in sorted(day.jobs.items()):
        yield day.day, "jobs", kind, count, "", "", ""
    for name, used in sorted(day.models.items()):
        # A name of a model may begin as a formula does; a table calculator must not take it so.
        yield day.day, "model", _plain(name), "", used.calls, used.tokens_in, used.tokens_out
    for agent, count in sorted(day.recalls.items()):
        yield day.day, "recalls", _plain(agent), count, "", "", ""
    yield day.day, "sessions", "", day.sessions, "", "", ""
    yield day.day, "turns", "", day.turns, "", "", ""


def _plain(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text

"""The page of usage: what jobs, models, sessions and agents came to, day by day."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from kimi_memory.api.memory import Memory
from kimi_memory.operations.usage_report import UsageDay, usage
from kimi_memory.web.drawing import bars
from kimi_memory.web.page_types import Asked, Download, View

SPANS = (14, 30, 90, 365)
_HEAD = ("day", "what", "name", "count", "calls", "tokens_in", "tokens_out")


def show_usage(memory: Memory, asked: Asked) -> View | Download:
    """Show figures of the last days as bars and as a table, or return them as a file."""
    span = asked.number("days", 30)
    days = usage(memory, span)
    if asked.get("as") == "csv":
        return Download(_write_csv(days), "text/csv; charset=utf-8", f"usage-{days[-1].day}.csv")
    charts = {
        "usage_jobs": bars([(one.day, one.jobs) for one in days]),
        "usage_tokens": bars([(one.day, _tokens(one)) for one in days]),
        "usage_turns": bars([(one.day, {"turns": one.turns} if one.turns else {}) for one in days]),
        "usage_recalls": bars([(one.day, one.recalls) for one in days]),
    }
    busy = [one for one in reversed(days) if one.jobs or one.turns or one.recalls]
    values = {
        "span": len(days),
        "last": days[-1].day,
        "spans": SPANS,
        "charts": charts,
        "days": busy,
    }
    return View("usage", "usage_page", values)


def _tokens(day: UsageDay) -> dict[str, int]:
    return {name: spent.tokens_in + spent.tokens_out for name, spent in day.models.items()}


def _write_csv(days: Sequence[UsageDay]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_HEAD)
    writer.writerows(row for day in days for row in _rows(day))
    return text.getvalue()


def _rows(day: UsageDay) -> Iterator[tuple[object, ...]]:
    for kind, count in sorted(day.jobs.items()):
        yield day.day, "jobs", kind, count, "", "", ""
    for name, spent in sorted(day.models.items()):
        # A name of a model may begin as a formula does; a table calculator must not take it so.
        yield day.day, "model", _plain(name), "", spent.calls, spent.tokens_in, spent.tokens_out
    for agent, count in sorted(day.recalls.items()):
        yield day.day, "recalls", _plain(agent), count, "", "", ""
    yield day.day, "sessions", "", day.sessions, "", "", ""
    yield day.day, "turns", "", day.turns, "", "", ""


def _plain(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text

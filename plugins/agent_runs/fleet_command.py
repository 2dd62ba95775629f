"""``fleet``: one job over many memories, by workers of this machine or of a Ray cluster."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from kimi_memory import Opening
from kimi_memory.api.options import Home, user_host
from kimi_memory.cli.shared import (
    find_person,
    on_terminal,
    say,
    show_note,
    show_result,
    translate,
)
from kimi_memory.cluster.fleet import consolidate_unit, find_memories, run_fleet
from kimi_memory.cluster.membership import Cluster
from kimi_memory.cluster.reaching import name_silent_engine
from kimi_memory.domain.fleet import Pool, PoolWish, Unit, UnitResult
from kimi_memory.domain.job_registry import scheduled
from kimi_memory.errors import KimiMemoryError, UsageError

_MEMORY_MB = 2048
_LONGEST_SECONDS = 3600.0
_PER_ROUND_SECONDS = 60.0
_STEP = 100
"""After so many memories a person is shown how far it is."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments."""
    steps = parser.add_subparsers(dest="step", required=True, metavar="STEP")
    run = steps.add_parser("consolidate", help="run a scheduled job in many memories")
    names = [job.name for job in scheduled()]
    run.add_argument("period", choices=names, help="which job")
    run.add_argument(
        "folders", nargs="*", type=Path, metavar="FOLDER",
        help="memories, or folders with memories below; default: those of the cluster",
    )  # fmt: skip
    run.add_argument("--on", default="process", help="process or ray; default: process")
    run.add_argument("--workers", type=int, default=0, metavar="N", help="default: processors")
    run.add_argument("--address", default="", help="of a Ray cluster; default: one for this run")
    run.add_argument(
        "--per-round", type=float, default=_PER_ROUND_SECONDS, metavar="S",
        help="seconds of sessions before others have their turn; default: 60",
    )  # fmt: skip
    run.add_argument(
        "--ram", type=int, default=_MEMORY_MB, metavar="MB", help="most of a worker; default: 2048"
    )
    run.add_argument(
        "--seconds", type=float, default=_LONGEST_SECONDS, metavar="S",
        help="most for one memory at a time; default: 3600",
    )  # fmt: skip
    run.add_argument("--dry-run", action="store_true", help="only list the memories")


def run(arguments: Namespace) -> int:
    """Run a job in many memories; 1 where it failed in some."""
    if min(arguments.per_round, arguments.seconds, arguments.workers, arguments.ram) < 0:
        raise UsageError("--per-round, --seconds, --workers or --ram is below zero.")
    home = Home.of_user()
    units = list(_list_units(arguments, home))
    if arguments.dry_run:
        rows = [{"folder": one.folder, "node": one.node} for one in units]
        show_result(arguments, rows, ("  ".join(filter(None, row.values())) for row in rows))
        return 0
    results = _run_units(arguments, home, units)
    found = [{**one._asdict(), "unit": one.unit.folder, "name": one.unit.name} for one in results]
    show_result(arguments, found, _format_results(results))
    return KimiMemoryError.exit_code if any(one.outcome == "failed" for one in results) else 0


def _run_units(arguments: Namespace, home: Home, units: list[Unit]) -> list[UnitResult]:
    workers = arguments.workers or os.cpu_count() or 1
    wish = PoolWish(workers, consolidate_unit, arguments.address)
    pool: Pool | None = user_host(home).answer("open_pool", name=arguments.on, wish=wish)
    if pool is None:
        raise UsageError(f"There is no pool {arguments.on!r}. Use process, or ray.")
    results = []
    with closing(pool):
        for one in run_fleet(pool, units):
            results.append(one)
            if len(results) % _STEP == 0 and on_terminal():
                show_note(say("{count} of {all} memories", count=len(results), all=len(units)))
    return results


def _list_units(arguments: Namespace, home: Home) -> Iterator[Unit]:
    def unit(folder: str, name: str, node: str = "") -> Unit:
        # The user of another machine has directories of their own.
        own = ("", "") if node else (str(home.config), str(home.state))
        bounds = (arguments.per_round, arguments.ram, arguments.seconds)
        return Unit(folder, name, arguments.period, *own, node, *bounds)

    if not arguments.folders:
        yield from _list_deployed(arguments, unit)
        return
    seen: set[Path] = set()
    for given in arguments.folders:
        root = given.expanduser().resolve()
        found = list(find_memories(root)) if root.is_dir() else []
        if not found:
            raise UsageError(f"There is no memory in {root}. Name folders with memories.")
        for folder in found:
            if folder not in seen:
                seen.add(folder)
                yield unit(str(folder), folder.name)


def _list_deployed(arguments: Namespace, unit: Callable[..., Unit]) -> Iterator[Unit]:
    """Yield the memories of the cluster; on this machine alone, those that lie here."""
    opening = Opening(home=Home.of_user(), actor=find_person(), background=False)
    with name_silent_engine(), Cluster.open("", opening) as cluster:
        rows = cluster.registry.deployments()
        for memory in dict.fromkeys(one.memory for one in rows):
            state = cluster.state(memory)
            held = {one.node: one for one in rows if one.memory == memory}
            lead = held.get(state.holder) if state.held else None
            row = lead or held.get(cluster.node)
            if row is not None and row.node == cluster.node:
                yield unit(row.folder, row.name)
            elif row is not None and arguments.on == "ray":
                yield unit(row.folder, row.name, row.node)


def _format_results(results: list[UnitResult]) -> Iterator[str]:
    counts = Counter(one.outcome for one in results)
    for one in results:
        if one.outcome in ("failed", "elsewhere"):
            mark = "✗" if one.outcome == "failed" else "→"
            yield f"{mark} {one.unit.folder}: {translate(one.why)}"
    named = {name: counts[name] for name in ("done", "idle", "elsewhere", "failed")}
    yield say(
        "{all} memories: {done} done, {idle} nothing to do, {elsewhere} led elsewhere, "
        "{failed} failed",
        all=len(results), **named,
    )  # fmt: skip
    if calls := sum(one.calls for one in results):
        sent, made = (sum(getattr(one, name) for one in results)
                      for name in ("tokens_in", "tokens_out"))  # fmt: skip
        yield say("models: {calls} asked, {sent} tokens in, {made} out", calls=calls, sent=sent,
                  made=made)  # fmt: skip

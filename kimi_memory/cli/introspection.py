"""The part of ``consolidate`` that introspects, and its report in four phases."""

from __future__ import annotations

from argparse import Namespace

from kimi_memory.cli.shared import open_memory, show, show_json, show_report
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.introspect import Introspection, introspect


def run_introspection(arguments: Namespace) -> int:
    """Introspect and print what each phase did."""
    with open_memory(arguments) as memory:
        found = introspect(memory, dry_run=arguments.dry_run)
    if arguments.json:
        show_json(found)
        return 0
    for line in phases(found):
        show(line)
    for line in found.stopped:
        show(f"      stopped {line}")
    for report in (*found.distilled, found.job):
        if report.id or report.left_out:
            show()
            show_report(report)
    return 0


def phases(found: Introspection) -> list[str]:
    """Return one line a phase."""
    done, bands = found.summary, found.summary.bands
    kinds = [str(operation.op) for report in found.distilled for operation in report.operations]
    return [
        f"[1/4] Distil       {counted(len(found.distilled), 'sessions')}, "
        f"{counted(kinds.count('ADD'), 'notes')} added",
        f"[2/4] Consolidate  {counted(done.merged, 'duplicates')} merged, "
        f"{counted(done.suggested, 'links')} suggested",
        f"[3/4] Cool down    {bands.get('hot', 0)} hot, {bands.get('warm', 0)} warm, "
        f"{bands.get('cold', 0)} cold ({done.warmed} warmer, {done.cooled} cooler than before)",
        f"[4/4] Forget       {counted(done.forgotten, 'cards')} and "
        f"{counted(done.pruned, 'events')} archived",
    ]

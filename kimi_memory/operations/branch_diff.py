"""What a branch has otherwise than this memory: files, or what its cards say."""

from __future__ import annotations

from dataclasses import replace

from kimi_memory.api.memory import Memory
from kimi_memory.domain.past import BeliefDiff
from kimi_memory.errors import NotFoundError
from kimi_memory.operations.branches import find_branches, flush_branch
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.past.beliefs import compare_beliefs
from kimi_memory.past.points import Point


def diff_files(memory: Memory, name: str) -> str:
    """Return the diff from the last version here to that of a branch.

    Raises:
        NotFoundError: there is no such branch on this machine.
    """
    return memory.history.diff(*_find_versions(memory, name))


def diff_beliefs(memory: Memory, name: str) -> BeliefDiff:
    """Return how the cards of a branch differ from those here.

    Raises:
        NotFoundError: there is no such branch on this machine.
    """
    ours, theirs = _find_versions(memory, name)
    here = memory.points.find(ours)
    there: Point = here._replace(commit=theirs, version=0)
    found = compare_beliefs(memory.past, here, there)
    return replace(found, total=memory.past.count_cards(here))


def _find_versions(memory: Memory, name: str) -> tuple[str, str]:
    """Return the last commit here and that of a branch; what was written is committed first."""
    found = find_branches(memory)
    if name not in found:
        raise NotFoundError("branch", name)
    memory.batch.flush()
    flush_branch(memory, found[name])
    merger = memory.history.merger()
    purged = bool(find_purged_heads(memory))
    return merger.ours, merger.fetch(found[name], purged=purged)

"""Checkpoints: how far the journal of a copy went, read from the commits of the history.

The head of the journal binds all its records, and so the content that every file had when
it was written. Each copy has a journal of its own: a checkpoint names the copy it is of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kimi_memory.store.copy import copy_id
from kimi_memory.store.store import Store

if TYPE_CHECKING:
    from kimi_memory.domain.operation_types import Commit

TRAILER = "Checkpoint"


def checkpoint(store: Store) -> dict[str, str]:
    """Return the trailer of a commit that is made now; none where nothing is sure to last."""
    try:
        seq, head = store.journal.head(sync=True)
    except OSError:
        return {}
    copy = copy_id(store)
    return {TRAILER: f"{copy} {seq} {head}"} if copy else {}


def copy_of(commit: Commit) -> str | None:
    """Return the copy that made a commit; empty for an unnamed one, None for a person's own."""
    said = commit.trailers.get(TRAILER, "").split()
    if not said:
        return None
    return said[0] if len(said) == 3 else ""


def checkpoints_of(commits: Iterable[Commit], copy: str) -> set[tuple[int, str]]:
    """Return number and hash of the journal's head at each commit of a copy."""
    own = (commit.trailers[TRAILER].split() for commit in commits if copy_of(commit) == copy)
    return {(int(seq), head) for _, seq, head in own if seq.isdigit()} if copy else set()

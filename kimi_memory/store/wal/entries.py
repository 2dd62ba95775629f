"""Entries: changes on their way into the journal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kimi_memory.store.wal.contents import EXTERNAL
from kimi_memory.store.wal.last_records import Record


class Entry(NamedTuple):
    """One change to be journaled: content marks before and after, empty for absent."""

    op: str
    path: str
    before: str = ""
    after: str = ""
    was: str = ""
    """The path it had, for a move."""
    undo: str = ""
    """Name of the file in the undo area that holds the bytes before."""
    of: str = ""
    """The path whose other version a conflict copy is."""
    origin: str = ""
    """Where the content comes from, when not from the actor."""
    why: str = ""
    """Why the content waits for a person's word."""
    vetted: str = ""
    """The content mark of the last version that did not wait."""


def inherited(entries: Sequence[Entry], last: Callable[[str], Record | None]) -> Sequence[Entry]:
    """Return entries in which what only goes to another place goes on waiting, if it did.

    Args:
        entries: the changes of one transaction.
        last: returns the last record of a path.
    """
    gone = {entry.before: entry.path for entry in entries if entry.op == "delete"}
    come = [entry for entry in entries if entry.was or entry.after in gone]
    if not come:
        return entries
    found = {entry: last(entry.was or gone[entry.after]) for entry in come}
    waits = {e: r for e, r in found.items() if r and r.origin.startswith(f"{EXTERNAL}:")}
    return [
        e
        if (r := waits.get(e)) is None
        else e._replace(origin=r.origin, why=r.why, vetted=r.vetted)
        for e in entries
    ]

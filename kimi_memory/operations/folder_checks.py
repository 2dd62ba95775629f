"""What lies in the folder that should not: losing versions, ids that stand twice, twins of it."""

from __future__ import annotations

from collections.abc import Iterator

from kimi_memory.api.memory import Memory
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.store.files.paths import is_conflict_copy
from kimi_memory.store.notes.notes import Shelf


def check_folder(memory: Memory) -> Iterator[Finding]:
    """Yield what a person has to decide about files and folders."""
    yield from _conflict_copies(memory)
    yield from _other_folders(memory)


def check_ids(memory: Memory) -> Iterator[Finding]:
    """Yield the notes that have the id of another."""
    for path, other in Shelf(memory.store).doubles():
        yield Finding(
            "notes",
            Severity.WARNING,
            f"it has the id of {other}, so it is not read as a note",
            "Delete one of the two, or give it another id.",
            path,
        )


def _conflict_copies(memory: Memory) -> Iterator[Finding]:
    for path in memory.store.files():
        if is_conflict_copy(path):
            yield Finding(
                "folder",
                Severity.WARNING,
                "a sync tool left this losing version here; it is not read",
                "Take over what is right into the other file, then delete this one.",
                path,
            )


def _other_folders(memory: Memory) -> Iterator[Finding]:
    for path in memory.other_copies():
        yield Finding(
            "folder",
            Severity.WARNING,
            f"the same memory lies in {path}, too, and each goes on by itself",
            "Join them with 'git pull', or give one of them another id in its memory.toml.",
        )

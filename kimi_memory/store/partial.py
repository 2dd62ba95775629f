"""A part of a memory: what a record says to a folder that keeps some tiers alone.

Such a folder has no history: what it has is known to be right by the hashes that records name for
each file, and not by commits, which need every file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from kimi_memory.domain.change_log import LoggedStep, LogRecord


def is_in_part(path: str, keep: Collection[str]) -> bool:
    """Whether a folder keeps a file; all of them where it names no tier."""
    first, inside, _ = path.partition("/")
    return not (keep and inside) or first in keep


def narrow_record(record: LogRecord, keep: Collection[str]) -> LogRecord:
    """Return what a record says of the files that a folder keeps.

    Raises:
        ValueError: it moves a file there, and does not say what is in it.
    """
    if not keep:
        return record
    commit = record.commit
    if commit is not None:
        carried = {path: one for path, one in commit.carried.items() if is_in_part(path, keep)}
        commit = replace(commit, carried=carried)
    return replace(record, steps=tuple(_narrow_steps(record, keep)), commit=commit)


def _narrow_steps(record: LogRecord, keep: Collection[str]) -> Iterator[LoggedStep]:
    for step in record.steps:
        here, there = is_in_part(step.path, keep), is_in_part(step.to, keep)
        if not step.to or here == there:
            if here:
                yield step
        elif step.kind != "move":
            # An edit that gave a file another name: `to` is the one it had.
            gone = replace(step, kind="deleted", path=step.to, to="", after="", content=None)
            yield replace(step, to="") if here else gone
        elif here:
            yield replace(step, kind="delete", to="", after="")
        elif step.content is None:
            raise ValueError(f"it moves {step.path} to {step.to}, and that is not kept here")
        else:
            yield replace(step, kind="create", path=step.to, to="", before="")

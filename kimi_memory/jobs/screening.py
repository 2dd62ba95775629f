"""The door of jobs: what a job would write for the first time holds no secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kimi_memory.domain.change import Append, Change, Create, Update
from kimi_memory.domain.job import Plan
from kimi_memory.domain.json_value import Json
from kimi_memory.formats.checksum import seal, unseal
from kimi_memory.store.files.paths import TOMBSTONES

Mask = Callable[[str, str], str]
"""Masks the secrets of a text that do not stand in another one already."""
_SPOKEN = "episodic/sessions/"
"""Talk passed the door of its session; its bytes do not change when it is archived."""


def screen_plan(plan: Plan, mask: Mask) -> Plan:
    """Return a plan whose subject and reasons hold no secret."""
    steps = tuple(replace(step, why=mask(step.why, "")) for step in plan.steps)
    return replace(plan, subject=mask(plan.subject, ""), steps=steps)


def screen_changes(
    changes: Sequence[Change], before: Mapping[str, bytes], mask: Mask
) -> list[Change]:
    """Return changes that bring no secret into the folder.

    What stood in one of the files before is its owner's and stays, even if it moves.

    Args:
        changes: what a job would write.
        before: bytes of the files it would update or delete, by path.
        mask: what masks.
    """
    known = b"\n".join(before.values()).decode("utf-8", "replace")
    return [_screen_change(change, known, mask) for change in changes]


def _screen_change(change: Change, known: str, mask: Mask) -> Change:
    match change:
        case Create(path=path, content=content) | Update(path=path, content=content):
            # Records are sealed line by line, and were screened when they were written.
            if path.startswith(_SPOKEN) or not path.endswith(".md"):
                return change
            return change._replace(content=_mask_text(content, known, mask))
        case Append(path=path, lines=lines) if path == TOMBSTONES:
            return change._replace(lines=tuple(_mask_record(line, mask) for line in lines))
    return change


def _mask_text(content: bytes, known: str, mask: Mask) -> bytes:
    text = content.decode("utf-8", "surrogateescape")
    return mask(text, known).encode("utf-8", "surrogateescape")


def _mask_record(line: bytes, mask: Mask) -> bytes:
    """Return a tombstone's line; its value bars what was said, and is hashed if it is secret."""
    record: dict[str, Json] = unseal(line)
    clean = {
        name: mask(value, "") if isinstance(value, str) and name != "value" else value
        for name, value in record.items()
    }
    return line if clean == record else seal(clean)

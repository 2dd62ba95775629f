"""Folders that a sandbox may show: named by a person, whole, and never a memory by accident."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from kimi_memory.config import MARKER
from kimi_memory.domain.agent_run import RunSpec
from kimi_memory.errors import UsageError

_WHOLE = ("/", "/etc", "/proc", "/sys", "/dev", "/run", "/var", "/home", "/root", "/box", "/tmp")  # noqa: S108  refused

NOBODY = 65534
"""Root starts sandboxes as this user: root outside would be root for files of the kernel."""


def split_root(text: str) -> tuple[Path, bool]:
    """Return the folder of a grant and whether it may be changed: ``rw:`` stands in front then."""
    return Path(text.removeprefix("rw:")), text.startswith("rw:")


def check_root(path: Path) -> None:
    """Refuse a folder that would show more than its name says.

    Raises:
        UsageError: it is relative, absent, reached by a link, a folder of the system, or holds a
            memory or the settings of its user.
    """
    if not path.is_absolute() or not path.is_dir():
        raise UsageError(f"{path} is no folder with its whole path. Name one that is there.")
    if path.resolve() != path:
        raise UsageError(f"{path} leads to {path.resolve()} by a link. Name that folder itself.")
    if str(path) in _WHOLE:
        raise UsageError(f"{path} holds much that nobody granted. Name a folder below it.")
    if (path / MARKER).exists():
        raise UsageError(f"{path} is a memory. An agent gets its part of it as a block.")


def keep_out(path: Path, kept: Sequence[Path]) -> None:
    """Refuse a folder that holds, or lies in, what a sandbox is to keep from its agent.

    Raises:
        UsageError: it does; the place is named.
    """
    for one in kept:
        if path == one or path in one.parents or one in path.parents:
            raise UsageError(f"A sandbox cannot show {path}: {one} would be seen. Name another.")


def give_away(spec: RunSpec, user: int) -> None:
    """Give the passing folder of a run to the user of sandboxes.

    Raises:
        UsageError: it is a folder that a person named, which keeps its owner.
    """
    if not spec.passing:
        raise UsageError(
            "Root has a sandbox run as nobody, who may not enter that folder. Leave --folder out, "
            "or start the agent as another user."
        )
    for path in (spec.work, *spec.work.iterdir()):
        # Never through a link: an earlier call may have left one to a file of root.
        os.chown(path, user, user, follow_symlinks=False)

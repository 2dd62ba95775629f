"""Lock files that a dead git left behind.

They are removed only by the holder of our own lock, when they are older than that
hold and no git process is near enough to own them: a person's `git commit -a` keeps
the index locked for as long as its editor is open.
"""

from __future__ import annotations

import time
from pathlib import Path

_SETTLED_SECONDS = 3.0
_BLIND_SECONDS = 600.0
PROCESSES = Path("/proc")


def find_locks(folder: Path) -> list[Path]:
    """Return the lock files of a repository that block later commands."""
    found = [*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")]
    found.extend((folder / "reftable").glob("*.lock"))
    return sorted([*found, *(folder / "objects" / "info").glob("*.lock")])


def remove_stale(folders: set[Path], root: Path, held_since: float) -> list[Path]:
    """Remove lock files whose owner is dead; return them.

    Args:
        folders: the repository's folders; those of a worktree are two.
        root: its work tree.
        held_since: when we got our lock, by the system's clock.
    """
    locks = [lock for folder in folders for lock in find_locks(folder)]
    old = [lock for lock in locks if _is_old(lock, held_since)]
    if not old or _may_be_owned({*folders, root}):
        return []
    for lock in old:
        lock.unlink(missing_ok=True)
    return old


def _is_old(lock: Path, held_since: float) -> bool:
    needed = _SETTLED_SECONDS if PROCESSES.is_dir() else _BLIND_SECONDS
    try:
        changed = lock.lstat().st_mtime
    except FileNotFoundError:
        return False
    return changed < held_since and time.time() - changed > needed


def _may_be_owned(places: set[Path]) -> bool:
    """Whether a git process works in one of the places, or where we cannot see."""
    near = [place.resolve() for place in places]
    return any(_is_near(process, near) for process in PROCESSES.glob("[0-9]*"))


def _is_near(process: Path, near: list[Path]) -> bool:
    try:
        if not (process / "comm").read_bytes().startswith(b"git"):
            return False
        works_in = (process / "cwd").readlink()
    except (FileNotFoundError, ProcessLookupError):
        return False
    except OSError:
        return True
    return any(works_in.is_relative_to(place) for place in near)

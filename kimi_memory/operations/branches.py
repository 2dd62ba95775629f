"""Branches: working copies of a memory on this machine, and how each differs from it."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import replace
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.domain.past import BeliefDiff
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.counted import counted
from kimi_memory.operations.health_checks import find_purged_heads
from kimi_memory.operations.new_folders import beside
from kimi_memory.past.beliefs import compare_beliefs
from kimi_memory.past.points import Point
from kimi_memory.store.git.read import is_plain_name

_MAIN = "main"
_LONGEST_NAME = 100
"""Bytes of a name: git keeps it as a file, whose name has room for 255."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A working copy of a memory."""

    name: str
    folder: Path
    ahead: int
    """Versions that are there and not here."""
    behind: int
    """Versions that are here and not there."""
    pending: bool
    """Whether something was written there that has no version yet."""


def find_branches(memory: Memory) -> dict[str, Path]:
    """Return the folders of branches on this machine, by name."""
    found: dict[str, Path] = {}
    for place in map(Path, memory.other_copies()):
        name = _read_branch(place)
        if name not in ("", _MAIN):
            found.setdefault(name, place)
    return found


def _read_branch(place: Path) -> str:
    """Return the branch a copy is on, empty where it is on none."""
    try:
        head = (place / ".git" / "HEAD").read_text(encoding="utf-8")
    except (OSError, ValueError):
        # The copy is no repository, or its folder went: then it is on no branch.
        return ""
    ref = head.strip().removeprefix("ref: ")
    return ref.removeprefix("refs/heads/") if ref.startswith("refs/heads/") else ""


def list_branches(memory: Memory) -> list[Branch]:
    """Return the branches of a memory and how far they are from it, in order of their names."""
    merger, found = memory.history.merger(), list[Branch]()
    for name, folder in sorted(find_branches(memory).items()):
        with Memory.open(folder, beside(memory)) as branch:
            pending = branch.batch.pending()
        found.append(Branch(name, folder, *merger.count_apart(folder), pending))
    return found


def check_name(memory: Memory, name: str) -> None:
    """Refuse a name that no branch may have, or that one on this machine has already."""
    # Beside a branch of this name, git calls its own HEAD, ORIG_HEAD or FETCH_HEAD ambiguous.
    is_of_git = name.upper() == "HEAD" or name.upper().endswith("_HEAD")
    if is_of_git or not is_plain_name(name, "-_"):
        raise UsageError(f"{name!r} cannot be a branch. Use letters, digits, '-' and '_'.")
    if len(name.encode()) > _LONGEST_NAME:
        raise UsageError(
            f"A branch has a name of at most {_LONGEST_NAME} bytes. Choose a shorter one."
        )
    if memory.is_secret(name):
        raise UsageError("The name holds a secret, which git would keep. Choose another.")
    # Its name alone is what shows which branch a folder holds.
    taken = memory.root if name == _MAIN else find_branches(memory).get(name)
    if taken is not None:
        raise UsageError(f"{taken} is the branch {name!r} already. Choose another name.")


def place_branch(memory: Memory, name: str) -> Path:
    """Return where a new branch lies unless somebody says otherwise: beside the memory."""
    return memory.root.parent / f"{memory.root.name}-{name}"


def find_branch(memory: Memory, name: str) -> Path:
    """Return the folder of a branch on this machine; NotFoundError where there is none."""
    found = find_branches(memory)
    if name not in found:
        raise NotFoundError("branch", name)
    return found[name]


def open_branch(memory: Memory, name: str) -> Memory:
    """Open a branch on this machine; NotFoundError where there is none."""
    return Memory.open(find_branch(memory, name), beside(memory))


def flush_branch(memory: Memory, folder: Path) -> str:
    """Make what was written in a branch a version; return its commit, empty if there is none."""
    with Memory.open(folder, beside(memory)) as branch:
        return branch.batch.flush()


def remove_branch(memory: Memory, name: str, *, drop: bool = False) -> Branch:
    """Remove the folder of a branch.

    Args:
        memory: opened for writing.
        name: of the branch.
        drop: what is there and not here goes with it.

    Raises:
        NotFoundError: there is no such branch on this machine.
        UsageError: it has versions that are not here.
    """
    found = {one.name: one for one in list_branches(memory)}
    if name not in found:
        raise NotFoundError("branch", name)
    branch = found[name]
    # What a person wrote in a file there is found when it is made a version, not before.
    if not drop and (branch.ahead or branch.pending or flush_branch(memory, branch.folder)):
        count = counted(branch.ahead, "versions") if branch.ahead else "changes"
        raise UsageError(
            f"{name} has {count} not here. Bring them over with "
            f"'kimi-memory merge {name}', or give them up with --drop."
        )
    # Out of everybody's sight at once, whatever happens while the files go one by one.
    gone = branch.folder.with_name(f".{branch.folder.name}.{secrets.token_hex(4)}")
    try:
        branch.folder.replace(gone)
        shutil.rmtree(gone)
    except OSError as error:
        raise UsageError(f"{branch.folder} cannot be removed: {error.strerror}.") from error
    return branch


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
    folder = find_branch(memory, name)
    memory.batch.flush()
    flush_branch(memory, folder)
    merger = memory.history.merger()
    purged = bool(find_purged_heads(memory))
    return merger.ours, merger.fetch(folder, purged=purged)

"""A memory that follows branches of code: a working copy for each, folded back when it landed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.domain.sync import MergeReport
from kimi_memory.errors import KimiMemoryError, NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.operations.branches import find_branches, remove_branch
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import make_branch
from kimi_memory.store.files.code_branch import (
    FILE,
    find_working_copy,
    name_working_copy,
    read_code_branch,
    read_followed,
)
from kimi_memory.store.files.disk import put
from kimi_memory.store.git.command import Git

_HEADS = "refs/heads/"
_START = ".kimi/code-start"
"""In a working copy: the commit of the code at which it began."""


@dataclass(frozen=True, slots=True)
class CodeCopy:
    """A working copy of a memory that goes with a branch of code."""

    name: str
    folder: Path
    repository: str
    branch: str
    """Of the code; empty where it is gone."""
    landed: bool
    """Whether the base branch has all of it."""


@dataclass(frozen=True, slots=True)
class Folded:
    """What became of a working copy that was folded back."""

    copy: CodeCopy
    merged: MergeReport
    removed: bool


def follow_code(memory: Memory, folder: Path, base: str = "") -> tuple[str, str]:
    """Have a memory follow the branches of a repository; return the repository and its base.

    Args:
        memory: an open memory.
        folder: a work tree of the repository.
        base: the branch that is the memory itself; the one that is checked out if empty.

    Raises:
        UsageError: there is no repository of code, or no such branch.
    """
    repository, current = read_code_branch(str(folder))
    if not repository or Path(repository).is_relative_to(memory.root):
        raise UsageError(f"{folder} lies in no repository of code. Name a work tree of one.")
    base = base or current
    if not base or not _read_tip(repository, base):
        raise UsageError(f"{folder} has no branch {base or 'checked out'!r}. Name one by --base.")
    _write_followed(memory, {**read_followed(str(memory.root)), repository: base})
    return repository, base


def unfollow_code(memory: Memory, folder: Path) -> str:
    """Have a memory follow a repository no more; its working copies stay. Return the repository.

    Raises:
        UsageError: it is not followed.
    """
    repository, _ = read_code_branch(str(folder))
    rest = dict(read_followed(str(memory.root)))
    if rest.pop(repository, None) is None:
        raise UsageError(f"The repository of {folder} is not followed.")
    _write_followed(memory, rest)
    return repository


def lay_working_copy(memory: Memory, folder: Path) -> Path:
    """Return the memory for what is checked out in a folder; a working copy is made if it lacks."""
    name, place = find_working_copy(str(memory.root), str(folder))
    if name and not (Path(place) / MARKER).is_file():
        try:
            make_branch(memory, name, Path(place))
        except KimiMemoryError:
            # Another session may have made it meanwhile.
            if not (Path(place) / MARKER).is_file():
                raise
        repository, branch = read_code_branch(str(folder))
        put(Path(place) / _START, _read_tip(repository, branch).encode())
    return Path(place)


def list_code_copies(memory: Memory) -> list[CodeCopy]:
    """Return the working copies that go with branches of code, in order of their names."""
    known: dict[str, tuple[str, str, str]] = {}
    for repository, base in read_followed(str(memory.root)).items():
        for branch, landed in _list_branches(repository, base).items():
            known[name_working_copy(repository, branch)] = repository, branch, landed
    found = list[CodeCopy]()
    for name, folder in sorted(find_branches(memory).items()):
        if not (folder / _START).is_file():
            continue
        repository, branch, landed = known.get(name, ("", "", ""))
        # A branch on which nothing was done yet is part of its base, and has not landed.
        done = landed not in ("", (folder / _START).read_text(encoding="ascii"))
        found.append(CodeCopy(name, folder, repository, branch, done))
    return found


def fold_code(memory: Memory, names: Sequence[str] = (), *, yes: bool = False) -> list[Folded]:
    """Bring working copies of branches that landed into the memory, and remove them.

    Args:
        memory: opened for writing.
        names: of working copies, whatever became of their branch; those that landed if empty.
        yes: do it; else only report what would be merged.

    Raises:
        NotFoundError: there is no such working copy.
    """
    copies = {copy.name: copy for copy in list_code_copies(memory)}
    if missing := [name for name in names if name not in copies]:
        raise NotFoundError("branch", missing[0])
    wanted = [copies[name] for name in names] or [one for one in copies.values() if one.landed]
    found = []
    for copy in wanted:
        merged = merge_copy(memory, copy.name, dry_run=not yes)
        if yes:
            remove_branch(memory, copy.name)
        found.append(Folded(copy, merged, yes))
    return found


def _write_followed(memory: Memory, followed: dict[str, str]) -> None:
    put(memory.root / FILE, json.dumps(followed, ensure_ascii=False, indent=2).encode())


def _open_code(repository: str) -> Git:
    return Git(Path(repository), Path(repository))


def _read_tip(repository: str, branch: str) -> str:
    found = _open_code(repository).call("rev-parse", "--verify", "--quiet", f"{_HEADS}{branch}")
    return found.out.decode("ascii", "replace").strip() if found.code == 0 else ""


def _list_branches(repository: str, base: str) -> dict[str, str]:
    """Return the branches of a repository, each with its tip if the base has all of it."""
    if not Path(repository).is_dir():
        return {}
    git, form = _open_code(repository), "--format=%(refname)"
    refs = git.run("for-each-ref", form, _HEADS).decode("utf-8", "surrogateescape").split()
    merged = git.run("for-each-ref", form, f"--merged={_HEADS}{base}", _HEADS)
    landed = set(merged.decode("utf-8", "surrogateescape").split())
    names = [ref.removeprefix(_HEADS) for ref in refs if ref != f"{_HEADS}{base}"]
    return {
        name: _read_tip(repository, name) if f"{_HEADS}{name}" in landed else "" for name in names
    }

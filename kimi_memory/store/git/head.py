"""HEAD: the branch and commit that are checked out, where it moved and by what.

All of it is read from files where they tell, as a call of git takes longer.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kimi_memory.store.files.cache_files import put
from kimi_memory.store.files.disk import UNKNOWN, Stat, state_of
from kimi_memory.store.files.paths import PRIVATE

# Every command looks here, and most need no process of git.
if TYPE_CHECKING:
    from kimi_memory.store.git.command import Git

_ON_BRANCH = re.compile(rb"ref: (refs/heads/[A-Za-z0-9_][A-Za-z0-9_-]*)\n")
"""What git writes as HEAD on a branch with a plain name."""
_COMMIT = re.compile(rb"([0-9a-f]{40})\n")

# Each movement costs a call of git.
_MOST = 200
"""So many of the last movements of HEAD are looked at."""
_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) .*?> (\d+) [+-]\d{4}\t?(.*)")
_HERE = re.compile(rb"kimi_memory: |clone:|[Bb]ranch:|commit(?: \((?:initial|amend)\))?:")
"""What moves HEAD without bringing anything: our commits, and a person's own."""
_WENT = re.compile(rb"(?:checkout|reset):")
_MERGED = b"commit (merge)"
UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")
"""Files that stand in a repository while a merge, or the like, is not finished."""

_MARK = f"{PRIVATE}/merges"
"""Names the last movement that was examined for merges; without it all are examined again."""

State = tuple[Stat, ...]
Movement = tuple[str, str, bool]
"""The commit HEAD was at, the one it was moved to, and whether a person settled a merge by it."""


def branch(git: Git) -> tuple[str, str]:
    """Return the current branch's ref, empty when detached, and its commit, empty before one."""
    if any(found := read_branch_file(git)):
        return found
    # One process tells both; `symbolic-ref` and `rev-parse` would be two.
    form = "--format=%(HEAD)%(refname)%00%(objectname)"
    for row in git.run("for-each-ref", form, "refs/heads").splitlines():
        if row.startswith(b"*"):
            ref, _, head = os.fsdecode(row[1:]).partition("\0")
            return ref, head
    return os.fsdecode(git.call("symbolic-ref", "-q", "HEAD").out.rstrip(b"\n")), ""


def folder_of(git: Git) -> Path:
    """Return the folder of a repository."""
    return git.folder or git.root / ".git"


def read_branch_file(git: Git) -> tuple[str, str]:
    """Return the same where files say it: the branch's own, or the list that `git gc` leaves.

    Asking git took a third of a sync that finds nothing new. Both are empty where git has to be
    asked.
    """
    folder = folder_of(git)
    try:
        named = _ON_BRANCH.fullmatch((folder / "HEAD").read_bytes())
        if not named or (folder / "commondir").exists():
            return "", ""
        ref = os.fsdecode(named[1])
        if not (folder / ref).exists() and not (folder / "packed-refs").exists():
            return ref, ""
        commit = _find_commit(folder, ref)
    except OSError:
        # Git keeps it elsewhere, such as in a worktree: the caller asks git.
        return "", ""
    return (ref, commit[1].decode("ascii")) if commit else ("", "")


def _find_commit(folder: Path, ref: str) -> re.Match[bytes] | None:
    try:
        return _COMMIT.fullmatch((folder / ref).read_bytes())
    except FileNotFoundError:
        # Git writes the list before it removes the file.
        listed = re.compile(rb"^([0-9a-f]{40}) %b$" % ref.encode("ascii"), re.MULTILINE)
        return listed.search((folder / "packed-refs").read_bytes())


def checked_out(git: Git) -> str:
    """Return the current commit, on a branch or not; empty before the first one."""
    return branch(git)[1] or git.call("rev-parse", "-q", "--verify", "HEAD").text


def blob_of(content: bytes) -> str:
    """Return the name git gives to the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  git's own


def read_state(folder: Path) -> State:
    """Return what is another one after HEAD moved, or a merge began or went on."""
    return tuple(state_of(folder, name) or UNKNOWN for name in ("logs/HEAD", *UNDER_WAY, "index"))


# Asked at every start, so by files alone: a call of git takes as long as all of the rest.
def brought_nothing(folder: Path, since: float) -> bool:
    """Whether surely nothing came with commits since a moment of the system clock."""
    # A worktree or a submodule keeps its log elsewhere: there git has to be asked.
    try:
        is_folder = stat.S_ISDIR(os.lstat(folder).st_mode)
    except OSError:
        return True
    return is_folder and _is_quiet(folder, since, read_state(folder))


@lru_cache(maxsize=8)
def _is_quiet(folder: Path, since: float, _: State) -> bool:
    merging = any((folder / name).exists() for name in UNDER_WAY)
    return not merging and not any(True for _ in movements(folder, since))


def movements(folder: Path, since: float, *, merged: bool = False) -> Iterator[Movement]:
    """Yield the movements of HEAD that brought something, oldest first.

    Args:
        folder: of the repository.
        since: a moment of the system clock; earlier movements are left out.
        merged: leave out where a person went to another state.
    """
    known = [line for line in _read_head_log(folder) if int(line[3]) >= int(since)]
    known = [line for line in known if line[1].strip(b"0") and not _HERE.match(line[4])]
    known = [line for line in known if not (merged and _WENT.match(line[4]))]
    for line in known[-_MOST:]:
        yield line[1].decode(), line[2].decode(), line[4].startswith(_MERGED)


def head_at(folder: Path, moment: float) -> str:
    """Return the commit HEAD was at, at a moment of the system clock; empty if it is not known."""
    second = int(moment)  # Of what happened in that one, only a clone is sure to be older.
    log = [one for one in _read_head_log(folder) if int(one[3]) <= second]
    past = [one[2].decode() for one in log if int(one[3]) < second or one[4].startswith(b"clone:")]
    return past[-1] if past and past[-1].strip("0") else ""


def list_unexamined(root: Path, folder: Path, since: float) -> list[Movement]:
    """Return the movements of HEAD that brought something and were not examined.

    Args:
        root: the memory folder.
        folder: of its repository.
        since: a moment of the system clock; earlier movements are left out.
    """
    # Asked at every start: where nothing was ever pulled or merged, no note is read.
    if brought_nothing(folder, since):
        return []
    moved, mark = list(movements(folder, since)), _read_mark(root)
    known = [place for place, one in enumerate(moved) if one[1] == mark]
    return moved[known[-1] + 1 :] if known else moved


def note_examined(root: Path, commit: str) -> None:
    """Note that all merges up to a movement of HEAD to a commit were examined."""
    put(root / _MARK, f"{commit}\n".encode())


def _read_mark(root: Path) -> str:
    try:
        return (root / _MARK).read_bytes().decode("ascii", "replace").strip()
    except OSError:
        # Nothing was examined yet: all movements are.
        return ""


def _read_head_log(folder: Path) -> list[re.Match[bytes]]:
    try:
        lines = (folder / "logs" / "HEAD").read_bytes().splitlines()
    except OSError:
        # A repository without a log was never moved by anybody but us.
        return []
    return [found for line in lines if (found := _LINE.fullmatch(line))]

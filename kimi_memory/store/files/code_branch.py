"""The branch of code that a folder is on, and the working copy of a memory that goes with it."""

# A hook reads this before it asks anybody, so little is imported and no git is run.
from __future__ import annotations

import json
import os
import zlib

# Not from `typing`: hooks import this module, and its import costs milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = ".kimi/code.json"
"""Names the repositories a memory follows, each with the branch that is the memory itself."""
_HEAD = "ref: refs/heads/"
_SIGNS = "-_"


def find_working_copy(root: str, folder: str) -> tuple[str, str]:
    """Return name and place of the working copy for what is checked out in a folder.

    Args:
        root: the memory.
        folder: where somebody works.

    Returns:
        an empty name and the memory itself where that is meant.
    """
    followed = read_followed(root)
    repository, branch = read_code_branch(folder) if followed else ("", "")
    base = followed.get(repository, "")
    if not base or branch in ("", base):
        return "", root
    name = name_working_copy(repository, branch)
    return name, f"{os.path.realpath(root)}-{name}"


def read_followed(root: str) -> Mapping[str, str]:
    """Return the repositories that a memory follows, each with its base branch."""
    try:
        with open(os.path.join(root, FILE), encoding="utf-8") as file:
            found = json.load(file)
        return {str(name): str(base) for name, base in dict(found).items()}
    except (OSError, ValueError, TypeError):
        # A memory that follows no code has no such file.
        return {}


def read_code_branch(folder: str) -> tuple[str, str]:
    """Return the repository and the branch that is checked out in a folder; empty for none."""
    here = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return "", ""
        here = above
    try:
        private, common = _find_repository(os.path.join(here, ".git"))
        head = _read_line(os.path.join(private, "HEAD"))
    except (OSError, ValueError):
        # A broken repository has no branch, and what is said goes into the main memory.
        return "", ""
    return os.path.realpath(common), head.removeprefix(_HEAD) if head.startswith(_HEAD) else ""


def name_working_copy(repository: str, branch: str) -> str:
    """Return the name of the working copy for a branch of code; each branch has its own."""
    folder = os.path.dirname(repository) if os.path.basename(repository) == ".git" else repository
    whole = f"{os.path.basename(folder)}-{branch}"
    plain = "".join(one if one.isalnum() or one in _SIGNS else "-" for one in whole)
    # "fix/a" and "fix-a" are two branches, and so are those of two folders of one name.
    mark = zlib.crc32("\0".join((repository, branch)).encode("utf-8", "surrogateescape"))
    return f"{plain.strip('-')}-{mark:08x}"


def _find_repository(place: str) -> tuple[str, str]:
    """Return the folder of a work tree's own files, and that of the whole repository."""
    if os.path.isdir(place):
        return place, place
    named = _read_line(place).removeprefix("gitdir: ")
    private = os.path.join(os.path.dirname(place), named)
    shared = os.path.join(private, "commondir")
    return private, os.path.join(private, _read_line(shared) if os.path.isfile(shared) else "")


def _read_line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()

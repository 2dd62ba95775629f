"""What is checked out: the branch and its commit, without a process where files tell."""

from __future__ import annotations

import os
import re

from kimi_memory.store.git.command import Git

_ON_BRANCH = re.compile(rb"ref: (refs/heads/[A-Za-z0-9_][A-Za-z0-9_-]*)\n")
"""What git writes as HEAD on a branch with a plain name."""
_COMMIT = re.compile(rb"([0-9a-f]{40})\n")


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


def read_branch_file(git: Git) -> tuple[str, str]:
    """Return the same where the branch has a file of its own, as it has after each commit.

    Asking git took a third of a sync that finds nothing new. Both are empty where git has to be
    asked.
    """
    folder = git.folder or git.root / ".git"
    try:
        named = _ON_BRANCH.fullmatch((folder / "HEAD").read_bytes())
        if not named or (folder / "commondir").exists():
            return "", ""
        ref = os.fsdecode(named[1])
        if not (folder / ref).exists() and not (folder / "packed-refs").exists():
            return ref, ""
        commit = _COMMIT.fullmatch((folder / ref).read_bytes())
    except OSError:
        return "", ""
    return (ref, commit[1].decode("ascii")) if commit else ("", "")


def checked_out(git: Git) -> str:
    """Return the current commit, on a branch or not; empty before the first one."""
    return branch(git)[1] or git.call("rev-parse", "-q", "--verify", "HEAD").text

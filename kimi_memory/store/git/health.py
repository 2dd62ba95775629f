"""What the doctor should know of the history."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kimi_memory.domain.health import Finding, Severity
from kimi_memory.errors import HistoryError
from kimi_memory.store.git import settings
from kimi_memory.store.git.command import Git, decode
from kimi_memory.store.git.commit import busy_with
from kimi_memory.store.git.head import branch
from kimi_memory.store.git.settings import find_locks, is_shallow, risky_settings
from kimi_memory.store.git.syncthing import find_carried
from kimi_memory.store.git.tree import scan

_OLDEST = (2, 36)
_AGAIN = "Run 'kimi-memory init' again; it writes them anew"


def _warning_finding(
    message: str, remedy: str, path: str = "", *, fixable: bool = False
) -> Finding:
    return Finding("history", Severity.WARNING, message, remedy, path, fixable)


def _error_finding(message: str, remedy: str) -> Finding:
    return Finding("history", Severity.ERROR, message, remedy)


def unreadable_history(error: HistoryError) -> Finding:
    """Return an error of the history as a finding, beside what else was found."""
    said, _, remedy = str(error).partition(". ")
    return _error_finding(said, remedy)


def examine(git: Git, folder: Path) -> list[Finding]:
    """Return everything that is wrong with a repository of ours."""
    found = [*_check_version(git), *_check_state(git, folder), *_check_settings(git)]
    found += _check_syncthing(git)
    return [*found, *_check_foreign_programs(git), *_check_objects(git), *_left_out(git.root)]


def _check_version(git: Git) -> Iterator[Finding]:
    said = git.run("version").decode("ascii", "replace").strip()
    number = tuple(int(part) for part in re.findall(r"\d+", said)[:2])
    if number < _OLDEST:
        yield _warning_finding(
            f"{said} cannot make commits durable against power loss", "Install git 2.36 or newer"
        )


def _check_state(git: Git, folder: Path) -> Iterator[Finding]:
    # A worktree has locks of its own beside those of its repository.
    for lock in sorted({*find_locks(folder), *find_locks(git.common())}):
        yield _warning_finding(
            "a lock file of git", "Our next commit removes it once its owner is gone", str(lock)
        )
    verb = busy_with(folder)
    if verb:
        yield _warning_finding(
            f"a {verb} is under way", "Finish or abort it with git; commits wait for it"
        )
    elif not (at := branch(git))[0]:
        yield _warning_finding(
            "HEAD is detached",
            "Go back with 'git switch -'; if git refuses, 'git switch -c NAME' makes a branch of "
            "it for 'kimi-memory merge NAME'. Commits wait for that",
        )
    elif not at[1] and (others := git.run("for-each-ref", "--format=%(refname)", "refs/heads")):
        yield _error_finding(
            f"HEAD names {at[0].removeprefix('refs/heads/')}, and there is no such branch, so the "
            "history is not seen",
            f"Run 'git symbolic-ref HEAD {decode(others.splitlines()[0])}' before anything is "
            "written, or name another of 'git branch'",
        )
    if is_shallow(git):
        yield _warning_finding(
            "this is a shallow clone: older versions are missing, and it is not merged or synced",
            "Run 'git fetch --unshallow'",
        )


def _check_syncthing(git: Git) -> Iterator[Finding]:
    for part in find_carried(git.root):
        yield _warning_finding(
            f"Syncthing carries {part}, which it damages where two machines write",
            "Run 'kimi-memory doctor --fix' on each of them; it writes .stignore",
            fixable=True,
        )


def _check_settings(git: Git) -> Iterator[Finding]:
    present = settings.read(git)
    # A folder that came from elsewhere may name another program where ours should stand.
    for name, value in settings.wanted().items():
        if present.get(name.lower()) != value:
            yield _warning_finding(f"setting {name} is not {value}", _AGAIN, fixable=True)


def _check_foreign_programs(git: Git) -> Iterator[Finding]:
    for name in risky_settings(git):
        yield _warning_finding(
            f"setting {name} may run a program when you use git here; we ignore it",
            f"If it is not yours: git config --unset-all {name}",
        )
    for hook in sorted((git.common() / "hooks").glob("*")):
        if hook.suffix != ".sample" and os.access(hook, os.X_OK):
            yield _warning_finding(
                "a hook that runs when you use git here; we never run it",
                "Delete it if it is not yours",
                str(hook),
            )


def _check_objects(git: Git) -> Iterator[Finding]:
    # Whether objects are there, without reading each: a whole check takes minutes in a large
    # history.
    result = git.call("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
    if result.code != 0:
        said = (result.err + decode(result.out)).strip().splitlines()
        yield _error_finding(
            f"git fsck: {'; '.join(said[:3]) or 'failed'}",
            "The notes are not affected. Keep a copy of .git, then restore it from a backup "
            "or a clone, or move it away and run 'kimi-memory init'",
        )


def _left_out(root: Path) -> Iterator[Finding]:
    for path, why in sorted(scan(root).skipped.items()):
        yield _warning_finding(f"not in history: {why}", "Move or rename it if it should be", path)

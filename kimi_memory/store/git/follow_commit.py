"""A commit that another node made, made here: of the same files it gets the same id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from kimi_memory.domain.change_log import LoggedCommit
from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Entry, Git
from kimi_memory.store.git.commit import Import, writable_branch
from kimi_memory.store.git.tree import Difference, Owed, blob_name

_Read = Callable[[str], bytes | None]


def follow_commit(git: Git, side: Path, commit: LoggedCommit, read: _Read) -> None:
    """Make a commit as the log has it, unless it is there.

    Args:
        git: the repository.
        side: where derived files lie.
        commit: what the log has.
        read: returns the file of a path; None where there is none.

    Raises:
        ValueError: the files or the branch are not what the commit was made of.
        HistoryError: git refused, or a person is in the middle of something.
    """
    ref, head = writable_branch(git, git.folder or git.root / ".git")
    if head != commit.parent:
        if head == commit.id or _is_behind(git, commit.id, head):
            return
        raise ValueError(f"the branch is at {head[:10]}, the commit follows {commit.parent[:10]}")
    differences = _take_pack(git, commit, read) if commit.pack else _make(git, commit, read)
    owed = Owed(side / "git-owed")
    owed.note(head, commit.id)
    note = f"-mkimi_memory: {commit.id[:12]}"
    git.run("update-ref", note, ref, commit.id, head)
    owed.settle(git, {(head, commit.id): differences})


def _make(git: Git, commit: LoggedCommit, read: _Read) -> list[Difference]:
    header, _, message = commit.raw.partition(b"\n\n")
    who = next(line[7:] for line in header.split(b"\n") if line.startswith(b"author "))
    with Import(git) as objects:
        differences = list(_read_differences(commit, read, objects.add))
        made = objects.commit(commit.parent, differences, message, who)
    if made != commit.id:
        _write_raw(git, commit, made)
    return differences


def _take_pack(git: Git, commit: LoggedCommit, read: _Read) -> list[Difference]:
    """Take a merge with the history that it joins; the disk has its files already."""
    differences = list(_read_differences(commit, read, lambda content: None))
    git.run("index-pack", "--stdin", "--fix-thin", "--strict", feed=commit.pack)
    if git.run("cat-file", "commit", commit.id) != commit.raw:
        raise ValueError(f"its pack has another commit {commit.id[:10]}")
    return differences


def _is_behind(git: Git, commit: str, head: str) -> bool:
    return bool(head) and git.call("merge-base", "--is-ancestor", commit, head).code == 0


def _read_differences(
    commit: LoggedCommit, read: _Read, add: Callable[[bytes], None]
) -> Iterator[Difference]:
    for path, mode, blob in commit.files:
        if not blob:
            yield Difference(path, None, None)
            continue
        content = commit.carried.get(path)
        content = read(path) if content is None else content
        if content is None or blob_name(content) != blob:
            raise ValueError(f"{path} is not as the commit {commit.id[:10]} has it")
        add(content)
        yield Difference(path, None, Entry(mode, blob))


def _write_raw(git: Git, commit: LoggedCommit, made: str) -> None:
    """Write a commit with what only its writer could give it, such as a signature."""
    tree = git.run("rev-parse", f"{made}^{{tree}}").decode("ascii").strip()
    if not commit.raw.startswith(f"tree {tree}\n".encode()):
        raise ValueError(f"its files make tree {tree[:10]}, the commit has another one")
    written = git.run("hash-object", "-t", "commit", "-w", "--stdin", feed=commit.raw)
    if written.decode("ascii").strip() != commit.id:
        raise HistoryError(f"The commit {commit.id[:10]} of the change log has another id here.")

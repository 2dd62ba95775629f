"""Signed commits: what their signer vouches for, written at a commit and read from others.

A commit says of the whole memory which of its files waited for a person's word when it was made.
So its signature vouches for all others, and nothing before it need be looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.git.command import Entry, Git
from kimi_memory.store.git.read import Touched, parse_objects, read_content, read_touched
from kimi_memory.store.git.signers import Signed, Signers, split_commit
from kimi_memory.store.git.signing_key import NONE, WAITS
from kimi_memory.store.git.tree import list_tree


def is_last_signed(git: Git, copy: str) -> bool:
    """Whether the last commit that a copy made has a signature; True where it made none."""
    last = git.call("rev-list", "-1", "--no-merges", f"--grep=^Checkpoint: {copy} ", "HEAD").text
    return not last or bool(split_commit(git.run("cat-file", "commit", last))[1])


@dataclass(frozen=True, slots=True)
class SignedCommit:
    """A commit, as far as its signature matters."""

    id: str
    parents: tuple[str, ...]
    payload: bytes
    signature: bytes
    waiting: frozenset[str] | None
    """The files that waited when it was made; None where it does not say."""
    by_values: bool
    """Whether it is a merge that follows from its parents."""


def parse_commit(id: str, raw: bytes) -> SignedCommit:
    """Return what a commit says."""
    payload, signature = split_commit(raw)
    head, _, message = payload.partition(b"\n\n")
    rows = [line.split(b" ") for line in head.split(b"\n")]
    parents = tuple(row[1].decode("ascii") for row in rows if row[0] == b"parent")
    lines = message.decode("utf-8", "replace").rstrip("\n").rpartition("\n\n")[2].split("\n")
    said = [line.removeprefix(f"{WAITS}: ") for line in lines if line.startswith(f"{WAITS}: ")]
    waiting = frozenset(said) - {NONE} if said else None
    by_values = len(parents) == 2 and any(line.startswith("Merge-Rules: ") for line in lines)
    return SignedCommit(id, parents, payload, signature, waiting, by_values)


def find_signers(git: Git, signers: Signers, commits: Iterable[str]) -> dict[str, str]:
    """Return who signed commits, of those that are known; the others are left out."""
    listed = "".join(f"{id}\n" for id in sorted(set(commits))).encode()
    if not listed or not signers.known():
        return {}
    out = git.run("cat-file", "--batch", feed=listed)
    read = (parse_commit(id.decode("ascii"), raw) for id, _, raw in parse_objects(out))
    told = {one.id: signers.judge(one.signature, one.payload) for one in read if one.signature}
    return {id: one.principal for id, one in told.items() if one.principal and not one.false}


class SignedCommits:
    """Reads the signatures of commits, each once.

    Args:
        git: the repository that has them.
        signers: the keys that a person knows.
    """

    def __init__(self, git: Git, signers: Signers) -> None:
        self._git, self._signers = git, signers

    def read_new(self, commit: str, known: str) -> list[SignedCommit]:
        """Return a commit and what it descends from, children first, without what is known.

        Args:
            commit: the last one.
            known: a commit whose history is left out; empty for none.
        """
        span = [commit, *([f"^{known}"] if known else [])]
        listed = self._git.run("rev-list", "--topo-order", *span)
        out = self._git.run("cat-file", "--batch", "--buffer", feed=listed) if listed else b""
        return [parse_commit(id.decode("ascii"), raw) for id, _, raw in parse_objects(out)]

    def read(self, commit: str) -> SignedCommit:
        """Return a commit by its name."""
        return parse_commit(commit, self._git.run("cat-file", "commit", commit))

    def judge(self, commit: SignedCommit) -> Signed:
        """Return who signed a commit, and what that is worth."""
        if not commit.signature:
            return Signed()
        return self._signers.judge(commit.signature, commit.payload)

    def read_touched(self, commits: Iterable[str]) -> Mapping[str, list[Touched]]:
        """Return what each commit made of its files; of a merge what no parent has."""
        found: dict[str, list[Touched]] = {}
        for one in read_touched(self._git, commits):
            found.setdefault(one.commit, []).append(one)
        return found

    def read_tree(self, commit: str) -> dict[str, Entry]:
        """Return the files of a commit."""
        return list_tree(self._git, commit)

    def read_file(self, commit: str, path: str) -> bytes:
        """Return a file of a commit; empty where it is not in it."""
        return read_content(self._git, commit, path) or b""

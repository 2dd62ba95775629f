"""Arrivals: the versions of files that came with commits which this copy did not make."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from kimi_memory.store.git.command import Git, decode

_MOST = 200
"""So many of the last movements of HEAD are looked at."""
_LINE = re.compile(rb"([0-9a-f]{40}) ([0-9a-f]{40}) .*?> (\d+) [+-]\d{4}\t?(.*)")
_HERE = re.compile(rb"kimi_memory: |clone:|[Bb]ranch:|commit(?: \((?:initial|amend)\))?:")
"""What moves HEAD without bringing anything: our commits, and a person's own."""
_MERGED = b"commit (merge)"
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")


def blob_of(content: bytes) -> str:
    """Return the name git gives to the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324  git's own


def arrivals(git: Git, folder: Path, since: float) -> Mapping[str, frozenset[str]]:
    """Return the blobs that pulls, merges and the like brought, by path.

    Args:
        git: over the repository.
        folder: of the repository.
        since: a moment of the system clock; earlier movements are left out.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for old, new, by_hand in [*_moved(folder, since), *_under_way(git, folder)]:
        changed = _changed(git, f"{new} {old}")
        # What differs from both sides of a merge that a person committed, they have settled.
        settled = {path for path, _ in _changed(git, new, "-c")} if by_hand else set()
        for path, blob in changed:
            if path not in settled:
                found[path].add(blob)
    if (folder / "MERGE_HEAD").exists():
        for path, blob in _staged(git):
            if path in found:
                found[path].add(blob)
    return {path: frozenset(blobs) for path, blobs in found.items()}


def head_at(folder: Path, moment: float) -> str:
    """Return the commit HEAD was at, at a moment of the system clock; empty if it is not told."""
    second = int(moment)  # Of what happened in that one, only a clone is sure to be older.
    log = [one for one in _log(folder) if int(one[3]) <= second]
    past = [one[2].decode() for one in log if int(one[3]) < second or one[4].startswith(b"clone:")]
    return past[-1] if past and past[-1].strip("0") else ""


def _log(folder: Path) -> list[re.Match[bytes]]:
    try:
        lines = (folder / "logs" / "HEAD").read_bytes().splitlines()
    except OSError:
        return []
    return [found for line in lines if (found := _LINE.fullmatch(line))]


def _moved(folder: Path, since: float) -> Iterator[tuple[str, str, bool]]:
    """Yield the movements of HEAD that brought something, and whether a person settled them."""
    known = [line for line in _log(folder) if int(line[3]) >= int(since)]
    known = [line for line in known if line[1].strip(b"0") and not _HERE.match(line[4])]
    for line in known[-_MOST:]:
        yield line[1].decode(), line[2].decode(), line[4].startswith(_MERGED)


def _under_way(git: Git, folder: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield what a merge that is not finished brings."""
    for name in _UNDER_WAY:
        if (folder / name).exists():
            sides = git.call("rev-parse", "HEAD^{commit}", f"{name}^{{commit}}")
            if sides.code == 0:
                ours, theirs = sides.text.split()
                yield ours, theirs, False


def _changed(git: Git, commits: str, *how: str) -> list[tuple[str, str]]:
    """Return path and blob of what a commit changed against another, or all its parents."""
    plain = ("--stdin", "-r", "--no-renames", "--no-abbrev", "-z", *how)
    done = git.call("diff-tree", *plain, feed=f"{commits}\n".encode())
    if done.code != 0:
        return []  # A commit that was pruned brought nothing that is still here.
    words = iter(done.out.split(b"\0")[:-1])
    found = []
    for word in words:
        if word.startswith(b":"):
            parents = len(word) - len(word.lstrip(b":"))
            blob = word.split(b" ")[2 * parents + 1].decode("ascii")
            found.append((decode(next(words)), blob))
    return [(path, blob) for path, blob in found if blob.strip("0")]


def _staged(git: Git) -> Iterator[tuple[str, str]]:
    """Yield path and blob of what git merged by itself."""
    for row in git.call("ls-files", "-s", "-z").out.split(b"\0")[:-1]:
        about, _, path = row.partition(b"\t")
        _, blob, stage = about.split(b" ")
        if stage == b"0":
            yield decode(path), blob.decode("ascii")

"""Objects that come in a bundle: unpacked apart, looked through, and only then kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.store.files.paths import PRIVATE
from kimi_memory.store.git.bundle import Bundle, open_pack
from kimi_memory.store.git.command import Git, decode, end_group, refusal
from kimi_memory.store.git.read import NAMES, find_types, read_blobs
from kimi_memory.store.git.transfer import is_large, take_pack
from kimi_memory.store.git.tree import LARGEST, list_tree, refused_by_git

_AHEAD = "incoming-"
# Of a large file git then keeps a window alone in memory, and dies of what would take more: a
# delta of a few bytes can stand for gigabytes.
_BOUNDS = ("-c", f"core.bigFileThreshold={LARGEST}")
_ALLOWED = {"GIT_ALLOC_LIMIT": str(5 * LARGEST)}
_PURGES = "mid-term/jobs/purge-"
# More than any memory has: a pack of one megabyte can name billions.
_MOST_FILES = 1_000_000
_ROOM = 1 << 30
"""So many bytes of files are taken of any bundle …"""
_GROWTH = 200
"""… and of a larger one so many times its own."""
# Packs may be larger than memory, so they pass through in parts.
_PART = 1 << 20
# A pack that keeps git busy for longer was made to do so.
_SECONDS = 600.0


@contextmanager
def unpack_apart(git: Git, side: Path, bundle: Bundle) -> Iterator[Git]:
    """Give a repository that sees ours and holds what a bundle brings; it is removed after.

    Args:
        git: our repository.
        side: a folder of ours on the same disk.
        bundle: it is checked, what is in it is not.

    Raises:
        UsageError: it holds what no memory has.
        HistoryError: it builds on commits that are not here.
    """
    for left in side.glob(f"{_AHEAD}*"):  # by a process that died
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_AHEAD, dir=side) as folder:
        apart = git.aside(Path(folder))
        unpack(apart, bundle)
        yield apart


def keep_objects(git: Git, apart: Git) -> None:
    """Take what a bundle brought into our repository."""
    assert apart.folder is not None
    ours = git.common() / "objects" / "pack"
    for pack in sorted((apart.folder / "objects" / "pack").glob("*.pack")):
        with pack.open("rb") as file:
            large = is_large(file.read(12))
        if not large:
            take_pack(git, pack.read_bytes())
            continue
        ours.mkdir(exist_ok=True)
        # The index last: without it, a pack is not there for git.
        for place in (pack.with_suffix(".rev"), pack, pack.with_suffix(".idx")):
            with suppress(FileNotFoundError):
                place.replace(ours / place.name)
        _sync_folder(ours)


def _sync_folder(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def unpack(git: Git, bundle: Bundle) -> None:
    """Unpack a bundle into a repository of its own, and look through what it holds."""
    with open_pack(bundle) as pack:
        _check_needed(git, bundle, pack.needed)
        _index_pack(git, bundle, pack.content)
    if git.call("cat-file", "-t", bundle.manifest.head).text != "commit":
        raise _refuse(bundle, f"does not hold the commit {bundle.manifest.head[:10]} it names")
    _check_files(git, bundle)


def _refuse(bundle: Bundle, why: str) -> UsageError:
    return UsageError(f"{bundle.path} {why}. Nothing was imported; make it anew at its source.")


def _check_needed(git: Git, bundle: Bundle, needed: tuple[str, ...]) -> None:
    types = find_types(git, needed)
    missing = [name[:10] for name, type in types.items() if type != "commit"]
    if missing:
        copy = f"copy {bundle.manifest.copy}" if bundle.manifest.copy else "the copy that wrote it"
        raise HistoryError(
            f"{bundle.path} builds on {', '.join(missing[:3])}, which is not here. Import first "
            f"what came before, or write one without --since; {copy} has it."
        )


def _index_pack(git: Git, bundle: Bundle, content: IO[bytes]) -> None:
    command = ("index-pack", "--stdin", "--fix-thin", "--strict")
    process = git.stream(*_BOUNDS, *command, **_ALLOWED)
    assert process.stdin is not None
    most = max(_ROOM, _GROWTH * bundle.size)
    try:
        while most > 0 and (part := content.read(_PART)):
            most -= len(part)
            process.stdin.write(part)
        _, err = process.communicate(timeout=_SECONDS)
    except BrokenPipeError:  # It says why on its other end.
        _, err = process.communicate()
    except (OSError, EOFError, zlib.error, subprocess.TimeoutExpired) as error:
        end_group(process)
        process.communicate()
        raise _refuse(bundle, f"cannot be unpacked: {error}") from error
    if process.returncode != 0 or most <= 0:
        why = str(refusal(command, err.decode("utf-8", "replace"))).partition(". ")[0]
        raise _refuse(bundle, f"cannot be unpacked: {why}")


def _check_files(git: Git, bundle: Bundle) -> None:
    """Refuse what no memory has in its last version, before a file of it is written."""
    room = max(_ROOM, _GROWTH * bundle.size)
    how = ("-r", "-z", "-l", "--full-tree")
    process = git.stream("ls-tree", *how, bundle.manifest.head)
    assert process.stdout is not None
    try:
        for number, row in enumerate(_read_rows(process.stdout)):
            about, _, path = row.partition(b"\t")
            mode, _, _, size = about.decode("ascii").split()
            room -= int(size) if size.isdigit() else 0
            if why := find_fault(mode, decode(path), size):
                raise _refuse(bundle, f"holds {decode(path)!r}: {why}")
            if number >= _MOST_FILES or room < 0:
                raise _refuse(bundle, "holds more files than a memory has")
    finally:
        end_group(process)
        process.communicate()


def _read_rows(stream: IO[bytes]) -> Iterator[bytes]:
    """Yield rows one by one: a few bytes of trees can list more than fits into memory."""
    rest = b""
    while part := stream.read(_PART):
        *rows, rest = (rest + part).split(b"\0")
        yield from rows


def find_fault(mode: str, path: str, size: str) -> str:
    """Say why a file may not be written; empty where it may."""
    if mode == "160000":
        return "another repository"
    if not mode.startswith("100"):
        return "a symbolic link"
    parts = path.split("/")
    if parts[0].casefold() == PRIVATE:
        return "what is of one machine alone"
    if {"", ".", ".."} & set(parts) or any(map(refused_by_git, parts)):
        return "no safe place"
    return "larger than 50 MB" if int(size) > LARGEST else ""


def list_purges(git: Git, commit: str) -> dict[str, str]:
    """Return the records of purges in a commit: their paths, and the blob of each."""
    rows = git.run("ls-tree", "-z", "--full-tree", commit, "mid-term/jobs/").split(b"\0")[:-1]
    parted = (decode(row).partition("\t") for row in rows)
    return {path: about.split(" ")[2] for about, _, path in parted if path.startswith(_PURGES)}


def brings_purge(git: Git, ours: str, theirs: str) -> bool:
    """Whether theirs has the record of a purge that ours has not."""
    found = list_purges(git, theirs)
    return bool(found) and not found.keys() <= list_purges(git, ours).keys()


def has_rewritten(git: Git, ours: str, theirs: str) -> bool:
    """Whether theirs has a commit that a purge rewrote in ours.

    A purge keeps moment, author and message of the commits that it rewrites.
    """
    sides = [f"{ours}..{theirs}", f"{theirs}..{ours}"]
    how = ("--no-merges", "--no-commit-header", "--format=%ct %an %ae%n%B%x00")
    read = (git.run("rev-list", *how, side, feed=b"").split(b"\0\n") for side in sides)
    one, other = (set(found) - {b""} for found in read)
    return not one.isdisjoint(other)


class Filled(NamedTuple):
    """The files of a bundle."""

    files: dict[str, bytes]
    counts: dict[str, bytes | None]
    """Of those that wait for a person's word, what counts; None where nothing does."""


def fill_repository(root: Path, bundle: Bundle) -> Filled:
    """Give a new repository what a bundle holds; return its files.

    Raises:
        UsageError: it holds what no memory has.
        HistoryError: it builds on commits that it does not hold.
    """
    git, manifest = Git(root, root / ".git"), bundle.manifest
    unpack(git, bundle)
    ref = f"refs/heads/{manifest.branch}"
    git.run("update-ref", ref, manifest.head)
    git.run("symbolic-ref", "HEAD", ref)
    git.run("read-tree", manifest.head)
    for name, commit in manifest.names.items():
        git.run("update-ref", f"{NAMES}/{name}", commit)
    entries = list_tree(git, manifest.head)
    types = find_types(git, filter(None, manifest.waiting.values()))
    known = {name for name, type in types.items() if type == "blob"}
    contents = read_blobs(git, sorted({*known, *(one.blob for one in entries.values())}))
    waiting = {path: blob for path, blob in manifest.waiting.items() if path in entries}
    return Filled(
        {path: contents[one.blob] for path, one in entries.items()},
        {path: contents.get(blob) for path, blob in waiting.items()},
    )

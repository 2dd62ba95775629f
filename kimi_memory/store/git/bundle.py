"""Bundle files: a memory with its history in one file, which any byte that changed gives away.

The first line names the format and the SHA-256 of all that follows, the second is the manifest
as JSON. The rest is what ``git bundle create`` writes, compressed where that was asked for.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, field
from io import BufferedWriter
from pathlib import Path
from typing import IO, Literal, NamedTuple, cast

from kimi_memory.errors import UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.outside import write_whole
from kimi_memory.store.git.command import Git, refusal
from kimi_memory.store.git.read import NAMES, is_plain_name

Compression = Literal["none", "gzip"]
_FORMAT = "kimi_memory/bundle/1"
_FIRST = re.compile(rf"{_FORMAT} ([0-9a-f]{{64}})\n".encode())
_COMMIT = re.compile(r"[0-9a-f]{40}")
# It names each file of a memory once; a stranger's file must not fill ours.
_LONGEST_MANIFEST = 1 << 24
# Lines of a bundle's head have a hash and a name.
_LONGEST_LINE = 1 << 12
# Ours need one commit or two; a stranger's head must end somewhere.
_MOST_NEEDED = 10_000
# Bundles may be larger than memory, so they pass through in parts.
_PART = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself."""

    memory: str
    """Id of the memory."""
    head: str
    """The commit that was the current one."""
    branch: str
    """Its branch."""
    version: int = 0
    """Number of the version."""
    name: str = ""
    """What people call the memory."""
    copy: str = ""
    """The copy that wrote it."""
    base: str = ""
    """It holds only what came after this commit; all where empty."""
    compress: Compression = "none"
    names: Mapping[str, str] = field(default_factory=dict)
    """Versions with a name, and their commits."""
    waiting: Mapping[str, str] = field(default_factory=dict)
    """Files that wait for a person's word, with the blob that counts; empty where none does."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle file of which every byte was checked."""

    path: Path
    manifest: Manifest
    sha256: str
    size: int
    offset: int
    """Where git's part begins."""


class Pack(NamedTuple):
    """Git's part of a bundle."""

    needed: tuple[str, ...]
    """Commits that must be there already."""
    content: IO[bytes]
    """The objects."""


def write_bundle(git: Git, path: Path, manifest: Manifest) -> Bundle:
    """Write a bundle file under its name once it is whole.

    Raises:
        UsageError: it cannot be written.
        HistoryError: git refused.
    """
    head = json.dumps(asdict(manifest), ensure_ascii=False).encode() + b"\n"
    with write_whole(path) as part, part.open("xb") as file:
        # The sum is known at the end: zeros keep its place.
        file.write(_first_line("0" * 64))
        body = _Summing(file)
        body.write(head)
        with ExitStack() as after:
            sink = body
            if manifest.compress == "gzip":
                # No name and no time in it: the same content gives the same file.
                packed = gzip.GzipFile("", "wb", fileobj=cast("IO[bytes]", body), mtime=0)
                sink = cast("_Summing", after.enter_context(packed))  # both are written to
            _stream_bundle(git, sink, manifest)
        size = file.tell()
        file.seek(0)
        file.write(_first_line(body.sum.hexdigest()))
    first = len(_first_line(""))
    return Bundle(path, manifest, body.sum.hexdigest(), size, first + 64 + len(head))


def _first_line(sum: str) -> bytes:
    return f"{_FORMAT} {sum}\n".encode()


def _stream_bundle(git: Git, sink: _Summing, manifest: Manifest) -> None:
    refs = [f"refs/heads/{manifest.branch}", *(f"{NAMES}/{name}" for name in manifest.names)]
    base = [f"^{manifest.base}"] if manifest.base else []
    command = ("bundle", "create", "-q", "-", "HEAD", *refs, *base)
    process = git.stream(*command)
    assert process.stdout is not None
    shutil.copyfileobj(process.stdout, sink, _PART)
    _, err = process.communicate()
    if process.returncode != 0:
        raise refusal(command, err.decode("utf-8", "replace"))


class _Summing:
    """A file that is written to, and the SHA-256 of what was."""

    def __init__(self, file: BufferedWriter) -> None:
        self._file, self.sum = file, hashlib.sha256()

    def write(self, part: bytes) -> int:
        """Write on."""
        self.sum.update(part)
        return self._file.write(part)

    def flush(self) -> None:
        """Do nothing: the file is flushed once."""


def read_bundle(path: Path) -> Bundle:
    """Read a bundle file and check every byte of it.

    Raises:
        UsageError: it is not there, no bundle, or damaged.
    """
    try:
        with path.open("rb") as file:
            first = _FIRST.fullmatch(file.readline(_LONGEST_LINE))
            if first is None:
                raise _refuse(path, "is no bundle of a memory, or of a newer kimi_memory")
            at = file.tell()
            head = file.readline(_LONGEST_MANIFEST)
            sum, offset = hashlib.sha256(head), file.tell()
            while part := file.read(_PART):
                sum.update(part)
            size = file.tell()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    found = sum.hexdigest()
    if found.encode() != first[1]:
        raise _refuse(path, f"is damaged: the {size - at} bytes after its first line changed")
    return Bundle(path, _parse_manifest(path, head), found, size, offset)


def _refuse(path: Path, why: str) -> UsageError:
    return UsageError(f"{path} {why}. Nothing was imported; copy it anew from where it was made.")


def _parse_manifest(path: Path, text: bytes) -> Manifest:
    """Return the manifest; it may say anything, as anybody can write a file."""
    try:
        read = json.loads(text)
        found = Manifest(**read)
        tables = (found.names, found.waiting)
        texts = [found.memory, found.name, found.copy, *(one for t in tables for one in t.values())]
        sound = (
            all(isinstance(one, str) for one in texts)
            # For `isinstance`, true would be a number, too.
            and type(found.version) is int
            and _COMMIT.fullmatch(found.head)
            and (not found.base or _COMMIT.fullmatch(found.base))
            and all(map(is_plain_name, found.names))
            and all(map(_COMMIT.fullmatch, found.names.values()))
            and all(not one or _COMMIT.fullmatch(one) for one in found.waiting.values())
            # It becomes a ref and a word on a command line of git.
            and is_plain_name(found.branch)
            and found.compress in {"none", "gzip"}
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        sound = None
    if not sound:
        raise _refuse(path, "has a manifest that this kimi_memory cannot read")
    return found


@contextmanager
def open_pack(bundle: Bundle) -> Iterator[Pack]:
    """Open git's part of a bundle.

    Raises:
        UsageError: it is none.
    """
    with bundle.path.open("rb") as file, ExitStack() as after:
        file.seek(bundle.offset)
        content: IO[bytes] = file
        if bundle.manifest.compress == "gzip":
            content = cast("IO[bytes]", after.enter_context(gzip.GzipFile(fileobj=file)))
        try:
            needed = _read_needed(content)
        except (OSError, EOFError, ValueError) as error:
            raise _refuse(bundle.path, "holds no bundle of git") from error
        yield Pack(needed, content)


def _read_needed(content: IO[bytes]) -> tuple[str, ...]:
    """Read the head of a git bundle; return the commits it builds on."""
    needed: list[str] = []
    if content.readline(_LONGEST_LINE) != b"# v2 git bundle\n":
        raise ValueError
    while (line := content.readline(_LONGEST_LINE)) != b"\n":
        mark, _, _ = line.partition(b" ")
        commit = mark.removeprefix(b"-").strip().decode("ascii")
        # Anybody can write such a file: a head without end must not fill our memory.
        if not _COMMIT.fullmatch(commit) or len(needed) > _MOST_NEEDED:
            raise ValueError
        if line.startswith(b"-"):
            needed.append(commit)
    return tuple(needed)

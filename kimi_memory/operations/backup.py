"""Backup: one archive of a memory with its history, checked as soon as it is written."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from kimi_memory.api.memory import Memory
from kimi_memory.config import MARKER
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.store.files.outside import check_new_file, write_whole
from kimi_memory.store.files.paths import PRIVATE

LIST = "BACKUP.json"
"""Last member of an archive, path and SHA-256 of every other one: a cut archive has none."""
# Backups are larger than memory, so they are summed in parts.
_PART = 1 << 20
_LONGEST_LIST = 1 << 26
"""Bytes of the list of some 500,000 files; a forged one could fill all memory."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What an archive holds."""

    path: Path
    files: int
    bytes: int
    problems: tuple[str, ...] = ()
    """One line a member that is not what it was; empty where every byte is as it was."""


def back_up(memory: Memory, path: Path) -> Backup:
    """Write a memory into an archive, and check it by reading it again.

    Jobs and commits wait meanwhile; a turn that comes in is in the archive or is not, whole.
    What is derived or of this machine alone (``.kimi``) is left out.

    Args:
        memory: an open memory.
        path: a file outside of the memory, or a folder, where the name tells the moment.

    Raises:
        UsageError: the file is there already, lies in the memory, or cannot be written.
    """
    if path.is_dir():
        path = path / f"{memory.root.name}-{memory.clock():%Y%m%dT%H%M%SZ}.tar.gz"
    check_new_file(memory.root, path)
    # Between the files of a job, or of a commit, an archive would hold half of it.
    with (
        write_whole(path) as part,
        memory.store.lock("job"),
        memory.store.lock("git"),
        part.open("xb") as file,
    ):
        _write_archive(memory.root, file)
    return check_backup(path)


def check_backup(path: Path) -> Backup:
    """Read an archive and compare every member with the list that was written with it.

    Raises:
        NotFoundError: there is no such file.
        UsageError: it is no backup.
    """
    found, listed, size = _read_archive(path)
    problems = [
        f"{name}: {'it is not in the list' if name not in listed else 'its bytes changed'}"
        for name, digest in found.items()
        if listed.get(name) != digest
    ]
    problems += [f"{name}: it is missing" for name in listed if name not in found]
    return Backup(path, len(found), size, tuple(problems))


def restore(path: Path, folder: Path) -> Backup:
    """Unpack an archive into a new or empty folder, once every byte of it was checked.

    Raises:
        UsageError: it is damaged, or the folder holds something.
    """
    found = check_backup(path)
    if found.problems:
        raise UsageError(f"{path} is damaged: {found.problems[0]}. Nothing was restored.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not empty. Name a new folder.")
    with tarfile.open(path, "r:gz") as archive:
        members = [one for one in archive if one.name != LIST]
        for one in members:
            if not _is_plain(one):
                raise UsageError(
                    f"{path}: {one.name} is no file of a memory. Nothing was restored."
                )
        folder.mkdir(parents=True, exist_ok=True)
        # Python before 3.11.4 has no filter, which refuses the same once more.
        safe: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(folder, members, **safe)  # noqa: S202  plain files alone
    return found


def _is_plain(one: tarfile.TarInfo) -> bool:
    """Whether a member is a file below the folder; a forged archive may hold other things."""
    path = PurePosixPath(one.name)
    return one.isfile() and not path.is_absolute() and ".." not in path.parts


class _Summing:
    """A file whose SHA-256 is known once it was read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self.sum = file, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        part = self._file.read(size)
        self.sum.update(part)
        return part


def _write_archive(root: Path, file: io.BufferedWriter) -> None:
    """Write the archive; each file is read once, so that its sum is that of what is in it."""
    sums: dict[str, str] = {}
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for path in _walk_files(root):
            name = path.relative_to(root).as_posix()
            with path.open("rb") as content:
                info = archive.gettarinfo(arcname=name, fileobj=content)
                # A file with a second name is stored as any other.
                info.type, info.linkname = tarfile.REGTYPE, ""
                # A session may grow while it is read: as much is taken as is announced here.
                info.size = os.fstat(content.fileno()).st_size
                summing = _Summing(content)
                archive.addfile(info, cast("IO[bytes]", summing))  # it is only read from
            sums[name] = summing.sum.hexdigest()
        listed, info = json.dumps(sums, indent=0).encode(), tarfile.TarInfo(LIST)
        info.size, info.mode = len(listed), 0o600
        archive.addfile(info, io.BytesIO(listed))


def _walk_files(root: Path) -> Iterator[Path]:
    """Yield the plain files of a memory and of its history, in order."""
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        inside = here != root
        # The private folder is of this machine, with an index of many times the notes' size.
        folders[:] = sorted(n for n in folders if inside or n != PRIVATE)
        wanted = (here / name for name in sorted(names) if not name.endswith(".lock"))
        yield from (path for path in wanted if path.is_file() and not path.is_symlink())


def _read_list(path: Path, member: tarfile.TarInfo, content: IO[bytes]) -> object:
    if member.size > _LONGEST_LIST:
        raise UsageError(f"{path}: its list is too long for any memory.")
    return json.loads(content.read())


def _read_archive(path: Path) -> tuple[dict[str, str], dict[str, str], int]:
    """Return the sums of what is in an archive, those in its list, and how many bytes it holds."""
    found: dict[str, str] = {}
    listed: object = None
    size = 0
    try:
        with tarfile.open(path, "r:gz") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is None:
                    continue
                if member.name == LIST:
                    listed = _read_list(path, member, content)
                    continue
                summing = _Summing(cast("io.BufferedReader", content))  # as it is for a file
                # In parts: a session of years must not be held in memory whole.
                while summing.read(_PART):
                    pass
                found[member.name], size = summing.sum.hexdigest(), size + member.size
    except FileNotFoundError as error:
        raise NotFoundError("file", str(path)) from error
    except (OSError, EOFError, tarfile.TarError, zlib.error, ValueError) as error:
        raise UsageError(f"{path} is no whole backup: {error}. Use another.") from error
    if not isinstance(listed, dict) or MARKER not in listed:
        raise UsageError(f"{path} is no whole backup of a memory: it has no list. Use another.")
    return found, {str(name): str(digest) for name, digest in listed.items()}, size

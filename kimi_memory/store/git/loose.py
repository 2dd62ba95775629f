"""Git's own loose objects, written and read where a process of git would take longer.

Format: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kimi_memory.errors import HistoryError
from kimi_memory.store.git.command import Git

_PREFIX = "tmp_obj_"
"""Of such names git removes what a crash left."""


def name_commit(raw: bytes) -> str:
    """Return the name of a commit."""
    return hashlib.sha1(_whole(raw), usedforsecurity=False).hexdigest()


def write_commit(git: Git, raw: bytes) -> str:
    """Write a commit and return its name.

    Raises:
        HistoryError: it could not be written.
    """
    name, objects = name_commit(raw), git.common() / "objects"
    path = objects / name[:2] / name[2:]
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(exist_ok=True)
            # As git does: others who may write there may write here.
            path.parent.chmod(objects.stat().st_mode & 0o7777)
        if not path.exists():
            _write_whole(path, zlib.compress(_whole(raw)))
    except OSError as error:
        raise HistoryError(
            f"{path} could not be written: {error.strerror}. Free space or make it writable."
        ) from error
    return name


def read_loose(git: Git, ids: Iterable[str]) -> dict[str, bytes]:
    """Return the blobs that lie in files of their own, by name; of others nothing.

    Git opens each of them three times.
    """
    objects, found = str(git.common() / "objects"), {}
    for id in ids:
        try:
            with open(f"{objects}/{id[:2]}/{id[2:]}", "rb") as file:  # noqa: PTH123  thousands
                head, _, content = zlib.decompress(file.read()).partition(b"\0")
        except (OSError, zlib.error):
            continue
        if head == b"blob %d" % len(content):
            found[id] = content
    return found


def _whole(raw: bytes) -> bytes:
    return b"commit %d\0%b" % (len(raw), raw)


def _write_whole(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(prefix=_PREFIX, dir=path.parent, delete=False) as file:
        beside = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            beside.chmod(0o444)
            beside.replace(path)
        except OSError:
            # It has its final name by now, or the error above is the one to tell.
            with suppress(OSError):
                beside.unlink()
            raise

"""A change log in a folder: for nodes on one machine, for trying it out, and for tests.

Why it exists: a cluster needs an engine, and nobody should have to install one to see how a
memory survives the loss of its node. It shows what an engine has to do, in plain files: a record
is a file that can be made but once, a leadership is a file that changes under a lock, and the
clock is that of the file system, whatever the clocks of the nodes say.

The locks are those of one kernel. Over a network file system they may not hold: use PostgreSQL
between machines.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from kimi_memory import hookimpl
from kimi_memory.domain.change_log import ChangeLog, Fenced, Lease, Row, Rows, Taken, Unreachable
from kimi_memory.errors import UsageError

_SCHEME = "folder://"
_MEMORY = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_SHA = re.compile(r"[0-9a-f]{64}")
# A network folder is asked so often only while somebody waits.
_POLL_SECONDS = 0.01
# A node that holds the lock for longer hangs; the caller may try again.
_LOCK_SECONDS = 5.0
_FIRST = "first"
"""Where the number of the first record that is kept stands."""


@hookimpl(trylast=True)
def open_log(url: str) -> ChangeLog | None:
    """Open the log in a folder: ``folder:///path``."""
    if not url.startswith(_SCHEME):
        return None
    path = Path(url.removeprefix(_SCHEME))
    if not path.is_absolute():
        raise UsageError(f"{url} names no folder from the root on. Write {_SCHEME}/path.")
    return FolderLog(path)


@hookimpl(trylast=True)
def open_registry(url: str) -> Rows | None:
    """Keep the registry in such a place as well, beside a log that lies elsewhere."""
    return open_log(url)


class FolderLog:
    """The logs of memories below one folder."""

    def __init__(self, root: Path) -> None:
        self.name, self._root = f"{_SCHEME}{root}", root

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Make the files of some records, unless a number is taken or the epoch is over."""
        with self._lock(memory) as folder:
            present = _read_lease(folder)
            if present.epoch != epoch:
                raise Fenced(present.epoch)
            for seq in range(first, first + len(records)):
                if (folder / _file_of(seq)).exists():
                    raise Taken(seq)
            # The last one first: who reads sees none of them before the first one is there.
            for seq, body in reversed([*enumerate(records, first)]):
                _write_new(folder / _file_of(seq), body, seq)
            _sync_folder(folder)

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return the records after a number, up to the first that is not there."""
        found: list[tuple[int, bytes]] = []
        folder = self._folder(memory)
        with _reachable(self.name), suppress(FileNotFoundError):
            first = max(after + 1, _read_first(folder))
            for seq in range(first, first + limit):
                found.append((seq, (folder / _file_of(seq)).read_bytes()))
        return found

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Look again and again whether the next record is there."""
        folder, end = self._folder(memory), time.monotonic() + seconds
        path = folder / _file_of(after + 1)
        while not path.exists() and _read_first(folder) <= after + 1:
            if time.monotonic() >= end:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where the last one is over."""
        with self._lock(memory) as folder:
            present = _read_lease(folder)
            if present.held:
                return 0
            _write_lease(folder, node, present.epoch + 1, ttl)
            return present.epoch + 1

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading, if nobody began another leadership."""
        with self._lock(memory) as folder:
            present = _read_lease(folder)
            mine = (present.holder, present.epoch) == (node, epoch)
            if mine:
                _write_lease(folder, node, epoch, ttl)
            return mine

    def release(self, memory: str, node: str, epoch: int) -> None:
        """Have a leadership be over now."""
        self.renew(memory, node, epoch, 0.0)

    def state(self, memory: str) -> Lease:
        """Return who leads."""
        with self._lock(memory) as folder:
            return _read_lease(folder)

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content under its hash."""
        with _reachable(self.name):
            folder = self._folder(memory) / "blobs"
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / sha).exists():
                # Another node put it there first; under one hash there is one content.
                with suppress(Taken):
                    _write_new(folder / sha, content, 0)
                _sync_folder(folder)

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content by its hash."""
        if not _SHA.fullmatch(sha):
            raise KeyError(sha)  # A record of somebody else names no other file.
        with _reachable(self.name):
            try:
                return (self._folder(memory) / "blobs" / sha).read_bytes()
            except FileNotFoundError as error:
                raise KeyError(sha) from error

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Remove the files of records and contents; the number of the first is kept before."""
        with self._lock(memory) as folder:
            first = _read_first(folder)
            _replace(folder / _FIRST, str(max(first, below)).encode())
            _sync_folder(folder)
            gone = [path for path in folder.glob("0*.json") if int(path.stem) < below]
            for path in [*gone, *(p for p in folder.glob("blobs/*") if p.name not in kept)]:
                path.unlink()
            _sync_folder(folder)
            return len(gone)

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row; its age is that of its file."""
        with _reachable(self.name):
            folder = self._root / "tables" / table
            folder.mkdir(parents=True, exist_ok=True)
            _replace(folder / _name_of(key), json.dumps([key, body.decode()]).encode())

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table by key."""
        found = []
        with _reachable(self.name):
            folder = self._root / "tables" / table
            names = sorted(folder.glob("*.json")) if folder.is_dir() else []
            now = _read_clock(self._root) if names else 0.0
            for path in names:
                # Its node left between the listing and the look.
                with suppress(FileNotFoundError):
                    age = max(0.0, now - path.stat().st_mtime)
                    found.append(Row(*_parse_row(path), age))
        return sorted(found)

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Look again and again whether the file of a row was written."""
        path, end = self._root / "tables" / table / _name_of(key), time.monotonic() + seconds
        before = _read_mark(path)
        while _read_mark(path) == before and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row."""
        with _reachable(self.name):
            (self._root / "tables" / table / _name_of(key)).unlink(missing_ok=True)

    def close(self) -> None:
        """Do nothing: no file stays open."""

    def _folder(self, memory: str) -> Path:
        # Who may write into the folder may name a memory in a row; it names no other folder.
        if not _MEMORY.fullmatch(memory):
            raise UsageError(f"{self.name} names a memory {memory[:60]!r}. Remove its row.")
        return self._root / "logs" / memory

    @contextmanager
    def _lock(self, memory: str) -> Iterator[Path]:
        """Hold the folder of a memory's log; it is let go by the system if we die."""
        folder = self._folder(memory)
        with _reachable(self.name):
            folder.mkdir(parents=True, exist_ok=True)
            fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                _lock_within(fd, _LOCK_SECONDS)
                yield folder
            finally:
                os.close(fd)


@contextmanager
def _reachable(name: str) -> Iterator[None]:
    """Call what the system refuses an engine that does not answer."""
    try:
        yield
    except OSError as error:
        raise Unreachable(f"{name}: {error.strerror or error}") from error


def _lock_within(fd: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
            time.sleep(0.001)
        else:
            return


def _read_first(folder: Path) -> int:
    """Return the number of the first record that is kept."""
    try:
        return int((folder / _FIRST).read_bytes())
    except FileNotFoundError:
        # Nothing was dropped yet, so the log begins at its beginning.
        return 1


def _parse_row(path: Path) -> tuple[str, bytes]:
    try:
        key, body = json.loads(path.read_bytes())
        return str(key), body.encode()
    except (ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no row of a log: {error}. Remove it.") from error


def _file_of(seq: int) -> str:
    return f"{seq:020d}.json"


def _name_of(key: str) -> str:
    # A key may hold anything, a name of a file may not.
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"


def _write_new(path: Path, content: bytes, seq: int) -> None:
    """Make a file whole under a name that must be free."""
    part = path.with_name(f".{path.name}.{token_hex(4)}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        # A link is made or refused; what a process that is killed leaves has no number.
        os.link(part, path)
    except FileExistsError:
        raise Taken(seq) from None
    finally:
        part.unlink()


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{token_hex(4)}")
    with part.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _read_mark(path: Path) -> tuple[int, int]:
    """Return what tells whether a file was replaced."""
    try:
        found = path.stat()
    except OSError:
        # It was never there, so it cannot have been replaced.
        return 0, 0
    return found.st_ino, found.st_mtime_ns


def _read_clock(folder: Path) -> float:
    """Return the time as the file system has it: one clock for all nodes."""
    spare = folder / f".clock.{token_hex(4)}"
    try:
        spare.touch()
        return spare.stat().st_mtime
    finally:
        spare.unlink(missing_ok=True)


def _read_lease(folder: Path) -> Lease:
    try:
        holder, epoch, expires = json.loads((folder / "lease.json").read_bytes())
        return Lease(str(holder), int(epoch), float(expires) - _read_clock(folder))
    except FileNotFoundError:
        # Nobody ever led.
        return Lease()
    except (ValueError, TypeError) as error:
        raise UsageError(f"{folder / 'lease.json'} is damaged: {error}. Remove it.") from error


def _write_lease(folder: Path, holder: str, epoch: int, ttl: float) -> None:
    body = json.dumps([holder, epoch, _read_clock(folder) + ttl]).encode()
    _replace(folder / "lease.json", body)
    _sync_folder(folder)

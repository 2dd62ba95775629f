"""Locks between processes and threads, which die with who holds them, and folders that are ours.

A lock is a BSD lock on a file under ``.kimi/locks``; the file is never removed. The
record inside names who took it last to stay for a while, and is for messages only;
a brief holder leaves none. Order within the store:
``store`` (shared for writes, exclusive for recovery), then a stripe per path, then
``journal``. Locks of other names are taken outside of these or after them, never
between.

What lies under ``.kimi/`` counts only where this machine wrote it for this folder. Several users or
programs of one machine may have a memory open, each with a key of their own. So a mark counts when
its seal is ours, or when it names this very folder, down to the inode that nobody elsewhere could
foresee.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import platform
import random
import secrets
import shutil
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from errno import EACCES, EPERM, EROFS
from functools import lru_cache
from pathlib import Path
from stat import S_IFDIR, S_IFMT, S_IFREG, S_ISREG
from typing import NamedTuple

from kimi_memory.errors import LockTimeoutError, StoreError
from kimi_memory.formats.jsonl import encode
from kimi_memory.store.files.disk import refusal
from kimi_memory.store.files.paths import PRIVATE, check
from kimi_memory.store.files.tree import Tree, same

FOLDER = f"{PRIVATE}/locks"
# A file for each path would be left for ever; 256 are shared, and collisions only wait.
STRIPES = 256
_IDLE = 16
"""So many files stay open for the next to take the lock: a turn takes three, and the same ones."""
# Most locks are held for less; random pauses keep two waiters from meeting again and again.
_PAUSE_SECONDS = 0.005
_RANKS = {"store": 0, "stripe": 1, "journal": 2}
_BRIEF = frozenset({"append", "journal"})
"""Operations that are over in less time than it takes to read who is at them."""


@lru_cache(maxsize=1)
def boot_id() -> str:
    """Return what names this run of the system, empty where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        # Systems other than Linux do not tell; a lock of an earlier run then looks like one of now.
        return ""


@lru_cache(maxsize=256)
def started(pid: int) -> str:
    """Return the start time of a process in clock ticks, empty where unknown."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # From the last bracket: the name of a program may hold blanks and brackets.
    return stat.rpartition(")")[2].split()[19]


def owner() -> str:
    """Return the mark by which another process can tell whether this one still lives."""
    pid = os.getpid()
    # A number alone is given to another process in the end, after a restart within minutes.
    return f"{pid}-{started(pid)}-{boot_id()[:8]}"


def is_dead(mark: str) -> bool:
    """Whether the process that left an `owner` mark is gone; a strange mark is dead."""
    pid, _, rest = mark.partition("-")
    start, _, boot = rest.partition("-")
    if not pid.isdigit() or boot != boot_id()[:8]:
        return True
    started.cache_clear()
    if boot:
        return started(int(pid)) != start
    return not _is_running(int(pid))


def _is_running(pid: int) -> bool:
    try:
        # Signal 0 sends nothing: it only asks whether the process is there.
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # It runs, but as another user.
    except PermissionError:
        return True
    return True


class _Held:
    """A lock this thread holds, and how often it was taken."""

    __slots__ = ("depth", "fd", "shared")

    def __init__(self, fd: int, shared: bool) -> None:
        self.fd, self.shared, self.depth = fd, shared, 1


class _Wish(NamedTuple):
    """A lock somebody wants, and what for."""

    name: str
    shared: bool = False
    op: str = ""


class Locks:
    """The locks of one memory."""

    def __init__(self, tree: Tree, timeout_seconds: float) -> None:
        self._tree = tree
        self._timeout = timeout_seconds
        self._mine = threading.local()
        self._idle: OrderedDict[str, int] = OrderedDict()
        self._pid = os.getpid()

    def close(self) -> None:
        """Close the files that nobody holds; who holds one closes it with the release."""
        while self._idle:
            self._close_eldest()

    def hold(
        self,
        name: str,
        *,
        shared: bool = False,
        timeout_seconds: float | None = None,
        op: str = "",
        place: str = "",
    ) -> AbstractContextManager[None]:
        """Hold a lock in a ``with`` block; the thread that has it may take it again.

        With a `place`, what the system refuses comes as the error to show of that place.

        Raises:
            LockTimeoutError: somebody else held it all the time.
            StoreError: this thread holds it shared and wants it alone, or holds one
                that comes later in the order; waiting would never end.
        """
        wait = self._timeout if timeout_seconds is None else timeout_seconds
        return self._hold_all((_Wish(name, shared, op),), wait, place)

    def stripes(self, paths: Sequence[str], *, op: str = "") -> AbstractContextManager[None]:
        """Hold the locks of some paths, in the one order that cannot deadlock."""
        return self._hold_all(_stripe_wishes(tuple(paths), op), self._timeout)

    def writing(
        self, paths: Sequence[str], *, op: str, alone: bool = False, place: str = ""
    ) -> AbstractContextManager[None]:
        """Hold the store, shared unless `alone`, and then the locks of some paths; see `hold`."""
        wishes = (_Wish("store", not alone, op), *_stripe_wishes(tuple(paths), op))
        return self._hold_all(wishes, self._timeout, place)

    @contextmanager
    def _hold_all(self, wishes: Sequence[_Wish], wait: float, place: str = "") -> Iterator[None]:
        taken: list[str] = []
        try:
            try:
                for wish in wishes:
                    self.acquire(wish, wait)
                    taken.append(wish.name)
            except OSError as error:
                if place:
                    raise refusal(place, error) from error
                raise
            yield
        finally:
            while taken:
                self.release(taken.pop())

    def acquire(self, wish: _Wish, wait: float) -> None:
        """Take a lock for this thread, once more if it has it; see `hold`."""
        held = self._thread_locks()
        mine = held.get(wish.name)
        if mine is None:
            self._in_order(held, wish.name)
            held[wish.name] = _Held(self._acquire_lock(wish, wait), wish.shared)
        elif mine.shared and not wish.shared:
            raise StoreError(
                f"Lock {wish.name!r} is held shared; release it before taking it alone."
            )
        else:
            mine.depth += 1

    def release(self, name: str) -> None:
        """Undo one `take`."""
        held = self._thread_locks()
        mine = held[name]
        mine.depth -= 1
        if mine.depth == 0:
            del held[name]
            self._put_back(name, mine.fd)

    def _thread_locks(self) -> dict[str, _Held]:
        held: dict[str, _Held] = self._mine.__dict__.setdefault("held", {})
        return held

    def _in_order(self, held: dict[str, _Held], name: str) -> None:
        rank = _lock_rank(name)
        late = [other for other in held if (_lock_rank(other), other) > (rank, name)]
        if rank >= 0 and any(_lock_rank(other) >= 0 for other in late):
            raise StoreError(f"Lock {name!r} must be taken before {late[0]!r}.")

    def _acquire_lock(self, wish: _Wish, wait: float) -> int:
        begun = time.monotonic()
        if wish.shared or wait <= 0 or _lock_rank(wish.name) >= 0:
            return self._wait_for_lock(wish, wish, begun, wait)
        # Who lets a lock go and wants it again at once would beat all who sleep between two
        # attempts. So one of these waits in front of the door, where nobody gets past it.
        door = _Wish(f"{wish.name}-queue", op="append")
        place = self._wait_for_lock(door, wish, begun, wait)
        try:
            return self._wait_for_lock(wish, wish, begun, wait)
        finally:
            self._put_back(door.name, place)

    def _wait_for_lock(self, lock: _Wish, wish: _Wish, begun: float, wait: float) -> int:
        """Take a lock as soon as it is free; a failure names the holder of what is wished for."""
        while (fd := self._try_lock(lock)) is None:
            waited = time.monotonic() - begun
            if waited >= wait:
                raise LockTimeoutError(wish.name, self._describe_holder(wish.name), waited)
            # A blocking `flock` knows no timeout; random, so that two who wait do not meet again
            # and again.
            time.sleep(min(random.uniform(0.0005, _PAUSE_SECONDS), wait - waited))  # noqa: S311  jitter
        return fd

    def _try_lock(self, wish: _Wish) -> int | None:
        disk = self._tree.disk
        fd = self._open_lock_file(wish.name)
        kind, ours = fcntl.LOCK_SH if wish.shared else fcntl.LOCK_EX, False
        try:
            disk.perform("flock", fcntl.flock, fd, kind | fcntl.LOCK_NB)
            found = os.fstat(fd)
            # Somebody may have removed the folder: a lock on a file that has no name guards
            # nothing.
            if same(found, disk.stat(f"{FOLDER}/{_lock_file_name(wish.name)}", self._tree.fd)):
                # Of many who share a lock, any could be named.
                if not wish.shared:
                    self._record_holder(fd, wish.op, found.st_size)
                ours = True
        except (BlockingIOError, FileNotFoundError):
            pass  # taken, or the folder was just removed: another attempt decides
        finally:
            if not ours:
                disk.close(fd)  # an interrupt must not leave the lock behind either
        return fd if ours else None

    def _open_lock_file(self, name: str) -> int:
        """Return a descriptor of a lock's file that nobody else uses."""
        if self._pid != os.getpid():
            # What a process has from its parent is locked for both, or for neither.
            self.close()
            self._pid = os.getpid()
        fd = self._idle.pop(name, -1)
        if fd < 0:
            folder = self._tree.kept(FOLDER)
            fd = self._tree.disk.open(_lock_file_name(name), os.O_RDWR | os.O_CREAT, at=folder)
        return fd

    def _put_back(self, name: str, fd: int) -> None:
        """Let a lock go, and keep its file open for the next to take it."""
        disk = self._tree.disk
        free = self._pid == os.getpid() and disk.unlock(fd)
        if not free or self._idle.setdefault(name, fd) != fd:
            disk.close(fd)
        if len(self._idle) > _IDLE:
            self._close_eldest()

    def _close_eldest(self) -> None:
        try:
            fd = self._idle.popitem(last=False)[1]
        except KeyError:
            return  # another thread was faster
        self._tree.disk.close(fd)

    def _record_holder(self, fd: int, op: str, size: int) -> None:
        """Name this process as the holder; a brief one only sees to it that no other is named."""
        disk = self._tree.disk
        try:
            if op not in _BRIEF:
                # One write of fixed length: a longer record before it leaves nothing behind.
                record = (
                    f'{_record_prefix(os.getpid())},"since":{time.time()},"op":{json.dumps(op)}}}'
                )
                disk.perform("sign", os.pwrite, fd, f"{record:<255}\n".encode(), 0)
            elif size:
                disk.perform("sign", os.ftruncate, fd, 0)
        except OSError:
            # The record only tells others who holds it; the lock itself is the kernel's.
            return

    def _describe_holder(self, name: str) -> str:
        try:
            with self._tree.place(f"{FOLDER}/{name}.lock") as place:
                record = json.loads(self._tree.read_place(place, name))
            age = max(0.0, time.time() - float(record["since"]))
            what = f" ({record['op']})" if record["op"] else ""
            return f"process {record['pid']}{what} on {record['host']} for {age:.1f} s"
        except (OSError, ValueError, KeyError, TypeError):
            # It was let go of, or signed anew, while we looked; the message can do without.
            return "another process"


@lru_cache(maxsize=16)
def _record_prefix(pid: int) -> str:
    return json.dumps({"pid": pid, "boot": boot_id(), "host": os.uname().nodename})[:-1]


@lru_cache(maxsize=2 * STRIPES)
def _lock_file_name(name: str) -> str:
    (file,) = check(f"{name}.lock")
    return file


@lru_cache(maxsize=256)
def _stripe_wishes(paths: tuple[str, ...], op: str) -> tuple[_Wish, ...]:
    names = {f"stripe-{zlib.crc32(path.encode()) % STRIPES:02x}" for path in paths}
    return tuple(_Wish(name, False, op) for name in sorted(names))


@lru_cache(maxsize=2 * STRIPES)
def _lock_rank(name: str) -> int:
    return _RANKS.get(name.partition("-")[0], -1)


FILE = "owner"
COPY = "copy"
FROM = "from"
"""In the mark: the id of the copy that the folder was copied from, where it came with it."""
_SEALED = frozenset(
    {"journal", "txn", "tmp", "cache", "snapshot.json", "locks", "lost+found", "read-only"}
)
"""What is sealed piece by piece, or can do no harm; it stays where a person moved the folder."""
_DERIVED = ("index", "cache")
_FORMS = dict.fromkeys(
    ("journal", "txn", "tmp", "undo", "locks", "lost+found", "spool"), S_IFDIR
) | dict.fromkeys(("pending", "pending-flush", "read-only"), S_IFREG)
"""Whether each of these names, which every command reads, is a folder or a file."""
_REFUSED = frozenset({EROFS, EACCES, EPERM})
# The last record is wanted, and nobody knows how long a stranger's file is.
_LONGEST = 1 << 16


def claim(root: Path, key: bytes) -> None:
    """Mark the private folder of a memory as ours; one from elsewhere is set aside first.

    Its files go to ``.kimi/lost+found``, where nothing reads them. Of a folder that its owner
    moved or copied stays what is sealed.

    Raises:
        DiskError: the system refused, though the folder can be written.
    """
    try:
        if _names_to_keep(root, key) is None:
            return
        with _lock_memory_folder(root) as is_idle:
            # Asked again under the lock: another process may have claimed it meanwhile.
            stays = _names_to_keep(root, key) if is_idle else None
            if stays is not None:
                # A stranger's word counts for nothing, and all that bears it is set aside.
                origin = _find_origin(root) if stays == _SEALED else ""
                _set_aside(root, stays)
                _write_owner_mark(root, key, origin)
    except OSError as error:
        # A memory on a read-only disk can still be read.
        if error.errno not in _REFUSED:
            raise refusal(str(root), error) from error


def place_of(root: Path) -> dict[str, str | int]:
    """Return what tells a folder from a copy of it."""
    seen = root.stat()
    host = hashlib.sha256(_machine_id().encode()).hexdigest()[:12]
    return {"host": host, "dev": seen.st_dev, "ino": seen.st_ino, "path": str(root)}


def is_here(marks: Mapping[str, object], root: Path) -> bool:
    """Whether marks are those of this folder; it may have been renamed, or mounted anew."""
    here = place_of(root)
    # A rename changes the path, a new mount the number of the device; a copy has another inode.
    steady = all(marks.get(name) == here[name] for name in ("host", "ino"))
    return steady and any(marks.get(name) == here[name] for name in ("dev", "path"))


def origin_of(root: Path) -> str:
    """Return the id of the copy that its owner copied a folder from, as it was first opened."""
    marks = _read_marks(root, FILE) or {}
    return str(marks.get(FROM, "")) if is_here(marks, root) else ""


def _find_origin(root: Path) -> str:
    marks = _read_marks(root, COPY) or {}
    return "" if not marks or is_here(marks, root) else str(marks.get(COPY, ""))


def _machine_id() -> str:
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip() or platform.node()
    except (OSError, ValueError):
        # Only Linux has it; the name of the machine is the next best.
        return platform.node()


def _names_to_keep(root: Path, key: bytes) -> frozenset[str] | None:
    """Return the names to keep where the mark is missing or of another place, else None."""
    marks = _read_marks(root, FILE) or {}
    is_ours = _is_sealed(marks, key)
    # Another user of this machine sealed it with a key of their own: the place has to do as proof.
    if (is_ours and is_here(marks, root)) or place_of(root).items() <= marks.items():
        replaced = any(_is_replaced(root / PRIVATE / name) for name in _FORMS)
        return frozenset({"*"}) if replaced else None
    if is_ours:
        return _SEALED
    if not _is_signed(root, key):
        return frozenset()
    # Earlier versions left no mark.
    copy = _read_marks(root, COPY)
    return frozenset({"*"}) if copy is not None and is_here(copy, root) else _SEALED


def _is_replaced(place: Path) -> bool:
    """Whether a link or the like lies in the place of a folder or file, and stops every command."""
    try:
        return place.name in _FORMS and S_IFMT(place.lstat().st_mode) != _FORMS[place.name]
    except FileNotFoundError:
        # Nothing is there, so nothing stops a command.
        return False


def _read_marks(root: Path, name: str) -> dict[str, object] | None:
    try:
        found = json.loads(_read_tail(root / PRIVATE, name))
    except (OSError, ValueError):
        # Without marks of ours, the folder counts as one that came from somewhere else.
        return None
    return found if isinstance(found, dict) else None


def _read_tail(folder: Path, name: str) -> bytes:
    """Return the end of a plain file in a folder that is no link."""
    above = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, dir_fd=above), "rb") as file:
            found = os.fstat(file.fileno())
            if not S_ISREG(found.st_mode):
                return b""
            file.seek(max(0, found.st_size - _LONGEST))
            return file.read()
    finally:
        os.close(above)


def _compute_seal(marks: Mapping[str, object], key: bytes) -> str:
    body = json.dumps({name: marks.get(name) for name in ("host", "dev", "ino", "path")})
    return hmac.new(key, b"owner\0" + body.encode(), hashlib.sha256).hexdigest()


def _is_sealed(marks: Mapping[str, object], key: bytes) -> bool:
    return hmac.compare_digest(_compute_seal(marks, key).encode(), str(marks.get("seal")).encode())


def _is_signed(root: Path, key: bytes) -> bool:
    """Whether the last record of the journal was written with the key."""
    folder = root / PRIVATE / "journal"
    try:
        names = [one.name for one in folder.iterdir() if one.suffix == ".jsonl"]
        lines = _read_tail(folder, max(names)).splitlines() if names else []
        record = json.loads(lines[-1]) if lines else None
    except (OSError, ValueError):
        # What cannot be read was not sealed by us.
        return False
    if not isinstance(record, dict):
        return False
    body = {name: value for name, value in record.items() if name not in {"mac", "sum"}}
    mac = hmac.new(key, encode(body), hashlib.sha256).hexdigest()
    return hmac.compare_digest(mac.encode(), str(record.get("mac")).encode())


@contextmanager
def _lock_memory_folder(root: Path) -> Iterator[bool]:
    """Let no other process of ours in meanwhile; say whether none is writing just now."""
    with ExitStack() as stack:
        held = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            lock = os.open(root / PRIVATE / "locks" / "store.lock", flags)
        except OSError:
            yield True
            return
        stack.callback(os.close, lock)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _set_aside(root: Path, stays: frozenset[str]) -> None:
    folder = root / PRIVATE
    aside = f"elsewhere-{secrets.token_hex(4)}"
    if folder.is_symlink() or folder.is_file():
        beside = root / f"{PRIVATE}-{aside}"
        folder.rename(beside)
        folder.mkdir()
        beside.rename(folder / "no-folder")
    folder.mkdir(exist_ok=True)
    for derived in (folder / name for name in _DERIVED if not stays):
        if derived.is_dir() and not derived.is_symlink():  # A pipe would be waited for.
            shutil.rmtree(derived, ignore_errors=True)
    gone = [one.name for one in folder.iterdir() if not _may_stay(one, stays)]
    if gone:
        (folder / aside).mkdir()
        for name in gone:
            (folder / name).rename(folder / aside / name)
        (folder / "lost+found").mkdir(exist_ok=True)
        (folder / aside).rename(folder / "lost+found" / aside)


def _may_stay(place: Path, stays: frozenset[str]) -> bool:
    if _is_replaced(place):
        return False
    if place.name == "locks" and place.is_dir() and not place.is_symlink():
        # Somebody may wait for one of them; what they say is for messages only.
        return all(S_ISREG(one.lstat().st_mode) for one in place.iterdir())
    named = place.name in stays or (bool(stays) and place.name.startswith("index"))
    return "*" in stays or named


def _write_owner_mark(root: Path, key: bytes, origin: str) -> None:
    marks = place_of(root)
    came = {FROM: origin} if origin else {}
    spare = root / PRIVATE / f"{FILE}-{secrets.token_hex(4)}"
    sealed = {**marks, **came, "seal": _compute_seal(marks, key)}
    spare.write_text(json.dumps(sealed), encoding="utf-8")
    spare.replace(root / PRIVATE / FILE)

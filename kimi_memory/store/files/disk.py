"""The disk: every system call that opens, writes, names or syncs a file, and how files look.

No other module opens a file for writing. All calls pass through `Disk.perform`, so
a test can make the N-th of them fail, kill the process there, or lose what was not
synced. Derived files under ``.kimi/`` are written where it is worth it, and may vanish.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import gc
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

from kimi_memory.errors import DiskError, HistoryError

_FEW = 64


def worth_writing(news: int, rows: int) -> bool:
    """Whether so many new rows of a file are worth writing all of it.

    To write ten thousand rows for a handful of new ones costs more than to find those again.
    """
    return news > max(_FEW, rows // 5)


def put(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Write a derived file under ``.kimi/``, whole or not at all.

    Args:
        path: the file.
        content: all of it.
        sync: whether it must be on disk when we return.

    Raises:
        HistoryError: it could not be written.
    """
    # A name of its own: two processes may write the same file at once, and the last one wins
    # whole.
    beside = path.with_name(f"{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        # Where a file stands in the place of a folder, there is nothing to remove either.
        with suppress(OSError):
            beside.unlink()
        raise HistoryError(
            f"{path} could not be written: {error.strerror}. Free space or make it writable."
        ) from error


@contextmanager
def uncollected(*, lasting: bool = False) -> Iterator[None]:
    """Make values without searching them for cycles again and again.

    Reading the table of 10,000 notes takes a third of the time this way.

    Args:
        lasting: whether they stay as long as the process, so that no later search looks at them.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if lasting:
            gc.freeze()
        if running:
            gc.enable()


def give_back() -> None:
    """Give memory that is free back to the system, where its C library can do that.

    What a vector engine takes for itself comes on top of what the allocator keeps.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


P = ParamSpec("P")
R = TypeVar("R")

# Flags of renameat2, which Python has no names for.
NOREPLACE = 1
EXCHANGE = 2
# The number of the call, for C libraries without a name for it (musl).
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(os.uname().machine, 276)
# File systems that do not know these flags (network, FAT) and old kernels answer one of these.
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
# Above this size, larger parts make reading no faster.
_READ = 1 << 20

_REMEDIES = {
    errno.ENOSPC: "Free some space on that disk, then retry",
    errno.EDQUOT: "Your disk quota is used up: free some space, then retry",
    errno.EROFS: "The file system is mounted read-only: remount it for writing, then retry",
    errno.EMFILE: "Too many files are open: close some, or raise 'ulimit -n', then retry",
    errno.ENFILE: "The system has too many open files: close programs, then retry",
    errno.EACCES: "Give your user write permission on the memory folder, then retry",
    errno.EPERM: "The file or folder is write-protected (see 'lsattr'): unlock it, then retry",
    errno.EFBIG: "A file size limit was reached (see 'ulimit -f'): raise it, then retry",
    errno.EIO: "The disk reports an error: check it, then run 'kimi-memory doctor'",
}

Stat = tuple[int, int, int]
"""Size, time of the last change in ns, inode: equal means unchanged.

The time is the one that the system keeps for itself: nobody can set it back. A plain tuple,
as one is made for every file at every look.
"""
Stats = Mapping[str, Stat]
"""How files look, by path."""
UNKNOWN: Stat = (0, 0, 0)
"""As no file looks; not below zero, since indexes keep 64 bits without a sign."""
# FAT keeps times in steps of two seconds.
COARSE_NS = 2_000_000_000
# Above a tick of any kernel's clock, which is 10 ms at 100 Hz.
_FINE_NS = 50_000_000


class Listed(NamedTuple):
    """One folder as it was listed."""

    at: int
    """When files of it came or went last; 0 where that may not be relied on."""
    files: dict[str, Stat]
    """The wanted files by path."""
    folders: list[str]
    """Paths of folders in it, each with a slash at the end."""


def signature(found: os.stat_result) -> Stat:
    """Return what tells whether a file is still the one we read."""
    # Not the time of modification: editors, `cp -p` and git set it to whatever they like.
    return found.st_size, found.st_ctime_ns, found.st_ino


def state_of(root: Path | str, path: str) -> Stat | None:
    """Return how a file looks, None where there is none."""
    try:
        return signature(os.lstat(f"{root}/{path}"))
    except OSError:
        # What cannot be looked at is not there for the caller.
        return None


def settled_stat(found: Stat, now_ns: int) -> Stat:
    """Return the signature if a later write would change it, else UNKNOWN.

    A write within the same tick of the file system's clock leaves no trace in it.
    Times in whole seconds come from file systems whose tick is long.
    """
    tick = _FINE_NS if found[1] % 1_000_000_000 else COARSE_NS
    return found if found[1] < now_ns - tick else UNKNOWN


def walk(root: str, folder: str, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Listed]]:
    """Yield a folder and all below it that are not hidden.

    Args:
        root: what all paths are relative to.
        folder: where to begin; empty for the root, else with a slash at the end.
        wanted: tells by its path whether a plain file counts.
    """
    pending = [folder]
    while pending:
        path = pending.pop()
        listed = list_folder(root, path, wanted)
        if listed is not None:
            yield path, listed
            pending += listed.folders


def list_folder(root: str, folder: str, wanted: Callable[[str], bool]) -> Listed | None:
    """Return what lies in one folder, None when it cannot be listed."""
    try:
        # From its folder, the state of a file costs half of what it costs from its path.
        fd = os.open(f"{root}/{folder}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        at = os.fstat(fd).st_mtime_ns
        files, folders = _list_entries(fd, folder, wanted)
    finally:
        os.close(fd)
    # Within the same tick, more may come into a folder that changed so shortly before.
    return Listed(at if time.time_ns() - at > COARSE_NS else 0, files, folders)


def _list_entries(
    fd: int, folder: str, wanted: Callable[[str], bool]
) -> tuple[dict[str, Stat], list[str]]:
    files: dict[str, Stat] = {}
    folders: list[str] = []
    with os.scandir(fd) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            path = folder + name
            if not entry.is_file(follow_symlinks=False):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{path}/")
            elif wanted(path):
                try:
                    files[path] = signature(entry.stat(follow_symlinks=False))
                except FileNotFoundError:
                    continue  # It went while we looked.
    return files, folders


class SyncError(OSError):
    """An fsync that met a broken disk: what the disk holds of that file is unknown from here on."""


def refusal(path: str, error: OSError) -> DiskError:
    """Return the error to show for a refused system call, with what to do about it."""
    remedy = _REMEDIES.get(error.errno or 0, "Check the disk and the folder, then retry")
    return DiskError(path, error, remedy)


@contextmanager
def translate_refusals(path: str, stop: Callable[[str], None]) -> Iterator[None]:
    """Raise what the system refuses within a ``with`` block as the error to show.

    Args:
        path: what it is about.
        stop: called with the reason why nothing more may be written, where the disk broke.
    """
    try:
        yield
    except OSError as error:
        if isinstance(error, SyncError):
            stop(f"the disk failed to store {path}: {error.strerror}")
        raise refusal(path, error) from error


def _libc_rename() -> Callable[[int, bytes, int, bytes, int], int]:
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):
        call: Callable[[int, bytes, int, bytes, int], int] = libc.renameat2
        return call
    return lambda a, b, c, d, flags: int(libc.syscall(_RENAMEAT2, a, b, c, d, flags))


_renameat2 = _libc_rename()


def _rename_with_flags(old_fd: int, old: str, new_fd: int, new: str, flags: int) -> None:
    if _renameat2(old_fd, os.fsencode(old), new_fd, os.fsencode(new), flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), new)


class Disk:
    """System calls by name; a folder is given as its descriptor, a file as its name in it."""

    def perform(self, name: str, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Carry out one system call; `name` says which, for those who watch or interfere."""
        return call(*args, **kwargs)

    def open(self, name: str, flags: int, *, at: int | None = None, mode: int = 0o600) -> int:
        """Open a file or folder without following a link in its last component."""
        # Not inherited: a hook or git that we start must not keep a lock alive.
        full = flags | os.O_NOFOLLOW | os.O_CLOEXEC
        return self.perform("open", os.open, name, full, mode, dir_fd=at)

    def close(self, fd: int) -> None:
        """Close a descriptor; never made to fail, so that no test leaks one."""
        os.close(fd)

    def unlock(self, fd: int) -> bool:
        """Let go of the lock on an open file; False where only closing it will do.

        Never made to fail, like `close`.
        """
        try:
            fcntl.flock(fd, fcntl.LOCK_UN)
        except OSError:
            # Some network file systems cannot; the caller closes the file instead.
            return False
        return True

    def stat(self, name: str, at: int) -> os.stat_result:
        """Return the status of a name, not of what it links to."""
        return self.perform("stat", os.stat, name, dir_fd=at, follow_symlinks=False)

    def names(self, at: int) -> list[str]:
        """Return the names in an open folder."""
        return self.perform("list", os.listdir, at)

    def read(self, fd: int) -> bytes:
        """Return all bytes from the descriptor's position on."""
        parts = []
        while part := self.perform("read", os.read, fd, _READ):
            parts.append(part)
        return b"".join(parts)

    def read_at(self, fd: int, size: int, offset: int) -> bytes:
        """Return up to `size` bytes at an offset."""
        return self.perform("read", os.pread, fd, size, offset)

    def write(self, fd: int, content: bytes) -> None:
        """Write all bytes, in as many calls as the system wants."""
        done = 0
        while done < len(content):
            done += self.write_once(fd, memoryview(content)[done:] if done else content)

    def write_once(self, fd: int, content: bytes | memoryview) -> int:
        """Write in one call; return how many bytes were taken.

        Raises:
            OSError: ENOSPC where the system took nothing without saying why.
        """
        taken = self.perform("write", os.write, fd, content)
        if taken == 0 and content:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return taken

    def truncate(self, fd: int, size: int) -> None:
        """Cut an open file to a size."""
        self.perform("truncate", os.ftruncate, fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        """Set the permission bits of an open file."""
        self.perform("chmod", os.fchmod, fd, mode)

    def fsync(self, fd: int) -> None:
        """Make an open file or folder durable.

        Raises:
            SyncError: the system could not; do not sync the same descriptor again, it
                may claim success for pages it has dropped.
        """
        self._sync_file("fsync", os.fsync, fd)

    def fdatasync(self, fd: int) -> None:
        """Make the bytes and size of an open file durable; SyncError as for `fsync`."""
        self._sync_file("fdatasync", os.fdatasync, fd)

    def _sync_file(self, name: str, call: Callable[[int], None], fd: int) -> None:
        try:
            self.perform(name, call, fd)
        except OSError as error:
            # After this error Linux marks the pages clean: a second fsync would report a success
            # it has not.
            if error.errno == errno.EIO:
                raise SyncError(error.errno, error.strerror) from error
            raise

    def mkdir(self, name: str, at: int) -> None:
        """Make a folder only its owner can enter; one that is there already is fine."""
        try:
            self.perform("mkdir", os.mkdir, name, 0o700, dir_fd=at)
        except FileExistsError:
            # Another process made it at the same moment, or long ago.
            return

    def rmdir(self, name: str, at: int) -> None:
        """Remove an empty folder."""
        self.perform("rmdir", os.rmdir, name, dir_fd=at)

    def unlink(self, name: str, at: int) -> None:
        """Remove a name."""
        self.perform("unlink", os.unlink, name, dir_fd=at)

    def link(self, old: str, old_at: int, new: str, new_at: int) -> None:
        """Give a file a second name."""
        self.perform(
            "link", os.link, old, new, src_dir_fd=old_at, dst_dir_fd=new_at, follow_symlinks=False
        )

    def rename(self, old: str, old_at: int, new: str, new_at: int) -> None:
        """Rename, replacing what has the new name."""
        self.perform("rename", os.rename, old, new, src_dir_fd=old_at, dst_dir_fd=new_at)

    def rename_noreplace(self, old: str, old_at: int, new: str, new_at: int) -> None:
        """Rename; FileExistsError where the new name is taken."""
        try:
            self.perform("noreplace", _rename_with_flags, old_at, old, new_at, new, NOREPLACE)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            # A link fails where the name is taken, which a rename does not.
            self.link(old, old_at, new, new_at)
            self.unlink(old, old_at)

    def exchange(self, old: str, old_at: int, new: str, new_at: int) -> None:
        """Swap the files of two names in one step.

        Where the file system cannot, the file at `new` gets a second name first and
        is then replaced, which leaves a window of one system call in which a file
        that somebody renames into place is replaced unseen.
        """
        try:
            self.perform("exchange", _rename_with_flags, old_at, old, new_at, new, EXCHANGE)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
            # In the other order the file that is replaced would be lost by a crash.
            spare = f"{old}.spare"
            self.link(new, new_at, spare, old_at)
            self.rename(old, old_at, new, new_at)
            self.rename(spare, old_at, old, old_at)


def lay(root: Path, tiers: Iterable[str]) -> None:
    """Make the folder of a memory and those of its tiers, where they are missing.

    Raises:
        DiskError: the system refused, or a file is in the way.
    """
    for folder in (root, *(root / tier for tier in tiers)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise refusal(str(folder), error) from error

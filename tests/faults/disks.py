"""Disks that fail, kill or forget."""

from __future__ import annotations

import errno
import os
import signal
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kimi_memory.store.files.disk import Disk

SHORT = -1


class FailingDisk(Disk):
    """Fails call number `at` with an errno, or writes half of it (SHORT); counts all calls."""

    def __init__(self, at: int = 0, number: int = errno.EIO, *, stuck: bool = False) -> None:
        self.count, self.at, self.number, self.stuck = 0, at, number, stuck
        self.failed: str = ""

    def perform(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        due = self.at and (self.count == self.at or (self.stuck and self.count > self.at))
        if not due:
            return super().perform(name, call, *args, **kwargs)
        if self.number == SHORT:
            if name == "write":
                self.failed = name
                return call(args[0], bytes(args[1])[: len(args[1]) // 2])
            return super().perform(name, call, *args, **kwargs)
        self.failed = name
        raise OSError(self.number, os.strerror(self.number))


class KillingDisk(Disk):
    """Ends this process at call number `at`; half of a write may have happened."""

    def __init__(self, at: int) -> None:
        self.count, self.at = 0, at

    def perform(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        if self.count == self.at:
            if name == "write":
                call(args[0], bytes(args[1])[: len(args[1]) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().perform(name, call, *args, **kwargs)


class ForgettingDisk(Disk):
    """Knows what a power cut would leave if only synced things survive.

    A file survives with the bytes of its last sync, a folder with the names of its
    last sync. `durable` builds that tree; no real file system is as forgetful.
    """

    def __init__(self, root: Path) -> None:
        self.bytes: dict[int, bytes] = {}
        self.names_of: dict[int, dict[str, tuple[int, bool]]] = {}
        self._held: list[int] = []
        for folder, _, files in os.walk(root):
            self._remember_folder(os.open(folder, os.O_RDONLY))
            for file in files:
                self._remember_file(os.open(Path(folder, file), os.O_RDONLY))
        self.root = root.stat().st_ino

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        self._remember(fd)

    def fdatasync(self, fd: int) -> None:
        super().fdatasync(fd)
        self._remember(fd)

    def _remember(self, fd: int) -> None:
        # A descriptor that stays open keeps the inode number from being used again.
        copy = os.dup(fd)
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self._remember_folder(copy)
        else:
            self._remember_file(copy)

    def _remember_folder(self, fd: int) -> None:
        number = os.fstat(fd).st_ino
        if number not in self.names_of:
            self._held.append(fd)
        with os.scandir(fd) as found:
            self.names_of[number] = {e.name: (e.inode(), e.is_dir()) for e in found}
        if fd not in self._held:
            os.close(fd)

    def _remember_file(self, fd: int) -> None:
        found = os.fstat(fd)
        if found.st_ino not in self.bytes:
            self._held.append(fd)
        path = f"/proc/self/fd/{fd}"
        self.bytes[found.st_ino] = Path(path).read_bytes()
        if fd not in self._held:
            os.close(fd)

    def durable(self, target: Path) -> None:
        """Write what would be found after a power cut now."""
        self._build(self.root, target)

    def _build(self, folder: int, target: Path) -> None:
        target.mkdir(mode=0o700, exist_ok=True)
        for name, (number, is_folder) in self.names_of.get(folder, {}).items():
            if is_folder:
                self._build(number, target / name)
            else:
                (target / name).write_bytes(self.bytes.get(number, b""))

    def release(self) -> None:
        """Close what was held open."""
        for fd in self._held:
            os.close(fd)
        self._held.clear()


class Gone(BaseException):
    """The process ends here, as far as the store can tell."""


class EndingDisk(Disk):
    """Ends the work at call number `at` without a chance to tidy up; half a write happens."""

    def __init__(self, at: int) -> None:
        self.count, self.at = 0, at

    def perform(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        if self.count == self.at and name == "write":
            call(args[0], bytes(args[1])[: len(args[1]) // 2])
        if self.count >= self.at:
            raise Gone
        return super().perform(name, call, *args, **kwargs)


class MeddlingDisk(Disk):
    """Does something just before the n-th call of a name, as another program might."""

    def __init__(self) -> None:
        self.plans: dict[tuple[str, int], Callable[[], object]] = {}
        self.counts: dict[str, int] = {}

    def before(self, name: str, n: int, act: Callable[[], object]) -> None:
        """Have `act` done before the n-th call of that name from now on."""
        self.plans[name, self.counts.get(name, 0) + n] = act

    def perform(self, name: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self.counts[name] = self.counts.get(name, 0) + 1
        act = self.plans.pop((name, self.counts[name]), None)
        if act is not None:
            act()
        return super().perform(name, call, *args, **kwargs)

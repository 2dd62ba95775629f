"""The audit log of a space: one chained line for each decision, checkpointed in its history.

A line names the one before it by hash and is sealed with the machine's key. The number and the
hash of the last line stand outside of the space, and in commits of it: so a line that was
changed, moved or taken away is found, also at the end.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from kimi_memory.agent_hooks.user_files import put, text_at
from kimi_memory.errors import DiskError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.spaces.space_types import Audit
from kimi_memory.store.git.command import Git

FOLDER = "audit"
EVERY = 256
"""After so many lines the log is committed."""
_FIRST = "0" * 64
_LAST_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the log, and where."""

    place: str
    """File and line, or the commit that knows better."""
    why: str


@dataclass(frozen=True, slots=True)
class Chain:
    """What a check of the log found."""

    records: int
    checkpoints: int
    """How many commits were compared with it."""
    faults: tuple[Fault, ...]


class AuditLog:
    """The log of one machine in one space.

    Args:
        root: the folder of the space.
        node: the name of this machine.
        key: the machine's key, which is in no space.
        aside: a path outside of the space, for a lock and for where the log ends.
    """

    def __init__(self, root: Path, node: str, key: bytes, aside: Path) -> None:
        self._root, self._key, self._aside, self._node = root, key, aside, node
        self.folder = root / FOLDER / node
        self._end: tuple[Path, int, int, str] | None = None
        """The file written last, its size, and the number and hash of its last line."""

    def hide(self, query: str) -> str:
        """Return a keyed hash of words: the same words give the same hash, and it tells nothing."""
        told = hmac.new(self._key, b"audit query\0" + query.encode("utf-8", "replace"), "sha256")
        return told.hexdigest()[:32] if query else ""

    def append(self, record: Audit, *, sync: bool) -> Audit:
        """Add a line, and return it with its number, its predecessor and its seal.

        Args:
            record: what was decided; the chain is filled in here.
            sync: whether it must survive a power cut before this returns.

        Raises:
            DiskError: it could not be written; what it is about must not be done then.
        """
        with self.lock():
            try:
                seq, prev = self._find_end()
                record = replace(record, seq=seq + 1, node=self._node, prev=prev)
                record = replace(record, mac=self._seal(record))
                line = _line_of(record)
                path = self.folder / f"{record.at:%Y-%m-%d}.jsonl"
                # A clock that was set back must not put a line before those that are there.
                path = max([path, *self._files()[-1:]])
                size = _append_line(path, line, sync=sync)
            except OSError as error:
                raise DiskError(str(self.folder), error, "Free some space, then retry") from error
            self._end = path, size, record.seq, _hash(line)
            put(self._aside.with_suffix(".head"), f"{record.seq} {_hash(line)}")
            if record.seq % EVERY == 0:
                self._commit(f"Audit log up to {record.seq}", FOLDER)
        return record

    def commit(self, subject: str, *paths: str) -> None:
        """Commit files of the space, or the log itself; the commit names the log's last line."""
        with self.lock():
            # Apart from the log: a change that is reverted must not take lines of it along.
            self._commit(subject, *(paths or (FOLDER,)))

    def records(self) -> Iterator[Audit]:
        """Yield what was decided, oldest first; lines that cannot be read are left to `verify`."""
        for path in self._files():
            for line in path.read_bytes().splitlines():
                record = _parse_line(line)
                if record is not None:
                    yield record

    def verify(self) -> Chain:
        """Compare all lines with each other, with the seal, and with what commits say."""
        with self.lock():
            return self._verify()

    def _verify(self) -> Chain:
        faults: list[Fault] = []
        hashes: dict[int, str] = {}
        prev, seq = _FIRST, 0
        for path in self._files():
            for number, line in enumerate(path.read_bytes().splitlines(), 1):
                place = f"{path.relative_to(self._root)}:{number}"
                record = _parse_line(line)
                if record is None:
                    faults.append(Fault(place, "it is no record"))
                    prev = _hash(line)
                    continue
                if why := self._find_fault(record, seq + 1, prev):
                    faults.append(Fault(place, why))
                prev, seq = _hash(line), record.seq
                hashes[seq] = prev
        known = self._read_checkpoints()
        faults += [
            Fault(f"commit {commit}", f"record {at} is not the one that was committed")
            for commit, (at, hash) in known.items()
            if hashes.get(at) != hash
        ]
        return Chain(len(hashes), len(known), (*faults, *self._check_end(hashes)))

    def _check_end(self, hashes: dict[int, str]) -> Iterator[Fault]:
        at, hash = self._read_head()
        if hashes and not at:
            yield Fault("end", "this machine does not know which record was the last")
        elif at and hashes.get(at) != hash:
            yield Fault("end", f"record {at}, which was written, is missing or another")

    def _find_fault(self, record: Audit, seq: int, prev: str) -> str:
        if record.seq != seq:
            return f"record {record.seq} stands where {seq} belongs"
        if record.prev != prev:
            return f"record {record.seq} follows another one than the line before it"
        sealed = hmac.compare_digest(record.mac, self._seal(record))
        return "" if sealed else f"record {record.seq} was changed"

    def _seal(self, record: Audit) -> str:
        body = _line_of(replace(record, mac=""))
        return hmac.new(self._key, b"audit line\0" + body, "sha256").hexdigest()

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.jsonl"))

    def _find_end(self) -> tuple[int, str]:
        """Return the number and the hash after which the next line comes."""
        prev, seq = _FIRST, 0
        files = self._files()
        if files and self._end and self._end[:2] == (files[-1], files[-1].stat().st_size):
            return self._end[2:]
        if files:
            lines = _read_last_lines(files[-1])
            prev = _hash(lines[-1]) if lines else _FIRST
            seq = next((r.seq for line in reversed(lines) if (r := _parse_line(line))), 0)
        # Where lines are missing at the end, the number goes on and the gap stays visible.
        return max(seq, self._read_head()[0]), prev

    def _read_head(self) -> tuple[int, str]:
        number, _, hash = text_at(self._aside.with_suffix(".head")).partition(" ")
        return (int(number), hash) if number.isdecimal() else (0, "")

    def _read_checkpoints(self) -> dict[str, tuple[int, str]]:
        """Return for each commit the record that it names."""
        form = "--format=%h %(trailers:key=Audit,valueonly,separator=%x20)"
        found: dict[str, tuple[int, str]] = {}
        for line in self._git.run("log", form).decode("utf-8", "replace").splitlines():
            commit, *named = line.split()
            # Of several machines each names its own.
            if len(named) == 3 and named[0] == self._node and named[1].isdecimal():
                found[commit] = (int(named[1]), named[2])
        return found

    @property
    def _git(self) -> Git:
        return Git(self._root, self._root / ".git")

    def _commit(self, subject: str, *paths: str) -> None:
        seq, hash = self._find_end()
        trailer = f"\n\nAudit: {self._node} {seq} {hash}" if seq else ""
        # Policies that somebody is editing are theirs to commit.
        self._git.run("add", "--all", "--", *paths)
        if self._git.run("diff", "--cached", "--name-only", "--", *paths):
            self._git.run("commit", "--quiet", "-m", subject + trailer, "--", *paths)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold off other processes and threads that write to this space."""
        self._aside.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._aside.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _append_line(path: Path, line: bytes, *, sync: bool) -> int:
    """Add a line to a file, and return how long it is then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        if size and file.read(1) != b"\n":
            # What a full disk cut short stays there, as a line of its own that `verify` names.
            file.write(b"\n")
        file.write(line + b"\n")
        file.flush()
        if sync:
            os.fsync(file.fileno())
        return file.tell()


def _read_last_lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST_BYTES))
        return file.read().splitlines()


def _line_of(record: Audit) -> bytes:
    return json.dumps(plain(record), ensure_ascii=False, separators=(",", ":")).encode()


def _parse_line(line: bytes) -> Audit | None:
    try:
        found = json.loads(line)
        record: Audit = revive(Audit, found)
    except (ValueError, TypeError, KeyError):
        return None
    # Members that we do not know would not be sealed.
    return record if type(record.seq) is int and _line_of(record) == line else None


def _hash(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()

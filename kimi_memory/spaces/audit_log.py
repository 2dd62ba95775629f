"""The audit log of a space: one chained line for each decision, checkpointed in its history.

A line names the one before it by hash and is sealed with the machine's key. The number and the
hash of the last line stand outside of the space, and in commits of it: so a line that was
changed, moved or taken away is found, also at the end.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from kimi_memory.domain.ids import utcnow
from kimi_memory.domain.job import digest
from kimi_memory.domain.space_types import Audit, Decision
from kimi_memory.errors import DiskError
from kimi_memory.formats.json_values import revive
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.patterns import regex
from kimi_memory.store.git.command import Git

FOLDER = "audit"
EVERY = 2048
"""After so many lines the log is committed."""
_FIRST = "0" * 64
_MOST = 10**15
_DAY = regex(r"\d{4}-\d\d-\d\d\.jsonl")
_LAST_BYTES = 65_536
_HEAD_BYTES = 128
_FIELDS = tuple(one.name for one in fields(Audit))
_values = attrgetter(*_FIELDS)
# Made once: with these settings `json.dumps` makes one for each line.
_ENCODER = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
_UNSEALED = b'"mac":""}'


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
    carried: int = 0
    """How many records of change logs were compared with it."""


Checkpoint = tuple[int, str]
"""Number and hash of a line that stood at the end."""


class _End(NamedTuple):
    """Where a log ends."""

    path: str
    """The file that was written last; empty where there is none."""
    size: int
    """How long it is; below zero where its last line may be cut short."""
    seq: int
    hash: str
    head: bytes = b""
    """What the file that knows the end says then."""


class AuditLog:
    """The log of one machine in one space.

    Args:
        root: the folder of the space.
        node: the name of this machine.
        key: the machine's key, which is in no space.
        aside: a path outside of the space, for a lock and for where the log ends.
    """

    def __init__(self, root: Path, node: str, key: bytes, aside: Path) -> None:
        self._root, self.node = root, node
        self._head_path = f"{aside}.head"
        # Copied for each seal: to begin with the key costs five times as much.
        self._keyed = hmac.new(key, digestmod="sha256")
        self.folder = root / FOLDER / node
        self._folders = str(self.folder.parent), str(self.folder)
        self._end: _End | None = None
        """Where the log ended when this process wrote last."""

    def hide(self, query: str) -> str:
        """Return a keyed hash of words: equal for equal words, and it reveals nothing."""
        if not query:
            return ""
        return self._seal(b"audit query\0" + query.encode("utf-8", "replace"))[:32]

    def append(self, record: Audit, *, sync: bool) -> None:
        """Add a line, with its number, its predecessor and its seal.

        Args:
            record: what was decided; the chain is filled in here.
            sync: whether it must survive a power cut before this returns.

        Raises:
            DiskError: it could not be written; what it is about must not be done then.
        """
        with self.lock() as head:
            try:
                end = self._find_end(head)
                seq = end.seq + 1
                chain = {"seq": seq, "node": self.node, "prev": end.hash, "mac": ""}
                line = self._seal_line(_line_of(record, chain))
                # A clock that was set back must not put a line before those that are there.
                path = max(f"{self._folders[1]}/{record.at.date()}.jsonl", end.path)
                if self._is_linked():
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                size = _append_line(path, line, end, sync=sync)
                mark = digest(line)
                self._end = _End(path, size, seq, mark, f"{seq:020} {mark}\n".encode())
                # In place, and always as long: a file that is renamed for each line costs more.
                os.pwrite(head, self._end.head, 0)
            except OSError as error:
                in_the_way = error.errno in (errno.ELOOP, errno.EISDIR, errno.ENOTDIR)
                remedy = "Take away what is in the way" if in_the_way else "Free some space"
                raise DiskError(str(self.folder), error, f"{remedy}, then retry") from error
            if seq % EVERY == 0:
                self._commit(head, f"Audit log up to {seq}", FOLDER)

    def commit(self, subject: str, *paths: str) -> None:
        """Commit files of the space, or the log itself; the commit names the log's last line."""
        with self.lock() as head:
            # Apart from the log: a change that is reverted must not take lines of it along.
            self._commit(head, subject, *(paths or (FOLDER,)))

    def records(self) -> Iterator[Audit]:
        """Yield what was decided, oldest first; lines that cannot be read are left to `verify`."""
        for path in self._files():
            for line in path.read_bytes().splitlines():
                record = _parse_line(line)
                if record is not None:
                    yield record

    def head(self) -> Checkpoint:
        """Return the number and hash of the last line; 0 where there is none."""
        with self.lock() as head:
            return _parse_head(os.pread(head, _HEAD_BYTES, 0))

    def verify(self, carried: Mapping[str, Checkpoint] = MappingProxyType({})) -> Chain:
        """Compare all lines with each other, with the seal, and with what commits say.

        Args:
            carried: what is known of it elsewhere, by the place that says so.
        """
        with self.lock() as head:
            return self._verify(head, carried)

    def _verify(self, head: int, carried: Mapping[str, Checkpoint]) -> Chain:
        faults = list(self._find_strange_files())
        hashes: dict[int, str] = {}
        prev, seq = _FIRST, 0
        for path in self._files():
            for number, line in enumerate(path.read_bytes().splitlines(), 1):
                place = f"{path.relative_to(self._root)}:{number}"
                record = _parse_line(line)
                # The chain goes on over a broken line, so that one fault is not reported as
                # thousands.
                if record is None:
                    faults.append(Fault(place, "it is no record"))
                    prev = digest(line)
                    continue
                if why := self._find_fault(record, seq + 1, prev):
                    faults.append(Fault(place, why))
                prev, seq = digest(line), record.seq
                hashes[seq] = prev
        known = self._read_checkpoints()
        faults += [
            Fault(f"commit {commit}", f"record {at} is not the one that was committed")
            for commit, (at, hash) in known.items()
            if hashes.get(at) != hash
        ]
        faults += [
            Fault(place, f"record {at} is not the one that was carried there")
            for place, (at, hash) in carried.items()
            if hashes.get(at) != hash
        ]
        faults += _check_end(head, hashes)
        return Chain(len(hashes), len(known), tuple(faults), len(carried))

    def _find_fault(self, record: Audit, seq: int, prev: str) -> str:
        if record.seq != seq:
            return f"record {record.seq} stands where {seq} belongs"
        if record.prev != prev:
            return f"record {record.seq} follows another one than the line before it"
        return "" if self.is_sealed(record) else f"record {record.seq} was changed"

    def _seal_line(self, line: bytes) -> bytes:
        """Return a line with its seal, for which it has an empty text at its end."""
        mac = self._seal(b"audit line\0" + line)
        return line[: -len(_UNSEALED)] + _UNSEALED[:-2] + mac.encode() + _UNSEALED[-2:]

    def _seal(self, what: bytes) -> str:
        keyed = self._keyed.copy()
        keyed.update(what)
        return keyed.hexdigest()

    def is_sealed(self, record: Audit) -> bool:
        """Whether this machine wrote a line, and it stands as it was written."""
        return hmac.compare_digest(_line_of(record), self._seal_line(_line_of(record, {"mac": ""})))

    def _files(self) -> list[Path]:
        # A pull brings any file: a link would have lines written, or shown, that lie elsewhere.
        return [path for path in self._found() if _is_day(path)]

    def _found(self) -> list[Path]:
        return [] if self._is_linked() else sorted(self.folder.glob("*.jsonl"))

    def _is_linked(self) -> bool:
        return any(os.path.islink(one) for one in self._folders)  # noqa: PTH114  as below

    def _find_strange_files(self) -> Iterator[Fault]:
        for path in (self.folder.parent, self.folder):
            if path.is_symlink():
                yield Fault(str(path.relative_to(self._root)), "it is a link")
        for path in self._found():
            if not _is_day(path):
                yield Fault(str(path.relative_to(self._root)), "it is no file of a day")

    def _find_end(self, head: int) -> _End:
        """Return where the log ends: what is to be written comes after it."""
        known, told = self._end, os.pread(head, _HEAD_BYTES, 0)
        if known and told == known.head and _size_of(known.path) == known.size:
            return known
        seq, _ = _parse_head(told)
        files = self._files()
        if not files:
            return _End("", 0, seq, _FIRST)
        lines = _read_last_lines(files[-1])
        last = next((r.seq for line in reversed(lines) if (r := _parse_line(line))), 0)
        prev = digest(lines[-1]) if lines else _FIRST
        # Where lines are missing at the end, the number goes on and the gap stays visible.
        return _End(str(files[-1]), -1, max(seq, last), prev)

    def _read_checkpoints(self) -> dict[str, Checkpoint]:
        """Return for each commit the record that it names."""
        form = "--format=%h %(trailers:key=Audit,valueonly,separator=%x20)"
        found: dict[str, Checkpoint] = {}
        for line in self._git.run("log", form).decode("utf-8", "replace").splitlines():
            commit, *named = line.split()
            # Of several machines each names its own.
            if len(named) == 3 and named[0] == self.node and named[1].isdecimal():
                found[commit] = (int(named[1]), named[2])
        return found

    @property
    def _git(self) -> Git:
        return Git(self._root, self._root / ".git")

    def _commit(self, head: int, subject: str, *paths: str) -> None:
        end = self._find_end(head)
        trailer = f"\n\nAudit: {self.node} {end.seq} {end.hash}" if end.seq else ""
        # Policies that somebody is editing are theirs to commit.
        self._git.run("add", "--all", "--", *paths)
        if self._git.run("diff", "--cached", "--name-only", "--", *paths):
            self._git.run("commit", "--quiet", "-m", subject + trailer, "--", *paths)

    @contextmanager
    def lock(self) -> Iterator[int]:
        """Hold off others that write to this space; gives the open file that knows the end."""
        descriptor = _open_made(self._head_path, os.O_RDWR | os.O_CREAT, 0o600, parent=0o700)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def decision_record(
    space: str, sub: str, action: str, decision: Decision, memory: str = "", **more: Any
) -> Audit:
    """Return the line of the log for a decision; the log fills in the chain.

    Args:
        space: its name, whose policies decided.
        sub: the member.
        action: what it asked for.
        decision: what was decided.
        memory: the id of the memory that it is about.
        more: fields of the line that are not empty, by name.
    """
    told: Literal["allow", "deny"] = "allow" if decision else "deny"
    return Audit(
        at=utcnow(), sub=sub, space=space, memory=memory, action=action,
        decision=told, policies=decision.policies, **more,
    )  # fmt: skip


def _parse_head(told: bytes) -> Checkpoint:
    """Return the number and hash of the last line; 0 where nobody knows."""
    number, _, hash = told.decode("ascii", "replace").partition(" ")
    return (int(number), hash.strip()) if number.isdecimal() else (0, "")


def _check_end(head: int, hashes: dict[int, str]) -> Iterator[Fault]:
    at, hash = _parse_head(os.pread(head, _HEAD_BYTES, 0))
    if hashes and not at:
        yield Fault("end", "this machine does not know which record was the last")
    elif at and hashes.get(at) != hash:
        yield Fault("end", f"record {at}, which was written, is missing or another")


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116  a Path for each line costs more than the line
    except OSError:
        return -1


def _is_day(path: Path) -> bool:
    """Whether a file of the log may be read: one of a day, and no link to another."""
    return bool(_DAY.fullmatch(path.name)) and path.is_file() and not path.is_symlink()


def _open_made(path: str, flags: int, mode: int, *, parent: int) -> int:
    """Open a file, whose folder is made where there is none."""
    try:
        return os.open(path, flags, mode)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True, mode=parent)
        return os.open(path, flags, mode)


def _append_line(path: str, line: bytes, end: _End, *, sync: bool) -> int:
    """Add a line to a file, and return how long it is then."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
    file = _open_made(path, flags, 0o666, parent=0o777)
    try:
        size = os.lseek(file, 0, os.SEEK_END)
        line += b"\n"
        if size and (path, size) != (end.path, end.size) and os.pread(file, 1, size - 1) != b"\n":
            # What a full disk cut short stays, as a line of its own that `verify` names.
            line = b"\n" + line
        if os.write(file, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if sync:
            os.fsync(file)
        return size + len(line)
    finally:
        os.close(file)


def _read_last_lines(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST_BYTES))
        return file.read().splitlines()


def _line_of(record: Audit, chain: Mapping[str, object] = MappingProxyType({})) -> bytes:
    found = dict(zip(_FIELDS, _values(record), strict=True))
    found["at"] = record.at.isoformat()
    found.update(chain)
    return _ENCODER.encode(found).encode()


def _parse_line(line: bytes) -> Audit | None:
    try:
        record: Audit = revive(Audit, json.loads(line))
    except (ValueError, TypeError, KeyError):
        return None
    # Members that we do not know would not be sealed.
    # Nor would a number that has no room where the end of the log is kept.
    sound = type(record.seq) is int and 0 < record.seq < _MOST
    return record if sound and _line_of(record) == line else None

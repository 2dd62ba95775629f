"""A change log in an S3 store: for memories on several machines that share no database.

Why it exists: object storage is there where nobody wants to run a database, and since 2024 it can
refuse to put what is there already. That one promise is enough: a record is an object that can be
made but once. Who leads is an object too, changed only by who has seen its last version; but
nothing rests on that. A new leader has its first record in the log before it writes another one,
so that a deposed one meets a number that is taken, or a record of a later epoch, and stops.

The store's clock decides when a leadership is over. It counts in seconds, so that a takeover
takes a second or two longer than over PostgreSQL. The store must know conditional writes
(``If-None-Match`` and ``If-Match``): AWS, Cloudflare R2, Google, Azure and MinIO do.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

from kimi_memory import hookimpl
from kimi_memory.domain.change_log import ChangeLog, Fenced, Lease, Row, Taken, Unreachable
from kimi_memory.errors import UsageError

try:
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
    from obstore.store import S3Store

    _MISSING = (NotFoundError, FileNotFoundError)
except ImportError:
    obstore = None  # type: ignore[assignment]  # without the extra, an address of it is refused

_SCHEME = "s3://"
_MEMORY = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
_SHA = re.compile(r"[0-9a-f]{64}")
_DEADLINE = "5s"
# Rows are polled, and each look is a request that somebody pays for.
_ROW_SECONDS = 1.0
# A store tells nobody of new records: to ask more often costs more than it brings.
_POLL_SECONDS = 0.25
_CLOCK_SECONDS = 30.0
"""So long an answer about the store's clock is gone on from, by ours, which only counts."""
_TICK_SECONDS = 1.0
"""Times of objects are whole seconds."""
_READERS = 8
_OVER = -2 * _TICK_SECONDS
T = TypeVar("T")


@hookimpl(trylast=True)
def open_log(url: str) -> ChangeLog | None:
    """Open the logs in a bucket: ``s3://bucket/prefix?endpoint=https://host&region=name``."""
    if not url.startswith(_SCHEME):
        return None
    if obstore is None:
        raise UsageError(f"{_shown(url)} needs obstore. Install it: pip install 'kimi-memory[s3]'.")
    return S3Log(url)


def _shown(url: str) -> str:
    """Return an address without its keys."""
    return re.sub(r"//[^/@]*@", "//", url.partition("?")[0])


def _connect(url: str) -> S3Store:
    """Return the store of an address; keys may stand in it, or where AWS programs look."""
    parts = urlsplit(url)
    asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
    given: dict[str, Any] = {}
    if parts.username and parts.password:
        given["access_key_id"] = unquote(parts.username)
        given["secret_access_key"] = unquote(parts.password)
    if endpoint := asked.get("endpoint", ""):
        given["endpoint"] = endpoint
        given["virtual_hosted_style_request"] = False
    given["region"] = asked.get("region", "us-east-1")
    options: Any = {
        "timeout": _DEADLINE, "connect_timeout": _DEADLINE,
        "allow_http": endpoint.startswith("http://"),
    }  # fmt: skip
    return S3Store(
        parts.hostname or "", prefix=parts.path.strip("/") or None, client_options=options,
        # What had no answer is asked about, and never put twice by a library.
        retry_config={"max_retries": 0}, **given,
    )  # fmt: skip


class S3Log:
    """The logs of memories in one bucket."""

    def __init__(self, url: str) -> None:
        self.name, self._store = _shown(url), _connect(url)
        self._last: dict[str, tuple[int, int]] = {}
        """Number and epoch of the last record that was seen or put, by memory."""
        self._clock: tuple[float, float] = (0.0, float("-inf"))

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Make the object of one record, unless its number is taken or a later epoch began.

        Raises:
            ValueError: there are several; the store has no way to take all or none.
        """
        (body,) = records
        before = self._epoch_before(memory, first)
        if before > epoch:
            raise Fenced(before)
        try:
            self._ask(obstore.put, self._path(memory, first), body, mode="create")
        except AlreadyExistsError as error:
            there = self._get(self._path(memory, first))
            # Ours, whose answer was lost on the way, is as good as put now.
            if there != body:
                found = _epoch_of(there)
                raise (Fenced(found) if found > epoch else Taken(first)) from error
        self._last[memory] = (first, epoch)

    def _epoch_before(self, memory: str, seq: int) -> int:
        """Return the epoch of the record before a number; 0 where there is none."""
        known, epoch = self._last.get(memory, (0, 0))
        if known == seq - 1:
            return epoch
        try:
            return _epoch_of(self._get(self._path(memory, seq - 1)))
        except _MISSING:
            # It is the first record, or the one before was dropped behind a snapshot.
            return 0

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return the records after a number."""
        paths = self._list_records(memory, after, limit)
        with ThreadPoolExecutor(_READERS) as pool:
            bodies = [*pool.map(self._get, paths)]
        found = [(_seq_of(path), body) for path, body in zip(paths, bodies, strict=True)]
        if found:
            self._last[memory] = (found[-1][0], _epoch_of(found[-1][1]))
        return found

    def _list_records(self, memory: str, after: int, limit: int) -> list[str]:
        folder = self._folder("log", memory)
        paths: list[str] = []
        for path in self._list(folder, f"{folder}/{after:020d}"):
            # A list may be made while records are put: what is not next is not seen yet.
            if paths and _seq_of(path) != _seq_of(paths[-1]) + 1:
                break
            paths.append(path)
            if len(paths) >= limit:
                break
        return paths

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Look again and again whether there is a record after a number."""
        end = time.monotonic() + seconds
        while not self._list_records(memory, after, 1):
            if time.monotonic() + _POLL_SECONDS >= end:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where the last one is over."""
        present, tag = self._read_lease(memory)
        if present.held:
            return 0
        begun = self._write_lease(memory, Lease(node, present.epoch + 1, ttl), tag)
        return present.epoch + 1 if begun else 0

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading, if nobody began another leadership."""
        while True:
            present, tag = self._read_lease(memory)
            if (present.holder, present.epoch) != (node, epoch):
                return False
            # Where it fails, another process of this node renewed it, or another node came.
            if self._write_lease(memory, Lease(node, epoch, ttl), tag):
                return True

    def release(self, memory: str, node: str, epoch: int) -> None:
        """Have a leadership be over now."""
        self.renew(memory, node, epoch, _OVER)

    def state(self, memory: str) -> Lease:
        """Return who leads."""
        return self._read_lease(memory)[0]

    def _read_lease(self, memory: str) -> tuple[Lease, str]:
        """Return who leads, and what names that version of it; empty where nobody ever did."""
        try:
            found = self._ask(obstore.get, self._folder("lease", memory))
            holder, epoch, ttl, _ = json.loads(self._guard(partial(_bytes_of, found)))
        except _MISSING:
            # Nobody ever led.
            return Lease(), ""
        except (ValueError, TypeError) as error:
            raise UsageError(f"{self.name}: the lease of {memory} is damaged: {error}.") from error
        age = self._now() - found.meta["last_modified"].timestamp()
        left = float(ttl) + _TICK_SECONDS - age
        return Lease(str(holder), int(epoch), left), str(found.meta["e_tag"])

    def _write_lease(self, memory: str, lease: Lease, tag: str) -> bool:
        # What never repeats: the store knows versions by what they hold.
        body = json.dumps([*lease, token_hex(8)]).encode()
        mode: Any = {"e_tag": tag} if tag else "create"
        try:
            self._ask(obstore.put, self._folder("lease", memory), body, mode=mode)
        except (AlreadyExistsError, PreconditionError):
            # Another node was first: the store compared and refused.
            return False
        return True

    def _now(self) -> float:
        """Return the time as the store has it."""
        at, asked = self._clock
        if time.monotonic() - asked > _CLOCK_SECONDS:
            begun = time.monotonic()
            path = f"clock/{token_hex(8)}"
            self._ask(obstore.put, path, b".")
            made: datetime = self._ask(obstore.head, path)["last_modified"]
            self._ask(obstore.delete, path)
            at, asked = made.astimezone(UTC).timestamp(), begun
            self._clock = at, asked
        return at + time.monotonic() - asked

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content under its hash."""
        try:
            self._ask(obstore.put, f"{self._folder('blob', memory)}/{sha}", content, mode="create")
        except AlreadyExistsError:
            # Under one hash there is one content.
            return

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content by its hash."""
        if not _SHA.fullmatch(sha):
            raise KeyError(sha)  # A record of somebody else names no other object.
        try:
            return self._get(f"{self._folder('blob', memory)}/{sha}")
        except _MISSING as error:
            raise KeyError(sha) from error

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Remove records and contents, the oldest first; what is left is whole at any moment."""
        folder, blobs = self._folder("log", memory), self._folder("blob", memory)
        gone = [path for path in self._list(folder) if _seq_of(path) < below]
        loose = [path for path in self._list(blobs) if path.rpartition("/")[2] not in kept]
        for path in [*gone, *loose]:
            self._ask(obstore.delete, path)
        return len(gone)

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row; its age is that of its object."""
        content = json.dumps([key, body.decode()]).encode()
        self._ask(obstore.put, _row_path(table, key), content)

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table by key."""
        now, found = self._now(), []
        for path in [*self._list(f"row/{table}")]:
            try:
                one = self._ask(obstore.get, path)
                key, body = json.loads(self._guard(partial(_bytes_of, one)))
                age = max(0.0, now - one.meta["last_modified"].timestamp())
                found.append(Row(str(key), body.encode(), age))
            except _MISSING:
                # Its node left between the listing and the look.
                continue
            except (ValueError, TypeError, AttributeError) as error:
                raise UsageError(f"{self.name}: {path} is no row: {error}. Remove it.") from error
        return sorted(found)

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Wait for a while: to look at the row again and again would be paid for."""
        time.sleep(min(seconds, _ROW_SECONDS))

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row."""
        self._ask(obstore.delete, _row_path(table, key))

    def close(self) -> None:
        """Do nothing: connections are those of the library."""

    def _folder(self, kind: str, memory: str) -> str:
        # Who may write into the store may name a memory in a row; it names no other object.
        if not _MEMORY.fullmatch(memory):
            raise UsageError(f"{self.name} names a memory {memory[:60]!r}. Remove its row.")
        return f"{kind}/{memory}"

    def _path(self, memory: str, seq: int) -> str:
        return f"{self._folder('log', memory)}/{seq:020d}"

    def _get(self, path: str) -> bytes:
        found = self._ask(obstore.get, path)
        return self._guard(partial(_bytes_of, found))

    def _list(self, folder: str, after: str = "") -> Iterator[str]:
        """Yield the objects of a folder by name, from behind one of them."""
        chunks = iter(obstore.list(self._store, folder, offset=after or None))
        while chunk := self._guard(partial(next, chunks, None)):
            yield from (str(one["path"]) for one in chunk)

    def _ask(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self._guard(partial(call, self._store, *given, **named))

    def _guard(self, call: Callable[[], T]) -> T:
        """Call what the store refuses or does not answer by the names of a change log."""
        try:
            return call()
        except (AlreadyExistsError, PreconditionError, *_MISSING):
            raise
        except (BaseError, OSError) as error:
            raise Unreachable(f"{self.name}: {' '.join(str(error).split())[:300]}") from error


def _bytes_of(found: Any) -> bytes:
    return bytes(found.bytes())


def _epoch_of(body: bytes) -> int:
    return int(json.loads(body)["epoch"])


def _seq_of(path: str) -> int:
    return int(path.rpartition("/")[2])


def _row_path(table: str, key: str) -> str:
    # A key may hold anything, a name of an object may not.
    return f"row/{table}/{hashlib.sha256(key.encode()).hexdigest()[:32]}"

"""A change log in NATS JetStream: for memories on several machines that have a NATS already.

Why it exists: a stream counts what is put into it from one on, and takes a message only where the
number before it is the last one. So the number of a record is that of its message, and no other
can be there. Who leads is a message too, changed only by who has seen its last version; but
nothing rests on that, as over an S3 store: a new leader has its first record in the log before it
writes another one, so that a deposed one meets a number that is taken.

JetStream acknowledges before it syncs unless its settings say otherwise, and loses what it
acknowledged with the power. A server that does not say ``sync_interval: always`` is refused; its
monitoring port is asked for that. The clock of the server decides when a leadership is over.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Collection, Sequence
from urllib.parse import parse_qs, urlsplit

from kimi_memory import hookimpl
from kimi_memory.domain.change_log import ChangeLog, Fenced, Lease, Row, Taken
from kimi_memory.errors import UsageError

try:
    from .connection import DEADLINE_SECONDS, Connection, Server, await_message
except ImportError:
    Connection = None  # type: ignore[assignment,misc]  # without the extra, it is refused

_SCHEME = "nats://"
_NAME = re.compile(r"[A-Za-z0-9][\w-]{0,99}")
_SHA = re.compile(r"[0-9a-f]{64}")
_TOGETHER = 64
"""So many records are asked for at once."""
_PART_BYTES = 512 * 1024
"""A content is kept in messages of this size: a server takes a megabyte by default."""


@hookimpl(trylast=True)
def open_log(url: str) -> ChangeLog | None:
    """Open the logs in a server: ``nats://host:4222/prefix?monitor=http://host:8222``."""
    if not url.startswith(_SCHEME):
        return None
    if Connection is None:
        raise UsageError(
            f"{_shown(url)} needs nats-py. Install it: pip install 'kimi-memory[nats]'."
        )
    return NatsLog(url)


def _shown(url: str) -> str:
    """Return an address without its password or token."""
    return re.sub(r"//[^/@]*@", "//", url.partition("?")[0])


class NatsLog:
    """The logs of memories in one server, or in a cluster of them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.name = _shown(url)
        self._prefix = parts.path.strip("/") or "kimi"
        if not _NAME.fullmatch(self._prefix):
            raise UsageError(f"{self.name}: {self._prefix!r} is no prefix. Write letters alone.")
        monitor = asked.get("monitor", f"http://{parts.hostname}:8222")
        address = f"{parts.scheme}://{parts.netloc}"
        self._nats = Connection(
            Server(self.name, address, monitor, int(asked.get("replicas", "1")))
        )

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Put one record, unless its number is taken or a later epoch began.

        Raises:
            ValueError: there are several.
        """
        (body,) = records
        self._nats.ask(lambda: self._put(memory, first, epoch, body))

    async def _put(self, memory: str, seq: int, epoch: int, body: bytes) -> None:
        stream = await self._stream("log", memory)
        before = await self._nats.read_record(stream, seq - 1) if seq > 1 else None
        if before is not None and (found := _epoch_of(before)) > epoch:
            raise Fenced(found)
        if not await self._nats.send(self._subject("log", memory), body, last=seq - 1):
            there = await self._nats.read_record(stream, seq)
            # Ours, whose answer was lost on the way, is as good as put now.
            if there != body:
                found = _epoch_of(there) if there else 0
                raise Fenced(found) if found > epoch else Taken(seq)

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return the records after a number."""
        return self._nats.ask(lambda: self._read(memory, after, limit))

    async def _read(self, memory: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        stream = await self._stream("log", memory)
        state = (await self._nats.read_info(stream))["state"]
        numbers = range(max(after + 1, state["first_seq"], 1), state["last_seq"] + 1)[:limit]
        found: list[tuple[int, bytes]] = []
        for begin in range(0, len(numbers), _TOGETHER):
            part = numbers[begin : begin + _TOGETHER]
            bodies = await asyncio.gather(*(self._nats.read_record(stream, seq) for seq in part))
            pairs = zip(part, bodies, strict=True)
            found += [(seq, body) for seq, body in pairs if body is not None]
        return found

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Wait until the server passes on a record."""
        return self._nats.ask(lambda: self._wait(memory, after, seconds), seconds)

    async def _wait(self, memory: str, after: int, seconds: float) -> bool:
        stream = await self._stream("log", memory)
        heard = await self._nats.client.subscribe(self._subject("log", memory))
        try:
            if (await self._nats.read_info(stream))["state"]["last_seq"] <= after:
                await await_message(heard, seconds)
            return bool((await self._nats.read_info(stream))["state"]["last_seq"] > after)
        finally:
            await heard.unsubscribe()

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where the last one is over."""
        return self._nats.ask(lambda: self._begin(memory, node, ttl))

    async def _begin(self, memory: str, node: str, ttl: float) -> int:
        present, version = await self._read_lease(memory)
        if present.held:
            return 0
        epoch = present.epoch + 1
        return epoch if await self._write_lease(memory, Lease(node, epoch, ttl), version) else 0

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading, if nobody began another leadership."""
        return self._nats.ask(lambda: self._renew(memory, node, epoch, ttl))

    async def _renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        while True:
            present, version = await self._read_lease(memory)
            if (present.holder, present.epoch) != (node, epoch):
                return False
            # Where it fails, another process of this node renewed it, or another node came.
            if await self._write_lease(memory, Lease(node, epoch, ttl), version):
                return True

    def release(self, memory: str, node: str, epoch: int) -> None:
        """Have a leadership be over now."""
        self.renew(memory, node, epoch, -1.0)

    def state(self, memory: str) -> Lease:
        """Return who leads."""
        return self._nats.ask(lambda: self._read_lease(memory))[0]

    async def _read_lease(self, memory: str) -> tuple[Lease, int]:
        """Return who leads, and the number of that version of it; 0 where nobody ever did."""
        stream = await self._stream("lease")
        found = await self._nats.read_last(stream, self._subject("lease", memory))
        if found is None:
            return Lease(), 0
        holder, epoch, ttl = json.loads(found.data)
        left = float(ttl) - (await self._nats.read_time(stream) - found.time.timestamp())
        return Lease(str(holder), int(epoch), left), int(found.seq)

    async def _write_lease(self, memory: str, lease: Lease, version: int) -> bool:
        body = json.dumps([*lease]).encode()
        return await self._nats.send(self._subject("lease", memory), body, version=version)

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content under its hash, in parts; the last message says how many."""
        self._nats.ask(lambda: self._put_blob(memory, sha, content), len(content) / _PART_BYTES)

    async def _put_blob(self, memory: str, sha: str, content: bytes) -> None:
        stream = await self._stream("blob", memory)
        subject = self._subject("blob", memory, sha)
        if await self._nats.read_last(stream, f"{subject}.end") is not None:
            return
        parts = range(0, len(content), _PART_BYTES)
        for number, begin in enumerate(parts):
            await self._nats.send(f"{subject}.{number}", content[begin : begin + _PART_BYTES])
        await self._nats.send(f"{subject}.end", str(len(parts)).encode())

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content by its hash."""
        if not _SHA.fullmatch(sha):
            raise KeyError(sha)  # A record of somebody else names nothing else.
        return self._nats.ask(lambda: self._get_blob(memory, sha), 10 * DEADLINE_SECONDS)

    async def _get_blob(self, memory: str, sha: str) -> bytes:
        stream = await self._stream("blob", memory)
        subject = self._subject("blob", memory, sha)
        end = await self._nats.read_last(stream, f"{subject}.end")
        names = (f"{subject}.{number}" for number in range(int(end.data) if end else 0))
        parts = [await self._nats.read_last(stream, name) for name in names]
        if end is None or None in parts:
            raise KeyError(sha)
        return b"".join(part.data for part in parts)

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Remove records and contents, the records first."""
        return self._nats.ask(lambda: self._trim(memory, below, kept), 10 * DEADLINE_SECONDS)

    async def _trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        log, blobs = await self._stream("log", memory), await self._stream("blob", memory)
        js = self._nats.client.jetstream()
        before = (await self._nats.read_info(log))["state"]["messages"]
        await js.purge_stream(log, seq=below)
        left = (await self._nats.read_info(log))["state"]["messages"]
        for subject in await self._nats.list_subjects(blobs, self._subject("blob", memory, ">")):
            if subject.split(".")[-2] not in kept:
                await js.purge_stream(blobs, subject=subject)
        return int(before - left)

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row; its age is that of its message."""
        self._nats.ask(lambda: self._put_row(table, key, body, calls=calls))

    async def _put_row(self, table: str, key: str, body: bytes, *, calls: bool) -> None:
        await self._stream("row")
        await self._nats.send(self._row(table, key), json.dumps([key, body.decode()]).encode())
        if calls:
            await self._nats.client.publish(self._call(table, key), b"")
            await self._nats.client.flush()

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table by key."""
        return self._nats.ask(lambda: self._rows(table))

    async def _rows(self, table: str) -> list[Row]:
        stream = await self._stream("row")
        subjects = await self._nats.list_subjects(stream, self._subject("row", table, "*"))
        now, found = await self._nats.read_time(stream), list[Row]()
        for one in await asyncio.gather(*(self._nats.read_last(stream, name) for name in subjects)):
            if one is not None:
                key, body = json.loads(one.data)
                age = max(0.0, now - one.time.timestamp())
                found.append(Row(str(key), body.encode(), age))
        return sorted(found)

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Wait until somebody calls out a row, or for so long."""
        self._nats.ask(lambda: self._wait_row(table, key, seconds), seconds)

    async def _wait_row(self, table: str, key: str, seconds: float) -> None:
        heard = await self._nats.client.subscribe(self._call(table, key))
        await await_message(heard, seconds)
        await heard.unsubscribe()

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row."""
        self._nats.ask(lambda: self._drop_row(table, key))

    async def _drop_row(self, table: str, key: str) -> None:
        stream = await self._stream("row")
        await self._nats.client.jetstream().purge_stream(stream, subject=self._row(table, key))

    def close(self) -> None:
        """Close the connection."""
        self._nats.close()

    # Names

    async def _stream(self, kind: str, *memory: str) -> str:
        subject = self._subject(kind, *memory)
        return await self._nats.open_stream(subject, newest=kind != "log")

    def _subject(self, kind: str, *words: str) -> str:
        # Who may write into the server may name a memory in a row; it names no other subject.
        if not all(_NAME.fullmatch(word) or word in ("*", ">") for word in words):
            raise UsageError(f"{self.name} names a memory {words[0][:60]!r}. Remove its row.")
        return ".".join([self._prefix, kind, *words])

    def _row(self, table: str, key: str) -> str:
        # A key may hold anything, a subject may not.
        return self._subject("row", table, hashlib.sha256(key.encode()).hexdigest()[:32])

    def _call(self, table: str, key: str) -> str:
        return self._row(table, key).replace(".row.", ".call.", 1)


def _epoch_of(body: bytes) -> int:
    return int(json.loads(body)["epoch"])

"""A change log in PostgreSQL: for memories on several machines.

Why it exists: a node may be paused, cut off or wrong about the time and still must not write
after another took over. PostgreSQL decides that in one statement: the row of the leadership is
locked while a record is put, and its clock alone says when a leadership is over.

Every statement has a deadline of this side's own. A connection whose other end went silent is
closed then; what was asked may have been done, and the caller asks what became of it.
"""

from __future__ import annotations

import hashlib
import re
import select
import threading
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from kimi_memory import hookimpl
from kimi_memory.domain.change_log import ChangeLog, Fenced, Lease, Row, Rows, Taken, Unreachable
from kimi_memory.errors import UsageError

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn
try:
    from psycopg import Error, pq
except ImportError:
    pq = None  # type: ignore[assignment]  # without the extra, an address of it is refused

_SCHEMES = ("postgres://", "postgresql://")
_DEADLINE_SECONDS = 5.0
_LOOK_SECONDS = 0.5
"""So often a follower looks by itself: a pool between may swallow what the server calls out."""
_PREPARED = b"put"
_UNIQUE = "23505"
"""What the server calls a key that is there already."""
_SCHEMA = b"""
begin; select pg_advisory_xact_lock(7351201);
create table if not exists km_log (
  memory text, seq bigint, epoch bigint not null, body bytea not null,
  at timestamptz not null default clock_timestamp(), primary key (memory, seq));
create table if not exists km_lease (
  memory text primary key, holder text not null, epoch bigint not null,
  expires timestamptz not null);
create table if not exists km_content (
  memory text, sha text, body bytea not null, primary key (memory, sha));
create table if not exists km_row (
  kind text, key text, body text not null, at timestamptz not null, primary key (kind, key));
commit"""
# The row of the leadership is locked for share, so that no new epoch can slip in between.
_PUT = """
with l as (select 1 from km_lease where memory = $1 and epoch = $2 for share)
insert into km_log (memory, seq, epoch, body)
select $1, $3::bigint + t.n - 1, $2, t.b from l, unnest($4::bytea[]) with ordinality t(b, n)
returning seq, pg_notify('km_log', memory)"""
_LEASE = """
insert into km_lease as l values ($1, $2, 1, clock_timestamp() + $3::float8 * interval '1 s')
on conflict (memory) do update set holder = $2, epoch = l.epoch + 1,
  expires = clock_timestamp() + $3::float8 * interval '1 s'
where l.expires < clock_timestamp() returning epoch"""
_RENEW = """
update km_lease set expires = clock_timestamp() + $4::float8 * interval '1 s'
where memory = $1 and holder = $2 and epoch = $3 returning epoch"""
_STATE = """
select holder, epoch, extract(epoch from expires - clock_timestamp()) from km_lease
where memory = $1"""
_READ = "select seq, body from km_log where memory = $1 and seq > $2 order by seq limit $3"
_ROWS = """
select key, body, extract(epoch from clock_timestamp() - at) from km_row where kind = $1
order by key collate "C" """
_PUT_ROW = """
insert into km_row values ($1, $2, $3, clock_timestamp())
on conflict (kind, key) do update set body = $3, at = clock_timestamp()"""


@hookimpl(trylast=True)
def open_log(url: str) -> ChangeLog | None:
    """Open the logs in a database: ``postgres://user@host/name``."""
    if not url.startswith(_SCHEMES):
        return None
    if pq is None:
        raise UsageError(
            f"{_shown(url)} needs psycopg. Install it: pip install 'kimi-memory[cluster]'."
        )
    return PostgresLog(url)


@hookimpl(trylast=True)
def open_registry(url: str) -> Rows | None:
    """Keep the registry in such a place as well, beside a log that lies elsewhere."""
    return open_log(url)


def _shown(url: str) -> str:
    """Return an address without its password."""
    return re.sub(r"(//[^:/@]*):[^@/]*@", r"\1@", url.partition("?")[0])


class PostgresLog:
    """The logs of memories in one database."""

    def __init__(self, url: str) -> None:
        self.name, self._url = _shown(url), url
        self._lock = threading.Lock()
        self._connection: PGconn | None = None
        self._listener: PGconn | None = None
        self._is_prepared = False

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Insert records, all or none."""
        bodies = b"{" + b",".join(b'"\\\\x%b"' % one.hex().encode() for one in records) + b"}"
        try:
            rows = self._ask(_PUT, memory, epoch, first, bodies, prepared=True)
        except _RefusedError as error:
            raise Taken(first) from error
        if not rows:
            raise Fenced(self.state(memory).epoch)

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return the records after a number."""
        rows = self._ask(_READ, memory, after, limit)
        return [(int(row[0]), _bytes_of(row[1])) for row in rows]

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Wait until the server calls out that a record was put."""
        question = "select 1 from km_log where memory = $1 and seq > $2 limit 1"
        end = time.monotonic() + seconds
        while not self._ask(question, memory, after):
            if (left := end - time.monotonic()) <= 0:
                return False
            self._listen(memory, min(left, _LOOK_SECONDS))
        return True

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Wait until the server calls out that a row was written."""
        self._listen(_name_row(table, key), seconds)

    def _listen(self, called: str, seconds: float) -> None:
        """Wait until the server calls something out, or for so long."""
        try:
            if self._listener is None:
                self._listener = _connect(self._url, time.monotonic() + _DEADLINE_SECONDS)
                _ask_plainly(self._listener, b"listen km_log", time.monotonic() + _DEADLINE_SECONDS)
                return  # What was called out before, nobody heard: it is looked at once more.
            _await_call(self._listener, called, seconds)
        except (TimeoutError, Error) as error:
            self._drop_listener()
            raise Unreachable(f"{self.name}: {_one_line(error)}") from error

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where the last one is over."""
        rows = self._ask(_LEASE, memory, node, ttl)
        return int(rows[0][0]) if rows else 0

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading."""
        return bool(self._ask(_RENEW, memory, node, epoch, ttl))

    def release(self, memory: str, node: str, epoch: int) -> None:
        """Have a leadership be over now."""
        self._ask(_RENEW, memory, node, epoch, -1.0)

    def state(self, memory: str) -> Lease:
        """Return who leads."""
        rows = self._ask(_STATE, memory)
        return Lease(rows[0][0].decode(), int(rows[0][1]), float(rows[0][2])) if rows else Lease()

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content under its hash."""
        body = b"\\x" + content.hex().encode()
        question = "insert into km_content values ($1, $2, $3) on conflict do nothing"
        self._ask(question, memory, sha, body)

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content by its hash."""
        question = "select body from km_content where memory = $1 and sha = $2"
        rows = self._ask(question, memory, sha)
        if not rows:
            raise KeyError(sha)
        return _bytes_of(rows[0][0])

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Delete records and contents; the server's own files are cleaned by its vacuum."""
        names = "{" + ",".join(kept) + "}"
        question = "delete from km_content where memory = $1 and sha <> all ($2::text[])"
        self._ask(question, memory, names)
        question = "delete from km_log where memory = $1 and seq < $2 returning 1"
        return len(self._ask(question, memory, below))

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row; a call is dear where all nodes make one each second."""
        self._ask(_PUT_ROW, table, key, body)
        if calls:
            self._ask("select pg_notify('km_log', $1)", _name_row(table, key))

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table by key."""
        return [Row(r[0].decode(), r[1], float(r[2])) for r in self._ask(_ROWS, table)]

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row."""
        self._ask("delete from km_row where kind = $1 and key = $2", table, key)

    def close(self) -> None:
        """Close the connection."""
        self._drop_listener()
        with self._lock:
            self._drop_connection()

    def _drop_listener(self) -> None:
        found, self._listener = self._listener, None
        if found is not None:
            found.finish()

    def _ask(
        self, question: str, *values: str | float | bytes, prepared: bool = False
    ) -> list[tuple[bytes, ...]]:
        """Ask, and return the rows of the answer.

        Args:
            question: a statement.
            values: its parameters.
            prepared: whether the server is to plan it once for a connection; that is two thirds
                of its work for a record.

        Raises:
            Unreachable: no answer in time; the connection is closed, as it may answer later.
            _RefusedError: a number is taken.
        """
        end = time.monotonic() + _DEADLINE_SECONDS
        given = [one if isinstance(one, bytes) else str(one).encode() for one in values]
        with self._lock:
            try:
                if self._connection is None:
                    self._connection, self._is_prepared = _connect(self._url, end), False
                if prepared:
                    self._prepare(self._connection, question, end)
                    self._connection.send_query_prepared(_PREPARED, given)
                else:
                    self._connection.send_query_params(question.encode(), given)
                return _read_rows(self._connection, end)
            except (TimeoutError, Error) as error:
                self._drop_connection()
                raise Unreachable(f"{self.name}: {_one_line(error)}") from error
            except _RefusedError as error:
                if error.code == _UNIQUE:
                    raise
                # Such as a server that is about to stop.
                self._drop_connection()
                raise Unreachable(f"{self.name}: {error}") from error

    def _prepare(self, connection: PGconn, question: str, end: float) -> None:
        if not self._is_prepared:
            connection.send_prepare(_PREPARED, question.encode())
            _read_rows(connection, end)
            self._is_prepared = True

    def _drop_connection(self) -> None:
        found, self._connection = self._connection, None
        if found is not None:
            found.finish()


class _RefusedError(Exception):
    """The database refused a statement."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _connect(url: str, end: float) -> PGconn:
    connection = pq.PGconn.connect_start(url.encode())
    while (state := connection.connect_poll()) != pq.PollingStatus.OK:
        if state == pq.PollingStatus.FAILED or connection.socket < 0:
            message = _one_line(connection.error_message)
            connection.finish()
            raise TimeoutError(message)
        _await_socket(connection.socket, write=state == pq.PollingStatus.WRITING, end=end)
    connection.nonblocking = 1
    # What is acknowledged is on the disk of the server, whatever its settings say.
    _ask_plainly(connection, b"set synchronous_commit = on", end)
    # Two nodes that begin at once meet in a lock, and the second finds all of it made.
    _ask_plainly(connection, _SCHEMA, end)
    return connection


def _ask_plainly(connection: PGconn, question: bytes, end: float) -> None:
    connection.send_query(question)
    _read_rows(connection, end)


def _read_rows(connection: PGconn, end: float) -> list[tuple[bytes, ...]]:
    """Wait for the answer to what was sent, and return its rows.

    Raises:
        TimeoutError: there was none in time.
        _RefusedError: the database refused.
    """
    while connection.flush():
        _await_socket(connection.socket, write=True, end=end)
    rows: list[tuple[bytes, ...]] = []
    refused: _RefusedError | None = None
    while True:
        while connection.is_busy():
            _await_socket(connection.socket, write=False, end=end)
            connection.consume_input()
        result = connection.get_result()
        if result is None:
            break
        if result.status == pq.ExecStatus.FATAL_ERROR:
            code = result.error_field(pq.DiagnosticField.SQLSTATE) or b""
            refused = _RefusedError(code.decode(), _one_line(result.error_message))
        fields = range(result.nfields)
        rows += [
            tuple(result.get_value(row, field) or b"" for field in fields)
            for row in range(result.ntuples)
        ]
    if refused is not None:
        raise refused
    return rows


def _await_socket(socket: int, *, write: bool, end: float) -> None:
    left = end - time.monotonic()
    waits = select.poll()
    waits.register(socket, select.POLLOUT if write else select.POLLIN)
    if left <= 0 or not waits.poll(left * 1000):
        raise TimeoutError(f"no answer within {_DEADLINE_SECONDS:g} seconds")


def _name_row(table: str, key: str) -> str:
    # A key may be longer than what the server calls out.
    return hashlib.sha256(f"{table}/{key}".encode()).hexdigest()


def _await_call(connection: PGconn, name: str, seconds: float) -> None:
    """Wait until the server calls out a memory or a row, or for so long.

    Raises:
        Error: the connection is lost.
    """
    end = time.monotonic() + seconds
    waits = select.poll()
    waits.register(connection.socket, select.POLLIN)
    while (left := end - time.monotonic()) > 0 and waits.poll(left * 1000):
        connection.consume_input()
        called = set()
        while (found := connection.notifies()) is not None:
            called.add(found.extra)
        if name.encode() in called:
            return


def _bytes_of(value: bytes) -> bytes:
    """Return what a text of ``bytea`` stands for."""
    return bytes.fromhex(value[2:].decode("ascii"))


def _one_line(message: bytes | BaseException) -> str:
    text = message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)
    return " ".join(text.split())

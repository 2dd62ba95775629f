"""The change log of memories on several machines: what an engine offers, and what a record says.

The log decides. A change is put into it before it touches the folder of a memory, under the next
free number and with the epoch of the node that leads; the engine takes both or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from kimi_memory.domain.job import Actor
from kimi_memory.lazy_dataclass import dataclass

RecordKind = Literal[
    "epoch", "apply", "append", "edit", "confirm", "commit", "snapshot", "purge", "void"
]


class Taken(Exception):  # noqa: N818  an answer of the engine
    """The number of a record has another record already; nothing was put."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"record {seq} is taken")
        self.seq = seq


class Fenced(Exception):  # noqa: N818  an answer of the engine
    """Another node leads by now; nothing was put."""

    def __init__(self, epoch: int) -> None:
        super().__init__(f"epoch {epoch} is the present one")
        self.epoch = epoch


class Unreachable(Exception):  # noqa: N818  an answer of the engine
    """The engine did not answer in time; what was asked may have been done or not."""


class Lease(NamedTuple):
    """Who leads a memory, by the clock of the engine."""

    holder: str = ""
    """The node; empty where nobody ever led."""
    epoch: int = 0
    """Number of its leadership."""
    left_seconds: float = 0.0
    """How long it lasts unless it is renewed; negative once it is over."""

    @property
    def held(self) -> bool:
        """Whether it is not over."""
        return bool(self.holder) and self.left_seconds > 0


class Row(NamedTuple):
    """What a node says of itself or of a deployment."""

    key: str
    body: bytes
    age_seconds: float
    """Since it was written, by the clock of the engine."""


class Rows(Protocol):
    """Small tables in an engine, such as the nodes of a cluster.

    Every call ends by a deadline of the client's own. What does not answer raises
    `Unreachable`.
    """

    def put_row(self, table: str, key: str, body: bytes, *, calls: bool = False) -> None:
        """Write a row of a small table, such as the nodes; the last one wins.

        With `calls`, those that wait for the row hear of it at once.
        """

    def rows(self, table: str) -> Sequence[Row]:
        """Return the rows of a table by key."""

    def wait_row(self, table: str, key: str, seconds: float) -> None:
        """Wait until somebody puts a row with `calls`, at most so long; it may end earlier."""

    def drop_row(self, table: str, key: str) -> None:
        """Remove a row, if it is there."""

    def close(self) -> None:
        """Let go of the engine."""


class ChangeLog(Rows, Protocol):
    """The change logs of many memories in one engine, and small tables beside them.

    Every call ends by a deadline of the client's own. What does not answer raises
    `Unreachable`.
    """

    name: str
    """How messages call it, without a password."""

    def put(self, memory: str, first: int, epoch: int, records: Sequence[bytes]) -> None:
        """Put records under the numbers from `first` on, durably: all of them or none.

        Raises:
            Taken: a number is not free.
            Fenced: `epoch` is not the present one.
        """

    def read(self, memory: str, after: int, limit: int = 500) -> Sequence[tuple[int, bytes]]:
        """Return the records after a number in order, at most so many; the first may be later."""

    def wait(self, memory: str, after: int, seconds: float) -> bool:
        """Wait until there is a record after a number; False if none came."""

    def lease(self, memory: str, node: str, ttl: float) -> int:
        """Begin a leadership where there is none; return its epoch, 0 if somebody leads."""

    def renew(self, memory: str, node: str, epoch: int, ttl: float) -> bool:
        """Keep leading; False where the epoch is not the present one."""

    def release(self, memory: str, node: str, epoch: int) -> None:
        """End a leadership at once, so that another can begin."""

    def state(self, memory: str) -> Lease:
        """Return who leads."""

    def put_blob(self, memory: str, sha: str, content: bytes) -> None:
        """Keep a content under its SHA-256; nothing happens where it is kept already."""

    def get_blob(self, memory: str, sha: str) -> bytes:
        """Return a content; KeyError where there is none."""

    def trim(self, memory: str, below: int, kept: Collection[str]) -> int:
        """Destroy the records below a number, and all contents but some; return how many records.

        The caller leads, so that nobody puts a content meanwhile.
        """


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One file of a record."""

    kind: str
    """create, update, append, move or delete; of a record ``edit`` what the journal calls it."""
    path: str
    to: str = ""
    """Where a move goes; of an edit that renamed a file, the path it had."""
    before: str = ""
    after: str = ""
    """Content marks before and after; empty for absent."""
    offset: int = 0
    """Where appended bytes begin; replay looks there and does not guess."""
    mode: int = 0o600
    content: bytes | None = None
    waits: tuple[str, str, str] | None = None
    """Origin, reason and last vetted mark of a content that waits for a person's word."""


@dataclass(frozen=True, slots=True)
class LoggedCommit:
    """A commit as every copy makes it."""

    id: str
    parent: str
    raw: bytes
    """The whole object: with the same files, every copy gets the same id."""
    files: tuple[tuple[str, str, str], ...]
    """Path, mode and blob of what it changes; an empty blob for what is gone."""
    carried: Mapping[str, bytes]
    """Contents of files that no earlier record brought, by path."""
    pack: bytes = b""
    """Of a merge: what git has of the history that it joins, as a pack upon the parent."""


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a change log."""

    memory: str
    seq: int
    epoch: int
    node: str
    kind: RecordKind
    txn: str
    """Made by the writer: put twice, it is one record."""
    at: str
    """The writer's clock, for people only; the order is `seq`."""
    actor: Actor = Actor("")
    """On whose behalf, as the journal of every copy has it."""
    prev: str = ""
    """SHA-256 of the record before."""
    steps: tuple[LoggedStep, ...] = ()
    commit: LoggedCommit | None = None
    about: Mapping[str, str] | None = None
    """What a snapshot, a purge or the end of a leadership says."""


class Draft(NamedTuple):
    """A record before it has its number."""

    kind: RecordKind
    txn: str
    actor: Actor
    steps: tuple[LoggedStep, ...] = ()
    commit: LoggedCommit | None = None
    about: Mapping[str, str] | None = None

"""The desk: one queue for writers, one for readers, each in front of its own open memory.

A job that runs for minutes holds up other writers, as it must, and no reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kimi_memory.api.memory import Memory
from kimi_memory.api.options import Home, Opening
from kimi_memory.domain.change_log import Unreachable
from kimi_memory.domain.job import Actor
from kimi_memory.domain.note import Origin
from kimi_memory.errors import BehindError, FormatError, NotPrimaryError
from kimi_memory.formats.json_values import plain
from kimi_memory.server.auth import Tokens, unauthorized
from kimi_memory.server.cluster_routes import load_clustering
from kimi_memory.server.guard import (
    FOLLOW,
    WHOLE,
    Guard,
    GuardPost,
    Request,
    without_words,
)
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.server.rate_limit import busy
from kimi_memory.server.schema import Given, Route, on_clocks

if TYPE_CHECKING:
    from kimi_memory.store.relay import Relay

T = TypeVar("T")

OURSELVES = Caller("server")
AFTER_SECONDS = 5.0
"""So long a read waits for the record that it asks for."""


class Queue:
    """Requests that wait for one memory, served in order by one thread."""

    def __init__(self, memory: Memory, most: int) -> None:
        self.memory, self._most = memory, most
        self._thread = ThreadPoolExecutor(1)
        self.waiting = 0

    async def serve(self, work: Callable[[Memory], T], caller: Caller) -> T:
        """Do some work when it is its turn, as that of a caller; the journal names who it was.

        Raises:
            ServerError: too many wait already.
        """

        def carry_out() -> T:
            self.memory.actor = caller.actor
            return work(self.memory)

        if self.waiting >= self._most:
            raise busy()
        self.waiting += 1
        done = asyncio.get_running_loop().run_in_executor(self._thread, carry_out)
        done.add_done_callback(self._finish_request)
        # A client that goes away must not stop a write that has begun.
        return await asyncio.shield(done)

    def _finish_request(self, done: asyncio.Future[Any]) -> None:
        self.waiting -= 1
        if not done.cancelled():
            done.exception()  # who asked may be gone

    def close(self) -> None:
        """Finish what waits, then close the memory."""
        # In this order: what still waits needs the memory open.
        self._thread.shutdown(wait=True)
        self.memory.close()


class Desk:
    """Carries out requests.

    Args:
        root: the memory folder.
        home: the user's own directories.
        waiting: most requests that may wait.
    """

    def __init__(self, root: Path, home: Home, waiting: int = 256) -> None:
        actor = Actor("http", Origin.AGENT)
        self.root, self._home = root.resolve(), home
        self._writers = Queue(Memory.open(root, Opening(home=home, actor=actor)), waiting)
        reading = Opening(home=home, actor=actor, background=False)
        # It writes nothing, so it needs no thread that commits to git.
        self._readers = Queue(Memory.open(root, reading), waiting)
        self.issued = GuardPost(self.memory)
        """Who knows tokens of an issuer."""

    @property
    def guard(self) -> Guard | None:
        """Who decides, where the memory belongs to a space.

        Raises:
            FormatError: nobody knows whether it does.
        """
        return self.issued.find()

    def tokens(self) -> Tokens:
        """Return the tokens of the memory."""
        return Tokens(self._home, self.root, self.memory.settings.memory.id)

    @property
    def waiting(self) -> int:
        """How many requests wait or are served."""
        return self._writers.waiting + self._readers.waiting

    @property
    def memory(self) -> Memory:
        """The memory that is read, for what may be asked of it from any thread."""
        return self._readers.memory

    def still_admits(self, shown: Caller, admitted: Caller, request: Request = FOLLOW) -> bool:
        """Whether a caller that was admitted may go on, and still sees the same."""
        try:
            guard = self.guard
        except FormatError:
            # Where the rules cannot be read, nobody is let through.
            return False
        return guard.still_admits(shown, admitted, request) if guard else shown == admitted

    async def carry_out(
        self, route: Route, caller: Caller, given: Given, stays: Callable[[], bool] = lambda: True
    ) -> Any:
        """Return what a route answers, as JSON knows it.

        Args:
            route: what is asked.
            caller: who asks.
            given: with which parameters.
            stays: whether the caller may still come in, asked when it is its turn.

        Raises:
            ServerError: the caller may not any more, or too many wait.
        """
        guard = self.guard if route.scope is not None else None

        def work(memory: Memory) -> Any:
            # Asked again here: a token may be withdrawn while the request waits for its turn.
            if route.scope is not None and not stays():
                raise unauthorized()
            if route.writes and not (route.anywhere or given.get("dry_run")):
                _check_leading(memory)
            told = on_clocks(given, memory.zone)
            if guard is None:
                return plain(route.deed(memory, caller, told))
            return plain(_carry_out_guarded(guard, route, memory, caller, told))

        return await (self.change if route.writes else self.read)(work, caller)

    async def find_position(self, after: int = 0, *, wrote: bool = False) -> Mapping[str, str]:
        """Return what headers say of a deployment, once it has got as far as a record.

        Args:
            after: the record that has to be in the answer.
            wrote: whether the answer is that of a write.

        Raises:
            BehindError: it did not get there in time.
        """
        relay = (self._writers if wrote else self._readers).memory.store.relay
        if relay is None:
            return {}
        seq, lag, epoch = await asyncio.to_thread(_read_at, relay, after)
        if seq < after:
            raise BehindError(seq, after)
        return {"kimi-seq": str(seq), "kimi-epoch": str(epoch), "kimi-lag-ms": str(lag)}

    async def find_address(self, node: str) -> str:
        """Return where a node serves this memory; empty where that is not known."""
        return await asyncio.to_thread(load_clustering().find_address, self.memory, node)

    async def read(self, work: Callable[[Memory], T], caller: Caller = OURSELVES) -> T:
        """Return what can be read, in turn with other readers."""
        return await self._readers.serve(work, caller)

    async def change(self, work: Callable[[Memory], T], caller: Caller) -> T:
        """Write something, in turn with other writers."""
        return await self._writers.serve(work, caller)

    def close(self) -> None:
        """Finish what waits, commit, and let go of the folder."""
        self._writers.close()
        self._readers.close()
        self.issued.close()


def _check_leading(memory: Memory) -> None:
    """Refuse a write before anything is looked up for it, as this node may not know it yet.

    Raises:
        NotPrimaryError: another node takes the writes of this memory.
    """
    if memory.store.relay is not None:
        try:
            memory.store.relay.lead()
        except NotPrimaryError as error:
            if error.primary:  # Else turns are kept here.
                raise


def _read_at(relay: Relay, after: int) -> tuple[int, int, int]:
    seq, lag = relay.position.read_at(after, AFTER_SECONDS)
    epoch = 0
    # A status that waits for an unreachable log would be of no use while one looks for the fault.
    with suppress(Unreachable):
        epoch = relay.position.last_epoch()
    return seq, lag, epoch


def _carry_out_guarded(
    guard: Guard, route: Route, memory: Memory, caller: Caller, given: Given
) -> Any:
    """Return what a route answers to a member of a space, once that is written down."""
    request = Request(route.name, "http", route.scope or Scope.READ, given)
    # What is read is written down with what was found, what is written before it is done.
    ruling = guard.rule(caller, request)
    if route.writes:
        guard.note(ruling, request)
    value = None
    try:
        value = route.deed(memory, ruling.caller, given)
    finally:
        if not route.writes:
            guard.note(ruling, request, value)
    return without_words(value) if route.name in WHOLE else value

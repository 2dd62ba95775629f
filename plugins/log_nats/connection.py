"""One connection to a NATS server, on a thread of its own, with a deadline for every question."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from urllib.error import URLError
from urllib.request import urlopen

import nats
from nats.errors import Error as NatsError
from nats.js.api import StreamConfig
from nats.js.errors import APIError, NotFoundError

from kimi_memory.domain.change_log import Unreachable
from kimi_memory.errors import UsageError

DEADLINE_SECONDS = 5.0
_PING_SECONDS = 2
_WRONG_LAST = (10071, 10164)
"""What the server calls a message whose number is taken, in a stream and under a subject."""
T = TypeVar("T")


class Server(NamedTuple):
    """Where a server is."""

    name: str
    """How messages call it, without a password."""
    address: str
    monitor: str
    """Address of its monitoring port."""
    replicas: int = 1
    """So many servers of a cluster keep each stream."""


class Connection:
    """Asks one server; several threads may ask at once."""

    def __init__(self, server: Server) -> None:
        self._server, self._lock = server, threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opening = asyncio.Lock()
        self.client: Any = None
        """The client of the library, once something was asked."""
        self._streams = set[str]()
        self._is_durable = False

    def ask(self, call: Callable[[], Coroutine[Any, Any, T]], seconds: float = 0.0) -> T:
        """Have the thread of the connection do something, and return what came of it.

        Args:
            call: what it does.
            seconds: how long that may take besides the way there and back.

        Raises:
            Unreachable: no answer in time; the connection is closed, as it may answer later.
            UsageError: the server acknowledges what is not on its disk.
        """
        self._check_durable()
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
                self._thread.start()
        asked = asyncio.run_coroutine_threadsafe(self._answer(call), self._loop)
        try:
            return asked.result(seconds + DEADLINE_SECONDS)
        except (TimeoutError, NatsError, OSError) as error:
            asked.cancel()
            self._drop()
            why = " ".join(str(error).split())[:300] or "no answer in time"
            raise Unreachable(f"{self._server.name}: {why}") from error

    async def _answer(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async with self._opening:
            if self.client is None or not self.client.is_connected:
                self.client = await nats.connect(
                    self._server.address, connect_timeout=int(DEADLINE_SECONDS),
                    ping_interval=_PING_SECONDS, error_cb=_be_silent,
                    # What goes on by itself would send again what was given up.
                    allow_reconnect=False,
                )  # fmt: skip
        return await call()

    def close(self) -> None:
        """Close the connection and end its thread."""
        self._drop()
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(DEADLINE_SECONDS)
            loop.close()

    def _drop(self) -> None:
        found, self.client = self.client, None
        if found is not None and self._loop is not None:
            # The server may be gone; what is closed here is only our side.
            with suppress(TimeoutError, NatsError, OSError):
                asyncio.run_coroutine_threadsafe(found.close(), self._loop).result(1.0)

    def _check_durable(self) -> None:
        """Refuse a server that acknowledges what is not on its disk.

        Raises:
            UsageError: it does, or does not say.
            Unreachable: nothing answers at its monitoring port.
        """
        if self._is_durable:
            return
        monitor = self._server.monitor
        try:
            with urlopen(f"{monitor}/varz", timeout=DEADLINE_SECONDS) as answer:  # noqa: S310  the user's own address
                config = json.load(answer).get("jetstream", {}).get("config", {})
        except (URLError, OSError, ValueError) as error:
            raise Unreachable(f"{monitor} does not answer: {error}") from error
        if not config.get("sync_always"):
            raise UsageError(
                f"{self._server.name} may lose what it acknowledged. Write 'sync_interval: always' "
                "into the jetstream block of its configuration."
            )
        self._is_durable = True

    # What the thread does

    async def open_stream(self, subject: str, *, newest: bool) -> str:
        """Return the name of a stream, which is made when it is first asked for.

        Args:
            subject: of its messages; those below it where only the newest of each counts.
            newest: whether a message replaces the one before of its subject.
        """
        name = subject.replace(".", "_")
        if name not in self._streams:
            try:
                await self.client.jetstream().stream_info(name)
            except NotFoundError:
                config = StreamConfig(
                    name=name, subjects=[f"{subject}.>" if newest else subject],
                    max_msgs_per_subject=1 if newest else -1,
                    num_replicas=self._server.replicas,
                )  # fmt: skip
                await self.client.jetstream().add_stream(config)
            self._streams.add(name)
        return name

    async def send(
        self, subject: str, body: bytes, *, last: int | None = None, version: int | None = None
    ) -> bool:
        """Put a message durably; False where another one is there that was not expected."""
        headers = {}
        if last is not None:
            headers["Nats-Expected-Last-Sequence"] = str(last)
        if version is not None:
            headers["Nats-Expected-Last-Subject-Sequence"] = str(version)
        try:
            await self.client.jetstream().publish(subject, body, headers=headers)
        except APIError as error:
            if error.err_code in _WRONG_LAST:
                return False
            raise
        return True

    async def read_record(self, stream: str, seq: int) -> bytes | None:
        """Return the message of a number; None where there is none."""
        try:
            found = await self.client.jetstream().get_msg(stream, seq)
        except NotFoundError:
            # It was dropped behind a snapshot.
            return None
        return bytes(found.data)

    async def read_last(self, stream: str, subject: str) -> Any:
        """Return the newest message of a subject; None where there is none."""
        try:
            return await self.client.jetstream().get_last_msg(stream, subject)
        except NotFoundError:
            return None

    async def list_subjects(self, stream: str, pattern: str) -> Sequence[str]:
        """Return the subjects of a stream that have messages."""
        js = self.client.jetstream()
        found = await js.stream_info(stream, subjects_filter=pattern)
        return [*(found.state.subjects or ())]

    async def read_info(self, stream: str) -> Any:
        """Return what the server says of a stream."""
        answer = await self.client.request(
            f"$JS.API.STREAM.INFO.{stream}", b"", timeout=DEADLINE_SECONDS
        )
        found = json.loads(answer.data)
        if "state" not in found:
            self._streams.discard(stream)
            raise TimeoutError(str(found.get("error")))
        return found

    async def read_time(self, stream: str) -> float:
        """Return the time as the server has it."""
        text = str((await self.read_info(stream))["ts"])
        return datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00").timestamp()


async def await_message(heard: Any, seconds: float) -> None:
    """Wait for a message, or for so long."""
    # That nothing came is an answer, too.
    with suppress(nats.errors.TimeoutError):
        await heard.next_msg(timeout=max(seconds, 0.001))


async def _be_silent(error: Exception) -> None:
    """Say nothing: who asked gets the error."""

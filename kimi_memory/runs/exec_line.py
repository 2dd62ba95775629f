"""The other end of an execution node: asks it over a command such as ssh, or over HTTPS."""

from __future__ import annotations

import http.client
import json
import ssl
import statistics
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from kimi_memory.domain.ids import stamp
from kimi_memory.domain.placement_types import Latency
from kimi_memory.errors import ServerError, UsageError
from kimi_memory.runs.grants import GrantError

_SERVE = ("kimi-memory", "exec", "serve")
_SECONDS = 60.0
_PINGS = 20


class ExecLine:
    """A line to an execution node; use it in a ``with`` block.

    Args:
        ask: sends a request and returns the answer to it.
        close: ends the line.
    """

    def __init__(self, ask: Callable[[str], str], close: Callable[[], None]) -> None:
        self._ask, self._close, self._lock = ask, close, threading.Lock()

    @classmethod
    def over_command(cls, argv: Sequence[str]) -> ExecLine:
        """Start a program that carries lines to a node and back, such as ssh."""
        try:
            program = subprocess.Popen(
                list(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        except OSError as error:
            raise UsageError(f"{argv[0]} cannot be started: {error.strerror}.") from error
        given, said = program.stdin, program.stdout
        assert given is not None and said is not None

        def ask(line: str) -> str:
            with suppress(BrokenPipeError):
                given.write(f"{line}\n")
                given.flush()
            return said.readline()

        def close() -> None:
            with suppress(BrokenPipeError):
                given.close()
            said.close()
            program.wait()

        return cls(ask, close)

    @classmethod
    def over_ssh(cls, host: str) -> ExecLine:
        """Reach the node of another machine, as the user that ssh makes one there."""
        check_host(host)
        return cls.over_command(["ssh", "-o", "BatchMode=yes", "-T", host, *_SERVE])

    @classmethod
    def over_https(cls, url: str, *, own: Path, key: Path, authority: Path) -> ExecLine:
        """Reach a node by its address.

        Args:
            url: such as ``https://rack-2:8443``.
            own: the certificate of this client.
            key: belongs to that.
            authority: the certificate of the node, or of who signs its.
        """
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise UsageError(f"{url!r} is no address. Write https://HOST:PORT.")
        try:
            context = ssl.create_default_context(cafile=str(authority))
            context.load_cert_chain(own, key)
        except OSError as error:
            why = f"The certificates cannot be used: {error}. Give PEM files."
            raise UsageError(why) from error
        line = http.client.HTTPSConnection(
            parts.hostname, parts.port or 443, context=context, timeout=_SECONDS
        )

        def ask(text: str) -> str:
            try:
                line.request("POST", parts.path or "/", text.encode())
                return line.getresponse().read().decode()
            except (OSError, http.client.HTTPException) as error:
                line.close()
                _lose(str(error) or type(error).__name__)

        return cls(ask, line.close)

    def __enter__(self) -> ExecLine:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._close()

    def call(self, method: str, id: str = "", **params: Any) -> Mapping[str, Any]:
        """Ask for something, and return the result.

        Args:
            method: such as ``exec.run``.
            id: of the call; with the same one a call whose answer was lost is asked for again.
            params: the grant, and what the method takes.

        Raises:
            GrantError: the node refuses it; `code` and `about` say why.
            ServerError: the line was lost: what became of the call is not known.
        """
        id = id or uuid.uuid4().hex
        asked = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        with self._lock:
            text = self._ask(json.dumps(asked, ensure_ascii=False))
        try:
            answer = json.loads(text)
            if answer["id"] not in (id, None):
                raise KeyError
            if error := answer.get("error"):
                raise GrantError(error["code"], error["message"], **error.get("data", {}))
            found: Mapping[str, Any] = answer["result"]
        except (ValueError, KeyError, TypeError) as error:
            _lose(text.strip()[:200] or "nothing was answered", error)
        return found

    def measure(self, here: str, there: str, count: int = _PINGS) -> Latency:
        """Return how long the way to the node and back takes."""
        found = []
        self.call("node.ping")  # The first one waits for the program over there.
        for _ in range(count):
            began = time.monotonic()
            self.call("node.ping")
            found.append((time.monotonic() - began) * 1000)
        worst = sorted(found)[int(0.95 * (count - 1))]
        at = stamp(datetime.now(UTC))
        return Latency(here, there, round(statistics.median(found), 2), round(worst, 2), count, at)


def check_host(host: str) -> None:
    """Refuse what ssh would take for an option of its own.

    Raises:
        UsageError: it is empty, or begins like one.
    """
    if not host or host.startswith("-") or any(letter.isspace() for letter in host):
        raise UsageError(f"{host!r} is no host. Write HOST, or USER@HOST.")


def _lose(why: str, cause: BaseException | None = None) -> NoReturn:
    raise ServerError(
        f"The execution node cannot be reached: {why}. Ask again with the same id.",
        status=502, code="no_answer",
    ) from cause  # fmt: skip

"""JSON over HTTP to one server, with a deadline, a bound on size, and errors of ours."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from kimi_memory.domain.addresses import is_local_url
from kimi_memory.errors import ModelError

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 64 * 1024 * 1024
"""A longer answer is not read to its end."""
BEARER = "Authorization"
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Status codes that may be gone at the next try."""
log = logging.getLogger("kimi_memory.llm.remote")


class Wire:
    """Requests to one server.

    Args:
        base: address that paths are appended to.
        key: gives the key; empty sends none. Asked once, at the first call.
        seconds: longest time a whole call may take.
        limit: longest answer that is read, in bytes.
        header: where the key stands; as a bearer token if that is ``Authorization``.
    """

    def __init__(
        self,
        base: str,
        key: Callable[[], str],
        seconds: float,
        limit: int = MAX_BYTES,
        *,
        header: str = BEARER,
    ) -> None:
        self.base, self._key, self._seconds = base.rstrip("/"), key, seconds
        self._limit, self._header = limit, header
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: Mapping[str, Any], *, seconds: float | None = None) -> Any:
        """Send JSON and return the JSON object or list that comes back.

        Raises:
            ModelError: no answer, a late one, or none of that form.
        """
        import httpx

        deadline = time.monotonic() + (seconds or self._seconds)
        limit = httpx.Timeout(seconds or self._seconds)
        try:
            with self._lock:
                if self._client is None:
                    # Nobody tells a plugin that it is over: a kept line would be left open.
                    lines = httpx.Limits(max_keepalive_connections=0)
                    self._client = httpx.Client(limits=lines, **self._describe_client())
            asked = self._client.stream("POST", self.base + path, json=body, timeout=limit)
            with asked as answer:
                content = self._read_answer(answer, deadline)
        except httpx.TimeoutException as error:
            raise self._build_error(f"gave no answer in {seconds or self._seconds:g} s") from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol) as error:
            raise self._build_error(f"cannot be reached ({error})") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._build_error(str(error) or type(error).__name__, passing=True) from error
        if answer.status_code != httpx.codes.OK:
            status, said = answer.status_code, content[:300].decode("utf-8", "replace").split()
            what = f"answered {status}: {' '.join(said)}"
            raise self._build_error(what, passing=status in PASSING, status=status)
        return self._parse_json(content)

    def bad_answer(self, what: str) -> ModelError:
        """Return the error of an answer that has not the form of the API."""
        return self._build_error(f"gave {what}", passing=True)

    def _describe_client(self) -> dict[str, Any]:
        """Return how the client is made; the key is asked for here."""
        key, local = self._key(), is_local_url(self.base)
        if key and not local and self.base.startswith("http://"):
            log.warning("%s gets its key unencrypted. Use https.", self.base)
        token = f"Bearer {key}" if self._header == BEARER else key
        return {
            "headers": {self._header: token} if key else {},
            # A proxy set for the internet would get what is meant for a server on this machine.
            "trust_env": not local,
            # The key would go along to wherever the answer points.
            "follow_redirects": False,
        }

    def _read_answer(self, answer: httpx.Response, deadline: float) -> bytes:
        parts, size = [], 0
        for part in answer.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > self._limit:
                raise self._build_error(f"sent more than {self._limit} bytes")
            # The library bounds the wait for each byte, not for all of them.
            if time.monotonic() > deadline:
                raise self._build_error("was still answering at the deadline")
        return b"".join(parts)

    def _parse_json(self, content: bytes) -> Any:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._build_error(f"did not answer with JSON ({error})", passing=True) from error
        if not isinstance(found, dict | list):
            raise self._build_error("did not answer with a JSON object", passing=True)
        return found

    def _build_error(self, why: str, *, passing: bool = False, status: int = 0) -> ModelError:
        return ModelError(f"{self.base} {why}.", passing=passing, status=status)

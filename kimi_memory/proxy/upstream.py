"""The model server behind the proxy: requests go there as they came, answers stream back.

Keys in them pass through; they are not kept, and no line of a log has them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from urllib.parse import unquote, urlsplit

import httpx

from kimi_memory.domain.addresses import is_local_url
from kimi_memory.errors import ServerError, UsageError
from kimi_memory.nlp.basic.patterns import regex

Headers = Sequence[tuple[bytes, bytes]]

_SLASH = regex(r"[/\\]")

# Only to connect: an answer may rightly take minutes to begin.
CONNECT_SECONDS = 20.0
HOP = frozenset(
    (b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te",
     b"trailer", b"transfer-encoding", b"upgrade")
)  # fmt: skip
"""Headers that concern one line and not the whole way."""


class Upstream:
    """One model server.

    Args:
        url: its address, as programs are given it, with or without ``/v1``.

    Raises:
        UsageError: it is none of a server.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        # A name and password in the address would show up in messages and logs.
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise UsageError(f"{url!r} is no address of a model server. Give https://… or http://…")
        self.host = parts.netloc
        self._server = f"{parts.scheme}://{parts.netloc}"
        self._base = parts.path.rstrip("/")
        self._client = httpx.AsyncClient(
            # A model may think for minutes; who waits knows how long.
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
            # Answers stream for minutes; with a limit chats would wait for each other.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            follow_redirects=False,
            # No proxy stands between a machine and itself.
            trust_env=not is_local_url(url),
        )

    def address(self, path: str, query: str) -> str:
        """Return the address that a path of ours means there; ``/v1`` never comes twice.

        Raises:
            ServerError: it is no path, and might name another server.
        """
        # Two dots lead above the path that the owner gave, to what others keep on that server.
        if not path.startswith("/") or {".", ".."} & {*_SLASH.split(unquote(path))}:
            raise _no_path_error("begins with '/' and has no '..'")
        base = self._base
        ends = (base[n:] for n in range(len(base)) if base[n] == "/")
        both = next((end for end in ends if f"{path}/".startswith(f"{end}/")), "")
        if not both and path.startswith("/api/"):
            base = base.removesuffix("/v1")  # Ollama's own form, beside that of OpenAI
        return f"{self._server}{base.removesuffix(both)}{path}{f'?{query}' if query else ''}"

    async def ask(
        self, method: str, url: str, headers: Headers, content: bytes | AsyncIterator[bytes]
    ) -> httpx.Response:
        """Send a request; the answer is still to be read.

        Raises:
            ServerError: nobody answers there.
        """
        try:
            request = self._client.build_request(
                method, url, headers=list(headers), content=content
            )
        except httpx.InvalidURL as error:
            raise _no_path_error("is shorter, of plain characters") from error
        try:
            return await self._client.send(request, stream=True)
        except httpx.HTTPError as error:
            late = isinstance(error, httpx.TimeoutException)
            why = str(error) or type(error).__name__
            raise ServerError(
                f"The model server {self.host} does not answer ({why}). Look at --upstream.",
                status=504 if late else 502,
                code="upstream_unreachable",
            ) from error


def _no_path_error(needed: str) -> ServerError:
    return ServerError(
        f"A request to this proxy names a path. Send one that {needed}.", status=400, code="no_path"
    )


async def pieces(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the bytes of an answer as they arrive.

    Raises:
        ServerError: it broke off.
    """
    try:
        async for piece in answer.aiter_raw():
            yield piece
    except httpx.HTTPError as error:
        why = str(error) or type(error).__name__
        raise ServerError(f"The model server broke off ({why}).", status=502) from error
    finally:
        await answer.aclose()

"""The door: from which address, by which name, for which page and with which token to come in.

A page in a browser can send requests to this machine, and a name of the attacker can be
made to mean it. So the Host must be one of ours, and so must the Origin where there is one.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol
from urllib.parse import urlsplit

from kimi_memory.domain.addresses import is_loopback
from kimi_memory.errors import ServerError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller
from kimi_memory.server.tokens import PREFIX, Tokens

LOCAL = Caller("local")
_PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_FOREIGN = ("cross-site", "same-site")


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the headers of a request; one that comes twice counts as none of ours."""
    found: dict[str, str] = {}
    for key, value in raw:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        # Two Host headers: a proxy may obey the one and we the other, so neither is believed.
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Under which names a server may be called, and by which pages."""

    bound: str = "127.0.0.1"
    """The address it listens on."""
    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    """Pages that may call it, each as ``https://example.org``."""

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.bound)

    def knows(self, host: str) -> bool:
        """Whether a name is one of ours; a bare address cannot be rebound."""
        if is_loopback(host) or host in self.hosts:
            return True
        # A page of the web cannot make its own name mean this address, so addresses are safe where
        # names are not.
        return not self.local and _is_address(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        # It is a name then.
        return False
    return True


class Issued(Protocol):
    """Identifies callers by tokens that an issuer made, not we."""

    def known(self) -> bool:
        """Whether there is anybody whose tokens count."""

    def caller(self, token: str) -> Caller | None:
        """Return the principal of a token; this may ask over the network."""


class Door:
    """Decides who may come in.

    Args:
        tokens: those of ours.
        names: under which the server may be called.
        issued: who knows tokens that are not ours.
    """

    def __init__(self, tokens: Tokens, names: Names, issued: Issued | None = None) -> None:
        self._tokens, self._names, self._issued = tokens, names, issued
        self._guarded = not names.local or bool(tokens.all())

    @property
    def guarded(self) -> bool:
        """Whether a token is needed; a server that once had one never does without."""
        self._guarded = (
            self._guarded
            or bool(self._tokens.all())
            or (self._issued is not None and self._issued.known())
        )
        return self._guarded

    def check(self, headers: Mapping[str, str], *, landing: bool = False) -> None:
        """Look at where a request comes from.

        Args:
            headers: those of the request.
            landing: whether a page of somebody else may lead a browser here, to look and for
                nothing else.

        Raises:
            ServerError: it goes to a name, or comes from a page, that is not ours.
        """
        host = headers.get("host", "")
        name = _host_of(host)
        # Without tokens only names of this machine: a page can make its own name mean 127.0.0.1.
        known = is_loopback(name) if not self.guarded else self._names.knows(name)
        if not known:
            raise ServerError(
                "This server is not known by that name. Use its address, or let its owner add "
                "the name with --allow-host.",
                status=421,
                code="wrong_host",
            )
        if not self.guarded and any(name in headers for name in _PROXIED):
            raise ServerError(
                "A server without tokens answers no proxy. Add a token to it.",
                status=403,
                code="wrong_origin",
            )
        if not (self._is_own_page(headers, host) or (landing and _is_visit(headers))):
            raise ServerError(
                "This page may not call the memory. Its owner can add it with --allow-origin.",
                status=403,
                code="wrong_origin",
            )

    def _is_own_page(self, headers: Mapping[str, str], host: str) -> bool:
        origin = headers.get("origin")
        if origin is None:
            # Browsers leave Origin out of simple GET requests, but not this header.
            return headers.get("sec-fetch-site") not in _FOREIGN
        scheme, _, rest = origin.partition("://")
        same = scheme in ("http", "https") and rest.casefold() == host.casefold()
        return same or origin in self._names.origins

    async def caller(self, authorization: str) -> Caller:
        """Return who sends a request.

        Raises:
            ServerError: a token is needed, and none or a wrong one was shown.
        """
        if not self.guarded:
            return LOCAL
        scheme, _, secret = authorization.partition(" ")
        secret, found = secret.strip(), None
        if scheme.casefold() == "bearer":
            found = self._tokens.caller(secret)
            if found is None and self._issued is not None and not secret.startswith(PREFIX):
                # An issuer may have to be asked for its keys, which others need not wait for.
                found = await asyncio.to_thread(self._issued.caller, secret)
        if found is None:
            raise unauthorized()
        return found

    def still_opens(self, authorization: str, caller: Caller) -> bool:
        """Whether what somebody has shown has not been taken back or bound anew since.

        For a token of an issuer its space is to be asked.
        """
        secret = authorization.partition(" ")[2].strip()
        return not secret.startswith(PREFIX) or self._tokens.caller(secret) == caller


def unauthorized() -> ServerError:
    """Return the error for a request without a token, or with a wrong one."""
    return ServerError(
        "A valid token is needed. Send 'Authorization: Bearer …'; its owner makes one "
        "with 'kimi-memory serve token add'.",
        status=401,
        code="unauthorized",
    )


def _is_visit(headers: Mapping[str, str]) -> bool:
    """Whether a browser leaves another page for ours; no frame, picture, form or script does."""
    how = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
    return "origin" not in headers and how == ("navigate", "document")


def _host_of(host: str) -> str:
    """Return the name in a Host header; empty where it is not valid."""
    # To `urlsplit` these end or begin the name: "127.0.0.1@evil.example" is no name of ours.
    if any(mark in host for mark in "/@?# \t\\"):
        return ""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        # A header may hold anything; what is no host is none that we allow.
        return ""
    return parts.hostname or ""

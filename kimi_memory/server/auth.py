"""The door: from which address, by which name, for which page and with which token to come in.

A page in a browser can send requests to this machine, and a name of the attacker can be
made to mean it. So the Host must be one of ours, and so must the Origin where there is one.
Tokens are kept by their hash in the user's own state directory, never in a memory.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kimi_memory.agent_hooks.user_files import put, text_at
from kimi_memory.api.options import Home
from kimi_memory.domain.addresses import is_loopback
from kimi_memory.errors import NotFoundError, ServerError, UsageError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller, Namespace, Scope
from kimi_memory.store.files.disk import Stat, signature

if TYPE_CHECKING:
    from kimi_memory.server.guard import GuardPost

LOCAL = Caller("local")
_PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_FOREIGN = ("cross-site", "same-site")

FILE = "tokens.json"
PREFIX = "kmt_"
"""What every secret begins with."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret."""

    id: str
    name: str
    memory: str
    """The id of the memory it opens; its folder, where an older version made it."""
    hash: str
    scopes: tuple[Scope, ...]
    project: str
    agent: str
    created: datetime
    user: str = ""
    session: str = ""
    shared: bool = False
    member: str = ""
    """The member of a space that shows it."""

    @property
    def caller(self) -> Caller:
        """Who shows it."""
        space = Namespace(self.project, self.agent, self.user, self.session, self.shared)
        return Caller(self.name, frozenset(self.scopes), space, member=self.member)


class Tokens:
    """The tokens of one memory; what changes on disk holds from the next request on.

    Args:
        home: the user's own directories.
        root: the folder of the memory.
        id: of the memory; its tokens go with it where it moves.
    """

    def __init__(self, home: Home, root: Path, id: str) -> None:
        self._path, self._memory, self._root = home.state / FILE, id, str(root)
        self._mark: Stat | None = None
        self._known: tuple[Token, ...] = ()

    def all(self) -> tuple[Token, ...]:
        """Return the tokens of this memory.

        Raises:
            ServerError: the file of tokens cannot be understood.
        """
        mark = self._look()
        if mark != self._mark:
            self._known = tuple(one for one in self._read_tokens() if one.memory == self._memory)
            self._mark = mark
        return self._known

    def add(
        self,
        name: str,
        scopes: Collection[Scope],
        space: Namespace,
        now: datetime,
        *,
        member: str = "",
    ) -> tuple[Token, str]:
        """Make a token; its secret is returned once and kept nowhere.

        Args:
            name: who has it.
            scopes: what it may do.
            space: what it is bound to.
            now: when it is made.
            member: the member of a space who shows it, and who is bound by policies instead.

        Raises:
            UsageError: what is given does not go together.
        """
        if member and space:
            raise UsageError(
                "The policies of the space say what a member sees. Leave --project, --agent, "
                "--user and --session out."
            )
        if not name.strip() or not name.isprintable():
            raise UsageError("A token needs a name that says who has it.")
        if Scope.PERSON in scopes and len(set(scopes)) > 1:
            # Who gets hold of a token that lies in a browser must not reach the API with it.
            raise UsageError("A token of a person opens the pages alone. Make another for the API.")
        secret = PREFIX + secrets.token_urlsafe(32)
        hash = _hash_secret(secret)
        made = Token(
            hash[:8], name, self._memory, hash, tuple(sorted(set(scopes))),
            space.project, space.agent, now, space.user, space.session, space.shared, member,
        )  # fmt: skip
        self._write_tokens([*self._read_tokens(), made])
        return made, secret

    def remove(self, id: str) -> Token:
        """Take a token back, by its id or name.

        Raises:
            NotFoundError: there is none, or several have that name.
        """
        found = [one for one in self.all() if id in (one.id, one.name)]
        if len(found) != 1:
            raise NotFoundError("token", id)
        self._write_tokens([one for one in self._read_tokens() if one != found[0]])
        return found[0]

    def caller(self, secret: str) -> Caller | None:
        """Return the principal of this secret, or None."""
        hash = _hash_secret(secret)
        # In constant time, so that no delay tells how much of a secret was right.
        found = [one for one in self.all() if hmac.compare_digest(one.hash, hash)]
        return found[0].caller if found else None

    def _look(self) -> Stat | None:
        try:
            return signature(self._path.stat())
        except FileNotFoundError:
            # No token was ever made.
            return None

    def _read_tokens(self) -> list[Token]:
        text = text_at(self._path)
        try:
            found: list[Token] = [revive(Token, one) for one in json.loads(text or "[]")]
            # Those of a folder are kept by the memory's id from the next change on.
            return [
                replace(one, memory=self._memory) if one.memory == self._root else one
                for one in found
            ]
        except (ValueError, TypeError, KeyError) as error:
            raise ServerError(
                "The file of tokens cannot be understood. Remove it, and make new ones with "
                "'kimi-memory serve token add'.",
                status=503,
                code="tokens",
            ) from error

    def _write_tokens(self, tokens: list[Token]) -> None:
        put(self._path, json.dumps(plain(tokens), ensure_ascii=False, indent=2) + "\n")
        self._path.chmod(0o600)
        self._mark = None


def _hash_secret(secret: str) -> str:
    # No salt and no slow hash: a random secret of 256 bits cannot be guessed.
    return hashlib.sha256(secret.encode()).hexdigest()


def hidden(token: Token) -> Token:
    """Return a token as it may be shown."""
    return replace(token, hash="")


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


class Door:
    """Decides who may come in.

    Args:
        tokens: those of ours.
        names: under which the server may be called.
        issued: who knows tokens that are not ours.
    """

    def __init__(self, tokens: Tokens, names: Names, issued: GuardPost | None = None) -> None:
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
            why = "A server without tokens answers no proxy. Add a token to it."
            raise ServerError(why, status=403, code="wrong_origin")
        if not (self._is_own_page(headers, host) or (landing and _is_visit(headers))):
            why = "This page may not call the memory. Its owner can add it with --allow-origin."
            raise ServerError(why, status=403, code="wrong_origin")

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

"""Tokens of the HTTP server: kept by hash in the user's own state directory, never in a memory."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from kimi_memory.agent_hooks.user_files import put, text_at
from kimi_memory.api.options import Home
from kimi_memory.errors import NotFoundError, ServerError, UsageError
from kimi_memory.formats.json_values import plain, revive
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.principal import Caller, Namespace, Scope
from kimi_memory.store.files.disk import Stat, signature

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

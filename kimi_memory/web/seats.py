"""Seats: which browser a person sits at. A seat is taken with a code that holds once, or a token.

A seat is what tells a person from a program. Tokens of programs never become one, so an agent
that holds a token cannot answer its own proposals.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kimi_memory.agent_hooks.user_files import drop, put
from kimi_memory.api.options import Home
from kimi_memory.errors import DiskError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.server.auth import Tokens
from kimi_memory.server.principal import Caller, Scope
from kimi_memory.spaces.people import Signer

# It is in the address for a moment; histories of browsers keep it for ever.
CODE_SECONDS = 60
# A working day: nobody signs in twice, and a forgotten window closes over night.
SEAT_SECONDS = 12 * 3600
MOST = 64
"""So many seats at a time; the oldest one goes for a new one."""
OWNER = Caller("owner", frozenset({Scope.PERSON}), person=True)


@dataclass(frozen=True, slots=True)
class Seat:
    """One browser of a person."""

    caller: Caller
    until: float
    lang: str = ""
    """The language they chose; that of the browser if empty."""
    root: str = ""
    """The one memory they may see, of several; all if empty."""
    token: str = ""
    """What they showed; the seat ends with it. Empty where a code opened it."""
    signer: Signer | None = None
    """Who signed them in; the seat ends where that is somebody else."""


class Seats:
    """The seats of a server; they are gone with it.

    Args:
        home: the user's own directories, where a code waits for its server.
        doors: the folders of the memories that are served, with the tokens of each. A code
            for the first opens all.
        clock: seconds since the epoch.
    """

    def __init__(
        self, home: Home, doors: Mapping[Path, Tokens], clock: Callable[[], float]
    ) -> None:
        self._home, self._doors, self._clock = home, doors, clock
        self._seats: dict[str, Seat] = {}

    def take(self, code: str, token: str) -> str:
        """Return the secret of a new seat; empty where neither code nor token opens one."""
        owner = bool(code) and self._consume(code)
        token = "" if owner else token.strip()
        caller, root = (OWNER, "") if owner else self._person(token)
        if caller is None:
            return ""
        return self._give(Seat(caller, self._clock() + SEAT_SECONDS, root=root, token=token))

    def give(self, caller: Caller, root: Path, signer: Signer | None) -> str:
        """Return the secret of a new seat of somebody whom an issuer signed in.

        Args:
            caller: who it is.
            root: the folder of the memory that is open to it.
            signer: who signed them in.
        """
        until = self._clock() + SEAT_SECONDS
        return self._give(Seat(caller, until, root=str(root), signer=signer))

    def _give(self, seat: Seat) -> str:
        secret = secrets.token_urlsafe(32)
        while len(self._seats) >= MOST:
            # A dictionary keeps the order in which its keys came.
            del self._seats[next(iter(self._seats))]
        self._seats[_hash(secret)] = seat
        return secret

    def find(self, secret: str) -> Seat | None:
        """Return the seat of a secret; None where there is none, or it has ended."""
        seat = self._seats.get(_hash(secret)) if secret else None
        if seat is None or seat.until <= self._clock():
            return None
        # A token that was taken back, or bound anew, ends the seats it opened.
        return seat if not seat.token or self._person(seat.token)[0] == seat.caller else None

    def speak(self, secret: str, lang: str) -> None:
        """Keep the language that a seat chose."""
        if seat := self.find(secret):
            self._seats[_hash(secret)] = replace(seat, lang=lang)

    def leave(self, secret: str) -> None:
        """Give a seat up."""
        self._seats.pop(_hash(secret), None)

    def _consume(self, code: str) -> bool:
        """Whether a code waits for this server; it does so once."""
        place = _code_path(self._home, next(iter(self._doors)), code)
        # It was used up, or never given.
        with suppress(OSError, ValueError, DiskError):
            until = float(place.read_text("ascii"))
            drop(place)
            return self._clock() < until
        return False

    def _person(self, token: str) -> tuple[Caller | None, str]:
        """Return who has a token, and the memory it opens: one alone, though several are served."""
        for root, tokens in self._doors.items() if token else ():
            caller = tokens.caller(token)
            if caller is not None and Scope.PERSON in caller.scopes:
                return replace(caller, person=True), str(root)
        return None, ""


def make_code(home: Home, root: Path, now: float) -> str:
    """Return a code that opens one seat at a server of a memory within a minute."""
    code = secrets.token_urlsafe(16)
    place = _code_path(home, root, code)
    for old in place.parent.iterdir() if place.parent.is_dir() else ():
        drop(old)  # Only the newest one holds.
    put(place, f"{now + CODE_SECONDS:.0f}")
    place.chmod(0o600)
    return code


def _code_path(home: Home, root: Path, code: str) -> Path:
    # The name is a hash: who reads the folder learns no code, and it opens this memory alone.
    return home.state / "ui-codes" / _hash(f"{root.resolve()}\0{code}")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()

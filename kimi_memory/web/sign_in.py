"""Browsers that were sent to an issuer, and what is kept until they come back."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from urllib.parse import urlsplit

from kimi_memory.domain.addresses import is_local_url
from kimi_memory.spaces.code_flow import Begun
from kimi_memory.spaces.people import Signer
from kimi_memory.web.page_types import ROOT
from kimi_memory.web.room import Room

BACK = f"{ROOT}/signed-in"
"""To which page of ours they come back; the issuer has to know its whole address."""
# The time to type a password and a second factor at the issuer.
SENT_SECONDS = 600
_MOST = 1000
"""So many at a time; the oldest one goes for a new one."""
Kept = tuple[Room, Begun]


class Sent:
    """What is kept of browsers that were sent away, by a secret that each of them has.

    Args:
        clock: seconds that only go forward.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Kept]] = {}

    def keep(self, kept: Kept) -> str:
        """Keep what was begun, and return the secret for the browser."""
        while len(self._kept) >= _MOST:
            # A dictionary keeps the order in which its keys came.
            del self._kept[next(iter(self._kept))]
        secret = secrets.token_urlsafe(32)
        self._kept[secret] = self._clock() + SENT_SECONDS, kept
        return secret

    def take(self, secret: str) -> Kept | None:
        """Return what was begun, once; None where it is over, or was not begun here."""
        until, kept = self._kept.pop(secret, (0.0, None))
        return kept if until > self._clock() else None


def back_of(host: str) -> str:
    """Return the address to which an issuer leads a browser back.

    Args:
        host: the name by which the browser knows us. Only to this machine it may come back
            without TLS, of which a server before ours takes care.
    """
    scheme = "http" if is_local_url(f"http://{host}") else "https"
    return f"{scheme}://{host}{BACK}"


def host_of(signer: Signer) -> str:
    """Return how people know an issuer."""
    return urlsplit(signer.asking.issuer).netloc

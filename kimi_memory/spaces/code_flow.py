"""Signing in with an issuer in a browser: authorization code with PKCE; what knows Authlib.

The browser is sent to the issuer and comes back with a code. Only who began, and still has the
verifier, gets a token for it (RFC 7636); the token names the beginning by its nonce.
"""

from __future__ import annotations

import importlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kimi_memory.domain.space_types import Claims
from kimi_memory.errors import ServerError, UsageError
from kimi_memory.spaces.issuers import KEEP_SECONDS, Asking, Issuer, check_address, discover, fetch


class Begun(NamedTuple):
    """A browser that was sent to an issuer and has not come back."""

    url: str
    """Where it was sent."""
    back: str
    """The address of ours to which it comes back."""
    state: str
    nonce: str
    verifier: str


class CodeFlow:
    """Signs people in under one name that the issuer knows this program by.

    Args:
        asking: whom to believe; tokens for a browser are signed for `client`.
        client: the name, of a public client: it has no secret.
        clock: seconds that only go forward.

    Raises:
        UsageError: a library is missing, or it is no address of an issuer.
    """

    def __init__(
        self, asking: Asking, client: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._core, self._pkce, self._error = load_library()
        self._asking, self._client, self._clock = replace(asking, audience=client), client, clock
        self._issuer = Issuer(self._asking, clock)
        self._about: tuple[float, Mapping[str, Any]] = (float("-inf"), {})

    def begin(self, back: str) -> Begun:
        """Return where to send a browser, and what to keep until it is back.

        Args:
            back: the address to which it comes back, as the issuer knows it.

        Raises:
            ServerError: the issuer does not answer, or lets nobody in this way.
        """
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        url: str = self._core.prepare_grant_uri(
            self._find("authorization_endpoint"), self._client, "code", back,
            "openid email profile" if self._asking.claim == "email" else "openid profile",
            state, nonce=nonce, code_challenge_method="S256",
            code_challenge=self._pkce.create_s256_code_challenge(verifier),
        )  # fmt: skip
        return Begun(url, back, state, nonce, verifier)

    def finish(self, begun: Begun, answered: str) -> Claims | None:
        """Return the claims of the person who came back; None where they are not valid.

        Args:
            begun: what was kept.
            answered: the address with which the browser came back.

        Raises:
            ServerError: the issuer does not answer.
        """
        try:
            given = self._core.parse_authorization_code_response(answered, begun.state)
        except self._error:
            return None  # The person said no, or somebody else began this.
        # An answer that names its sender must be of the one that was asked (RFC 9207).
        if given.get("iss", self._asking.issuer) != self._asking.issuer:
            return None
        found = fetch(
            self._find("token_endpoint"),
            {
                "grant_type": "authorization_code", "code": str(given["code"]),
                "redirect_uri": begun.back, "client_id": self._client,
                "code_verifier": begun.verifier,
            },
        )  # fmt: skip
        token, access = found.get("id_token"), found.get("access_token")
        claims = self._issuer.verify(token, begun.nonce) if isinstance(token, str) else {}
        if claims and isinstance(access, str):
            claims = self._complete(claims, access)
        return self._issuer.read_claims(claims)

    def _complete(self, claims: Mapping[str, Any], access: str) -> Mapping[str, Any]:
        """Return the claims of a person with those that an issuer tells only where it is asked.

        OpenID Connect Core 1.0, section 5.3.
        """
        wanted = {self._asking.claim, *([self._asking.groups] if self._asking.groups else ())}
        if wanted <= claims.keys() or not self._look_up("userinfo_endpoint"):
            return claims
        more = fetch(self._find("userinfo_endpoint"), token=access)
        # An answer about somebody else is none.
        return {**more, **claims} if more.get("sub") == claims["sub"] else claims

    def _look_up(self, name: str) -> object:
        """Return what the issuer said of itself within the hour."""
        now = self._clock()
        if now - self._about[0] > KEEP_SECONDS:
            self._about = now, discover(self._asking.issuer)
        return self._about[1].get(name)

    def _find(self, name: str) -> str:
        """Return an address of the issuer."""
        where = self._look_up(name)
        try:
            check_address(where)
        except UsageError as error:
            told = f"The issuer {self._asking.issuer[:200]} lets nobody sign in with a browser."
            raise ServerError(told, status=503, code="issuer") from error
        return str(where)


def load_library() -> tuple[Any, Any, type[Exception]]:
    """Return what the library has of the protocol, of proofs of who began, and its error.

    Raises:
        UsageError: it is not installed.
    """
    try:
        core = importlib.import_module("authlib.oauth2.rfc6749.parameters")
        pkce = importlib.import_module("authlib.oauth2.rfc7636")
        errors = importlib.import_module("authlib.oauth2.base")
    except ImportError as error:
        raise UsageError(
            "To sign in with an issuer, the pages need the library Authlib. Install it with "
            "'pip install kimi-memory[team]'."
        ) from error
    return core, pkce, errors.OAuth2Error

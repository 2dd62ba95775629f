"""People by OpenID Connect: an issuer signs who somebody is; the one module that knows PyJWT."""

from __future__ import annotations

import importlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from kimi_memory.domain.addresses import is_local_url
from kimi_memory.domain.space_types import Claims
from kimi_memory.errors import ServerError, UsageError
from kimi_memory.lazy_dataclass import dataclass
from kimi_memory.nlp.basic.safe_text import one_line

if TYPE_CHECKING:
    import httpx

# Of keys in pairs alone: a key that we share with the issuer could sign as the issuer does.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
              "ES256", "ES384", "ES512", "EdDSA")  # fmt: skip
_RSA = ALGORITHMS[:6]
KEEP_SECONDS = 3600.0
"""After so long the keys of an issuer are fetched anew."""
STALE_SECONDS = 86_400.0
"""So long keys count that were fetched before an issuer stopped answering."""
PAUSE_SECONDS = 10.0
"""Least time between two requests to an issuer, however many unknown keys are named."""
LEEWAY_SECONDS = 30
"""By so much clocks may differ."""
_DISCOVERY = "/.well-known/openid-configuration"
_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_ANSWER_BYTES = 262_144
_TOKEN_LETTERS = 16_384
_GROUPS, _GROUP_LETTERS = 500, 200
_WAIT_SECONDS = 5.0


class _RefusedError(Exception):
    """A token that is not believed, and why."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom to believe, and which claims."""

    issuer: str
    audience: str
    claim: str = "sub"
    groups: str = "groups"


_ByAlgorithm = Mapping[str, Any]


class _Keys(NamedTuple):
    at: float
    by_id: Mapping[str, _ByAlgorithm]


class Issuer:
    """Believes what one issuer signed for one audience.

    Args:
        asking: whom to believe.
        clock: seconds that only go forward.

    Raises:
        UsageError: the library is missing, or the address is neither https nor of this machine.
    """

    def __init__(self, asking: Asking, clock: Callable[[], float] = time.monotonic) -> None:
        check_address(asking.issuer)
        self._jwt, self._asking, self._clock = load_library(), asking, clock
        self._keys: _Keys | None = None
        self._asked = float("-inf")
        self._lock = threading.Lock()

    def identify(self, token: str) -> Claims | None:
        """Return the principal that the issuer signed for; None where the token is not valid.

        Raises:
            ServerError: the issuer does not answer, and no keys of it are known.
        """
        return self.read_claims(self.verify(token))

    def verify(self, token: str, nonce: str = "") -> Mapping[str, Any]:
        """Return the claims that the issuer signed; none where the token is not valid.

        Checked are the signature, issuer, audience, expiry and beginning.

        Args:
            token: what is shown.
            nonce: what was asked with, where it has to be the answer to that: a token that
                somebody else got does not count then, nor one for a party that passes it on.

        Raises:
            ServerError: the issuer does not answer, and no keys of it are known.
        """
        try:
            found = self._decode(token)
        except (_RefusedError, self._jwt.PyJWTError, ValueError, RecursionError):
            return {}  # The last two: of JSON that no issuer writes.
        answers = (found.get("nonce"), found.get("azp", self._asking.audience))
        return {} if nonce and answers != (nonce, self._asking.audience) else found

    def _decode(self, token: str) -> Mapping[str, Any]:
        if len(token) > _TOKEN_LETTERS or not token.isascii():
            raise _RefusedError("it is too long, or holds other letters than a token")
        header = self._jwt.get_unverified_header(token)
        if header.get("alg") not in ALGORITHMS or "crit" in header:
            raise _RefusedError("its algorithm is not taken")
        options = {"require": ["exp", "iat", "iss", "aud", "sub"],
                   "enforce_minimum_key_length": True}  # fmt: skip
        found: Mapping[str, Any] = self._jwt.decode(
            token, self._find_key(header), algorithms=list(ALGORITHMS), options=options,
            audience=self._asking.audience, issuer=self._asking.issuer, leeway=LEEWAY_SECONDS,
        )  # fmt: skip
        return found

    def read_claims(self, found: Mapping[str, Any]) -> Claims | None:
        """Return who is named by what an issuer said; None where it is nobody."""
        asking = self._asking
        name = found.get(asking.claim)
        # Who may write any address into a profile is not yet the one who reads its letters.
        unproven = asking.claim == "email" and found.get("email_verified") is not True
        if not isinstance(name, str) or not name or unproven:
            return None
        groups = found.get(asking.groups) if asking.groups else None
        groups = [groups] if isinstance(groups, str) else groups
        if not isinstance(groups, list):
            return Claims(name)
        named = (one for one in groups[:_GROUPS] if isinstance(one, str))
        return Claims(name, tuple(one for one in named if len(one) <= _GROUP_LETTERS))

    def _find_key(self, header: Mapping[str, Any]) -> Any:
        """Return the key that a token names; those of the issuer are fetched where it is new."""
        id = header.get("kid", "")
        # Without the lock: who names a key that is known waits for nobody who names another.
        if (key := self._choose_fresh(id)) is None:
            with self._lock:
                key = self._choose_fresh(id)
                key = key or _choose(self._renew_keys(self._clock()).by_id, id)
        if key is None or header["alg"] not in key:
            raise _RefusedError("its key is not one of the issuer's")
        return key[header["alg"]]

    def _choose_fresh(self, id: object) -> _ByAlgorithm | None:
        keys = self._keys
        fresh = keys is not None and self._clock() - keys.at < KEEP_SECONDS
        return _choose(keys.by_id, id) if fresh and keys else None

    def _renew_keys(self, now: float) -> _Keys:
        known = self._keys
        if known and now - self._asked < PAUSE_SECONDS:
            return known
        self._asked = now
        try:
            self._keys = _Keys(now, self._fetch_keys())
        except ServerError:
            # Who is let in already does not depend on an hour in which the issuer is down.
            if known is None or now - known.at > STALE_SECONDS:
                raise
            return known
        return self._keys

    def _fetch_keys(self) -> Mapping[str, _ByAlgorithm]:
        where = discover(self._asking.issuer).get("jwks_uri", "")
        check_address(where)
        found: dict[str, _ByAlgorithm] = {}
        for one in fetch(where).get("keys", ()):
            signs = isinstance(one, dict) and one.get("use", "sig") == "sig"
            if signs and one.get("kty") in ("RSA", "EC", "OKP"):
                try:
                    found[str(one.get("kid", ""))] = self._make_key(one)
                except self._jwt.PyJWTError:
                    continue  # One that we do not know says nothing of the others.
        return found

    def _make_key(self, one: Mapping[str, Any]) -> _ByAlgorithm:
        """Return a key for each algorithm that it may sign by; it need not name one."""
        any_of = _RSA if one["kty"] == "RSA" else (None,)
        named = (one["alg"],) if one.get("alg") else any_of
        made = [self._jwt.PyJWK(one, algorithm) for algorithm in named]
        return {str(key.algorithm_name): key for key in made}


def _choose(keys: Mapping[str, _ByAlgorithm], id: object) -> _ByAlgorithm | None:
    """Return the key of an id; the only one where a token names none."""
    if not id:
        return next(iter(keys.values())) if len(keys) == 1 else None
    return keys.get(id) if isinstance(id, str) else None


def check_address(url: object) -> None:
    """Refuse an address over which anybody on the way could answer.

    Raises:
        UsageError: it is one.
    """
    text = url if isinstance(url, str) else ""
    try:
        parts = urlsplit(text)
        safe = parts.scheme == "https" or (parts.scheme == "http" and is_local_url(text))
        whole = bool(parts.hostname) and not parts.query and not parts.fragment
    except ValueError:
        safe = whole = False
    if not (safe and whole):
        raise UsageError(f"{text[:200]!r} is no address of an issuer. Give one with https://.")


def discover(issuer: str) -> Mapping[str, Any]:
    """Return what an issuer says of itself (OpenID Connect Discovery 1.0, section 4).

    Raises:
        ServerError: it does not answer, or says that it is another.
    """
    found = fetch(issuer.rstrip("/") + _DISCOVERY)
    if found.get("issuer") != issuer:
        said = one_line(str(found.get("issuer", "")))[:200]
        raise _fail(issuer, f"says that it is {said!r}: write it like that")
    return found


def fetch(url: str, form: Mapping[str, str] | None = None, *, token: str = "") -> Mapping[str, Any]:
    """Return the JSON object at an address; with a form, what is answered to it.

    Args:
        url: the address.
        form: what is sent.
        token: what is shown there.

    Raises:
        ServerError: there is none in time, or it is too long.
    """
    httpx = importlib.import_module("httpx")
    # A proxy set for the internet would get what is meant for a server on this machine.
    options: Any = {"timeout": _WAIT_SECONDS, "trust_env": not is_local_url(url)}
    options |= {"headers": {"authorization": f"Bearer {token}"}} if token else {}
    method, end = ("GET" if form is None else "POST"), time.monotonic() + 2 * _WAIT_SECONDS
    try:
        with (
            httpx.Client(follow_redirects=False, **options) as client,
            client.stream(method, url, data=form) as answer,
        ):
            content = _read_bounded(answer, end)
            # To a form, what went wrong is answered as JSON with status 400.
            if form is None and answer.status_code != httpx.codes.OK:
                raise ValueError(f"status {answer.status_code}")
            found = json.loads(content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise _fail(url, f"gave no answer that counts ({one_line(str(error))[:200]})") from error
    if not isinstance(found, dict):
        raise _fail(url, "gave no JSON object")
    return found


def _read_bounded(answer: httpx.Response, end: float) -> bytes:
    parts, size = [], 0
    for part in answer.iter_bytes():
        parts.append(part)
        size += len(part)
        # The library bounds the wait for each byte, not for all of them.
        if size > _ANSWER_BYTES or time.monotonic() > end:
            raise ValueError("it is too long, or too slow")
    return b"".join(parts)


def log_in(
    asking: Asking,
    client: str,
    show: Callable[[str, str], None],
    wait: Callable[[float], None] = time.sleep,
) -> str:
    """Return a token for a person who confirms on any device (RFC 8628).

    Args:
        asking: whom to ask.
        client: under which name this program is known there.
        show: is given the address to open, and the code to type there.
        wait: waits so many seconds.

    Raises:
        ServerError: the issuer has no such way, did not answer, or the person said no.
    """
    about = discover(asking.issuer)
    for name in ("device_authorization_endpoint", "token_endpoint"):
        if not about.get(name):
            raise _fail(asking.issuer, "lets nobody log in with a code")
        check_address(about[name])
    scope = "openid email profile" if asking.claim == "email" else "openid profile"
    begun = fetch(
        about["device_authorization_endpoint"],
        {"client_id": client, "scope": scope, "audience": asking.audience},
    )
    if not all(isinstance(begun.get(one), str) for one in ("device_code", "user_code")):
        raise _fail(asking.issuer, f"refused: {_describe_refusal(begun)}")
    show(
        str(begun.get("verification_uri_complete") or begun.get("verification_uri", "")),
        begun["user_code"],
    )
    # An issuer that names an absurd pause or time must not hold the terminal for hours.
    pause = min(max(float(begun.get("interval", 5)), 0.0), 60.0)
    end = time.monotonic() + min(float(begun.get("expires_in", 600)), 1800.0)
    asked = {"grant_type": _DEVICE, "device_code": begun["device_code"], "client_id": client}
    while time.monotonic() < end:
        wait(pause)
        found = fetch(about["token_endpoint"], asked)
        if isinstance(token := found.get("id_token") or found.get("access_token"), str):
            return token
        # RFC 8628, 3.5: from here on each pause is five seconds longer.
        if found.get("error") == "slow_down":
            pause += 5.0
        elif found.get("error") != "authorization_pending":
            raise _fail(asking.issuer, f"refused: {_describe_refusal(found)}")
    raise _fail(asking.issuer, "heard nothing of the person in time")


def _describe_refusal(found: Mapping[str, Any]) -> str:
    return one_line(str(found.get("error_description") or found.get("error") or "it says not why"))


def _fail(url: str, why: str) -> ServerError:
    return ServerError(f"The issuer {url[:200]} {why[:400]}.", status=503, code="issuer")


def load_library() -> Any:
    """Return the library that checks signatures.

    Raises:
        UsageError: it is not installed.
    """
    try:
        importlib.import_module("cryptography")
        return importlib.import_module("jwt")
    except ImportError as error:
        raise UsageError(
            "People of an issuer need the library PyJWT. Install it with "
            "'pip install kimi-memory[team]'."
        ) from error

"""Grants: what a run may have an execution node do, signed, for one epoch of its memory."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace

from kimi_memory.domain.agent_run import Grant
from kimi_memory.formats.json_values import plain, revive


class GrantError(Exception):
    """A call that an execution node refuses, with the code of the protocol."""

    def __init__(self, code: int, why: str, **about: object) -> None:
        super().__init__(why)
        self.code, self.why, self.about = code, why, about


NO_GRANT, EXPIRED, STALE, NOT_GRANTED, LIMIT, NO_SANDBOX, UNKNOWN = range(-32001, -32008, -1)


def sign_grant(grant: Grant, key: bytes) -> str:
    """Return a grant as a text that its node accepts."""
    value = plain(replace(grant, sig=""))
    body = json.dumps(value, ensure_ascii=False, sort_keys=True).encode()
    return f"{_to_text(body)}.{_to_text(_sign(body, key))}"


def read_grant(text: object, key: bytes) -> Grant:
    """Return the grant in a text.

    Raises:
        GrantError: it is none, or another key signed it.
    """
    try:
        head, _, tail = str(text).partition(".")
        body, sig = _from_text(head), _from_text(tail)
        if not hmac.compare_digest(sig, _sign(body, key)):
            raise GrantError(NO_GRANT, "the grant is not signed by this node's key")
        found: Grant = revive(Grant, json.loads(body))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise GrantError(NO_GRANT, "there is no grant") from error
    return replace(found, sig=tail)


def _sign(body: bytes, key: bytes) -> bytes:
    # Apart from all else that the machine's key signs.
    return hmac.new(key, b"kimi-memory grant\0" + body, hashlib.sha256).digest()


def _to_text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _from_text(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)

"""What keeps other pages out: headers of every answer, and where a decision may come from."""

from __future__ import annotations

from collections.abc import Mapping

from kimi_memory.errors import ServerError

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # With "no-referrer" a browser sends "Origin: null" with our own forms.
    "referrer-policy": "same-origin",
}
PAGE: Mapping[str, str] = {**HEADERS, "cache-control": "no-store", "vary": "cookie"}
ASSET: Mapping[str, str] = {**HEADERS, "cache-control": "max-age=31536000, immutable"}


def check_sender(headers: Mapping[str, str]) -> None:
    """Raise ServerError unless a request that changes something comes from our own page.

    A browser says so itself; where it does not say, the page it names must be ours.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        ours = site == "same-origin"
    else:
        scheme, _, host = headers.get("origin", "").partition("://")
        ours = scheme in ("http", "https") and bool(host) and host == headers.get("host", "")
    if not ours:
        why = "This decision does not come from a page of this memory. Make it on the page."
        raise ServerError(why, status=403, code="wrong_origin")

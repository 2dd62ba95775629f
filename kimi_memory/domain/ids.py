"""Ids of notes, a kind prefix and a ULID in lower case, and moments as records write them.

The ULID layout (48-bit milliseconds, 80 random bits, Crockford base 32) is that of
https://github.com/ulid/spec.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timezone

# Without i, l, o and u, which are misread.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_SESSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")

_OFFSET = re.compile(r"[+-]\d\d:\d\d$")


def _encode_base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, rest = divmod(number, 32)
        digits.append(_ALPHABET[rest])
    return "".join(reversed(digits))


def _make_ulid(at: datetime, entropy: int) -> str:
    millis = max(0, int(at.timestamp() * 1000)) & (2**48 - 1)
    return _encode_base32(millis, 10) + _encode_base32(entropy & (2**80 - 1), 16)


def _random_bits() -> int:
    return int.from_bytes(os.urandom(10), "big")


def new_id(kind: str, at: datetime) -> str:
    """Return a fresh id such as ``card-01jd…``; ids of later moments sort later."""
    return f"{kind}-{_make_ulid(at, _random_bits())}"


def derived_id(kind: str, at: datetime, *seed: str) -> str:
    """Return the id of a note derived from others: the same seed gives the same id."""
    # Zero bytes between them: `a` and `bc` must not give the id of `ab` and `c`.
    digest = hashlib.sha256("\0".join(seed).encode()).digest()
    return f"{kind}-{_make_ulid(at, int.from_bytes(digest[:10], 'big'))}"


def new_session_id(at: datetime) -> str:
    """Return a fresh session id, a bare ULID."""
    return _make_ulid(at, _random_bits())


def safe_session_id(id: str) -> str:
    """Return `id` if it can be part of a file name, else a name made from it.

    A name that had to be changed ends in a hash of the original, so that two
    hostile names never meet in one file.
    """
    # Windows drops a dot at the end of a file name.
    if _SESSION.fullmatch(id) and not id.endswith("."):
        return id
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", id).strip("-_")[:40]
    mark = hashlib.sha256(id.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{plain or 'session'}-{mark}"


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def lettered(hex_digits: str) -> str:
    """Return hex digits as letters alone, so that every mark costs a model the same tokens."""
    return hex_digits.translate(_LETTERS)


def utcnow() -> datetime:
    """Return the present moment, aware, in UTC."""
    return datetime.now(UTC)


def stamp(at: datetime) -> str:
    """Return the front matter form, ``2026-02-27T09:10:00``, in UTC."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def zulu(at: datetime) -> str:
    """Return the form of records, ``2026-02-27T09:10:00Z``."""
    return f"{stamp(at)}Z"


def shown(at: datetime) -> str:
    """Return the form of pages, ``2026-02-27 17:10 +08:00``, on the clocks it is given on."""
    offset = at.utcoffset()
    # Clocks of long ago were off by odd seconds, which this form cannot show.
    zone = at.isoformat()[-6:] if offset and not offset.total_seconds() % 60 else "UTC"
    return f"{at if zone != 'UTC' else at.astimezone(UTC):%Y-%m-%d %H:%M} {zone}"


def on_clocks(at: datetime, text: str) -> datetime:
    """Return a moment on the clocks that its form on a page names."""
    found = _OFFSET.search(text.strip())
    if found is None:
        return at
    try:
        offset = datetime.fromisoformat(f"2000-01-01T00:00:00{found[0]}").utcoffset()
        return at.astimezone(timezone(offset)) if offset else at
    except (ValueError, OverflowError):
        # A person may have typed an offset that no clock has.
        return at


def moment(text: str) -> datetime:
    """Read either form, and any offset a person wrote; ValueError if it is neither."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"not a date and time: {text!r}") from None


RUN_VARIABLE = "KIMI_RUN"
"""The variable of an agent that holds the id of its run."""

_LONGEST_RUN = 64


def read_run(said: Mapping[str, str], name: str = RUN_VARIABLE) -> str:
    """Return the run that a program says it belongs to; empty for none, and for what is no id."""
    run = said.get(name, "")
    begin, _, rest = run.partition("-")
    sound = begin == "run" and rest.isascii() and rest.isalnum() and len(run) <= _LONGEST_RUN
    return run if sound else ""

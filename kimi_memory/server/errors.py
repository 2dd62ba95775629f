"""Failures on the wire: one shape of JSON and one status for each class of errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kimi_memory import errors
from kimi_memory.errors import KimiMemoryError, ServerError

STATUS: Mapping[type[KimiMemoryError], int] = {
    errors.UsageError: 400,
    errors.DeniedError: 403,
    errors.UnsafePathError: 400,
    errors.TranscriptError: 400,
    errors.NotFoundError: 404,
    errors.AmbiguousIdError: 409,
    errors.ChangedOnDiskError: 409,
    errors.GateError: 409,
    errors.HistoryError: 409,
    errors.FormatError: 422,
    errors.ModelError: 502,
    errors.LockTimeoutError: 503,
    errors.ReadOnlyError: 503,
    errors.NotPrimaryError: 409,
    errors.FencedError: 409,
    errors.UnknownOutcomeError: 503,
    errors.DivergedError: 503,
    errors.BehindError: 503,
    errors.NoPlaceError: 409,
    errors.IndexDamagedError: 503,
    errors.NotAMemoryError: 503,
    errors.DiskError: 507,
}
"""What is not listed is 500."""
PASSING = (429, 503)
"""Statuses after which the same request may work soon."""
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
# The remedy is the last sentence: `There is no note x. Look at 'kimi-memory log'.`
_LAST = re.compile(
    r"(?P<why>.+?[.!?。:]) (?P<remedy>[^.。]+(?:\.[^. 。][^.。]*)*[.。]?)", re.DOTALL
)


def code_of(kind: type[KimiMemoryError]) -> str:
    """Return the word for a class of errors: not_found for NotFoundError."""
    return _WORD.sub("_", kind.__name__.removesuffix("Error")).lower()


def status_of(error: KimiMemoryError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, ServerError) and error.status:
        return error.status
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def body_of(error: KimiMemoryError, root: str = "") -> dict[str, Any]:
    """Return what a client is shown.

    Args:
        error: what was raised.
        root: the memory folder, which a client elsewhere must not see.
    """
    code = error.code if isinstance(error, ServerError) else code_of(type(error))
    # The path of the folder mostly holds the name of its owner's account.
    told = str(error).replace(root, "the memory") if root else str(error)
    split = _LAST.fullmatch(told)
    why, remedy = (split["why"], split["remedy"]) if split else (told, "")
    return {"error": {"code": code, "message": why, "remedy": remedy}}


def raised(status: int, body: Any) -> KimiMemoryError:
    """Return the error that a server reported, in the class the library raises it in."""
    said = body.get("error") if isinstance(body, dict) else None
    told: Mapping[str, Any] = said if isinstance(said, dict) else {}
    message = " ".join(str(told[name]) for name in ("message", "remedy") if told.get(name))
    message = message or f"The server answered {status} and no reason. Look at its log."
    code = str(told.get("code", ""))
    kind = next((kind for kind in STATUS if code_of(kind) == code), None)
    if kind is None:
        return ServerError(message, status=status, code=code or "server")
    # Not by its constructor, which makes another message of other arguments.
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    return error

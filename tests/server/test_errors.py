"""Failures on the wire and back: status, code, message, remedy, class."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import errors
from kimi_memory.errors import KimiMemoryError, ServerError
from kimi_memory.server.errors import STATUS, body_of, raised, status_of

EXAMPLES: list[tuple[KimiMemoryError, int, str]] = [
    (errors.UsageError("Wrong. Do right."), 400, "usage"),
    (errors.NotFoundError("note", "card-1"), 404, "not_found"),
    (errors.AmbiguousIdError("c", ["c1", "c2"]), 409, "ambiguous_id"),
    (errors.FormatError("a.md", 3, "it is broken"), 422, "format"),
    (errors.UnsafePathError("../a", "it leaves"), 400, "unsafe_path"),
    (errors.GateError("loss", "too much goes", "Look at it"), 409, "gate"),
    (errors.LockTimeoutError("job", "pid 1", 2.0), 503, "lock_timeout"),
    (errors.DiskError("a", OSError(28, "No space left"), "Free some"), 507, "disk"),
    (errors.StoreError("Not written. Retry."), 500, "store"),
    (errors.ModelError("The model is silent."), 502, "model"),
    (
        ServerError("Too fast. Wait.", status=429, code="too_many_requests"),
        429,
        "too_many_requests",
    ),
]


@pytest.mark.parametrize(("error", "status", "code"), EXAMPLES, ids=lambda e: str(e)[:20])
def test_an_error_comes_back_as_it_was_raised(
    error: KimiMemoryError, status: int, code: str
) -> None:
    assert status_of(error) == status
    body = body_of(error, "/nowhere")
    assert body["error"]["code"] == code
    back = raised(status, body)
    assert str(back) == str(error)
    assert type(back) is (type(error) if type(error) in STATUS else ServerError)


def test_the_last_sentence_is_the_remedy_and_no_place_is_told() -> None:
    told = body_of(errors.NotAMemoryError(Path("/home/anna/memory")), "/home/anna/memory")
    assert "/home/anna" not in str(told)
    remedy = body_of(errors.NotFoundError("note", "a.md"), "/x")["error"]
    assert remedy["message"] == "No note 'a.md'."
    assert remedy["remedy"].startswith("List the contents")
    one = body_of(errors.ModelError("Silent"), "/x")["error"]
    assert (one["message"], one["remedy"]) == ("Silent", "")


@pytest.mark.parametrize("body", [None, [], {}, {"error": "x"}, {"error": {"code": "zzz"}}])
def test_a_strange_answer_is_an_error_of_the_server(body: object) -> None:
    error = raised(502, body)
    assert isinstance(error, ServerError)
    assert error.status == 502
    assert str(error)

"""The tree of errors: codes are a promise, and every message ends in a remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kimi_memory import errors
from kimi_memory.errors import KimiMemoryError

KINDS = [getattr(errors, name) for name in errors.__all__]
MADE: list[tuple[KimiMemoryError, str, str]] = [
    (errors.NotAMemoryError(Path("/tea")), "/tea", "'kimi-memory init'"),
    (errors.NotFoundError("note", "card-1"), "card-1", "'kimi-memory list'"),
    (errors.NotFoundError("job", "daily-1"), "daily-1", "'kimi-memory log'"),
    (errors.NotFoundError("session", "s1"), "s1", "'kimi-memory session list'"),
    (errors.AmbiguousIdError("card", ["card-1", "card-2"]), "2 notes", "Type more"),
    (errors.FormatError("a.md", 7, "no 'kind'"), "a.md:7", "Correct the line"),
    (errors.WaitingError("USER.md", "an agent was at work"), "USER.md:1", "'kimi-memory review'"),
    (errors.UnsafePathError("../a", "it leaves the folder"), "../a", "Use a plain name"),
    (errors.TranscriptError("a.jsonl", 3, "the JSON is broken"), "a.jsonl:3", "Nothing of this"),
    (errors.ChangedOnDiskError("MEMORY.md"), "MEMORY.md", "Read it again"),
    (errors.LockTimeoutError("job", "process 7", 30), "process 7; waited 30.0 s", "Retry"),
    (errors.ReadOnlyError("disk full"), "disk full", "'kimi-memory doctor'"),
    (errors.MovedError("/new"), "moved to /new", "'kimi-memory migrate --back'"),
    (errors.DiskError("a.md", OSError(28, "No space left"), "Free some"), "No space", "Free some"),
    (errors.NotPrimaryError("memory-1", "rack-3"), "rack-3 takes", "'kimi-memory deploy promote'"),
    (errors.NotPrimaryError("memory-1"), "cannot take writes", "'kimi-memory cluster status'"),
    (errors.FencedError("memory-1", "rack-3"), "rack-3 takes", "Write there"),
    (errors.UnknownOutcomeError("postgres://db", "txn-1"), "whether txn-1", "repeat it"),
    (errors.DivergedError("hub", "its main was replaced", "Look first"), "hub: its", "Look first"),
    (errors.RemoteError("hub", "no route to host.", "Retry later"), "no route", "Retry later"),
    (errors.GateError("loss", "too much would go", "Do it in parts"), "'loss'", "Do it in parts"),
]


def test_the_table_in_the_docstring_is_the_tree() -> None:
    table = dict(re.findall(r"(\w+Error) \((\d+)\)", errors.__doc__ or ""))
    assert table == {kind.__name__: str(kind.exit_code) for kind in KINDS}


def test_only_a_special_case_shares_its_code() -> None:
    shared = [kind for kind in KINDS if kind.exit_code == kind.__mro__[1].__dict__.get("exit_code")]
    assert shared == [errors.WaitingError]
    assert len({kind.exit_code for kind in KINDS}) == len(KINDS) - 1


@pytest.mark.parametrize(
    ("error", "what", "remedy"), MADE, ids=[type(one[0]).__name__ for one in MADE]
)
def test_a_message_names_the_matter_and_ends_in_the_remedy(
    error: KimiMemoryError, what: str, remedy: str
) -> None:
    said = str(error)
    assert what in said
    assert remedy in said
    assert said.index(what) < said.rindex(remedy)
    assert "\n" not in said


def test_of_many_notes_a_few_are_named() -> None:
    said = str(errors.AmbiguousIdError("c", [f"card-{n}" for n in range(300)]))
    assert "300 notes" in said
    assert len(said) < 120


def test_errors_say_whether_a_retry_may_help() -> None:
    passing = errors.ModelError("busy", passing=True, status=429)
    assert (passing.passing, passing.status) == (True, 429)
    assert not errors.ModelError("no such model").passing
    assert errors.ServerError("no answer").code == "server"

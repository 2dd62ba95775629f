"""Guards of copies, branches and purges, and what it is like to have each of them taken away.

A plugin of pytest: the variable `NAME` says which guard the process goes without.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from itertools import count
from typing import NamedTuple

NAME = "KIMI_MEMORY_COPY_MUTANT"
_UNION = "* -text\n*.jsonl merge=union\n"


class Mutant(NamedTuple):
    """A guard that is taken away, and the test that must notice."""

    where: str
    what: str
    instead: Callable[[object], object]
    """Returns what stands there instead, by what stood there."""
    test: str


def _without_textconv_guard(run: Callable[..., bytes]) -> Callable[..., bytes]:
    def unguarded(git: object, *arguments: str | bytes, **more: object) -> bytes:
        kept = [one for one in arguments if one != "--no-textconv"]
        return run(git, *kept, **more)

    return unguarded


def _without_waiting(apply: Callable[..., object]) -> Callable[..., object]:
    def believing(store: object, *given: object, **more: object) -> object:
        more.pop("waiting", None)
        return apply(store, *given, **more)

    return believing


def _not_called(_: object) -> object:
    return lambda *arguments, **more: None


MUTANTS = {
    "union driver back": Mutant(
        "kimi_memory.store.git.settings", "ATTRIBUTE_TEXT", lambda _: _UNION,
        "tests/test_copies.py::test_a_session_that_goes_on_in_two_copies_is_a_conflict_without_marks",
    ),
    "side used as tie-break": Mutant(
        "kimi_memory.merge.statements", "_rank", lambda _: lambda note: 0,
        "tests/merge/test_notes.py::test_a_merge_is_the_same_from_either_side",
    ),
    "variant dropped": Mutant(
        "kimi_memory.merge.statements", "_make_variants", lambda _: lambda *two: (),
        "tests/merge/test_notes.py::"
        "test_two_values_leave_one_card_and_a_variant_that_holds_the_words_alone",
    ),
    "tombstones skipped in settle": Mutant(
        "kimi_memory.jobs.settle.Settle", "_drop_forgotten", _not_called,
        "tests/jobs/test_settle.py::"
        "test_what_one_copy_forgot_is_not_believed_for_what_the_other_says",
    ),
    "forced update taken": Mutant(
        "kimi_memory.operations.sync_remotes.Sync", "_check_forced", _not_called,
        "tests/operations/test_sync_remotes.py::test_a_history_that_was_replaced_is_not_taken",
    ),
    "copy id ignored": Mutant(
        "kimi_memory.api.options.Parts", "copy_id", lambda _: "",
        "tests/test_copies.py::"
        "test_two_copies_that_remembered_on_one_day_are_joined_by_a_plain_pull",
    ),
    "moment in the merge commit": Mutant(
        "kimi_memory.store.git.merge_commit.Merger", "moment",
        lambda _: lambda merger, commit: _tick(),
        "tests/operations/test_merge_copy.py::"
        "test_two_machines_that_merge_the_same_commits_make_the_same_one",
    ),
    "trust cap off": Mutant(
        "kimi_memory.store.store.Store", "apply", _without_waiting,
        "tests/operations/test_merge_copy.py::test_what_another_copy_says_waits_for_a_persons_word",
    ),
    "textconv on": Mutant(
        "kimi_memory.store.git.command.Git", "run", _without_textconv_guard,
        "tests/past/test_table.py::test_no_program_of_the_repository_is_run",
    ),
    "a part taken for the whole": Mutant(
        "kimi_memory.jobs.pick.Pick", "_pick_notes", lambda _: lambda self, old, new: {*new},
        "tests/operations/test_pick.py::"
        "test_a_part_is_merged_and_the_rest_comes_later_without_a_loss",
    ),
    "scan of purge proof off": Mutant(
        "kimi_memory.operations.forget", "places", lambda _: lambda root, wash: [],
        "tests/operations/test_forget.py::"
        "test_a_purge_that_leaves_the_text_anywhere_says_where",
    ),
    "checkpoint of another copy compared": Mutant(
        "kimi_memory.store.copy", "copy_of",
        lambda _: lambda commit: _AnyCopy(),
        "tests/test_copies.py::test_a_clone_and_what_it_pulls_give_no_alarm",
    ),
}  # fmt: skip


class _AnyCopy(str):
    """The name of a copy that is every copy."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


_MOMENTS = count(1_000_000_000, 3600)


def _tick() -> datetime:
    """Return another moment at each call: git counts whole seconds."""
    return datetime.fromtimestamp(next(_MOMENTS), UTC)


def find_guard(mutant: Mutant) -> tuple[object, object]:
    """Return where a guard stands, a module or a class, and the guard itself."""
    try:
        place: object = import_module(mutant.where)
    except ModuleNotFoundError:
        module, _, inner = mutant.where.rpartition(".")
        place = getattr(import_module(module), inner)
    return place, vars(place)[mutant.what]


def pytest_configure() -> None:
    """Take the guard away, before any test is collected."""
    name = os.environ.get(NAME)
    if not name:
        return
    mutant = MUTANTS[name]
    place, stood = find_guard(mutant)
    setattr(place, mutant.what, mutant.instead(stood))
    if mutant.what == "ATTRIBUTE_TEXT":
        # Else the file would be renewed by the rules as they are.
        old, renew = (lambda root: False), (lambda root: None)
        vars(place).update(has_old_attributes=old, renew_attributes=renew)

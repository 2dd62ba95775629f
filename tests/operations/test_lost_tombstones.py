"""Tombstones that are gone are named and put back; where they may go, all is well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.domain.health import Finding, Severity
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.doctor import doctor, fix, verify
from kimi_memory.operations.forget import forget, purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.review_queue import Answer, answer
from kimi_memory.store.files.paths import TOMBSTONES
from tests.test_copies import clone, git, pull

Clone = Callable[[str], Memory]
__all__ = ["clone"]
KEYS = ("boat.colour", "car.colour")


@pytest.fixture
def forgetful(memory: Memory) -> Memory:
    """A memory in which two statements were forgotten."""
    for key in KEYS:
        memory.remember(f"The {key.partition('.')[0]} is green.", key=key)
        forget(memory, Wanted(key=key))
    memory.batch.flush()
    return memory


def named(memory: Memory) -> list[Finding]:
    """Return what is said of tombstones, by both commands the same."""
    found = [
        [one for one in check(memory) if one.check == "tombstones"] for check in (verify, doctor)
    ]
    assert found[0] == found[1]
    return found[0]


def take(memory: Memory, how: str) -> int:
    """Take tombstones out of the file; return how many."""
    path = memory.root / TOMBSTONES
    if how == "deleted":
        path.unlink()
        return 2
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] if how == "cut" else b"")
    return 1 if how == "cut" else 2


@pytest.mark.parametrize("how", ["emptied", "cut", "deleted"])
@pytest.mark.parametrize("then", ["", "commit", "raw commit", "another", "undo"])
def test_tombstones_that_are_gone_are_named_and_put_back(
    forgetful: Memory, opening: Opening, how: str, then: str
) -> None:
    """Also once something else was forgotten or taken back, and committed."""
    memory, lines = forgetful, (forgetful.root / TOMBSTONES).read_bytes().splitlines()
    memory.remember("The shed is red.", key="shed.colour")
    count = take(memory, how)
    if then == "commit":
        memory.batch.note()
        memory.batch.flush()
    elif then == "raw commit":
        git(memory.root, "commit", "-qam", "by hand")
    elif then in ("another", "undo"):
        job = forget(memory, Wanted(key="shed.colour")).id
        if then == "undo":
            memory.undo(job)
    memory.close()
    with Memory.open(memory.root, opening) as again:
        [one] = named(again)
        assert (one.severity, one.path, one.fixable) == (Severity.ERROR, TOMBSTONES, True)
        noun = "tombstone is" if count == 1 else "tombstones are"
        assert one.message == f"{count} {noun} gone; what was forgotten may come back"
        assert any("put back" in line for line in fix(again, [one]))
        assert named(again) == []
        assert {*lines} <= {*(again.root / TOMBSTONES).read_bytes().splitlines()}


def test_who_meant_it_takes_the_forgetting_back(forgetful: Memory) -> None:
    memory = forgetful
    take(memory, "cut")
    job = next(one.trailers["Job"] for one in memory.history.log() if "Job" in one.trailers)
    [one] = named(memory)
    assert "kimi-memory undo" in one.remedy
    memory.undo(job)
    assert named(memory) == []


def test_what_may_take_tombstones_out_gives_no_alarm(
    memory: Memory, clone: Clone, opening: Opening
) -> None:
    memory.remember("The vault code is azure-falcon.", key="vault.code")
    forget(memory, Wanted(key="vault.code"))
    memory.remember("The boat is green.", key="boat.colour")
    job = forget(memory, Wanted(key="boat.colour")).id
    assert named(memory) == []
    memory.undo(job)
    assert named(memory) == []
    assert named(clone("after-undo")) == []
    assert purge(memory, Doomed(("azure-falcon",)), yes=True).done
    assert named(memory) == []
    assert named(clone("after-purge")) == []
    memory.close()
    with Memory.open(memory.root, opening) as again:
        assert named(again) == []


@pytest.mark.parametrize("by_git", [False, True], ids=["merge", "pull"])
@pytest.mark.parametrize("accept", [False, True])
def test_a_merge_of_what_a_copy_took_back_gives_no_alarm(
    forgetful: Memory, clone: Clone, *, by_git: bool, accept: bool
) -> None:
    memory = forgetful
    memory.remember("The shed is red.", key="shed.colour")
    job = forget(memory, Wanted(key="shed.colour")).id
    other = clone("b")
    other.undo(job)
    memory.remember("The roof is blue.", key="roof.colour")
    forget(memory, Wanted(key="roof.colour"))
    if by_git:
        pull(memory, other)
        memory.repair_merges()
    else:
        merge_copy(memory, str(other.root))
    assert named(memory) == []
    while found := waiting_files(memory):
        answer(memory, found[-1].path, Answer(accept=accept))
    memory.batch.note()
    memory.batch.flush()
    assert named(memory) == []
    assert named(clone("c")) == []


def test_what_a_copy_cut_is_named_after_a_merge(memory: Memory, clone: Clone) -> None:
    memory.remember("The boat is green.", key="boat.colour")
    forget(memory, Wanted(key="boat.colour"))
    other = clone("b")
    (other.root / TOMBSTONES).write_bytes(b"")
    other.batch.note()
    other.batch.flush()
    assert named(other)
    merge_copy(memory, str(other.root))
    [one] = named(memory)
    assert one.message.startswith("1 tombstone is gone")


def test_without_history_the_journal_knows_that_there_were_some(
    tmp_path: Path, opening: Opening
) -> None:
    Memory.create(tmp_path / "plain", opening=opening).close()
    with (tmp_path / "plain/memory.toml").open("a", encoding="utf-8") as file:
        file.write("\n[history]\ngit = false\n")
    with Memory.open(tmp_path / "plain", opening) as memory:
        memory.remember("The boat is green.", key="boat.colour")
        forget(memory, Wanted(key="boat.colour"))
        assert named(memory) == []
        (memory.root / TOMBSTONES).unlink()
        [one] = named(memory)
        assert one.message.startswith("the journal knows of tombstones")
        assert "from a backup" in one.remedy

"""Another memory, adopted with its sessions by one that goes on being itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import HistoryError, UsageError
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.adopt_memory import adopt_memory
from kimi_memory.operations.forget import purge
from kimi_memory.operations.review_queue import Answer, answer, review
from tests.conftest import Clock
from tests.jobs.test_merge_repair import live_apart, pull
from tests.operations.test_rollback import files_of, port_of, said
from tests.test_copies import clone, errors, git

__all__ = ["clone"]


@pytest.fixture
def other(tmp_path: Path, opening: Opening, clock: Clock) -> Iterator[Memory]:
    """Another memory, with a life and an identity of its own."""
    own = Home(tmp_path / "config-other", tmp_path / "state-other")
    with Memory.create(tmp_path / "other", name="Other", opening=replace(opening, home=own)) as one:
        one.session("talk").turn("user", "Remember: the printer stands on floor three.")
        one.session("talk").end()
        one.remember("The deploy port is 9999.", key="deploy.port")
        (one.root / "USER.md").write_text("I am Bo.\n", encoding="utf-8")
        one.written()
        one.batch.flush()
        clock.move(minutes=1)
        yield one


def accept_all(memory: Memory) -> None:
    for one in review(memory):
        answer(memory, one.id, Answer(accept=True))


def test_what_another_memory_knows_comes_with_its_turns_and_waits(
    memory: Memory, other: Memory
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    (memory.root / "USER.md").write_text("I am Ann.\n", encoding="utf-8")
    memory.written()
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    memory.batch.flush()
    before, mine = files_of(memory), said(memory)
    report = adopt_memory(memory, str(other.root))
    hits = memory.recall("which deploy port?").hits
    trust = {hit.unit.trust for hit in hits if "9999" in hit.unit.text}
    assert "8080" in port_of(memory)
    assert trust <= {"remote"}
    assert report.waiting
    [page] = (path for path in report.paths if path.endswith("session_talk.md"))
    assert (memory.root / page).read_bytes() == (other.root / page).read_bytes()
    assert sorted(said(memory)) == sorted([*mine, *said(other)])
    for path in ("memory.toml", "USER.md", "long-term/IDENTITY.md"):
        assert files_of(memory)[path] == before[path]
    kept = [p for p in report.paths if p.startswith("conflicts/USER.")]
    assert [(memory.root / path).read_text("utf-8") for path in kept] == ["I am Bo.\n"]
    assert not [path for path in report.paths if "IDENTITY" in path]
    assert errors(memory) == []
    accept_all(memory)
    assert "9999" in port_of(memory)
    hits = [one.unit for one in memory.recall("deploy port").hits if one.unit.kind == "card"]
    [card] = [one.id for one in hits if "9999" in one.text]
    assert all(one.verified for one in memory.trace(card).evidence)
    assert errors(memory) == []


def test_it_is_taken_back_as_one(memory: Memory, other: Memory) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    before, talk = files_of(memory), said(memory)
    report = adopt_memory(memory, str(other.root))
    assert said(memory) != talk
    memory.undo(report.job)
    assert (files_of(memory), said(memory)) == (before, talk)


def test_adopted_again_only_what_changed_there_since_is_taken(
    memory: Memory, other: Memory, clock: Clock
) -> None:
    adopt_memory(memory, str(other.root))
    accept_all(memory)
    memory.batch.flush()
    assert not adopt_memory(memory, str(other.root)).paths
    memory.run(Forget(memory, Wanted(key="deploy.port")))
    other.remember("The printer is red.", key="printer.colour")
    other.batch.flush()
    clock.move(minutes=1)
    again = adopt_memory(memory, str(other.root))
    assert again.base
    assert not [path for path in again.paths if "deploy.port" in path]
    accept_all(memory)
    assert "9999" not in port_of(memory)
    assert "red" in str(memory.recall("printer colour").hits)
    assert errors(memory) == []


def test_what_was_forgotten_there_is_told_here_until_a_person_confirms_it(
    memory: Memory, other: Memory
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    other.remember("Ann likes milk.", key="ann.tea")
    other.run(Forget(other, Wanted(key="ann.tea")))
    other.batch.flush()
    adopt_memory(memory, str(other.root))
    words = [hit.unit.text for hit in memory.recall("what does Ann like?").hits]
    assert any("tea" in one for one in words)
    assert not any("milk" in one for one in words)
    assert errors(memory) == []


def test_sessions_and_days_of_one_name_are_those_of_both(
    memory: Memory, other: Memory, clock: Clock
) -> None:
    memory.session("talk").turn("user", "Remember: the shop opens at nine.")
    memory.session("talk").end()
    for one in (memory, other):
        one.consolidate("daily")
        one.batch.flush()
    mine = said(memory)
    report = adopt_memory(memory, str(other.root))
    assert len(report.forks) == 1
    assert sorted(said(memory)) == sorted([*mine, *said(other)])
    assert errors(memory) == []
    accept_all(memory)
    for words in ("shop opens", "printer floor"):
        assert memory.recall(words).hits
    assert errors(memory) == []


def test_a_fork_brings_what_it_learned_and_takes_away_what_it_dropped_only_here(
    memory: Memory, tmp_path: Path, opening: Opening, clock: Clock
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    memory.fork(tmp_path / "fork", "Fork")
    clock.move(minutes=1)
    memory.remember("Ann likes tea.", key="ann.tea")
    with Memory.open(tmp_path / "fork", opening) as fork:
        fork.remember("The deploy port is 8443 now.", key="deploy.port")
        fork.batch.flush()
    report = adopt_memory(memory, str(tmp_path / "fork"))
    assert report.base
    assert not report.forks
    accept_all(memory)
    assert "8443" in port_of(memory)
    assert errors(memory) == []


def test_a_fork_from_before_a_purge_brings_nothing_back(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.remember("The vault code is azure-falcon.", key="vault.code")
    memory.batch.flush()
    memory.fork(tmp_path / "fork", "Fork")
    purge(memory, Doomed(("azure-falcon",)), yes=True)
    with pytest.raises(HistoryError, match="purged here"):
        adopt_memory(memory, str(tmp_path / "fork"))
    assert not memory.recall("azure-falcon").hits
    with Memory.open(tmp_path / "fork", opening) as fork:
        purge(fork, Doomed(("azure-falcon",)), yes=True)
        fork.remember("Cleo likes water.", key="cleo.drink")
        fork.batch.flush()
    adopt_memory(memory, str(tmp_path / "fork"))
    assert "azure-falcon" not in "".join(map(str, files_of(memory).values()))
    assert "Cleo likes water." in said(memory)
    assert errors(memory) == []


def test_what_was_purged_here_since_is_not_adopted_again(
    memory: Memory, other: Memory, clock: Clock
) -> None:
    """Whether the other memory goes on with its session or not, and changed the card or not."""
    session = other.session("open")
    session.turn("user", "The vault code is azure-falcon.")
    other.remember("The vault code is azure-falcon.", key="vault.code")
    other.batch.flush()
    adopt_memory(memory, str(other.root))
    accept_all(memory)
    memory.batch.flush()
    clock.move(minutes=1)
    purge(memory, Doomed(("azure-falcon",)), yes=True)
    session.turn("user", "And the printer is red.")
    other.remember("The vault code is azure-falcon, with a dash.", key="vault.code")
    other.batch.flush()
    with pytest.raises(HistoryError, match="purged here"):
        adopt_memory(memory, str(other.root))
    assert "azure-falcon" not in "".join(said(memory))
    purge(other, Doomed(("azure-falcon",)), yes=True)
    clock.move(minutes=1)
    adopt_memory(memory, str(other.root))
    accept_all(memory)
    assert "And the printer is red." in said(memory)
    assert "azure-falcon" not in "".join([*said(memory), *map(str, files_of(memory).values())])
    assert sorted(said(memory)) == sorted(said(other))
    assert errors(memory) == []


def test_a_copy_no_folder_and_no_memory_are_refused(memory: Memory, clone, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="copy of this memory"):
        adopt_memory(memory, str(clone("b").root))
    with pytest.raises(UsageError, match="no folder"):
        adopt_memory(memory, "nowhere")
    with pytest.raises(HistoryError, match="has no history"):
        adopt_memory(memory, str(tmp_path))


def test_a_folder_with_another_history_is_refused(memory: Memory, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "no memory")
    with pytest.raises(HistoryError, match=r"no memory: its last commit has no memory\.toml"):
        adopt_memory(memory, str(tmp_path))


def test_what_git_merged_is_merged_by_values_before_and_not_in_a_dry_run(
    memory: Memory, other: Memory, clone, clock: Clock
) -> None:
    copy = clone("copy")
    live_apart(memory, copy, clock)
    pull(memory, copy)
    head = memory.history.head()
    assert adopt_memory(memory, str(other.root), dry_run=True).paths
    assert memory.history.head() == head
    adopt_memory(memory, str(other.root))
    assert errors(memory) == []
    assert {"Ann takes part.", "Bob takes part."} <= set(said(memory))


def test_the_command_says_what_came_and_a_dry_run_writes_nothing(
    memory: Memory, other: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.batch.flush()
    before, head = files_of(memory), memory.history.head()
    adopt = ["merge", str(other.root), "--adopt", "--memory", str(memory.root)]
    assert run([*adopt, "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(f"Would merge {other.root} (")
    assert (files_of(memory), memory.history.head()) == (before, head)
    assert run([*adopt, "--strict"]) == 2
    assert "Leave --strict and --only out" in capsys.readouterr().err
    assert run(adopt) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Adopted {other.root} (")
    assert "take it back: kimi-memory undo adopt-" in shown
    assert run([*adopt, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["job"] == ""

"""Parts of another copy, taken over without the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import AmbiguousIdError, HistoryError, NotFoundError
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.pick import merge_parts, pick
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.operations.rollback import roll_back
from tests.conftest import Clock
from tests.operations.test_merge_copy import pair, tree
from tests.operations.test_rollback import files_of, said
from tests.test_copies import clone, errors, git

__all__ = ["clone", "pair"]

Pair = tuple[Memory, Memory]


def live(other: Memory, clock: Clock) -> tuple[str, str]:
    """Let the other copy learn two things; return the jobs."""
    clock.move(minutes=1)
    tea = other.remember("Bob likes coffee.", key="bob.drink").id
    port = other.remember("The deploy port is 8443 now.", key="deploy.port").id
    other.batch.flush()
    return tea, port


def cards(memory: Memory, question: str) -> str:
    hits = memory.recall(question).hits
    return " | ".join(hit.unit.text for hit in hits if hit.unit.kind == "card")


def test_what_is_said_of_one_key_comes_with_its_turns_and_nothing_else(
    pair: Pair, clock: Clock
) -> None:
    memory, other = pair
    memory.remember("The deploy port is 8080.", key="deploy.port")
    merge_copy(other, str(memory.root))
    live(other, clock)
    before = files_of(memory)
    report = pick(memory, "deploy.port", str(other.root))
    assert report.waiting == ()
    assert "8443" in cards(memory, "which deploy port?")
    assert "coffee" not in cards(memory, "what does Bob drink?")
    assert "The deploy port is 8443 now." in said(memory)
    assert errors(memory) == []
    [card] = [h.unit.id for h in memory.recall("deploy port").hits if "8443" in h.unit.text][:1]
    assert all(one.verified for one in memory.trace(card).evidence)
    again = pick(memory, "deploy.port", str(other.root))
    assert (again.job, again.paths) == ("", ())
    memory.undo(report.job)
    assert "8080" in cards(memory, "which deploy port?")
    assert files_of(memory) == before
    merge_copy(memory, str(other.root))
    merge_copy(other, str(memory.root))
    assert errors(memory) == errors(other) == []
    assert tree(memory) == tree(other)


@pytest.mark.parametrize("how", ["id", "prefix", "hash"])
def test_one_job_of_another_copy_is_taken(pair: Pair, clock: Clock, how: str) -> None:
    memory, other = pair
    tea, port = live(other, clock)
    commit = git(other.root, "log", "-1", "--format=%H", f"--grep=Job: {tea}").strip()
    what = {"id": tea, "prefix": tea[:-3], "hash": commit[:12]}[how]
    report = pick(memory, what, str(other.root))
    assert report.theirs == commit
    assert "coffee" in cards(memory, "what does Bob drink?")
    assert "8443" not in cards(memory, "which deploy port?")
    assert memory.jobs.load(tea).id == tea
    assert errors(memory) == []
    assert not pick(memory, tea, str(other.root)).paths
    merge_copy(memory, str(other.root))
    assert "8443" in cards(memory, "which deploy port?")
    assert not pick(memory, port, str(other.root)).paths
    assert errors(memory) == []


def test_what_a_stranger_has_waits_though_it_was_picked(
    memory: Memory, clone: Callable[[str], Memory], clock: Clock
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    live(other, clock)
    report = pick(memory, "deploy.port", str(other.root))
    assert any("deploy.port" in path for path in report.waiting)
    hits = memory.recall("which deploy port?").hits
    assert {hit.unit.trust for hit in hits if "8443" in hit.unit.text} == {"remote"}
    for one in review(memory):
        answer(memory, one.id, Answer(accept=True))
    assert "8443" in cards(memory, "which deploy port?")


def test_the_command_says_what_came_and_how_to_take_it_back(
    memory: Memory, clone: Callable[[str], Memory], clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    other = clone("b")
    live(other, clock)
    root = ["--memory", str(memory.root)]
    assert run(["pick", "deploy.port", "--from", str(other.root), *root]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Picked deploy.port of {other.root} (")
    assert "wait for your word" in shown
    assert "take it back: kimi-memory undo pick-" in shown


def test_both_copies_went_on_with_the_session_a_picked_card_rests_on(
    pair: Pair, clock: Clock
) -> None:
    memory, other = pair
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    memory.batch.flush()
    merge_copy(other, str(memory.root))
    clock.move(minutes=2)
    memory.session("talk").turn("user", "Remember: the shop opens at nine.")
    clock.move(minutes=-1)
    other.session("talk").turn("user", "Remember: the shop closes at five.")
    other.batch.flush()
    memory.batch.flush()
    before = said(memory)
    key = next(h.unit.id for h in other.recall("shop closes").hits if h.unit.kind == "card")
    assert pick(memory, key, str(other.root)).paths
    assert errors(memory) == []
    assert sorted(said(memory)) == sorted([*before, "Remember: the shop closes at five."])


def test_a_dry_run_writes_nothing_and_what_is_not_there_is_said(
    pair: Pair, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    tea, _ = live(other, clock)
    before, head = files_of(memory), memory.history.head()
    root = ["--from", str(other.root), "--memory", str(memory.root)]
    assert run(["pick", tea, "--dry-run", *root]) == 0
    assert "Would pick" in capsys.readouterr().out
    assert run(["pick", tea, "--dry-run", "--json", *root]) == 0
    assert json.loads(capsys.readouterr().out)["job"] == ""
    assert (files_of(memory), memory.history.head()) == (before, head)
    for what in ("no.such.key", "", "-rf", "remember-ffffffffffff", "abcdef1234"):
        with pytest.raises(NotFoundError):
            pick(memory, what, str(other.root))
    with pytest.raises(AmbiguousIdError):
        pick(memory, "remember-", str(other.root))
    assert run(["pick", tea, *root]) == 0
    assert run(["pick", tea, *root]) == 0
    assert "is here" in capsys.readouterr().out


def test_a_part_is_merged_and_the_rest_comes_later_without_a_loss(pair: Pair, clock: Clock) -> None:
    memory, other = pair
    memory.remember("Ann likes tea.", key="ann.drink")
    memory.batch.flush()
    merge_copy(other, str(memory.root))
    live(other, clock)
    other.remember("Ann likes juice now.", key="ann.drink")
    other.session("talk").turn("user", "Dan came by at noon.")
    other.batch.flush()
    memory.remember("Eve likes milk.", key="eve.drink")
    before, spoken = files_of(memory), said(memory)
    done = merge_parts(memory, str(other.root), ["deploy.port", "session:talk"])
    assert "8443" in cards(memory, "which deploy port?")
    assert {*spoken, "Dan came by at noon.", "The deploy port is 8443 now."} <= {*said(memory)}
    pages = {path for path in before if path.endswith(".md") and b"\nid: " in before[path]}
    assert {path for path in pages if memory.store.read(path) != before[path]} == set()
    assert "juice" not in cards(memory, "what does Ann like?")
    assert errors(memory) == []
    memory.undo(done.job)
    assert files_of(memory) == before
    merge_parts(memory, str(other.root), ["deploy.port", "session:talk"])
    merge_copy(memory, str(other.root))
    merge_copy(other, str(memory.root))
    for thing in ("coffee", "juice", "8443", "milk"):
        assert thing in cards(memory, f"who likes {thing}?") + cards(memory, "which deploy port?")
    assert sorted(said(memory)) == sorted(said(other))
    assert len(said(memory)) == len({*said(memory)})
    assert errors(memory) == errors(other) == []
    assert tree(memory) == tree(other)


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("went_on", [False, True])
def test_a_session_comes_alone_and_what_was_made_of_it_later(
    pair: Pair, clock: Clock, ended: bool, went_on: bool
) -> None:
    memory, other = pair
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    memory.batch.flush()
    merge_copy(other, str(memory.root))
    clock.move(minutes=2)
    other.session("talk").turn("user", "Remember: the shop closes at five.")
    if ended:
        other.end("talk")
        other.distil_waiting()
    other.batch.flush()
    if went_on:
        memory.session("talk").turn("user", "Remember: the shop opens at nine.")
        memory.batch.flush()
    spoken = {*said(memory)}
    done = merge_parts(memory, str(other.root), ["session:talk"])
    assert {*said(memory)} == {*spoken, "Remember: the shop closes at five."}
    pages = [path for path in done.paths if path.endswith("session_talk.md")]
    assert bool(pages) is ended
    assert all((memory.root / path).is_file() for path in pages)
    assert "closes" not in cards(memory, "when does the shop close?")
    assert errors(memory) == []
    assert not merge_parts(memory, str(other.root), ["session:talk"]).paths
    merge_copy(memory, str(other.root))
    merge_copy(other, str(memory.root))
    assert "closes" in cards(memory, "when does the shop close?") or not ended
    assert len(said(memory)) == len({*said(memory)})
    assert errors(memory) == errors(other) == []
    assert tree(memory) == tree(other)
    assert done.job


def test_where_one_part_is_not_there_none_is_taken(
    pair: Pair, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    tea, _ = live(other, clock)
    before, source = files_of(memory), str(other.root)
    root = ["--memory", str(memory.root)]
    for wrong in ("no.such.key", "", "session:none", "session:", tea):
        with pytest.raises(NotFoundError):
            merge_parts(memory, source, ["deploy.port", wrong])
    for more in (["--strict"], ["--adopt"]):
        assert run(["merge", source, "--only", "deploy.port", *more, *root]) == 2
    assert run(["merge", "--continue", "--only", "deploy.port", *root]) == 2
    assert run(["merge", source, "--only", "bob.drink", "--dry-run", *root]) == 0
    assert "Would pick bob.drink" in capsys.readouterr().out
    assert files_of(memory) == before
    assert run(["merge", source, "--only", "deploy.port", "--only", "bob.drink", *root]) == 0
    assert capsys.readouterr().out.startswith(f"Picked deploy.port, bob.drink of {source} (")


def test_a_merge_and_a_beginning_are_no_change(pair: Pair, clock: Clock) -> None:
    memory, other = pair
    live(other, clock)
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    made = merge_copy(other, str(memory.root)).commit
    memory.remember("Cleo likes water.", key="cleo.water")
    for commit in (made, git(other.root, "rev-list", "--max-parents=0", "HEAD").strip()):
        with pytest.raises(HistoryError, match="is a merge or a beginning"):
            pick(memory, commit, str(other.root))


LOOKS: dict[str, Callable[[Memory, Memory, str], object]] = {
    "distil": lambda memory, other, job: memory.distil_waiting(dry_run=True),
    "consolidate": lambda memory, other, job: memory.consolidate("daily", dry_run=True),
    "rollback": lambda memory, other, job: roll_back(memory, "HEAD", dry_run=True),
    "merge": lambda memory, other, job: merge_copy(memory, str(other.root), dry_run=True),
    "pick": lambda memory, other, job: pick(memory, job, str(other.root), dry_run=True),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_dry_run_waits_for_no_job(pair: Pair, clock: Clock, name: str) -> None:
    memory, other = pair
    job, _ = live(other, clock)
    before = memory.history.head()
    with ThreadPoolExecutor(1) as pool, memory.store.lock("job"):
        # Another process runs a job of minutes; a lock is waited for half a minute at most.
        done = pool.submit(LOOKS[name], memory, other, job)
        assert done.result(timeout=10) is not None
    assert memory.history.head() == before

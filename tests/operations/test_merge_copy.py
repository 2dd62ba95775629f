"""Two copies of one memory, each with a life of its own, merged over real git."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.cli.merge import format_report
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import GateError, HistoryError, UsageError
from kimi_memory.formats import codec
from kimi_memory.formats.jsonl import has_marks
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.bundles import export_bundle
from kimi_memory.operations.forget import purge
from kimi_memory.operations.merge_copy import continue_merge, merge_copy
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.review_queue import Answer, answer, review
from kimi_memory.store.notes import sessions
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.test_copies import clone, errors, git

__all__ = ["clone"]

Clone = Callable[[str], Memory]


def tree(memory: Memory) -> str:
    memory.batch.flush()
    return git(memory.root, "rev-parse", "HEAD^{tree}").strip()


def merge(memory: Memory, other: Memory) -> str:
    other.batch.flush()
    return merge_copy(memory, str(other.root)).commit


def values(memory: Memory, question: str) -> str:
    return "\n".join(hit.unit.text for hit in memory.recall(question).hits)


def test_what_both_copies_remembered_is_in_both_after_two_merges(
    memory: Memory, clone: Clone
) -> None:
    memory.remember("Ann lives in Oslo.", key="ann.home")
    other = clone("b")
    memory.remember("Ann likes tea.", key="ann.tea")
    other.remember("Bob likes coffee.", key="bob.coffee")
    made = merge(memory, other)
    parents = git(memory.root, "rev-list", "--parents", "-1", made).split()
    assert len(parents) == 3
    assert "Merge-Rules: 1" in git(memory.root, "log", "-1", "--format=%B", made)
    assert errors(memory) == []
    assert merge(other, memory) == git(memory.root, "rev-parse", "HEAD").strip()
    assert tree(memory) == tree(other)
    assert merge_copy(memory, str(other.root)).commit == ""
    assert errors(other) == []
    for one in (memory, other):
        assert git(one.root, "status", "--porcelain").strip() == ""
        for words in ("Ann likes tea", "Bob likes coffee"):
            assert words in values(one, words)


def test_a_clock_that_is_ahead_is_said(memory: Memory, clone: Clone, clock: Clock) -> None:
    other = clone("b")
    clock.move(days=3)
    other.remember("Bob likes coffee.", key="bob.coffee")
    other.batch.flush()
    told = merge_copy(memory, str(other.root), dry_run=True)
    assert told.ahead_until is None
    clock.move(days=-3)
    report = merge_copy(memory, str(other.root), dry_run=True)
    assert report.ahead_until == clock() + timedelta(days=3)
    assert "ahead of the clock here" in "".join(format_report(report, dry_run=True))


def test_two_machines_that_merge_the_same_commits_make_the_same_one(
    memory: Memory, clone: Clone
) -> None:
    other = clone("b")
    third = clone("c")
    other.remember("Bob likes coffee.", key="bob.coffee")
    third.remember("Cleo likes water.", key="cleo.water")
    other.batch.flush(), third.batch.flush()
    heads = [git(one.root, "rev-parse", "HEAD").strip() for one in (other, third)]
    assert merge(third, other) == merge_commit(other, third, heads[1])


def merge_commit(memory: Memory, other: Memory, theirs: str) -> str:
    """Merge the commit that the other copy had before it merged ours."""
    memory.history.merger().fetch(other.root)
    return merge_copy(memory, theirs).commit


def test_what_another_copy_says_waits_for_a_persons_word(memory: Memory, clone: Clone) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    page = next((other.root / "semantic").rglob("deploy.port.md"))
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("8080", "9999"), encoding="utf-8")
    other.batch.note()
    made = merge(memory, other)
    assert made
    assert "9999" in next((memory.root / "semantic").rglob("deploy.port.md")).read_text("utf-8")
    assert "9999" not in values(memory, "which deploy port?")
    assert review(memory)
    again = Memory.open(memory.root, Opening(home=memory.home))
    assert "9999" not in values(again, "which deploy port?")
    again.close()


def test_an_edit_by_hand_just_before_a_merge_counts_until_a_person_answers(
    memory: Memory, clone: Clone
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    for one, port in ((memory, "7777"), (other, "9999")):
        page = next((one.root / "semantic").rglob("deploy.port.md"))
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("8080", port), encoding="utf-8")
        one.batch.note()
    assert merge(memory, other)
    hits = memory.recall("which deploy port?").hits
    told = [one.unit.text for one in hits if (one.unit.kind, one.unit.status) == ("card", "active")]
    assert told == ["The deploy port is 7777."]


def test_a_replacement_that_waits_leaves_what_it_would_replace(
    memory: Memory, clone: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    other.remember("The deploy port is now 9999, no longer 8080.", key="deploy.port")
    other.batch.flush()
    assert run(["merge", str(other.root), "--memory", str(memory.root)]) == 0
    assert "of these files wait for your word: kimi-memory review" in capsys.readouterr().out
    again = Memory.open(memory.root, Opening(home=memory.home))
    for purpose in ("start", "task"):
        text = again.context(purpose, "" if purpose == "start" else "which deploy port?").text
        assert "8080" in text and "9999" not in text
    assert [one.text for one in again.blame("deploy.port")] == ["The deploy port is 8080."]
    again.close()


def test_a_copy_with_very_many_new_files_comes_as_one_pack(memory: Memory, clone: Clone) -> None:
    """An object at a time, each synced, took longer than a git may that does not end."""
    other = clone("b")
    (other.root / "notes").mkdir()
    for n in range(300):
        (other.root / f"notes/{n}.md").write_text(f"Berth {n} is free.\n", encoding="utf-8")
    other.batch.note()
    assert merge(memory, other)
    assert (memory.root / "notes/299.md").is_file()
    assert int(git(memory.root, "count-objects").split()[0]) < 100
    assert not merge_copy(memory, str(other.root)).paths


def test_a_session_that_went_on_in_both_copies_loses_no_turn(
    memory: Memory, clone: Clone, clock: Clock
) -> None:
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    other = clone("b")
    clock.move(minutes=1)
    memory.session("talk").turn("user", "The shop runs in Oslo.")
    clock.move(minutes=1)
    other.session("talk").turn("user", "The shop opens at nine.")
    other.batch.flush()
    report = merge_copy(memory, str(other.root))
    [fork] = report.forks
    assert errors(memory) == []
    memory.session(fork).turn("user", "It closes at five.")
    assert errors(memory) == [], "a fork goes on with its chain"
    files = [sessions.find(memory.store, id).path for id in ("talk", fork)]
    said = [turn.text for path in files for turn in sessions.read(memory.store, path).turns]
    assert said == [
        "We use PostgreSQL for the shop.",
        "The shop runs in Oslo.",
        "The shop opens at nine.",
        "It closes at five.",
    ]


@pytest.fixture
def pair(memory: Memory, tmp_path: Path, opening: Opening) -> Iterator[tuple[Memory, Memory]]:
    """Two copies of one owner, which let count at once what comes from the other."""
    path = memory.root / "memory.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[consolidation]\nexternal_edits = "trust"\n', encoding="utf-8")
    memory.batch.note()
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    own = Home(tmp_path / "config-b", tmp_path / "state-b")
    with (
        Memory.open(memory.root, opening) as one,
        Memory.open(tmp_path / "b", replace(opening, home=own)) as other,
    ):
        yield one, other


def test_what_was_forgotten_in_one_copy_stays_forgotten_in_both(
    pair: tuple[Memory, Memory],
) -> None:
    memory, other = pair
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    merge(other, memory)
    [card] = [h.unit.id for h in memory.recall("dentist").hits if h.unit.kind == "card"]
    memory.run(Forget(memory, Wanted(note=card)))
    other.remember("The dentist is Dr Abernathy.", key="health.dentist")
    merge(memory, other)
    merge(other, memory)
    assert tree(memory) == tree(other)
    for one in pair:
        assert "Abernathy" not in values(one, "who is the dentist?")
        assert errors(one) == []


@pytest.mark.parametrize("first", [True, False])
def test_a_second_value_stays_forgotten_that_is_the_first_of_another_copy(
    pair: tuple[Memory, Memory], *, first: bool
) -> None:
    """Under the key of the matter in one copy, in the other under one that has its words."""
    memory, other = pair
    other.remember("The cat is Lulu.", key="pet.cat")
    for one in pair:
        one.remember("The cat is Momo.", key="pet.cat")
    forgets = memory if first else other
    [card] = [hit.unit.id for hit in forgets.recall("cat Momo").hits if "Momo" in hit.unit.text][:1]
    forgets.run(Forget(forgets, Wanted(note=card)))
    merge(memory, other)
    merge(other, memory)
    assert tree(memory) == tree(other)
    for one in pair:
        cards = [filed.note for filed in Shelf(one.store).notes("card")]
        live = {card.value for card in cards if card.status is Status.ACTIVE}
        assert live == {"The cat is Lulu."}


def say_again(memory: Memory) -> None:
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")


def say_otherwise(memory: Memory) -> None:
    memory.remember("The dentist is Dr Berg.", key="health.dentist")


def tag_by_hand(memory: Memory) -> None:
    [path] = [p for p in memory.store.files("semantic") if p.endswith("health.dentist.md")]
    text = (memory.root / path).read_text("utf-8")
    (memory.root / path).write_text(f"{text}\nAsk at the desk.\n", "utf-8")
    memory.take_edits()


def run_daily(memory: Memory) -> None:
    memory.consolidate("daily", memory.clock().date())


def believed(memory: Memory) -> set[tuple[str, str]]:
    paths = (path for path in memory.store.files("semantic") if path.count("/") > 1)
    cards = (codec.parse(memory.store.read(path).decode(), path) for path in paths)
    return {
        (one.key, one.value)
        for one in cards
        if isinstance(one, Card) and one.status is Status.ACTIVE
    }


@pytest.mark.parametrize("act", [say_again, say_otherwise, tag_by_hand, run_daily])
def test_forgetting_and_merging_lead_to_the_same_in_either_order(
    pair: tuple[Memory, Memory], act: Callable[[Memory], None], clone: Clone, clock: Clock
) -> None:
    """Law L7."""
    memory, other = pair
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    memory.remember("Ann likes tea.", key="ann.tea")
    merge(other, memory)
    later, about = clone("later"), Wanted(query="Abernathy")
    clock.move(hours=1)
    act(other)
    clock.move(hours=1)
    memory.run(Forget(memory, about))
    merge(memory, other)
    merge(later, other)
    later.run(Forget(later, about))
    assert believed(memory) == believed(later)
    assert "ann.tea" in {key for key, _ in believed(memory)}
    assert not [value for _, value in believed(memory) if "Abernathy" in value]
    assert errors(memory) == errors(later) == []


def test_copies_that_merged_each_other_crosswise_still_merge(pair: tuple[Memory, Memory]) -> None:
    memory, other = pair
    memory.remember("Ann likes tea.", key="ann.tea")
    other.remember("Bob likes coffee.", key="bob.coffee")
    for one, two in ((memory, other), (other, memory)):
        two.batch.flush()
        git(one.root, "fetch", "-q", str(two.root), "main")
    for one in pair:
        git(
            one.root, "merge", "-q", "-X", "ours", "-m", f"By hand in {one.root.name}", "FETCH_HEAD"
        )
        one.store.folder_scan.drop()
    memory.remember("Cleo likes water.", key="cleo.water")
    other.remember("Dan likes milk.", key="dan.milk")
    merge(memory, other)
    merge(other, memory)
    assert tree(memory) == tree(other)
    assert errors(memory) == errors(other) == []
    for words in ("Ann likes tea", "Bob likes coffee", "Cleo likes water", "Dan likes milk"):
        assert words in values(other, words)


def test_what_copies_merged_by_values_gives_no_alarm_where_git_brings_it(
    pair: tuple[Memory, Memory], clone: Clone
) -> None:
    memory, other = pair
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    merge(other, memory)
    third = clone("c")
    memory.session("talk").turn("user", "The shop runs in Oslo.")
    other.session("talk").turn("user", "The shop opens at nine.")
    memory.batch.flush()
    assert merge_copy(other, str(memory.root)).forks
    git(third.root, "pull", "-q", "--ff-only", str(other.root), "main")
    third.store.folder_scan.drop()
    assert errors(third) == []


def test_a_commit_during_the_merge_stops_it(memory: Memory, clone: Clone) -> None:
    other = clone("b")
    other.remember("Bob likes coffee.", key="bob.coffee")
    other.batch.flush()
    merger = memory.history.merger()
    theirs = merger.fetch(other.root)
    git(memory.root, "commit", "-q", "--allow-empty", "-m", "Meanwhile")
    with pytest.raises(HistoryError, match="during the merge"):
        merger.publish(theirs)


def test_a_broken_settings_file_is_of_no_memory(memory: Memory, clone: Clone) -> None:
    other = clone("b")
    (other.root / "memory.toml").write_text("[memory\n", encoding="utf-8")
    git(other.root, "commit", "-qam", "Broken")
    with pytest.raises(HistoryError, match=r"is no memory: its last commit has no memory\.toml"):
        merge_copy(memory, str(other.root))


def test_a_repository_that_is_no_memory_is_named(memory: Memory, tmp_path: Path) -> None:
    memory.remember("The lamp is blue.")
    (plain := tmp_path / "plain").mkdir()
    git(plain, "init", "-q")
    with pytest.raises(HistoryError, match="plain has no commit yet"):
        merge_copy(memory, str(plain))
    git(plain, "commit", "-q", "--allow-empty", "-m", "Code")
    with pytest.raises(HistoryError, match="plain is no memory"):
        merge_copy(memory, str(plain))


def test_a_deleted_file_goes_and_two_statements_are_named(
    pair: tuple[Memory, Memory], capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    memory.remember("The deploy port is 8080.", key="deploy.port")
    (memory.root / "notes.md").write_text("One.\n", encoding="utf-8")
    memory.batch.note()
    merge(other, memory)
    (other.root / "notes.md").unlink()
    for one, port in ((memory, "8443"), (other, "9999")):
        page = next((one.root / "semantic").rglob("deploy.port.md"))
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("port is 8080", f"port is {port}"), encoding="utf-8")
        one.batch.note()
    other.batch.flush()
    assert run(["merge", str(other.root), "--memory", str(memory.root)]) == 0
    assert "says two things" in capsys.readouterr().out
    assert not (memory.root / "notes.md").exists()
    said = [p.read_text("utf-8") for p in (memory.root / "semantic" / "general").glob("*.md")]
    for port in ("8443", "9999"):
        assert any(f"port is {port}" in text for text in said)


def correct_port(memory: Memory, port: str, clock: Clock) -> None:
    """Correct the card of the port in an editor."""
    page = next((memory.root / "semantic").rglob("deploy.port.md"))
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"(?m)^([#-].*port is )\d+", rf"\g<1>{port}", text), "utf-8")
    memory.batch.note()
    memory.take_edits()
    clock.move(hours=1)


@pytest.mark.parametrize("moved", ["", "ports/old.md"])
@pytest.mark.parametrize("by_git", [False, True])
def test_a_version_that_loses_again_is_the_one_of_before(
    pair: tuple[Memory, Memory], clock: Clock, moved: str, *, by_git: bool
) -> None:
    """It is the same in both copies, so that nothing of it differs where they meet again."""
    memory, other = pair
    memory.remember("The deploy port is 8080.", key="deploy.port")
    merge(other, memory)
    correct_port(memory, "7001", clock)
    correct_port(other, "7002", clock)
    merge(memory, other)
    [lost] = (memory.root / "semantic").rglob("deploy.port-*.md")
    if moved:
        (memory.root / "semantic" / moved).parent.mkdir()
        lost.rename(memory.root / "semantic" / moved)
        memory.batch.note()
    merge(other, memory)
    correct_port(memory, "7001", clock)
    correct_port(other, "7003", clock)
    if by_git:
        memory.batch.flush(), other.batch.flush()
        git(memory.root, "pull", "-q", "--no-rebase", "-X", "ours", str(other.root), "HEAD")
        memory.store.folder_scan.drop()
        memory.repair_merges()
    else:
        merge(memory, other)
    merge(other, memory)
    assert tree(memory) == tree(other)
    assert errors(memory) == errors(other) == []
    pages = [page.read_text("utf-8") for page in (memory.root / "semantic").rglob("*.md")]
    for port in ("7001", "7003"):
        assert sum(f"\n# The deploy port is {port}.\n" in page for page in pages) == 1


def test_days_of_two_copies_end_in_equal_trees(pair: tuple[Memory, Memory], clock: Clock) -> None:
    memory, other = pair
    for day in range(3):
        for who, one in (("Ann", memory), ("Bob", other)):
            talk = one.session(f"{who}-{day}")
            talk.turn("user", f"We decided to use tool{day}{who} for the shop of {who}.")
            talk.turn("user", f"Remember: the port of {who}'s shop is {8000 + day}.")
            one.end(f"{who}-{day}")
            one.remember(f"{who} lives in town number {day}.", key=f"{who.lower()}.home")
            one.consolidate("daily", clock().date())
        clock.move(days=1)
        merge(memory, other)
        merge(other, memory)
        assert tree(memory) == tree(other)
        assert errors(memory) == errors(other) == []
    for one in (memory, other):
        for path in one.store.files():
            assert not has_marks(path, one.store.read(path))
        for words in ("Ann lives in town number 2", "Bob lives in town number 2"):
            assert words in values(one, words)


def test_a_dry_run_and_a_branch(
    memory: Memory, clone: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    other = clone("b")
    other.remember("Bob likes coffee.", key="bob.coffee")
    other.batch.flush()
    before = tree(memory)
    root = ["--memory", str(memory.root)]
    assert run(["merge", str(other.root), "--dry-run", *root]) == 0
    assert "Would merge" in capsys.readouterr().out
    assert tree(memory) == before
    head = git(other.root, "rev-parse", "HEAD").strip()
    git(memory.root, "branch", "side", head)
    assert run(["merge", "side", *root]) == 0
    assert f"Merged side ({head[:10]})" in capsys.readouterr().out
    assert run(["merge", "side", *root, "--json"]) == 0
    assert '"paths": []' in capsys.readouterr().out
    assert run(["merge", "side", *root]) == 0
    assert "Nothing to merge" in capsys.readouterr().out


def test_what_is_no_copy_of_this_memory_is_refused(
    memory: Memory, tmp_path: Path, opening: Opening, clone: Clone
) -> None:
    with Memory.create(tmp_path / "other", opening=opening) as other:
        other.batch.flush()
        with pytest.raises(HistoryError, match="another memory"):
            merge_copy(memory, str(other.root))
    (tmp_path / "empty").mkdir()
    with pytest.raises(HistoryError, match="no history"):
        merge_copy(memory, str(tmp_path / "empty"))
    with pytest.raises(HistoryError, match="No folder, branch or commit 'nowhere'"):
        merge_copy(memory, "nowhere")
    third = clone("c")
    git(third.root, "checkout", "-q", "--orphan", "apart")
    git(third.root, "commit", "-qm", "Nothing before")
    with pytest.raises(HistoryError, match="no common history"):
        merge_copy(memory, str(third.root))


def test_what_was_purged_does_not_come_back_by_a_merge(memory: Memory, clone: Clone) -> None:
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    other = clone("b")
    memory.batch.flush()
    assert purge(memory, Doomed(("Abernathy",), ()), yes=True).done
    before = git(memory.root, "count-objects", "-v")
    with pytest.raises(HistoryError, match="from before a purge of this memory"):
        merge_copy(memory, str(other.root))
    assert git(memory.root, "count-objects", "-v") == before, "no object came along"
    git(memory.root, "fetch", "-q", str(other.root))
    with pytest.raises(HistoryError, match="from before a purge of this memory"):
        merge_copy(memory, git(other.root, "rev-parse", "HEAD").strip())
    assert "Abernathy" not in git(memory.root, "log", "-p")
    for one, text in ((memory, "Ann\n"), (other, "Bob\n")):
        (one.root / "USER.md").write_text(text, encoding="utf-8")
        one.batch.note()
    leave_to_git(memory, other)
    with pytest.raises(HistoryError, match=r"before a purge.*git merge --abort"):
        continue_merge(memory)
    git(memory.root, "merge", "--abort")
    assert errors(memory) == []


def test_a_copy_that_lost_most_notes_takes_none_away(memory: Memory, clone: Clone) -> None:
    for name in ("Ann", "Bob", "Cleo"):
        memory.remember(f"{name} lives in the town of {name}ville.", key=f"{name.lower()}.home")
    other = clone("b")
    for page in (other.root / "semantic").rglob("*.home.md"):
        page.unlink()
    other.batch.note()
    other.batch.flush()
    with pytest.raises(GateError, match="would take 3 notes away"):
        merge_copy(memory, str(other.root))


def leave_to_git(memory: Memory, other: Memory) -> None:
    """Let git begin a merge that it cannot end."""
    other.batch.flush(), memory.batch.flush()
    git(memory.root, "pull", "-q", "--no-rebase", str(other.root), "main", check=False)
    assert (memory.root / ".git/MERGE_HEAD").exists()
    memory.store.folder_scan.drop()


def test_a_merge_that_git_began_is_finished(
    pair: tuple[Memory, Memory], clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    merge(other, memory)
    clock.move(minutes=1)
    for one, name, drink in ((memory, "Ann", "tea"), (other, "Bob", "milk")):
        one.session("talk").turn("user", f"{name} takes part.")
        one.remember(f"{name} likes {drink}.", key=f"{name.lower()}.drink")
        (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
        (one.root / "notes.md").write_text(f"Of {name}.\n", encoding="utf-8")
        one.batch.note()
    leave_to_git(memory, other)
    assert has_marks("USER.md", (memory.root / "USER.md").read_bytes())
    (memory.root / "notes.md").write_text("Of both.\n", encoding="utf-8")
    memory.session("talk").turn("user", "Cleo came while git was merging.")
    assert continue_merge(memory).paths
    assert not (memory.root / ".git/MERGE_HEAD").exists()
    assert errors(memory) == []
    assert git(memory.root, "status", "--porcelain").strip() == ""
    made = next(c for c in memory.history.log(limit=9) if c.trailers.get("Merge-Rules"))
    assert len(git(memory.root, "rev-list", "--parents", "-1", made.hash).split()) == 3
    assert (memory.root / "notes.md").read_text("utf-8") == "Of both.\n"
    kept = [page.read_text("utf-8") for page in (memory.root / "conflicts").glob("USER.*.md")]
    assert {(memory.root / "USER.md").read_text("utf-8"), *kept} == {"# Ann\n", "# Bob\n"}
    places = [place for place in sessions.places(memory.store) if place.id.startswith("talk")]
    said = {turn.text for one in places for turn in sessions.read(memory.store, one.path).turns}
    assert said == {
        "We use PostgreSQL for the shop.",
        "Ann takes part.",
        "Bob takes part.",
        "Cleo came while git was merging.",
    }
    for words in ("Ann likes tea", "Bob likes milk"):
        assert words in values(memory, words)
    merge(other, memory)
    assert tree(memory) == tree(other)
    root = ["--memory", str(memory.root)]
    assert run(["merge", "--continue", *root]) == 2
    assert run(["merge", *root]) == 2
    assert "No merge of git" in capsys.readouterr().err


def test_a_strangers_half_of_a_merge_of_git_still_waits(memory: Memory, clone: Clone) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    (memory.root / "USER.md").write_text("# Ann\n", encoding="utf-8")
    memory.batch.note()
    other = clone("b")
    for one, name in ((memory, "Cleo"), (other, "Bob")):
        (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
        one.batch.note()
    page = next((other.root / "semantic").rglob("deploy.port.md"))
    page.write_text(page.read_text("utf-8").replace("8080", "9999"), encoding="utf-8")
    leave_to_git(memory, other)
    continue_merge(memory)
    assert "9999" in next((memory.root / "semantic").rglob("deploy.port.md")).read_text("utf-8")
    assert "9999" not in values(memory, "which deploy port?")
    assert errors(memory) == []


def test_nothing_of_the_repository_is_run(
    pair: tuple[Memory, Memory], tmp_path: Path, clock: Clock
) -> None:
    memory, other = pair
    for one, name in ((memory, "Cleo"), (other, "Dan")):
        one.remember(f"{name} likes juice.", key=f"{name.lower()}.juice")
        one.batch.flush()
    canary, ran = tmp_path / "canary.sh", tmp_path / "ran"
    canary.write_text(f"#!/bin/sh\ncat /proc/$PPID/cmdline >>{ran}\n", encoding="utf-8")
    canary.chmod(0o755)
    for key in (
        "merge.evil.driver",
        "filter.evil.clean",
        "filter.evil.smudge",
        "diff.evil.textconv",
        "diff.evil.command",
        "core.sshCommand",
        "core.fsmonitor",
        "uploadpack.packObjectsHook",
    ):
        for one in pair:
            git(one.root, "config", key, str(canary))
    for hook in (
        "pre-commit",
        "post-merge",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
    ):
        for one in pair:
            place = one.root / ".git/hooks" / hook
            place.parent.mkdir(exist_ok=True)
            place.write_text(canary.read_text("utf-8"), encoding="utf-8")
            place.chmod(0o755)
    for one, name in ((memory, "Ann"), (other, "Bob")):
        rules = one.root / ".gitattributes"
        text = rules.read_text("utf-8") + "* filter=evil merge=evil diff=evil\n"
        rules.write_text(text, encoding="utf-8")
        one.remember(f"{name} likes tea.", key=f"{name.lower()}.tea")
        (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
        one.batch.note()
    merge(memory, other)
    merge(other, memory)
    (memory.root / ".git/MERGE_HEAD").write_text(git(other.root, "rev-parse", "HEAD~1"))
    continue_merge(memory)
    job = next(iter(memory.jobs.records("remember")))
    memory.undo(job.id)
    assert errors(memory) == []
    assert not ran.exists(), ran.read_text("utf-8")


SAID = "The dentist is Dr Abernathy."
STONES = "mid-term/tombstones.jsonl"


def forget_dentist(memory: Memory) -> str:
    """Let a memory forget who the dentist is; return the job."""
    memory.remember(SAID, key="health.dentist")
    [card] = [h.unit.id for h in memory.recall("dentist").hits if h.unit.kind == "card"]
    return memory.run(Forget(memory, Wanted(note=card))).id


def empty_stones(other: Memory, job: str) -> None:
    (other.root / STONES).write_text("", encoding="utf-8")


def delete_stones(other: Memory, job: str) -> None:
    (other.root / STONES).unlink()


def undo_forgetting(other: Memory, job: str) -> None:
    other.undo(job)


def revive_card(other: Memory, job: str) -> None:
    """Take it back, and give the card another name besides."""
    other.undo(job)
    card = next((other.root / "semantic").rglob("health.dentist.md"))
    card.rename(card.with_name("dentist.md"))


@pytest.mark.parametrize("how", [empty_stones, delete_stones, undo_forgetting, revive_card])
@pytest.mark.parametrize("by_git", [False, True], ids=["merge", "pull"])
def test_what_was_forgotten_here_stays_so_though_a_copy_takes_that_back(
    memory: Memory, clone: Clone, opening: Opening, how: Callable[..., None], by_git: bool
) -> None:
    job = forget_dentist(memory)
    other = clone("b")
    how(other, job)
    other.batch.note()
    other.batch.flush()
    if by_git:
        git(memory.root, "pull", "-q", str(other.root), "HEAD")
    else:
        memory.remember("Ann likes tea.", key="ann.tea")
        merge(memory, other)
    with Memory.open(memory.root, opening) as again:
        assert "Abernathy" not in values(again, "who is the dentist?")
        assert "Abernathy" not in again.context("start").text
        again.session("talk").turn("user", SAID)
        again.end("talk")
        assert "Abernathy" not in values(again, "who is the dentist?")
        assert "ERROR" not in {str(one) for one in errors(again)}


def bring(memory: Memory, other: Memory, *, by_git: bool) -> None:
    """Bring what a copy has, by a pull of git or a merge of ours."""
    if by_git:
        other.batch.flush()
        git(memory.root, "pull", "-q", str(other.root), "HEAD")
        memory.store.folder_scan.drop()
        memory.repair_merges()
    else:
        merge(memory, other)


@pytest.mark.parametrize("by_git", [False, True], ids=["merge", "pull"])
def test_a_person_lets_come_back_what_a_copy_took_back(
    memory: Memory, clone: Clone, *, by_git: bool
) -> None:
    job = forget_dentist(memory)
    other = clone("b")
    other.undo(job)
    bring(memory, other, by_git=by_git)
    assert STONES in {one.path for one in waiting_files(memory)}
    while found := waiting_files(memory):
        answer(memory, found[-1].path, Answer(accept=True))
    assert "Abernathy" in values(memory, "who is the dentist?")


@pytest.mark.parametrize("by_git", [False, True], ids=["merge", "pull"])
def test_what_a_person_turns_away_stays_forgotten(
    memory: Memory, clone: Clone, *, by_git: bool
) -> None:
    job = forget_dentist(memory)
    lines = (memory.root / STONES).read_bytes()
    other = clone("b")
    other.undo(job)
    bring(memory, other, by_git=by_git)
    while found := waiting_files(memory):
        answer(memory, found[-1].path, Answer(accept=False))
    assert (memory.root / STONES).read_bytes() == lines
    assert "Abernathy" not in values(memory, "who is the dentist?")
    assert waiting_files(memory) == []


@pytest.mark.parametrize("by_git", [False, True], ids=["merge", "pull"])
def test_own_copies_take_a_forgetting_back_together(
    pair: tuple[Memory, Memory], *, by_git: bool
) -> None:
    memory, other = pair
    job = forget_dentist(memory)
    merge(other, memory)
    other.undo(job)
    bring(memory, other, by_git=by_git)
    merge(other, memory)
    assert "Abernathy" in values(memory, "who is the dentist?")
    assert tree(memory) == tree(other)


def test_a_purge_here_bars_what_a_copy_let_go(memory: Memory, clone: Clone) -> None:
    """Writing the tombstones anew does not lose those that a copy took out."""
    forget_dentist(memory)
    other = clone("b")
    empty_stones(other, "")
    other.batch.note()
    merge(memory, other)
    purge(memory, Doomed(texts=("the vault code is 7391",)))
    assert "Abernathy" not in values(memory, "who is the dentist?")


def test_what_was_corrected_here_does_not_come_back(memory: Memory, clone: Clone) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.batch.flush()
    page = next((memory.root / "semantic").rglob("deploy.port.md"))
    old = page.read_bytes()
    page.write_text(page.read_text("utf-8").replace("8080", "9090"), encoding="utf-8")
    memory.take_edits()
    memory.batch.note()
    memory.batch.flush()
    other = clone("b")
    next((other.root / "semantic").rglob("deploy.port.md")).write_bytes(old)
    other.batch.note()
    merge(memory, other)
    assert "9090" in values(memory, "which deploy port?")
    assert page.relative_to(memory.root).as_posix() in {f.path for f in waiting_files(memory)}


def test_what_was_forgotten_since_stays_so_when_a_copy_is_turned_away(
    memory: Memory, clone: Clone
) -> None:
    """Only what the copy took out and put in is taken back."""
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.remember("Bob likes coffee.", key="bob.coffee")
    forget_dentist(memory)
    other = clone("b")
    (other.root / STONES).write_text("", encoding="utf-8")
    other.run(Forget(other, Wanted(key="ann.tea")))
    merge(memory, other)
    memory.run(Forget(memory, Wanted(key="bob.coffee")))
    [file] = [one for one in waiting_files(memory) if one.path == STONES]
    answer(memory, STONES, Answer(accept=False))
    keys = {json.loads(line)["key"] for line in (memory.root / STONES).read_bytes().splitlines()}
    assert keys == {"health.dentist", "bob.coffee"}
    assert file.standing.why


def live(memory: Memory, key: str) -> set[str]:
    """Return what counts under a key."""
    hits = memory.recall(f"key:{key} kind:card status:active").hits
    return {hit.unit.text for hit in hits}


def test_strictly_a_note_that_both_sides_changed_waits_though_all_is_trusted(
    pair: tuple[Memory, Memory], capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    memory.remember("The deploy port is 8080.", key="deploy.port")
    merge(other, memory)
    for one, port in ((memory, "8081"), (other, "8443")):
        page = next((one.root / "semantic").rglob("deploy.port.md"))
        page.write_text(page.read_text("utf-8").replace("8080", port), encoding="utf-8")
        one.take_edits()
    other.remember("Bob likes coffee.", key="bob.coffee")
    other.batch.flush()
    options = ["--strict", "--memory", str(memory.root)]
    before = tree(memory)
    assert run(["merge", str(other.root), "--dry-run", *options]) == 0
    assert "2 of these files wait for your word" in capsys.readouterr().out
    assert (waiting_files(memory), tree(memory)) == ([], before)
    done = merge_copy(memory, str(other.root), strict=True)
    assert done.joined == 1 and len(done.waiting) == 2
    assert {file.path for file in waiting_files(memory)} == set(done.waiting)
    # What counted here counts until a person says otherwise; the rest came in as ever.
    assert live(memory, "deploy.port") == {"The deploy port is 8081."}
    assert "coffee" in values(memory, "what does Bob like?")
    for path in done.waiting:
        answer(memory, path, Answer(accept=True))
    assert waiting_files(memory) == []
    assert live(memory, "deploy.port") != {"The deploy port is 8081."}
    assert run(["merge", "--continue", *options]) == 2


def test_a_dry_run_says_how_far_apart_both_are_and_what_comes_along(
    memory: Memory, clone: Clone, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.session("talk").turn("user", "The deploy port is 8080.")
    other = clone("other")
    base = git(other.root, "rev-parse", "HEAD").strip()
    other.remember("Bob likes coffee.", key="bob.drink")
    other.session("talk").turn("user", "So it is, 部署端口是 8080。")
    other.batch.flush()
    memory.session("talk").turn("user", "And the backup runs at two.")
    memory.batch.flush()
    ahead = int(git(other.root, "rev-list", "--count", f"{base}..HEAD"))
    behind = int(git(memory.root, "rev-list", "--count", f"{base}..HEAD"))
    told = merge_copy(memory, str(other.root), dry_run=True)
    assert (told.base, told.ahead, told.behind) == (base, ahead, behind)
    # The session went on in both: both turns of there are in the result, one under another name.
    assert (told.added, told.turns, told.found, len(told.forks)) == (1, 2, 2, 1)
    assert run(["merge", str(other.root), "--dry-run", "--memory", str(memory.root)]) == 0
    said = capsys.readouterr().out
    assert f"{ahead} versions ahead, {behind} behind, since {base[:10]}" in said
    assert "1 note is new" in said
    assert "2 turns were said there; in the result: 2" in said
    done = merge_copy(memory, str(other.root))
    assert (done.ahead, done.behind, done.turns, done.found) == (ahead, behind, 2, 2)


def test_what_is_a_remote_or_a_file_is_told_the_command_for_it(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    add_remote(memory, "hub", str(tmp_path / "hub.git"))
    path = tmp_path / "news.bundle"
    export_bundle(memory, path)
    with pytest.raises(UsageError, match=r"hub is a remote.*'kimi-memory sync hub --pull'"):
        merge_copy(memory, "hub")
    assert run(["merge", str(path), "--memory", str(memory.root)]) == 2
    said = capsys.readouterr().err
    assert said.endswith(f"'kimi-memory import bundle {path}'.\n")
    assert said.count("\n") == 1
    with pytest.raises(HistoryError, match="No folder, branch or commit"):
        merge_copy(memory, "nothing")

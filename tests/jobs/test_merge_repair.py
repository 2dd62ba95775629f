"""Merges that a person made with git alone, and what the memory makes of them afterwards."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import HistoryError
from kimi_memory.formats.jsonl import has_marks
from kimi_memory.jobs.merge_repair import MergeRepair
from kimi_memory.operations.doctor import doctor, fix
from kimi_memory.operations.merge_copy import continue_merge, merge_copy
from kimi_memory.operations.open_questions import waiting_files
from kimi_memory.operations.review_queue import Answer, answer, difference
from kimi_memory.store.files.paths import TOMBSTONES
from kimi_memory.store.notes import sessions
from tests.conftest import Clock
from tests.operations.test_merge_copy import pair, tree, values
from tests.test_copies import clone, errors, git

__all__ = ["clone", "pair"]

Clone = Callable[[str], Memory]
Pair = tuple[Memory, Memory]


def live_apart(memory: Memory, other: Memory, clock: Clock) -> None:
    """Let two copies go on by themselves, in files of their own and in the same ones."""
    memory.remember("The deploy port is 8080.", key="deploy.port")
    memory.session("talk").turn("user", "We use PostgreSQL for the shop.")
    for one in (memory, other):
        one.batch.flush()
    merge_copy(other, str(memory.root))
    clock.move(minutes=1)
    for one, name, drink in ((memory, "Ann", "tea"), (other, "Bob", "milk")):
        one.session("talk").turn("user", f"{name} takes part.")
        one.remember("The deploy port is 8080.", key="deploy.port")
        one.remember(f"{name} likes {drink}.", key=f"{name.lower()}.drink")
        (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
        one.batch.note()
        one.batch.flush()


def pull(memory: Memory, other: Memory, *how: str) -> None:
    """Pull with git; where it cannot end by itself, commit what it left, marks and all."""
    source = (str(other.root), "main")
    git(memory.root, "pull", "-q", "--no-rebase", "--no-edit", *how, *source, check=False)
    if (memory.root / ".git/MERGE_HEAD").exists():
        git(memory.root, "add", "-A")
        git(memory.root, "commit", "-qm", "Merged by hand")
    memory.store.folder_scan.drop()


def turns(memory: Memory, id: str) -> set[str]:
    places = [place for place in sessions.places(memory.store) if place.id.startswith(id)]
    return {turn.text for one in places for turn in sessions.read(memory.store, one.path).turns}


def check_whole(memory: Memory) -> None:
    assert errors(memory) == []
    assert git(memory.root, "status", "--porcelain").strip() == ""
    for path in memory.store.files():
        assert not has_marks(path, memory.store.read(path)), path
    assert turns(memory, "talk") == {
        "We use PostgreSQL for the shop.",
        "Ann takes part.",
        "Bob takes part.",
    }
    for words in ("Ann likes tea", "Bob likes milk"):
        assert words in values(memory, words)


@pytest.mark.parametrize("how", [(), ("-X", "ours"), ("-X", "theirs")], ids=" ".join)
def test_what_git_merged_is_merged_by_values_before_the_next_job(
    pair: Pair, clock: Clock, how: tuple[str, ...]
) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    pull(memory, other, *how)
    memory.remember("Cleo likes water.", key="cleo.water")
    [note] = memory.notes
    assert "of git: " in note
    assert "files merged by their values" in note
    [kept] = memory.store.files("conflicts")
    assert f"one version stays, the other waits in {kept}" in note
    check_whole(memory)
    assert memory.repair_merges() == []
    commits = memory.history.log(limit=9)
    assert sum("Repairs" in commit.trailers for commit in commits) == 1
    merge_copy(other, str(memory.root))
    check_whole(other)
    assert tree(memory) == tree(other)


def test_a_command_repairs_what_git_merged_and_says_so_in_one_line(
    pair: Pair, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    pull(memory, other)
    root = ["--memory", str(memory.root)]
    before = git(memory.root, "rev-parse", "HEAD")
    assert run(["consolidate", "daily", "--dry-run", *root]) == 0
    assert git(memory.root, "rev-parse", "HEAD") == before
    assert "of git" not in capsys.readouterr().err
    assert run(["recall", "tea", "--json", *root]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["hits"]
    [line] = said.err.splitlines()
    assert line.startswith("kimi-memory: note: the merge ")
    assert run(["recall", "tea", *root]) == 0
    assert capsys.readouterr().err == ""
    assert turns(memory, "talk") >= {"Ann takes part.", "Bob takes part."}


def test_what_was_written_after_the_merge_stays(pair: Pair, clock: Clock) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    pull(memory, other, "-X", "ours")
    memory.session("talk").turn("user", "Dan came after the merge.")
    (memory.root / "USER.md").write_text("# Both\n", encoding="utf-8")
    memory.batch.note()
    memory.batch.flush()
    assert memory.repair_merges()
    assert errors(memory) == []
    assert "Dan came after the merge." in turns(memory, "talk")
    assert "Bob takes part." in turns(memory, "talk")
    assert (memory.root / "USER.md").read_text("utf-8") == "# Both\n"


@pytest.mark.parametrize("both", [False, True], ids=["one copy repairs it", "both copies do"])
def test_a_merge_that_came_from_elsewhere_is_repaired(
    pair: Pair, clock: Clock, clone: Clone, both: bool
) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    hub = clone("hub").root
    git(hub, "pull", "-q", "--no-rebase", str(other.root), "main", check=False)
    git(hub, "add", "-A")
    git(hub, "commit", "-qm", "Merged by hand")
    for one in pair if both else (memory,):
        # Somebody merges without kimi_memory, and shares it.
        git(one.root, "pull", "-q", "--ff-only", str(hub), "main")
        one.store.folder_scan.drop()
        assert one.repair_merges()
        check_whole(one)
    merge_copy(other, str(memory.root))
    assert other.repair_merges() == []
    check_whole(other)
    merge_copy(memory, str(other.root))
    assert tree(memory) == tree(other)


def test_what_a_stranger_brought_by_git_waits_after_the_repair(
    memory: Memory, clone: Clone, clock: Clock
) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    other = clone("b")
    for one, name in ((memory, "Cleo"), (other, "Bob")):
        one.remember("The deploy port is 8080.", key="deploy.port")
        one.remember(f"{name} likes juice.", key=f"{name.lower()}.juice")
    page = next((other.root / "semantic").rglob("deploy.port.md"))
    page.write_text(page.read_text("utf-8").replace("8080", "9999"), encoding="utf-8")
    other.batch.note()
    other.batch.flush()
    pull(memory, other, "-X", "theirs")
    assert memory.repair_merges()
    assert errors(memory) == []
    assert "9999" not in values(memory, "which deploy port?")
    assert "8080" in values(memory, "which deploy port?")


def test_a_merge_whose_settling_was_cut_off_is_settled_by_the_next_job(
    pair: Pair, clock: Clock
) -> None:
    memory, other = pair
    memory.remember("The build server is called Anvil.", key="build.server")
    clock.move(minutes=1)
    other.remember("The build server is now called Hammer.", key="build.server")
    other.batch.flush()
    read, write = os.pipe()
    if os.fork() == 0:  # Dies after the merge, before its job.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory, "run", lambda job: os._exit(os.write(write, b"cut")))
            merge_copy(memory, str(other.root))
    os.wait()
    assert os.read(read, 3) == b"cut"
    memory.store.folder_scan.drop()
    assert list(memory.jobs.records("merge")) == []
    memory.remember("Ann likes tea.", key="ann.tea")
    assert "cards settled" in memory.notes[0]
    [job] = memory.jobs.records("merge")
    memory.undo(job.id)
    memory.remember("Bob likes milk.", key="bob.drink")
    assert list(memory.jobs.records("merge")) == [], "what was taken back is not done again"


def test_a_gate_that_holds_the_settling_is_named_once(
    pair: Pair, clock: Clock, opening: Opening
) -> None:
    memory, other = pair
    memory.remember("The build server is called Anvil.", key="build.server")
    clock.move(minutes=1)
    other.remember("The build server is now called Hammer.", key="build.server")
    for one in pair:
        one.batch.flush()
    pull(memory, other, "-X", "ours")
    path = memory.root / "memory.toml"
    gates = "\n[gates]\nmax_seconds = 0\n"
    path.write_text(path.read_text("utf-8") + gates, encoding="utf-8")
    with Memory.open(memory.root, opening) as again:
        lines = again.repair_merges()
        assert any("its cards are not settled: Gate 'time'" in line for line in lines)
        assert again.repair_merges() == []
        assert errors(again) == []


@pytest.mark.parametrize("committed", [True, False])
def test_a_card_that_was_in_dispute_goes_back_when_it_is_turned_away(
    memory: Memory, clone: Clone, clock: Clock, opening: Opening, *, committed: bool
) -> None:
    """While git's marks stand in it, its id cannot be read; it is the same card all the same."""
    memory.remember("部署端口是 8080。", key="deploy.port")
    other = clone("b")
    for one, port in ((memory, "8443"), (other, "9000")):
        clock.move(minutes=1)
        one.remember(f"部署端口改为 {port}。", key="deploy.port")
        one.batch.flush()
    page = memory.root / "semantic/general/deploy.port.md"
    before = page.read_bytes()
    git(memory.root, "pull", "-q", "--no-rebase", str(other.root), "main", check=False)
    assert has_marks(page.name, page.read_bytes())
    if committed:
        git(memory.root, "commit", "-qam", "Merged by hand")
    with Memory.open(memory.root, opening) as again:
        if committed:
            again.repair_merges()
        else:
            continue_merge(again)
        path = page.relative_to(memory.root).as_posix()
        [file] = [one for one in waiting_files(again) if one.path == path]
        assert "--- a/semantic" in difference(again, file)
        answer(again, path, Answer(accept=False))
        assert page.read_bytes() == before
        assert not (memory.root / TOMBSTONES).exists(), "nobody wanted the card forgotten"
        assert errors(again) == []


def test_nothing_is_done_while_git_waits_for_the_person(pair: Pair, clock: Clock) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    git(memory.root, "pull", "-q", "--no-rebase", str(other.root), "main", check=False)
    before = (memory.root / "USER.md").read_bytes()
    memory.store.folder_scan.drop()
    memory.remember("Cleo likes water.", key="cleo.water")
    assert memory.repair_merges() == []
    assert (memory.root / "USER.md").read_bytes() == before


def test_files_with_marks_are_mended_where_a_person_asks(memory: Memory) -> None:
    memory.remember("The deploy port is 8080.", key="deploy.port")
    page = next((memory.root / "semantic").rglob("deploy.port.md"))
    (memory.root / "notes.md").write_text("One.\nTwo.\n", encoding="utf-8")
    memory.batch.note()
    memory.batch.flush()
    before = page.read_text("utf-8")
    page.write_text(before.replace("8080", "9999"), encoding="utf-8")
    (memory.root / "notes.md").write_text("One.\nStashed.\n", encoding="utf-8")
    git(memory.root, "stash", "-q")
    page.write_text(before.replace("8080", "8443"), encoding="utf-8")
    (memory.root / "notes.md").write_text("One.\nCommitted.\n", encoding="utf-8")
    git(memory.root, "commit", "-qam", "Another port")
    git(memory.root, "stash", "pop", "-q", check=False)
    memory.store.folder_scan.drop()
    assert has_marks("notes.md", (memory.root / "notes.md").read_bytes())
    assert git(memory.root, "ls-files", "-u")
    assert memory.repair_merges() == [], "a person may be about to settle it"
    assert any("files with marks" in line for line in fix(memory, doctor(memory)))
    assert git(memory.root, "status", "--porcelain").strip() == ""
    kept = (memory.root / "conflicts").glob("notes.*.md")
    said = {path.read_text("utf-8") for path in (memory.root / "notes.md", *kept)}
    assert said == {"One.\nStashed.\n", "One.\nCommitted.\n"}
    pages = [one.read_text("utf-8") for one in (memory.root / "semantic" / "general").glob("*.md")]
    assert any("9999" in text for text in pages)
    assert any("8443" in text for text in pages)
    assert [one for one in doctor(memory) if one.check == "merge"] == []


def test_marks_that_came_with_a_pull_by_rebase_go_before_the_next_job(
    pair: Pair, clock: Clock
) -> None:
    memory, other = pair
    for one, name in ((memory, "Ann"), (other, "Bob")):
        (one.root / "USER.md").write_text(f"# {name}\n", encoding="utf-8")
        one.batch.note()
        one.batch.flush()
    git(memory.root, "pull", "-q", "--rebase", str(other.root), "main", check=False)
    git(memory.root, "add", "-A")
    git(memory.root, "-c", "core.editor=true", "rebase", "--continue")
    assert has_marks("USER.md", (memory.root / "USER.md").read_bytes())
    memory.store.folder_scan.drop()
    [line] = memory.repair_merges()
    assert line.startswith("files with marks of git")
    kept = (memory.root / "conflicts").glob("USER.*.md")
    said = {path.read_text("utf-8") for path in (memory.root / "USER.md", *kept)}
    assert said == {"# Ann\n", "# Bob\n"}


def test_settings_with_marks_are_ours_until_they_are_merged(pair: Pair, opening: Opening) -> None:
    memory, other = pair
    for one, name in ((memory, "Ann"), (other, "Bob")):
        path = one.root / "memory.toml"
        text = path.read_text("utf-8").replace('name = ""', f'name = "{name}"')
        path.write_text(text.replace('"trust"', '"trust"  # ' + name), encoding="utf-8")
        one.batch.note()
        one.batch.flush()
    git(memory.root, "pull", "-q", "--no-rebase", str(other.root), "main", check=False)
    assert has_marks("memory.toml", (memory.root / "memory.toml").read_bytes())
    with Memory.open(memory.root, opening) as again:
        assert again.settings.memory.name == "Ann"
        assert again.settings.consolidation.external_edits == "review"
        git(memory.root, "commit", "-qam", "As git left it")
        assert again.repair_merges()
    with Memory.open(memory.root, opening) as last:
        text = (last.root / "memory.toml").read_text("utf-8")
        assert not has_marks("memory.toml", text.encode())
        assert tomllib.loads(text)["memory"]["name"] in {"Ann", "Bob"}
        assert last.settings.memory.id == memory.settings.memory.id


def test_merges_of_something_else_are_left_as_they_are(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.batch.flush()
    with Memory.create(tmp_path / "other", opening=opening) as other:
        other.remember("Eve likes wine.", key="eve.wine")
        other.batch.flush()
    git(memory.root, "fetch", "-q", str(tmp_path / "other"), "main")
    how = ("-q", "-X", "ours", "--allow-unrelated-histories", "-m", "Both", "FETCH_HEAD")
    git(memory.root, "merge", *how)
    before = git(memory.root, "rev-parse", "HEAD^{tree}")
    memory.store.folder_scan.drop()
    assert memory.repair_merges() == []
    assert git(memory.root, "rev-parse", "HEAD^{tree}") == before


def test_a_repair_that_fails_keeps_nothing_from_being_remembered(
    pair: Pair, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    memory, other = pair
    live_apart(memory, other, clock)
    pull(memory, other)
    place = memory.root / ".kimi/merges"
    place.mkdir()  # What was examined cannot be noted.
    memory.remember("Cleo likes water.", key="cleo.water")
    assert "not repaired yet" in memory.notes[0]
    assert "Cleo likes water" in values(memory, "Cleo")
    assert run(["recall", "tea", "--memory", str(memory.root)]) == 0
    assert "not repaired yet" in capsys.readouterr().err
    place.rmdir()
    assert memory.repair_merges() == []
    assert turns(memory, "talk") >= {"Ann takes part.", "Bob takes part."}


def test_a_refusal_of_git_is_no_merge(memory: Memory) -> None:
    git(memory.root, "checkout", "-q", "--detach")
    repair = MergeRepair(memory, memory.batch.flush, memory.run)
    assert repair.repair(thorough=True) == []
    with pytest.raises(HistoryError):
        memory.history.merger()

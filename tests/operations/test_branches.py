"""Working copies of a memory: they begin at a point, go their own way, and come back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.jobs.forget import Forget
from kimi_memory.operations.branches import (
    diff_beliefs,
    diff_files,
    find_branches,
    list_branches,
    remove_branch,
)
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.new_copies import make_branch
from kimi_memory.operations.pick import pick
from tests.conftest import Clock
from tests.operations.test_merge_copy import values
from tests.operations.test_rollback import said
from tests.test_copies import errors, git


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "exp"


def test_a_branch_goes_its_own_way_and_is_merged_by_its_name(
    memory: Memory, place: Path, opening: Opening, clock: Clock
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    make_branch(memory, "exp", place)
    with Memory.open(place, opening) as branch:
        assert errors(branch) == []
        assert git(place, "status", "--porcelain").strip() == ""
        assert "Ann likes tea" in values(branch, "Ann")
        assert branch.copy_id != memory.copy_id
        branch.remember("Bob likes coffee.", key="bob.drink")
        job = branch.remember("Cleo likes water.", key="cleo.drink").id
        branch.session("talk").turn("user", "Dan came by.")
    assert find_branches(memory) == {"exp": place}
    memory.remember("Eve likes juice.", key="eve.drink")
    memory.batch.flush()
    [found] = list_branches(memory)
    assert (found.name, found.pending) == ("exp", True)
    assert found.ahead >= 2
    assert found.behind >= 1
    assert "Bob" not in values(memory, "Bob likes coffee")
    assert merge_copy(memory, "exp", dry_run=True).paths
    assert list_branches(memory)[0].pending, "a dry run makes no version"
    assert pick(memory, job, "exp").paths
    merge_copy(memory, "exp")
    assert "Dan came by." in {h.unit.text for h in memory.recall("who came by?").hits}
    assert errors(memory) == []
    [found] = list_branches(memory)
    assert (found.ahead, found.pending) == (0, False)
    remove_branch(memory, "exp")
    assert not place.exists()
    assert [one.name for one in place.parent.glob(".exp*")] == []
    assert list_branches(memory) == []


def test_what_is_only_there_is_not_removed_unasked(
    memory: Memory, place: Path, opening: Opening
) -> None:
    make_branch(memory, "exp", place)
    with Memory.open(place, opening) as branch:
        branch.session("talk").turn("user", "Dan came by.")
        with pytest.raises(UsageError, match="has changes not here"):
            remove_branch(memory, "exp")
        branch.batch.flush()
    with pytest.raises(UsageError, match="has 1 version not here"):
        remove_branch(memory, "exp")
    assert place.exists()
    remove_branch(memory, "exp", drop=True)
    assert not place.exists()
    with pytest.raises(NotFoundError):
        remove_branch(memory, "exp")


def test_a_branch_is_merged_and_removed_in_one_go(
    memory: Memory, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--memory", str(memory.root)]
    assert run(["branch", "add", "exp", "--dir", str(place), *where]) == 0
    there = ["--memory", str(place)]
    assert run(["remember", "Bob likes coffee.", "--key", "bob.drink", *there]) == 0
    assert run(["branch", "remove", "exp", "--merge", "--drop", *where]) == 2
    assert run(["branch", "remove", "main", "--merge", *where]) != 0
    assert place.exists()
    capsys.readouterr()
    assert run(["branch", "remove", "exp", "--merge", *where]) == 0
    merged, *_, removed = capsys.readouterr().out.splitlines()
    assert merged.startswith("Merged exp (")
    assert removed == f"Removed exp: {place}"
    assert not place.exists()
    assert "bob.drink" in str([*(memory.root / "semantic").rglob("*.md")])


def test_what_is_known_here_goes_into_a_branch_that_is_named(
    memory: Memory, place: Path, opening: Opening, capsys: pytest.CaptureFixture[str]
) -> None:
    where, third = ["--memory", str(memory.root)], place.with_name("other")
    for name, folder in (("exp", place), ("other", third)):
        assert run(["branch", "add", name, "--dir", str(folder), *where]) == 0
    there = ["--memory", str(third)]
    assert run(["remember", "Bob likes coffee.", "--key", "bob.drink", *there]) == 0
    memory.remember("Ann likes tea.", key="ann.tea")
    head = memory.history.head()
    memory.session("talk").turn("user", "Dan came by.")
    assert run(["merge", "--into", "none", *where]) != 0
    assert run(["merge", "--into", "exp", "--continue", *where]) == 2
    assert run(["merge", "--into", "exp", "--adopt", *where]) == 2
    assert run(["merge", "--into", "exp", "--dry-run", *where]) == 0
    capsys.readouterr()
    assert run(["merge", "--into", "exp", *where]) == 0
    assert f"Merged {memory.root} (" in capsys.readouterr().out
    assert run(["merge", "other", "--into", "exp", *where]) == 0
    with Memory.open(place, replace(opening, home=Home.of_user())) as branch:
        assert {"Ann likes tea.", "Bob likes coffee.", "Dan came by."} == {*said(branch)}
        assert errors(branch) == []
    assert {*said(memory)} == {"Ann likes tea.", "Dan came by."}
    assert memory.history.head() != head, "what was not committed yet becomes a version"
    assert run(["merge", "--into", "exp", *where]) == 0
    assert "Nothing to merge" in capsys.readouterr().out


def test_what_a_person_wrote_in_a_file_there_is_not_removed_unasked(
    memory: Memory, place: Path
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    make_branch(memory, "exp", place)
    page = next((place / "semantic").rglob("ann.tea.md"))
    page.write_text(page.read_text("utf-8").replace("tea", "juice"), encoding="utf-8")
    with pytest.raises(UsageError, match="has changes not here"):
        remove_branch(memory, "exp")
    assert "juice" in page.read_text("utf-8")
    with pytest.raises(UsageError, match="has 1 version not here"):
        remove_branch(memory, "exp")
    merge_copy(memory, "exp")
    remove_branch(memory, "exp")
    assert not place.exists()


def test_a_branch_with_a_chinese_name_is_found(memory: Memory, place: Path) -> None:
    make_branch(memory, "试验", place)
    assert find_branches(memory) == {"试验": place}
    remove_branch(memory, "试验")
    assert not place.exists()


def test_a_name_means_one_branch(memory: Memory, place: Path, tmp_path: Path) -> None:
    make_branch(memory, "exp", place)
    for name, taken in {"exp": place, "main": memory.root}.items():
        with pytest.raises(UsageError) as raised:
            make_branch(memory, name, tmp_path / "second")
        assert str(raised.value).startswith(f"{taken} is the branch '{name}' already")
    with pytest.raises(UsageError, match="holds a secret"):
        make_branch(memory, "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", tmp_path / "second")
    assert not (tmp_path / "second").exists()


@pytest.mark.parametrize(
    "name",
    (
        *("../x", "-rf", "a/b", "x\nForged: line", "", ".git", "@{u}", "a.lock", "x\0y"),
        *("\u202egnp", "\udcff", "*", "HEAD", "head", "FETCH_HEAD", "Orig_Head"),
        *("x" * 101, "长" * 34),
    ),
)
def test_no_name_means_something_else_to_git_or_to_a_reader(
    memory: Memory, place: Path, name: str
) -> None:
    with pytest.raises(UsageError) as raised:
        make_branch(memory, name, place)
    assert str(raised.value).isprintable()
    assert not place.exists()
    assert find_branches(memory) == {}


def test_other_copies_are_no_branches(
    memory: Memory, place: Path, tmp_path: Path, opening: Opening
) -> None:
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "b")
    with Memory.open(tmp_path / "b", opening) as other:
        assert other.copy_id
    make_branch(memory, "exp", place)
    make_branch(memory, "two", tmp_path / "two")
    assert set(find_branches(memory)) == {"exp", "two"}
    (place / ".git/HEAD").write_text(git(place, "rev-parse", "HEAD"), encoding="ascii")
    shutil.rmtree(tmp_path / "two/.git")
    assert find_branches(memory) == {}


def test_a_branch_that_cannot_be_removed_is_named(
    memory: Memory, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_branch(memory, "exp", place)

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(UsageError, match="Permission denied"):
        remove_branch(memory, "exp")


def test_the_commands(memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--memory", str(memory.root)]
    assert run(["branch", "list", *root]) == 0
    assert capsys.readouterr().out == "No branches on this machine.\n"
    assert run(["branch", "add", "exp", *root]) == 0
    beside = tmp_path / "memory-exp"
    assert capsys.readouterr().out.endswith(f": {beside}\n")
    assert run(["branch", "add", "two", "--at", "v1", "--dir", str(tmp_path / "t"), *root]) == 0
    for name in ("a/b", "HEAD", "../up", "x\n✓ y", "-rf", ".git"):
        assert run(["branch", "add", *root, "--", name]) == UsageError.exit_code
        assert f"{name!r} cannot be a branch" in capsys.readouterr().err
    assert run(["branch", "list", *root]) == 0
    assert "exp              0 ahead" in capsys.readouterr().out
    assert run(["branch", "list", "--json", *root]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == ["exp", "two"]
    assert run(["branch", "remove", "exp", *root]) == 0
    assert not beside.exists()
    assert run(["branch", "remove", "exp", *root]) == NotFoundError.exit_code
    assert "No branch 'exp'. List the branches with 'kimi-memory branch list'" in (
        capsys.readouterr().err
    )


def test_a_branch_is_compared_with_what_is_here(
    memory: Memory, tmp_path: Path, opening: Opening
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    memory.remember("The dentist is Abernathy.", key="health.dentist")
    make_branch(memory, "trial", tmp_path / "trial")
    assert diff_files(memory, "trial") == ""
    found = diff_beliefs(memory, "trial")
    assert (found.changes, found.forgotten, found.total) == ((), 0, 2)
    with Memory.open(tmp_path / "trial", opening) as branch:
        branch.remember("Bob likes coffee.", key="bob.drink")
    memory.remember("Cleo likes water.", key="cleo.drink")
    [dentist] = [hit.unit.id for hit in memory.recall("dentist").hits if hit.unit.kind == "card"]
    memory.run(Forget(memory, Wanted(note=dentist)))
    found = diff_beliefs(memory, "trial")
    changed = {one.key: one.new for one in found.changes}
    assert changed["bob.drink"] == "Bob likes coffee."
    assert changed["cleo.drink"] == ""
    assert "Abernathy" not in str(found.changes), "it was forgotten here"
    assert "Bob likes coffee." in diff_files(memory, "trial")
    with pytest.raises(NotFoundError, match="branch list"):
        diff_beliefs(memory, "none")


def test_the_command(memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--memory", str(memory.root)]
    assert run(["branch", "add", "trial", *root]) == 0
    trial = ["--memory", str(tmp_path / "memory-trial")]
    assert run(["remember", "Bob likes coffee.", "--key", "bob.drink", *trial]) == 0
    capsys.readouterr()
    assert run(["branch", "diff", "trial", "--beliefs", *root]) == 0
    said = capsys.readouterr().out
    assert "+ learned   bob.drink" in said
    assert "1 of 0 beliefs differ" in said
    assert run(["branch", "diff", "trial", *root]) == 0
    assert "bob.drink.md" in capsys.readouterr().out
    assert run(["branch", "diff", "trial", "--json", *root]) == 0
    assert "bob.drink.md" in json.loads(capsys.readouterr().out)["diff"]

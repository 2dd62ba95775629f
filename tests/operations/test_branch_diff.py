"""What a branch has otherwise than the memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.forget import Forget
from kimi_memory.operations.branch_diff import diff_beliefs, diff_files
from kimi_memory.operations.new_copies import make_branch


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

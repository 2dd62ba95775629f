"""The history checked: what was changed after it was signed, and what was taken out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.health import Severity
from kimi_memory.operations.forget import Doomed, purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from kimi_memory.operations.verify_history import verify_history
from kimi_memory.store.files.paths import TOMBSTONES
from tests.jobs.test_vouching import Machine, keys, know, machine, merge, waiting
from tests.test_copies import git

__all__ = ["keys", "machine"]
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="needs OpenSSH")


def faults(memory: Memory) -> list[str]:
    return [one.message for one in verify_history(memory) if one.severity is not Severity.OK]


def told(memory: Memory) -> str:
    found = verify_history(memory)
    return "\n".join(one.message for one in found if one.severity is Severity.OK)


def test_signatures_and_merges_are_checked_and_counted(
    memory: Memory, machine: Machine, keys: Path
) -> None:
    memory.remember("Ann likes tea.", key="ann.tea")
    laptop, tablet = machine("laptop", keys / "li"), machine("tablet")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    tablet.remember("Cleo likes water.", key="cleo.drink")
    assert merge(laptop, tablet).commit
    assert faults(laptop) == []
    assert "signed with keys not known" in told(laptop)
    know(laptop, keys / "li")
    assert "3 commits signed by li" in told(laptop)
    # A commit with the signature of another one, and a merge that takes one side alone.
    tip = git(laptop.root, "rev-list", "--merges", "-1", "HEAD").strip()
    first, second = git(laptop.root, "rev-parse", f"{tip}^1", f"{tip}^2").split()
    forged = git(
        laptop.root, "commit-tree", f"{first}^{{tree}}", "-p", first, "-p", second,
        "-m", "merge: two copies", "-m", "Kind: merge\nMerge-Rules: 1",
    ).strip()  # fmt: skip
    signed = git(laptop.root, "rev-list", "-1", "--grep=Unconfirmed", "HEAD").strip()
    raw = git(laptop.root, "cat-file", "commit", signed)
    lines = raw.replace("Unconfirmed: none", "Unconfirmed: none at all")
    lines = "\n".join(
        f"parent {forged}" if line.startswith("parent") else line for line in lines.split("\n")
    )
    (laptop.root.parent / "raw").write_text(lines, encoding="utf-8")
    changed = git(
        laptop.root, "hash-object", "-t", "commit", "-w", str(laptop.root.parent / "raw")
    ).strip()
    git(laptop.root, "update-ref", "refs/heads/main", changed)
    found = faults(laptop)
    assert any("changed after it was signed" in one for one in found)
    assert any("not what its two parents give" in one for one in found)
    # What was found wrong is found again, what was right is known.
    assert faults(laptop) == found


def test_what_a_purge_barred_and_ended_sessions_hold_may_only_grow(memory: Memory) -> None:
    with memory.session("talk") as session:
        session.turn("user", "The vault code is azure-falcon.")
        session.turn("user", "Dan came by on Tuesday.")
    memory.end("talk")
    memory.batch.flush()
    assert purge(memory, Doomed(("azure-falcon",)), yes=True).done
    assert faults(memory) == []
    (memory.root / TOMBSTONES).write_text("", encoding="utf-8")
    [path] = memory.root.glob("episodic/sessions/*/session_talk.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "Dan" not in line), encoding="utf-8")
    git(memory.root, "commit", "-qam", "by hand")
    found = faults(memory)
    assert any("what a purge barred" in one for one in found)
    assert any("1 turn of the ended session" in one for one in found)


def test_a_version_is_signed_when_it_leaves_and_only_once(
    memory: Memory, machine: Machine, keys: Path, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    laptop = machine("laptop", keys / "li", when="sync")
    for one in (memory, laptop):
        add_remote(one, "hub", f"file://{tmp_path / 'hub.git'}")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    laptop.batch.flush()
    assert "Unconfirmed" not in git(laptop.root, "log", "-1", "--format=%B")
    know(memory, keys / "li")
    # What leaves another way, as by its folder, has no signature to count by.
    assert merge_copy(memory, str(laptop.root), dry_run=True).signers == ()
    assert not sync_memory(laptop)[0].failed
    assert "Kind: sign" in git(laptop.root, "log", "-1", "--format=%B")
    head = laptop.history.head()
    assert not sync_memory(laptop)[0].failed
    assert laptop.history.head() == head
    [report] = sync_memory(memory)
    assert report.merged[0].signers == ("li",)
    assert waiting(memory) == set()
    assert memory.history.head() == head

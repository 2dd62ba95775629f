"""A purge carried to every place that is known: proven, or named as still holding the text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.cli import run
from kimi_memory.errors import UsageError
from kimi_memory.operations.follow_purge import follow_purges
from kimi_memory.operations.forget import Doomed, purge
from kimi_memory.operations.merge_copy import merge_copy
from kimi_memory.operations.prove_purges import prove_purges
from kimi_memory.operations.purge_everywhere import purge_everywhere
from kimi_memory.operations.remotes import add_remote
from kimi_memory.operations.sync_remotes import sync_memory
from tests.jobs.test_purge import traces
from tests.operations.test_merge_copy import values
from tests.test_copies import clone, errors, git

__all__ = ["clone"]

Clone = Callable[[str], Memory]
SECRET = "azure-falcon 7391"


def test_a_purge_reaches_copies_here_and_a_folder_that_others_read(
    memory: Memory, clone: Clone, opening: Opening, tmp_path: Path
) -> None:
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    with pytest.raises(UsageError, match="Nothing was purged here"):
        purge_everywhere(memory, Doomed())
    memory.remember(f"The vault code is {SECRET}.", key="vault.code")
    add_remote(memory, "hub", f"file://{hub}")
    assert not sync_memory(memory)[0].failed
    laptop = clone("laptop")
    add_remote(laptop, "hub", f"file://{hub}")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    assert not sync_memory(laptop)[0].failed
    # One on this machine, which shares its list of copies.
    git(tmp_path, "clone", "-q", str(memory.root), "beside")
    with Memory.open(tmp_path / "beside", replace(opening, background=False)) as beside:
        assert beside.copy_id
        beside.remember("Cleo likes water.", key="cleo.drink")
    seen = purge_everywhere(memory, Doomed((SECRET,)))
    assert seen.report is not None
    assert not seen.report.done
    assert [one.state for one in seen.reached] == ["left", "left"]
    done = purge_everywhere(memory, Doomed((SECRET,)), yes=True)
    assert [(Path(one.name).name, one.state) for one in done.reached] == [
        ("beside", "proven"),
        ("hub", "proven"),
    ]
    for place in (memory.root, tmp_path / "beside", hub):
        assert traces(place, SECRET) == [], place
    # What the laptop had sent is not lost, and it follows by the remote.
    assert "Bob likes coffee" in values(memory, "what does Bob drink?")
    assert "purge --follow hub" in sync_memory(laptop)[0].failed
    assert traces(hub, SECRET) == []


def test_what_is_proven_is_said_of_each_place_and_nothing_is_changed(
    memory: Memory, clone: Clone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub, laptop = share(memory, clone, tmp_path)
    laptop.remember("Bob likes coffee.", key="bob.drink")
    assert not sync_memory(laptop)[0].failed
    assert not sync_memory(memory)[0].failed
    prove = ["purge", "--everywhere", "--prove", "--memory", str(memory.root)]
    assert run(prove) == 2
    assert "nothing to prove" in capsys.readouterr().err
    old = git(hub, "rev-parse", "main").strip()
    assert purge(memory, Doomed((SECRET,)), yes=True).done
    # Only here: the hub and the laptop have it still, which wrote what this one has merged.
    assert states(memory) == {"here": "proven", "hub": "left", f"copy {laptop.copy_id}": "left"}
    assert git(hub, "rev-parse", "main").strip() == old
    assert run(prove) == 1
    assert "nothing came from it since" in capsys.readouterr().out
    assert "its branch has the history from before" in {one.why for one in prove_purges(memory)}
    assert purge_everywhere(memory, Doomed(), yes=True).reached[0].state == "proven"
    before = laptop.copy_id
    assert states(memory)["hub"] == "proven"
    assert follow_purges(laptop, "hub", yes=True).report is not None
    assert not sync_memory(laptop)[0].failed
    assert not sync_memory(memory)[0].failed
    assert laptop.copy_id != before
    assert set(states(memory).values()) == {"proven"}
    assert run(prove) == 0
    # Somebody pushes what is not of this history.
    other = clone("third")
    git(other.root, "checkout", "-q", "--orphan", "old")
    git(other.root, "commit", "-qm", "Elsewhere")
    git(other.root, "push", "-qf", str(hub), "HEAD:refs/heads/aside")
    [found] = [one for one in prove_purges(memory) if one.name == "hub"]
    assert (found.state, found.why.endswith(": refs/heads/aside")) == ("left", True)


def share(memory: Memory, clone: Clone, tmp_path: Path) -> tuple[Path, Memory]:
    """Return a remote that has the secret, and a copy that knows the remote."""
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    memory.remember(f"The vault code is {SECRET}.", key="vault.code")
    add_remote(memory, "hub", f"file://{hub}")
    assert not sync_memory(memory)[0].failed
    laptop = clone("laptop")
    add_remote(laptop, "hub", f"file://{hub}")
    return hub, laptop


def states(memory: Memory) -> dict[str, str]:
    return {one.name: one.state for one in prove_purges(memory)}


def test_what_is_not_here_is_not_replaced_there(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    hub, laptop = share(memory, clone, tmp_path)
    assert purge_everywhere(memory, Doomed((SECRET,)), yes=True).reached[0].state == "proven"
    # Somebody who has the old history forces it back, with a version that is not here.
    laptop.remember("Bob likes coffee.", key="bob.drink")
    laptop.batch.flush()
    git(laptop.root, "push", "-qf", str(hub), "HEAD:main")
    [found] = purge_everywhere(memory, Doomed(), yes=True).reached
    assert found.state == "left"
    assert "versions that are not here" in found.why
    assert errors(memory) == []


def test_the_proof_of_a_copy_on_the_same_machine_comes_with_a_merge(
    memory: Memory, opening: Opening, tmp_path: Path
) -> None:
    """Both have one key, so they name the same text alike; the records are two all the same."""
    memory.remember(f"The vault code is {SECRET}.", key="vault.code")
    memory.batch.flush()
    git(tmp_path, "clone", "-q", str(memory.root), "attic")
    with Memory.open(tmp_path / "attic", opening) as attic:
        attic.remember("Bob likes coffee.", key="bob.drink")
        purge(memory, Doomed((SECRET,)), yes=True)
        [before] = purge_everywhere(memory, Doomed()).reached
        assert (before.state, "--yes purges there" in before.why) == ("left", True)
        assert follow_purges(attic, str(memory.root), yes=True).report is not None
        for one, other in ((attic, memory), (memory, attic)):
            other.batch.flush()
            merge_copy(one, str(other.root))
        # Without leave it only looks, and says what has been done already.
        there, proof = purge_everywhere(memory, Doomed()).reached
        assert (there.name, there.state) == (str(attic.root), "proven")
        assert (proof.name, proof.state) == (f"copy {attic.copy_id}", "proven")
        assert "0 hits" in proof.why
        assert errors(memory) == errors(attic) == []


def test_bundles_of_this_copy_go_from_a_drop_folder_at_once(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    memory.remember(f"The vault code is {SECRET}.", key="vault.code")
    other = clone("other")
    add_remote(memory, "stick", str(folder), drop=True)
    assert not sync_memory(memory)[0].failed
    [old] = folder.rglob("*.bundle")
    [found] = purge_everywhere(memory, Doomed((SECRET,)), yes=True).reached
    assert (found.name, found.state) == ("stick", "proven")
    [new] = folder.rglob("*.bundle")
    assert (new.parent.name, old.exists()) == (memory.copy_id, False)
    assert states(memory)["stick"] == "proven"
    other.remember("Bob likes coffee.", key="bob.drink")
    add_remote(other, "stick", str(folder), drop=True)
    sync_memory(other)
    assert states(memory)["stick"] == "left"
    [found] = purge_everywhere(memory, Doomed(), yes=True).reached
    assert (found.state, "bundles of other copies" in found.why) == ("left", True)

"""Drop folders whose bundles are encrypted: nobody who carries them reads them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.sync import SyncOptions
from kimi_memory.errors import UsageError
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.drop_folders import meet_in_folder
from kimi_memory.operations.encryption import Encryption
from kimi_memory.operations.follow_purge import follow_purges
from kimi_memory.operations.forget import purge
from kimi_memory.operations.migrate import migrate
from kimi_memory.operations.remotes import add_remote, list_remotes, remove_remote
from kimi_memory.operations.sync_remotes import sync_memory
from tests.test_copies import clone

__all__ = ["clone"]

Clone = Callable[[str], Memory]
Keys = Callable[[str], tuple[Path, str]]


@pytest.fixture
def keys(tmp_path: Path) -> Keys:
    """Makes an identity file of age, and names its recipient."""
    pyrage = pytest.importorskip("pyrage")

    def make(name: str) -> tuple[Path, str]:
        made = pyrage.x25519.Identity.generate()
        path = tmp_path / f"{name}.key"
        path.write_text(f"{made}\n", encoding="utf-8")
        return path, str(made.to_public())

    return make


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    folder = tmp_path / "drop"
    folder.mkdir()
    return folder


def files(drop: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in drop.rglob("*") if path.is_file()}


def test_copies_meet_through_bundles_that_only_their_keys_open(
    clone: Clone, drop: Path, keys: Keys, tmp_path: Path
) -> None:
    """Each machine has a key of its own; each sends for both, from a file with both in it."""
    (own, first), (theirs, second) = keys("desk"), keys("laptop")
    team = tmp_path / "team.txt"
    team.write_text(f"# the two machines\n{first}\n{second}\n", encoding="utf-8")
    desk, laptop = clone("desk"), clone("laptop")
    add_remote(desk, "stick", str(drop), drop=True, encryption=Encryption([str(team)], own))
    desk.remember("The vault opens at nine.", key="vault.hours")
    assert not sync_memory(desk, ["stick"])[0].failed
    [(name, content)] = [(n, c) for n, c in files(drop).items() if n != "head.json"]
    assert name.endswith(".bundle.age") and content.startswith(b"age-encryption.org/v1\n")
    assert list_remotes(desk)[0].recipients == (first, second)
    # Without a key nothing is taken, and the command that cures it is said.
    [line] = meet_in_folder(laptop, drop, SyncOptions(push=False)).waiting
    assert "is encrypted" in line and "--identity" in line
    add_remote(
        laptop, "stick", str(drop), drop=True, encryption=Encryption([first, second], theirs)
    )
    [report] = sync_memory(laptop, ["stick"])
    assert report.received and not report.left_out
    laptop.remember("Bob likes coffee.", key="bob.drink")
    assert sync_memory(laptop)[0].sent
    assert sync_memory(desk)[0].merged
    assert {name.rpartition(".")[2] for name in files(drop)} == {"age", "json"}
    assert not any(b"vault" in one or b"coffee" in one for one in files(drop).values())


def test_what_lay_there_in_plain_or_for_others_is_replaced(
    clone: Clone, drop: Path, keys: Keys
) -> None:
    (own, first), (_, second) = keys("desk"), keys("other")
    desk, laptop = clone("desk"), clone("laptop")
    desk.remember("The vault opens at nine.", key="vault.hours")
    add_remote(desk, "stick", str(drop), drop=True)
    sync_memory(desk)
    assert any(name.endswith(".bundle") for name in files(drop))
    for recipients in ([first], [first, second]):
        remove_remote(desk, "stick")
        add_remote(desk, "stick", str(drop), drop=True, encryption=Encryption(recipients, own))
        before = set(files(drop))
        sync_memory(desk)
        # One bundle of all, as who comes new can read none of the earlier ones.
        [name] = [name for name in files(drop) if name != "head.json"]
        assert name.endswith(".age") and name not in before
        sync_memory(desk)
        assert name in files(drop)
    add_remote(laptop, "stick", str(drop), drop=True, encryption=Encryption([first], own))
    assert meet_in_folder(laptop, drop, SyncOptions(push=False)).merged
    # What `migrate` leaves in such a folder is encrypted as well.
    desk.remember("Ann likes tea.", key="ann.tea")
    link = drop.with_name("link")
    link.symlink_to(drop)
    migrate(desk, link, drop=True)
    assert all(name.endswith(".age") or name == "head.json" for name in files(drop))


def test_a_damaged_file_or_one_for_others_waits_and_takes_nothing(
    clone: Clone, drop: Path, keys: Keys
) -> None:
    (own, first), (stranger, _) = keys("desk"), keys("stranger")
    desk, laptop = clone("desk"), clone("laptop")
    desk.remember("The vault opens at nine.", key="vault.hours")
    add_remote(desk, "stick", str(drop), drop=True, encryption=Encryption([first]))
    sync_memory(desk)
    add_remote(laptop, "stick", str(drop), drop=True, encryption=Encryption([first], stranger))
    [line] = meet_in_folder(laptop, drop, SyncOptions(push=False)).waiting
    assert "for another key" in line
    remove_remote(laptop, "stick")
    add_remote(laptop, "stick", str(drop), drop=True, encryption=Encryption([first], own))
    [path] = drop.rglob("*.age")
    whole = path.read_bytes()
    # A bit is turned, as the letters of a drawn key may be any that a test would write there.
    turned = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    for damaged in (whole[:-1], turned, b"x" + whole[1:]):
        path.write_bytes(damaged)
        [line] = meet_in_folder(laptop, drop, SyncOptions(push=False)).waiting
        assert "not arrived whole" in line or "is not what head.json" in line
    # A list that names another commit for it is not believed, though the bytes are those it says.
    path.write_bytes(whole)
    head = path.with_name("head.json")
    said = head.read_text(encoding="utf-8")
    tip = json.loads(said)["bundles"][0]["tip"]
    head.write_text(said.replace(f'"tip": "{tip}"', f'"tip": "{"0" * 40}"'), encoding="utf-8")
    [line] = meet_in_folder(laptop, drop, SyncOptions(push=False)).waiting
    assert "is not what head.json" in line
    head.write_text(said, encoding="utf-8")
    assert meet_in_folder(laptop, drop, SyncOptions(push=False)).merged


def test_a_purge_is_followed_from_an_encrypted_bundle(
    memory: Memory, clone: Clone, drop: Path, keys: Keys
) -> None:
    (own, first), desk = keys("desk"), memory
    desk.remember("The vault code is azure-falcon 7391.", key="vault.code")
    laptop = clone("laptop")
    laptop.remember("Bob likes coffee.", key="bob.drink")
    add_remote(desk, "stick", str(drop), drop=True, encryption=Encryption([first], own))
    add_remote(laptop, "stick", str(drop), drop=True, encryption=Encryption([first], own))
    sync_memory(desk)
    purge(desk, Doomed(("azure-falcon 7391",)), yes=True)
    sync_memory(desk)
    [path] = drop.rglob(f"{desk.copy_id}/*.age")
    with pytest.raises(UsageError, match="Give --identity"):
        follow_purges(laptop, str(path))
    assert follow_purges(laptop, str(path), identity=own, yes=True).report is not None
    assert meet_in_folder(laptop, drop).merged


def test_what_cannot_work_is_refused_when_the_remote_is_added(
    memory: Memory, drop: Path, keys: Keys, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, first = keys("desk")
    (tmp_path / "none.txt").write_text("# nobody yet\n", encoding="utf-8")
    inside, beside = memory.root / "key.txt", drop / "key.txt"
    for place in (inside, beside):
        place.write_bytes(own.read_bytes())
    stick = ["remote", "add", "stick", str(drop), "--drop", "--memory", str(memory.root)]
    hub = ["remote", "add", "hub", "https://example.org/m.git", "--memory", str(memory.root)]
    refused = [
        (hub, ["--encrypt", first], "Add it with --drop"),
        (stick, ["--identity", str(own)], "Say for whom with --encrypt"),
        (stick, ["--encrypt", "somebody"], "is no recipient"),
        (stick, ["--encrypt", str(tmp_path / "none.txt")], "name no key"),
        (stick, ["--encrypt", first, "--identity", str(tmp_path / "gone")], "is no identity"),
        (stick, ["--encrypt", first, "--identity", str(inside)], "carries"),
        (stick, ["--encrypt", first, "--identity", str(beside)], "carries"),
    ]
    for begin, options, why in refused:
        assert run([*begin, *options]) == 2
        said = capsys.readouterr().err
        assert why in said and said.count("\n") == 1
    assert list_remotes(memory) == []


def test_without_the_library_nothing_is_added_and_nothing_is_sent(
    memory: Memory,
    drop: Path,
    keys: Keys,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, first = keys("desk")
    stick = ["remote", "add", "stick", str(drop), "--drop", "--memory", str(memory.root)]
    assert run([*stick, "--encrypt", first, "--identity", str(own)]) == 0
    assert run(["remote", "list", "--memory", str(memory.root)]) == 0
    assert "encrypted" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "pyrage", None)
    assert run(["sync", "--memory", str(memory.root)]) == 2
    said = capsys.readouterr().err
    assert "kimi-memory[encrypt]" in said and said.count("\n") == 1
    assert not files(drop)
    assert run(["remote", "remove", "stick", "--memory", str(memory.root)]) == 0
    assert run([*stick, "--encrypt", first]) == 2
    assert "kimi-memory[encrypt]" in capsys.readouterr().err

"""Copies that meet through one folder, over tools that carry files late, in any order, in parts."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.sync import SyncOptions
from kimi_memory.errors import UsageError
from kimi_memory.jobs.forget import Forget
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.drop_folders import meet_in_folder, take_arrivals
from kimi_memory.operations.forget import purge
from kimi_memory.store.git import drops
from kimi_memory.store.git.bundle import read_bundle
from tests.operations.test_merge_copy import tree, values
from tests.test_copies import clone, errors, git

__all__ = ["clone"]

Clone = Callable[[str], Memory]


class Carrier:
    """Folders of several machines, and what carries files between them as it likes."""

    def __init__(self, root: Path, count: int, seed: int) -> None:
        self.folders = [root / f"drop{n}" for n in range(count)]
        for folder in self.folders:
            folder.mkdir()
        self.random = random.Random(seed)

    def carry(self, *, whole: bool = False) -> None:
        for folder in self.folders:
            others = [other for other in self.folders if other != folder]
            files = [path for path in folder.rglob("*") if path.is_file()]
            self.random.shuffle(files)
            for path in files:
                for other in others:
                    if whole or self.random.random() < 0.5:
                        self._copy(path, other / path.relative_to(folder), whole=whole)
        if whole:
            self._remove_replaced()

    def _copy(self, path: Path, to: Path, *, whole: bool) -> None:
        # Each copy writes below its own name alone: what it has not written is not its to send.
        if to.exists() and to.stat().st_mtime_ns >= path.stat().st_mtime_ns and not whole:
            return
        if to.exists() and to.stat().st_mtime_ns > path.stat().st_mtime_ns:
            return
        content = path.read_bytes()
        part = content if whole or self.random.random() < 0.7 else content[: len(content) // 2]
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(part)
        mark = path.stat().st_mtime_ns if len(part) == len(content) else 0
        os.utime(to, ns=(mark, mark))

    def _remove_replaced(self) -> None:
        """Remove in all folders what the copy that wrote it removed."""
        for head in [path for folder in self.folders for path in folder.rglob("head.json")]:
            listed = {one["file"] for one in json.loads(head.read_bytes())["bundles"]}
            for path in head.parent.glob("*.bundle"):
                if path.name not in listed:
                    path.unlink()


def live(copies: Sequence[Memory], words: random.Random) -> None:
    """Let one of the copies do something."""
    copy, number = words.choice(copies), words.randrange(1000)
    match words.randrange(4):
        case 0:
            copy.remember(f"The port of service {number} is {number}.", key=f"port.s{number % 5}")
        case 1:
            copy.session("talk").turn("user", f"We moved on to step {number}.")
        case 2:
            copy.remember(f"Person {number} likes tea.")
        case _:
            cards = [hit.unit.id for hit in copy.recall("port tea").hits if hit.unit.kind == "card"]
            for card in cards[:1]:
                copy.run(Forget(copy, Wanted(note=card)))


@pytest.mark.parametrize("seed", range(3))
def test_three_copies_that_meet_late_and_in_parts_become_equal(
    seed: int, memory: Memory, clone: Clone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drops, "_MOST_BUNDLES", 4)
    marker = memory.root / "memory.toml"
    marker.write_text(f'{marker.read_text("utf-8")}\n[consolidation]\nexternal_edits = "trust"\n')
    memory.batch.note()
    memory.remember("The shop opens at nine.", key="shop.hours")
    copies = [memory, clone("b"), clone("c")]
    carrier = Carrier(tmp_path, 3, seed)
    for _ in range(8):
        live(copies, carrier.random)
        which = carrier.random.randrange(3)
        meet_in_folder(copies[which], carrier.folders[which])
        carrier.carry()
    for _ in range(6):
        for copy, folder in zip(copies, carrier.folders, strict=True):
            meet_in_folder(copy, folder)
            carrier.carry(whole=True)
    last = [meet_in_folder(c, f) for c, f in zip(copies, carrier.folders, strict=True)]
    assert [(one.sent, one.merged, one.waiting) for one in last] == [((), (), ())] * 3
    assert len({copy.history.head() for copy in copies}) == 1
    assert len({tree(copy) for copy in copies}) == 1
    for copy in copies:
        assert errors(copy) == []
    assert not list(tmp_path.rglob("*.tmp"))


def test_copies_that_share_a_folder_know_what_the_other_said(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    with pytest.raises(UsageError, match="is not there"):
        meet_in_folder(memory, folder)
    folder.mkdir()
    other = clone("b")
    other.remember("Bob likes coffee.", key="bob.drink")
    other.batch.flush()
    other.history.set_name("coffee", other.history.head())
    assert take_arrivals(memory, tmp_path / "none") == []
    assert len(meet_in_folder(memory, folder).sent) == 1
    met = meet_in_folder(other, folder)
    assert met.waiting == ()
    done = meet_in_folder(memory, folder)
    assert len(done.merged) == 1
    assert done.waiting == ()
    assert "coffee" in values(memory, "what does Bob like?")
    assert memory.history.names() == other.history.names()
    assert meet_in_folder(memory, folder).sent == ()
    other.remember("Ann likes tea.", key="ann.drink")
    part = meet_in_folder(other, folder).sent[0]
    assert read_bundle(met.sent[0]).manifest.base == ""
    assert read_bundle(part).manifest.base[:12] == met.sent[-1].name[7:19]
    assert len(list(part.parent.glob("*.bundle"))) == len(met.sent) + 1


def test_what_all_copies_have_need_not_be_dropped(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    memory.remember("Ann likes tea.", key="ann.drink")
    other, base = clone("b"), memory.history.head()
    assert meet_in_folder(memory, folder, SyncOptions(since="HEAD")).sent == ()
    memory.remember("Bob likes coffee.", key="bob.drink")
    [path] = meet_in_folder(memory, folder, SyncOptions(since=base)).sent
    assert read_bundle(path).manifest.base == base
    assert len(meet_in_folder(other, folder, SyncOptions(since=base)).merged) == 1
    assert "coffee" in values(other, "what does Bob like?")
    memory.remember("Cleo likes water.", key="cleo.drink")
    [later] = meet_in_folder(memory, folder, SyncOptions(since=base)).sent
    assert read_bundle(later).manifest.base[:12] == path.name[7:19], "no gap, and nothing twice"
    assert errors(other) == []
    # What is lost there cannot be built upon: the next one is whole unless somebody says again.
    path.unlink()
    memory.remember("Dan likes milk.", key="dan.drink")
    [whole] = meet_in_folder(memory, folder).sent
    assert read_bundle(whole).manifest.base == ""


def test_what_is_not_whole_or_not_what_it_says_waits(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    other = clone("b")
    other.remember("Bob likes coffee.", key="bob.drink")
    meet_in_folder(other, folder)
    other.remember("Ann likes tea.", key="ann.drink")
    meet_in_folder(other, folder)
    place = folder / memory.settings.memory.id / other.copy_id
    whole = {path.name: path.read_bytes() for path in place.iterdir()}
    first, second = sorted(name for name in whole if name.endswith(".bundle"))
    said = json.loads(whole["head.json"])

    def waits(**files: bytes | None) -> str:
        names = {"first": first, "second": second, "head": "head.json"}
        for key, content in files.items():
            if content is None:
                (place / names[key]).unlink()
            else:
                (place / names[key]).write_bytes(content)
        [line] = meet_in_folder(memory, folder).waiting
        for name, content in whole.items():
            (place / name).write_bytes(content)
        return line

    head = memory.history.head()
    swapped = bytearray(whole[first])
    swapped[-30] ^= 1
    assert "not whole yet" in waits(head=whole["head.json"][:50])
    assert "not whole yet" in waits(head=b'{"bundles": []}')
    assert "not whole yet" in waits(head=b'{"bundles": [{"file": "../x"}]}')
    assert "has not arrived yet" in waits(first=None)
    assert "has not arrived whole yet" in waits(first=whole[first][:100])
    assert "is damaged" in waits(first=bytes(swapped))
    said["bundles"][0]["sha256"] = "0" * 64
    assert "is not what head.json beside it says" in waits(head=json.dumps(said).encode())
    assert memory.history.head() == head
    (place / second).unlink()
    half = meet_in_folder(memory, folder)
    assert len(half.merged) == 1
    assert "has not arrived yet" in half.waiting[0]
    assert "coffee" in values(memory, "what does Bob like?")
    (place / second).write_bytes(whole[second])
    assert meet_in_folder(memory, folder).waiting == ()
    assert "tea" in values(memory, "what does Ann like?")
    (folder / memory.settings.memory.id / "abcdefgh").write_bytes(b"no folder")
    assert "not whole yet" in meet_in_folder(memory, folder).waiting[0]


def test_own_bundles_that_were_lost_are_dropped_anew(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    [path] = meet_in_folder(memory, folder).sent
    path.unlink()
    (path.parent / "000009-0123456789ab.bundle").write_bytes(b"left by a kill")
    [again] = meet_in_folder(memory, folder).sent
    assert again.name.startswith("000010-")
    assert [one.name for one in again.parent.glob("*.bundle")] == [again.name]
    (tmp_path / "file").write_bytes(b"")
    place = folder / memory.settings.memory.id
    for one in place.rglob("*"):
        if one.is_file():
            one.unlink()
    (place / memory.copy_id).rmdir()
    (place / memory.copy_id).write_bytes(b"")
    with pytest.raises(UsageError, match="cannot be written"):
        meet_in_folder(memory, folder)


def test_a_purge_replaces_what_was_dropped_and_takes_nothing_back(
    memory: Memory, clone: Clone, tmp_path: Path
) -> None:
    folder = tmp_path / "drop"
    folder.mkdir()
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    other = clone("b")
    meet_in_folder(other, folder)
    [old] = meet_in_folder(memory, folder).sent
    memory.remember("The shop opens at nine.", key="shop.hours")
    memory.batch.flush()
    assert purge(memory, Doomed(("Abernathy",), ()), yes=True).done
    met = meet_in_folder(memory, folder)
    # The other copy has not followed; ours has another id now, and none of the bundles before.
    [waiting] = met.waiting
    assert waiting.startswith(other.copy_id) and "before a purge" in waiting
    assert not old.parent.exists()
    assert [one.parent.name for one in met.sent] == [memory.copy_id]
    assert len(list(folder.rglob(f"{memory.copy_id}/*.bundle"))) == 1
    assert "Abernathy" not in git(memory.root, "log", "-p")

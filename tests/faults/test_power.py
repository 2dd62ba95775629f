"""A power cut, simulated: what was not synced is gone, what was acknowledged is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.domain.job import Create
from kimi_memory.store.store import Store
from tests.faults.acts import ACTS, BEFORE, KEY, ME, files, leftovers, prepare
from tests.faults.disks import ForgettingDisk


class _Filming(ForgettingDisk):
    """Keeps the durable tree after every sync; between two syncs it does not change."""

    def __init__(self, root: Path, target: Path) -> None:
        super().__init__(root)
        self.target, self.films = target, 0

    def _remember(self, fd: int) -> None:
        super()._remember(fd)
        self.films += 1
        self.durable(self.target / str(self.films))


def film(root: Path, target: Path, name: str, kind: type[_Filming] = _Filming) -> tuple[int, bool]:
    """Cut the power after every sync of an act; return how often, and whether acks held."""
    act, after = ACTS[name]
    prepare(root)
    target.mkdir()
    disk = kind(root, target)
    with Store.open(root, key=KEY, disk=disk) as store:
        begun = disk.films
        act(store)
    disk.durable(target / "acked")
    disk.release()
    for at in range(begun + 1, disk.films + 1):
        check(target / str(at), (BEFORE, after))
    return disk.films - begun, check(target / "acked", (after,))


def check(root: Path, wanted: tuple[dict[str, bytes], ...]) -> bool:
    with Store.open(root, key=KEY) as store:
        store.clear_read_only()  # the machine was off: no process of before lives
        found = files(store)
        assert found in wanted, root.name
        assert leftovers(root) == []
        assert store.journal.verify() == []
        store.apply([Create("next.md", b"x")], ME)
    return True


@pytest.mark.parametrize("name", ACTS)
def test_a_power_cut_after_any_sync_leaves_old_or_new(name: str, swift: Path) -> None:
    cuts, held = film(swift / "m", swift / "films", name)
    assert held
    assert cuts >= 1


def test_a_memory_made_just_now_survives(swift: Path) -> None:
    root = swift / "m"
    root.mkdir()
    disk = ForgettingDisk(root)
    with Store.open(root, key=KEY, disk=disk) as store:
        for name in ("a/b/c/深.md", "d.md"):
            store.apply([Create(name, b"x")], ME)
            disk.durable(swift / name.replace("/", "-"))
    disk.release()
    with Store.open(swift / "a-b-c-深.md", key=KEY) as store:
        assert store.files() == ["a/b/c/深.md"]
    with Store.open(swift / "d.md", key=KEY) as store:
        assert store.files() == ["a/b/c/深.md", "d.md"]

"""Work that ends anywhere is finished or dropped by the next start; doing so twice is once."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create, Delete, Move, Update, digest
from kimi_memory.errors import DiskError
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from kimi_memory.store.wal.records import Provenance
from tests.faults.acts import ACTS, BEFORE, KEY, LINE, ME, NEW, OLD, files, leftovers, prepare
from tests.faults.disks import EndingDisk, FailingDisk, Gone


def _count(root: Path, name: str) -> tuple[int, int]:
    prepare(root)
    disk = FailingDisk()
    with Store.open(root, key=KEY, disk=disk, timeout_seconds=1.0) as store:
        begun = disk.count
        ACTS[name][0](store)
    return begun, disk.count


def _end(root: Path, name: str, at: int) -> None:
    prepare(root)
    with Store.open(root, key=KEY, disk=EndingDisk(at)) as store, pytest.raises(Gone):
        ACTS[name][0](store)


def _recover(root: Path, disk: EndingDisk | None = None) -> dict[str, bytes]:
    with Store.open(root, key=KEY, disk=disk, timeout_seconds=1.0) as store:
        store.clear_read_only()
        assert store.journal.verify() == []
        assert leftovers(root) == []
        return files(store)


@pytest.mark.parametrize("name", ACTS)
def test_unfinished_work_is_finished_or_dropped(name: str, swift: Path) -> None:
    begun, ended = _count(swift / "count", name)
    for at in range(begun + 1, ended + 1):
        root = swift / str(at)
        _end(root, name, at)
        found = _recover(root)
        assert found in (BEFORE, ACTS[name][1]), at
        assert _recover(root) == found, at


@pytest.mark.parametrize("count", [1, 2])
def test_what_waits_never_lies_there_without_its_record(count: int, swift: Path) -> None:
    waits = Provenance("external:remote", "a merge brought it", "f00")
    paths = [f"semantic/new-{n}.md" for n in range(count)]

    def act(store: Store) -> None:
        changes = [Create(path, NEW) for path in paths]
        store.apply(changes, ME, waiting=dict.fromkeys(paths, waits))

    prepare(swift / "count")
    counting = FailingDisk()
    with Store.open(swift / "count", key=KEY, disk=counting, timeout_seconds=1.0) as store:
        begun = counting.count
        act(store)
    outcomes = set()
    for at in range(begun + 1, counting.count + 1):
        root = swift / str(at)
        prepare(root)
        ending = Store.open(root, key=KEY, disk=EndingDisk(at), timeout_seconds=1.0)
        with ending as store, pytest.raises(Gone):
            act(store)
        with Store.open(root, key=KEY, timeout_seconds=1.0) as store:
            store.clear_read_only()
            assert store.reconcile() == []
            there = [store.exists(path) for path in paths]
            last = [store.journal.last(path) for path in paths]
            outcomes.add(all(there))
            assert there in ([False] * count, [True] * count), at
            for record in last if all(there) else ():
                assert record is not None
                assert Provenance(record.origin, record.why, record.vetted) == waits, at
    assert outcomes == {False, True}


@pytest.mark.parametrize("name", ["many", "purge", "update"])
def test_a_recovery_that_ends_is_recovered(name: str, swift: Path) -> None:
    begun, ended = _count(swift / "count", name)
    for at in range(begun + 20, ended + 1, 17):
        for again in range(40, 200, 13):
            root = swift / f"{at}-{again}"
            _end(root, name, at)
            with contextlib.suppress(Gone):
                _recover(root, EndingDisk(again))
            assert _recover(root) in (BEFORE, ACTS[name][1]), (at, again)


def _late(root: Path) -> int:
    """Return the call at which the act `many` is committed and nothing is placed yet."""
    begun, ended = _count(root / "count", "many")
    for at in range(begun + 1, ended + 1):
        _end(root / str(at), "many", at)
        if any(name.endswith(".commit") for name in leftovers(root / str(at))):
            return at + 1
    raise AssertionError("never committed")


def test_a_persons_work_before_recovery_is_kept(swift: Path) -> None:
    at = _late(swift)
    root = swift / "m"
    _end(root, "many", at)
    (root / "semantic/a.md").write_bytes(b"mine")
    (root / "episodic").mkdir(exist_ok=True)
    (root / "episodic/x.md").write_bytes(b"mine, too")
    (root / "semantic/c.md").write_bytes(b"and mine")
    with (root / "short-term/s.jsonl").open("ab") as file:
        file.write(LINE)
    found = _recover(root)
    assert found["semantic/a.md"] == b"mine"
    assert found["episodic/x.md"] == b"mine, too"
    assert found["semantic/c.md"] == b"and mine"
    assert found["semantic/b.md"] == OLD
    assert found["short-term/s.jsonl"].startswith(LINE + LINE)
    kept = [content for path, content in found.items() if path.startswith("conflicts/")]
    assert kept == [NEW, NEW]


def test_bytes_that_came_out_of_a_swap_are_kept(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    marks = f"{digest(OLD)[:16]}-{digest(NEW)[:16]}"
    folder = root / ".kimi/tmp"
    with Store.open(root, key=KEY) as store:
        for n, content in enumerate((OLD, NEW, "人的话".encode())):
            name = f"txn-{n}.1-1-x.{marks}"
            seal = store.journal.sign(b"swap\0" + name.encode())[:16].decode()
            (folder / f"{name}-{seal}.swap").write_bytes(content)
    (folder / f"txn-3.1-1-x.{marks}-0123456789abcdef.swap").write_bytes(b"a stranger's")
    (folder / f"txn-9.1-1-x.{marks}.swap.spare").hardlink_to(root / "semantic/a.md")
    (folder / "view-1.1-1-x.part").write_bytes(b"half")
    with Store.open(root, key=KEY) as store:
        (kept,) = store.files("conflicts")
        assert kept.startswith("conflicts/recovered.")
        assert store.read(kept) == "人的话".encode()
        assert store.read("semantic/a.md") == OLD
        assert store.journal.known()[kept] == digest("人的话".encode())
    assert (root / f".kimi/lost+found/txn-3.1-1-x.{marks}-0123456789abcdef.swap").is_file()
    assert leftovers(root) == []


def _leaves(root: Path, name: str) -> bool:
    """Whether an act that ends at the call which names the folder leaves something behind."""
    _end(root, name, int(root.name))
    return bool(leftovers(root))


def test_work_of_a_living_process_is_left_to_it(swift: Path) -> None:
    begun, ended = _count(swift / "count", "create")
    roots = (swift / str(at) for at in range(begun + 1, ended + 1))
    root = next(root for root in roots if _leaves(root, "create"))
    left = leftovers(root)
    Store.open(root, key=KEY).close()
    assert leftovers(root) == left != []


def test_a_running_process_finishes_what_another_left(swift: Path) -> None:
    at = _late(swift)
    root = swift / "m"
    prepare(root)
    code = (
        "import sys;from pathlib import Path;from tests.faults.acts import ACTS,KEY\n"
        "from tests.faults.disks import KillingDisk;from kimi_memory.store.store import Store\n"
        "ACTS['many'][0](Store.open(Path(sys.argv[1]),key=KEY,disk=KillingDisk(int(sys.argv[2]))))"
    )
    with Store.open(root, key=KEY) as store:
        top = Path(__file__).parents[2]
        done = subprocess.run(
            [sys.executable, "-c", code, str(root), str(at)], cwd=top, check=False
        )
        assert done.returncode == -9
        assert files(store) == BEFORE
        store.apply([Create("next.md", OLD)], ME)
        assert files(store) == ACTS["many"][1] | {"next.md": OLD}
        assert store.reconcile() == []


def test_a_journaled_transaction_is_not_placed_again(swift: Path) -> None:
    begun, ended = _count(swift / "count", "many")
    root = swift / "m"
    _end(root, "many", ended - 6)
    assert any(".commit" in name or ".done" in name for name in leftovers(root))
    (root / "semantic/a.md").write_bytes(OLD)
    found = _recover(root)
    assert found == ACTS["many"][1] | {"semantic/a.md": OLD}
    assert begun < ended


def test_moves_and_deletions_meet_what_is_there(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    with Store.open(root, key=KEY) as store:
        changes = [
            Move("semantic/a.md", "x/a.md", digest(OLD)),
            Delete("semantic/b.md", digest(OLD)),
        ]
        store.apply(changes, ME)
        store.apply([Create("semantic/a.md", OLD)], ME)
        store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
        assert files(store)["semantic/a.md"] == NEW


def test_a_damaged_transaction_is_put_aside(swift: Path) -> None:
    at = _late(swift)
    for content in (b"", b"{}", b"[]"):
        root = swift / f"m{len(content)}-{content[:1].hex()}"
        _end(root, "many", at)
        (folder,) = (root / ".kimi/txn").iterdir()
        (folder / "manifest.json").write_bytes(content)
        assert _recover(root) == BEFORE
        assert (root / ".kimi/lost+found" / folder.name / "0").read_bytes() == NEW


def test_a_save_that_came_out_of_a_swap_goes_back(swift: Path) -> None:
    root = swift / "m"
    _end(root, "many", _late(swift))
    (folder,) = (root / ".kimi/txn").iterdir()
    (root / "semantic/a.md").write_bytes((folder / "1").read_bytes())
    (folder / "1").write_bytes("人的话".encode())
    found = _recover(root)
    assert found["semantic/a.md"] == "人的话".encode()
    assert [found[path] for path in found if path.startswith("conflicts/")] == [NEW]


def test_a_stage_that_cannot_be_dropped_waits(swift: Path) -> None:
    class Full(Disk):
        full = False

        def perform(self, name, call, *args, **kwargs):
            if self.full and name in {"fsync", "unlink"}:
                raise OSError(28, "No space left on device")
            return super().perform(name, call, *args, **kwargs)

    root, disk = swift / "m", Full()
    prepare(root)
    with Store.open(root, key=KEY, disk=disk) as store:
        disk.full = True
        with pytest.raises(DiskError):
            ACTS["many"][0](store)
        assert leftovers(root)
        disk.full = False
        ACTS["many"][0](store)
        assert files(store) == ACTS["many"][1]
        assert [name for name in leftovers(root) if "/txn/" in name] == []

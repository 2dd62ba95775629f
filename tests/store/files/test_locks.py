"""Locks: who waits, who is named, and what a death releases."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.errors import DiskError, LockTimeoutError, StoreError, UnsafePathError
from kimi_memory.store.files import locks as module
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.files.locks import Locks, boot_id, is_dead, owner
from kimi_memory.store.files.tree import Tree


@pytest.fixture
def tree(folder: Path) -> Iterator[Tree]:
    found = Tree(folder, Disk())
    yield found
    found.close()


@pytest.fixture
def locks(tree: Tree) -> Locks:
    return Locks(tree, 5.0)


def _elsewhere(locks: Locks, name: str, *, shared: bool = False) -> BaseException | None:
    """Try a lock in another thread; return what it met."""
    met: list[BaseException] = []

    def work() -> None:
        try:
            with locks.hold(name, shared=shared, timeout_seconds=0.02):
                pass
        except StoreError as error:
            met.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return met[0] if met else None


def test_a_held_lock_names_its_holder(locks: Locks) -> None:
    with locks.hold("job", op="每日整理"):
        error = _elsewhere(locks, "job")
    assert isinstance(error, LockTimeoutError)
    assert f"process {os.getpid()} (每日整理) on " in str(error)
    assert "Retry" in str(error)
    assert _elsewhere(locks, "job") is None


def test_a_holder_without_a_record_is_another_process(locks: Locks, folder: Path) -> None:
    with locks.hold("job"):
        (folder / ".kimi/locks/job.lock").write_bytes(b"torn")
        assert "another process" in str(_elsewhere(locks, "job"))


def test_a_brief_holder_is_not_mistaken_for_one_before_it(locks: Locks, folder: Path) -> None:
    with locks.stripes(["甲.md"], op="整理"):
        (name,) = [path.stem for path in (folder / ".kimi/locks").glob("stripe-*")]
        assert f"process {os.getpid()} (整理)" in str(_elsewhere(locks, name))
    with locks.stripes(["甲.md"], op="append"):
        error = _elsewhere(locks, name)
        assert isinstance(error, LockTimeoutError)
        assert "another process" in str(error)


def test_the_locks_of_a_write_are_taken_and_given_back_together(locks: Locks) -> None:
    with locks.writing(["a.md"], op="append"):
        assert _elsewhere(locks, "store", shared=True) is None
        assert isinstance(_elsewhere(locks, "store"), LockTimeoutError)
    with locks.hold("journal"):
        refused = pytest.raises(StoreError, match="must be taken before")
        with refused, locks.writing(["a.md"], op="append"):
            pass
    with locks.stripes(["a.md"]):
        refused = pytest.raises(StoreError, match="must be taken before")
        with refused, locks.writing(["a.md"], op="append", alone=True):
            pass
    with locks.hold("git"), locks.hold("store", shared=True):
        refused = pytest.raises(StoreError, match="held shared")
        with refused, locks.writing(["a.md"], op="undo", alone=True):
            pass
    assert _elsewhere(locks, "store") is None


def test_readers_share_and_a_writer_waits(locks: Locks) -> None:
    with locks.hold("index", shared=True):
        assert _elsewhere(locks, "index", shared=True) is None
        assert isinstance(_elsewhere(locks, "index"), LockTimeoutError)


def test_the_same_thread_may_take_a_lock_again(locks: Locks) -> None:
    with locks.hold("job"):
        with locks.hold("job"), locks.hold("job", shared=True):
            pass
        assert isinstance(_elsewhere(locks, "job"), LockTimeoutError)
    assert _elsewhere(locks, "job") is None


def test_a_shared_lock_cannot_become_exclusive(locks: Locks) -> None:
    refused = pytest.raises(StoreError, match="held shared")
    with locks.hold("store", shared=True), refused, locks.hold("store"):
        pass


def test_the_order_of_locks_is_kept(locks: Locks) -> None:
    refused = pytest.raises(StoreError, match="must be taken before")
    with locks.stripes(["a.md"]), refused, locks.hold("store", shared=True):
        pass
    refused = pytest.raises(StoreError, match="must be taken before")
    with locks.hold("journal"), refused, locks.stripes(["a.md"]):
        pass
    with locks.hold("git"), locks.hold("store", shared=True), locks.stripes(["a", "b", "a"]):
        pass


def test_a_lock_file_that_vanished_is_made_anew(locks: Locks, folder: Path) -> None:
    with locks.hold("job"):
        shutil.rmtree(folder / ".kimi")
        with locks.hold("git"):
            pass
    with locks.hold("job"):
        assert isinstance(_elsewhere(locks, "job"), LockTimeoutError)


def test_a_lock_replaced_while_it_is_taken_does_not_count(tree: Tree, folder: Path) -> None:
    class Sly(Disk):
        swaps = 0

        def stat(self, name: str, at: int) -> os.stat_result:
            if self.swaps < 2 and name.endswith(".lock"):
                self.swaps += 1
                os.unlink(name, dir_fd=at)
                if self.swaps == 1:
                    os.close(os.open(name, os.O_CREAT | os.O_RDWR, dir_fd=at))
            return super().stat(name, at)

    sly = Tree(folder, Sly())
    with Locks(sly, 1.0).hold("job"):
        assert isinstance(_elsewhere(Locks(tree, 1.0), "job"), LockTimeoutError)
    sly.close()


def test_a_lock_name_is_no_path(locks: Locks) -> None:
    with pytest.raises(UnsafePathError), locks.hold("../x"):
        pass


def test_a_link_in_place_of_a_lock_is_not_followed(locks: Locks, folder: Path) -> None:
    with locks.hold("job"):
        pass
    (folder / ".kimi/locks/git.lock").symlink_to(folder / "victim")
    with pytest.raises(OSError, match="symbolic links"), locks.hold("git"):
        pass
    assert not (folder / "victim").exists()


def test_a_refused_flock_is_told(folder: Path) -> None:
    class NoLocks(Disk):
        def perform(self, name, call, *args, **kwargs):
            if name in {"flock", "sign"}:
                raise OSError(37, "No locks available")
            return super().perform(name, call, *args, **kwargs)

    tree = Tree(folder, NoLocks())
    with pytest.raises(OSError, match="No locks"), Locks(tree, 1.0).hold("job"):
        pass
    tree.close()


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_the_files_of_locks_stay_open_within_bounds(tree: Tree) -> None:
    with Locks(tree, 1.0).hold("job"):
        begun = _open_files()
    locks = Locks(tree, 1.0)
    for n in range(100):
        with locks.hold(f"job-{n}"):
            pass
    assert begun < _open_files() <= begun + 20
    locks.close()
    locks.close()
    assert _open_files() <= begun


def test_many_who_share_a_lock_leave_one_file_open(tree: Tree) -> None:
    locks = Locks(tree, 5.0)
    with locks.hold("job", shared=True):
        begun = _open_files()
        for _ in range(5):
            assert _elsewhere(locks, "job", shared=True) is None
        assert _open_files() <= begun + 1
    assert _elsewhere(locks, "job") is None
    locks.close()


def test_a_lock_is_free_even_where_only_closing_frees_it(folder: Path) -> None:
    class Deaf(Disk):
        def unlock(self, fd: int) -> bool:
            return super().unlock(1 << 20)

    tree = Tree(folder, Deaf())
    locks = Locks(tree, 1.0)
    with locks.hold("job"):
        pass
    assert _elsewhere(locks, "job") is None
    tree.close()


def test_the_eldest_file_may_be_closed_by_two_threads(locks: Locks) -> None:
    with locks.hold("job"):
        pass
    locks.close()
    locks._close_eldest()
    assert _elsewhere(locks, "job") is None


def test_files_that_a_parent_opened_are_not_used(locks: Locks) -> None:
    with locks.hold("journal"):
        pass
    (before,) = locks._idle.values()
    os.set_inheritable(before, True)  # what a file opened anew is not
    locks._pid -= 1
    with locks.hold("journal"):
        pass
    (after,) = locks._idle.values()
    assert not os.get_inheritable(after)
    assert locks._pid == os.getpid()


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_does_not_share_the_locks_of_its_parent(locks: Locks) -> None:
    """Both would hold what either takes: a lock belongs to the open file, which they share."""
    with locks.hold("job"):
        pass
    ask, told = os.pipe()
    go, ready = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(go, 1)
        os.write(told, b"n" if isinstance(_elsewhere(locks, "job"), LockTimeoutError) else b"y")
        os._exit(0)
    with locks.hold("job"):
        os.write(ready, b".")
        assert os.read(ask, 1) == b"n"
    os.waitpid(child, 0)
    for fd in (ask, told, go, ready):
        os.close(fd)
    assert _elsewhere(locks, "job") is None


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_that_ends_frees_no_lock_of_its_parent(locks: Locks) -> None:
    with locks.hold("job"):
        child = os.fork()
        if child == 0:
            locks.release("job")
            os._exit(0)
        os.waitpid(child, 0)
        assert isinstance(_elsewhere(locks, "job"), LockTimeoutError)
    assert _elsewhere(locks, "job") is None


def test_an_unsigned_lock_still_holds(folder: Path) -> None:
    class Unsigned(Disk):
        def perform(self, name, call, *args, **kwargs):
            if name == "sign":
                raise OSError(28, "No space left on device")
            return super().perform(name, call, *args, **kwargs)

    tree = Tree(folder, Unsigned())
    locks = Locks(tree, 1.0)
    with locks.hold("job"):
        assert isinstance(_elsewhere(locks, "job"), LockTimeoutError)
    tree.close()


def test_a_lock_dies_with_its_process(locks: Locks, folder: Path) -> None:
    code = (
        "import sys,time;from pathlib import Path;from kimi_memory.store.files.disk import Disk;"
        "from kimi_memory.store.files.locks import Locks\n"
        "from kimi_memory.store.files.tree import Tree\n"
        "with Locks(Tree(Path(sys.argv[1]),Disk()),5.0).hold('job'):\n"
        " print('held',flush=True);time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        refused = pytest.raises(LockTimeoutError, match=f"process {child.pid}")
        with refused, locks.hold("job", timeout_seconds=0.02):
            pass
        child.send_signal(signal.SIGKILL)
        child.wait()
    with locks.hold("job", timeout_seconds=1.0):
        record = json.loads((folder / ".kimi/locks/job.lock").read_bytes())
    assert record["pid"] == os.getpid()


def test_a_waiter_gets_the_lock_when_it_is_free(locks: Locks) -> None:
    taken, release = threading.Event(), threading.Event()

    def work() -> None:
        with locks.hold("job"):
            taken.set()
            release.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    assert taken.wait(60)
    threading.Timer(0.03, release.set).start()
    begun = time.monotonic()
    with locks.hold("job"):
        assert time.monotonic() - begun < 10
    thread.join()


def test_who_waits_is_not_passed_by_one_that_takes_the_lock_again_at_once(locks: Locks) -> None:
    got = threading.Event()

    def wait_for_it() -> None:
        with locks.hold("job", timeout_seconds=20):
            got.set()

    waiting, turns = threading.Thread(target=wait_for_it), 0
    with locks.hold("job"):
        waiting.start()
        time.sleep(0.1)  # Now it stands in front of the door.
    while not got.is_set() and turns < 50:
        with locks.hold("job", timeout_seconds=20):
            turns += 1
            time.sleep(0.02)
    waiting.join()
    assert turns <= 2


def test_owners_that_are_gone_are_known() -> None:
    pid, start, boot = owner().split("-")
    assert not is_dead(owner())
    assert is_dead(f"{pid}-{int(start) + 1}-{boot}")
    assert is_dead(f"{pid}-{start}-otherboot")
    assert is_dead("")
    assert is_dead(f"x-{start}-{boot}")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert is_dead(f"{gone.pid}-{start}-{boot}")


def test_owners_are_asked_where_nothing_names_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nowhere:
        def __init__(self, *_: str) -> None: ...

        def read_text(self, **_: str) -> str:
            raise FileNotFoundError

    monkeypatch.setattr(module, "Path", Nowhere)
    boot_id.cache_clear()
    module.started.cache_clear()
    try:
        assert owner() == f"{os.getpid()}--"
        assert not is_dead(f"{os.getpid()}--")
        gone = subprocess.Popen([sys.executable, "-c", ""])
        gone.wait()
        assert is_dead(f"{gone.pid}--")

        def refused(pid: int, number: int) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "kill", refused)
        assert not is_dead("1--")
    finally:
        boot_id.cache_clear()
        module.started.cache_clear()


class _Full(Disk):
    """A disk without room for another file."""

    def perform(self, name, call, *args, **kwargs):
        if name == "flock":
            raise OSError(28, "No space left on device")
        return super().perform(name, call, *args, **kwargs)


def test_a_lock_that_the_system_refuses_is_an_error_of_its_place(folder: Path) -> None:
    tree = Tree(folder, _Full())
    locks = Locks(tree, 5.0)
    with pytest.raises(DiskError, match="the memory"), locks.hold("job", place="the memory"):
        pass
    with pytest.raises(OSError, match="No space"), locks.hold("job"):
        pass
    tree.close()


def test_who_wants_a_lock_again_at_once_lets_those_who_wait_go_first(locks: Locks) -> None:
    rounds, served, ends = [0], list[int](), threading.Event()

    def hog() -> None:
        while not ends.is_set():
            with locks.hold("job"):
                rounds[0] += 1
                time.sleep(0.02)

    def wait() -> None:
        before = rounds[0]
        with locks.hold("job"):
            served.append(rounds[0] - before)

    hogging = threading.Thread(target=hog)
    hogging.start()
    for _ in range(20):
        waiter = threading.Thread(target=wait)
        waiter.start()
        waiter.join()
    ends.set()
    hogging.join()
    assert len(served) == 20
    assert max(served) <= 2, "the one round that ran, and at most one that was before us"

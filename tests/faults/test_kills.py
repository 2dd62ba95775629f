"""The process dies at any moment: acknowledged writes are there, none is half done."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.domain.job import Create, Update, digest
from kimi_memory.formats.jsonl import is_whole, seal, unseal
from kimi_memory.store.store import Store
from tests.faults.acts import ACTS, BEFORE, KEY, LINE, ME, files, leftovers, prepare
from tests.faults.disks import FailingDisk, KillingDisk


def _child(work: Callable[[], None]) -> int:
    """Run work in a child process that never comes back into the tests."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return pid


@pytest.mark.parametrize("name", ACTS)
def test_a_kill_at_any_call_leaves_old_or_new(name: str, swift: Path) -> None:
    act, after = ACTS[name]
    prepare(swift / "count")
    counting = FailingDisk()
    with Store.open(swift / "count", key=KEY, disk=counting) as store:
        begun = counting.count
        act(store)
    outcomes = set()
    for at in range(begun + 1, counting.count + 1):
        root = swift / str(at)
        prepare(root)

        def work(root: Path = root, at: int = at) -> None:
            act(Store.open(root, key=KEY, disk=KillingDisk(at)))

        _, status = os.waitpid(_child(work), 0)
        assert os.WIFSIGNALED(status), at
        with Store.open(root, key=KEY) as store:
            found = files(store)
            assert found in (BEFORE, after), at
            assert leftovers(root) == [], at
            assert store.journal.verify() == [], at
            outcomes.add(found == after)
    assert outcomes == {False, True}


def _write(root: Path, pipe: int) -> None:
    """Write turns, cards and sets of five files for ever; report each acknowledgement."""
    store = Store.open(root, key=KEY)
    start = len(store.files("many")) and int(store.read("many/0.md"))
    mine = os.getpid()
    for n in range(start + 1, start + 100_000):
        store.append("short-term/s.jsonl", [seal({"n": f"{mine}-{n}"})], ME)
        os.write(pipe, f"turn {mine}-{n}\n".encode())
        store.apply([Create(f"semantic/{mine}-{n}.md", f"{n}".encode())], ME)
        os.write(pipe, f"card {mine}-{n}\n".encode())
        paths = [f"many/{i}.md" for i in range(5)]
        content = f"{n}".encode()
        if store.exists(paths[0]):
            store.apply([Update(p, digest(store.read(p)), content) for p in paths], ME)
        else:
            store.apply([Create(p, content) for p in paths], ME)
        os.write(pipe, f"many {n}\n".encode())


def _kill_loop(root: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    turns, cards, many = set(), set(), 0
    prepare(root)
    for _ in range(kills):
        reading, writing = os.pipe()
        pid = _child(lambda writing=writing: _write(root, writing))
        os.close(writing)
        first = os.read(reading, 100)
        time.sleep(chance.uniform(0, 0.03))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            rest = pipe.read()
        for ack in (first + rest).decode().splitlines():
            kind, _, what = ack.partition(" ")
            if kind == "turn":
                turns.add(what)
            elif kind == "card":
                cards.add(what)
            else:
                many = max(many, int(what))
        begun = time.monotonic()
        with Store.open(root, key=KEY) as store:
            assert time.monotonic() - begun < 10
            _verify(store, turns, cards, many)
        assert leftovers(root) == []


def _verify(store: Store, turns: set[str], cards: set[str], many: int) -> None:
    lines = store.read("short-term/s.jsonl").splitlines(keepends=True)
    assert all(is_whole(line) for line in lines)
    assert turns <= {str(unseal(line)["n"]) for line in lines}
    assert {f"semantic/{card}.md" for card in cards} <= set(store.files())
    versions = {store.read(p) for p in store.files("many")}
    assert len(versions) <= 1
    assert not many or int(versions.pop()) >= many
    assert store.files("conflicts") == []
    assert store.journal.verify() == []


def test_kills_at_random_lose_nothing(tmp_path: Path) -> None:
    _kill_loop(tmp_path / "m", 12, seed=1)


@pytest.mark.faults
def test_two_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    _kill_loop(tmp_path / "m", 200, seed=2)


def _replace(root: Path, pipe: int) -> None:
    store = Store.open(root, key=KEY)
    paths = [f"many/{i}.md" for i in range(8)]
    n = int(store.read(paths[0]))
    while True:
        n += 1
        content = str(n).encode()
        store.apply([Update(p, digest(store.read(p)), content) for p in paths], ME)
        os.write(pipe, b"%d\n" % n)


def _mixed_loop(root: Path, kills: int) -> None:
    chance = random.Random(kills)
    root.mkdir()
    with Store.open(root, key=KEY) as store:
        store.apply([Create(f"many/{i}.md", b"0") for i in range(8)], ME)
    for _ in range(kills):
        reading, writing = os.pipe()
        pid = _child(lambda writing=writing: _replace(root, writing))
        os.close(writing)
        acks = os.read(reading, 1 << 16)
        time.sleep(chance.uniform(0, 0.02))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            acks += pipe.read()
        with Store.open(root, key=KEY) as store:
            versions = {store.read(f"many/{i}.md") for i in range(8)}
            assert len(versions) == 1
            assert int(versions.pop()) >= int(acks.split()[-1])
            assert store.files("conflicts") == []


def test_killed_transactions_are_whole(tmp_path: Path) -> None:
    _mixed_loop(tmp_path / "m", 8)


@pytest.mark.faults
def test_eighty_killed_transactions_are_whole(tmp_path: Path) -> None:
    _mixed_loop(tmp_path / "m", 80)


def test_a_torn_line_is_cut_before_the_next(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    with (root / "short-term/s.jsonl").open("ab") as file:
        file.write(LINE[:9])
    with Store.open(root, key=KEY) as store:
        assert store.read("short-term/s.jsonl") == LINE
    (lost,) = (root / ".kimi/lost+found").iterdir()
    assert lost.read_bytes() == LINE[:9]


@pytest.mark.faults
@pytest.mark.parametrize("name", ["append", "update", "many"])
def test_strace_kills_at_every_syscall(name: str, swift: Path) -> None:
    """The kernel's own view: a kill at each call that writes, names or syncs."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    top = Path(__file__).parents[2]
    for call in ("write", "fsync", "fdatasync", "renameat2", "rename", "renameat", "unlinkat"):
        for n in range(1, 60):
            root = swift / f"{call}-{n}"
            prepare(root)
            inject = f"inject={call}:signal=KILL:when={n}"
            command = ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
            code = (
                "import sys;from pathlib import Path;from tests.faults.acts import ACTS,KEY\n"
                "from kimi_memory.store.store import Store\n"
                f"ACTS['{name}'][0](Store.open(Path(sys.argv[1]),key=KEY))"
            )
            done = subprocess.run(
                [*command, sys.executable, "-c", code, str(root)], cwd=top, check=False
            )
            with Store.open(root, key=KEY) as store:
                assert files(store) in (BEFORE, ACTS[name][1]), (call, n)
                assert leftovers(root) == []
                assert store.journal.verify() == []
            if done.returncode == 0:
                break

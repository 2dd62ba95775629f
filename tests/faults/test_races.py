"""Many writers at once, and people who save while an agent writes."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kimi_memory.domain.job import Actor, Create, Update, digest
from kimi_memory.errors import ChangedOnDiskError, NotFoundError
from kimi_memory.formats.jsonl import is_whole, seal, unseal
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from tests.faults.acts import KEY

ME = Actor("cli")


def run_all(works: list[Callable[[], None]]) -> list[int]:
    """Run each in a child of its own; return their exit statuses."""
    pids = []
    for work in works:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                work()
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def count_up(root: Path, who: int, times: int) -> None:
    store = Store.open(root, key=KEY)
    for n in range(times):
        store.append("short-term/s.jsonl", [seal({"who": who, "n": n})], ME)
        while True:
            old = store.read("semantic/计数.md")
            new = b"%d" % (int(old) + 1)
            try:
                store.apply([Update("semantic/计数.md", digest(old), new)], ME)
                break
            except ChangedOnDiskError:
                continue


def exact(root: Path, writers: int, times: int) -> None:
    root.mkdir()
    with Store.open(root, key=KEY) as store:
        store.apply([Create("semantic/计数.md", b"0")], ME)
    works = [lambda who=who: count_up(root, who, times) for who in range(writers)]
    assert run_all(works) == [0] * writers
    with Store.open(root, key=KEY) as store:
        lines = store.read("short-term/s.jsonl").splitlines(keepends=True)
        assert all(is_whole(line) for line in lines)
        found = sorted((unseal(line)["who"], unseal(line)["n"]) for line in lines)
        assert found == [(who, n) for who in range(writers) for n in range(times)]
        assert int(store.read("semantic/计数.md")) == writers * times
        assert store.files("conflicts") == []
        assert store.journal.verify() == []
        assert store.journal.head()[0] == 2 + 2 * writers * times


def test_eight_writers_lose_no_count(swift: Path) -> None:
    exact(swift / "m", 8, 12)


@pytest.mark.faults
def test_eight_writers_count_to_hundred_each(tmp_path: Path) -> None:
    exact(tmp_path / "m", 8, 100)


def save_in_place(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(content)


def save_by_rename(path: Path, content: bytes) -> None:
    passing = path.with_name(f".{path.name}.tmp")
    passing.write_bytes(content)
    passing.replace(path)


def save_like_vim(path: Path, content: bytes) -> None:
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_bytes(content)
    backup.unlink()


SAVES = {"in place": save_in_place, "rename": save_by_rename, "vim": save_like_vim}


def version(n: int) -> bytes:
    """What the person saves the n-th time."""
    return f"人{n:06}".encode()


def edit(root: Path, save: Callable[[Path, bytes], None], saves: int) -> None:
    chance = random.Random(saves)
    path = root / "semantic/页.md"
    for n in range(saves):
        save(path, version(n))
        time.sleep(chance.uniform(0.002, 0.004))


def unseen(root: Path, save: Callable[[Path, bytes], None], saves: int) -> list[int]:
    """Let an editor and an agent save the same page; return versions the agent destroyed."""
    disk = _Watching()
    with Store.open(root, key=KEY, disk=disk) as store:
        store.apply([Create("semantic/页.md", b"start")], ME)
        pid = os.fork()
        if pid == 0:
            try:
                edit(root, save, saves)
            finally:
                os._exit(0)
        seen = _agent(store, pid)
        store.drop_undo(0, 0)
        seen |= {store.read(path) for path in store.files()}
    assert len(disk.swaps) > saves // 10, "the two hardly met"
    return [n for n in range(saves) if version(n) not in seen and disk.destroyed(version(n))]


class _Watching(Disk):
    """Notes what each swap put into place and what came out."""

    def __init__(self) -> None:
        super().__init__()
        self.swaps: list[tuple[bytes, bytes]] = []

    def exchange(self, old: str, old_at: int, new: str, new_at: int) -> None:
        put = _bytes(old, old_at)
        super().exchange(old, old_at, new, new_at)
        self.swaps.append((put, _bytes(old, old_at)))

    def destroyed(self, version: bytes) -> bool:
        """Whether a version was taken out of its place by us and not put back."""
        moves = [out == version for put, out in self.swaps if version in (put, out)]
        return bool(moves) and moves[-1]


def _bytes(name: str, at: int) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY, dir_fd=at), "rb") as file:
        return file.read()


def _agent(store: Store, editor: int) -> set[bytes]:
    seen: set[bytes] = set()
    n = 0
    while os.waitpid(editor, os.WNOHANG)[0] == 0:
        n += 1
        try:
            old = store.read("semantic/页.md")
            seen.add(old)
            change = Update("semantic/页.md", digest(old), old[:9] + b" agent %d" % n)
            store.apply([change], ME)
        except (ChangedOnDiskError, NotFoundError):
            continue
    return seen


@pytest.mark.parametrize("name", SAVES)
def test_no_save_of_a_person_is_destroyed(name: str, swift: Path) -> None:
    root = swift / "m"
    root.mkdir()
    assert unseen(root, SAVES[name], 120) == []


@pytest.mark.faults
@pytest.mark.parametrize("name", SAVES)
def test_a_thousand_saves_survive(name: str, tmp_path: Path) -> None:
    root = tmp_path / "m"
    root.mkdir()
    assert unseen(root, SAVES[name], 1000) == []

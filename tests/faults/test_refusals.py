"""Full, read-only and locked places, as the system itself makes them."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.cli import run
from kimi_memory.domain.job import Create, Update, digest
from kimi_memory.errors import DiskError, KimiMemoryError, ReadOnlyError
from kimi_memory.formats.jsonl import seal
from kimi_memory.store.files.disk import Disk
from kimi_memory.store.store import Store
from tests.faults.acts import BEFORE, KEY, LINE, LINE2, ME, NEW, OLD, files, leftovers, prepare
from tests.faults.disks import FailingDisk
from tests.faults.test_races import run_all


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EROFS, errno.EIO])
def test_every_call_of_opening_may_fail(number: int, swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    counting = FailingDisk()
    Store.open(root, key=KEY, disk=counting).close()
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    for at in range(1, counting.count + 1):
        try:
            with Store.open(root, key=KEY, disk=FailingDisk(at, number)) as store:
                assert not store.read_only or number == errno.EROFS
        except KimiMemoryError:
            pass
        assert len(list(Path("/proc/self/fd").iterdir())) == open_before, at
    with Store.open(root, key=KEY) as store:
        assert files(store) == BEFORE


def test_every_call_of_reading_may_fail(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    disk = FailingDisk()
    with Store.open(root, key=KEY, disk=disk) as store:
        for ask in (store.read, store.exists, store.size):
            begun = disk.count
            ask("semantic/a.md")
            for at in range(1, disk.count - begun + 1):
                disk.at, disk.number = disk.count + at, errno.EMFILE
                with pytest.raises(DiskError, match="ulimit -n"):
                    ask("semantic/a.md")


def test_a_disk_that_breaks_for_good_stops_this_process(swift: Path) -> None:
    class Broken(Disk):
        def perform(self, name, call, *args, **kwargs):
            if name in {"fsync", "fdatasync", "truncate"}:
                self.broken = True
                raise OSError(errno.EIO, "Input/output error")
            if getattr(self, "broken", False) and name in {"write", "open"}:
                raise OSError(errno.EIO, "Input/output error")
            return super().perform(name, call, *args, **kwargs)

    root = swift / "m"
    prepare(root)
    with Store.open(root, key=KEY, disk=Broken()) as store:
        with pytest.raises(DiskError):
            store.append("short-term/s.jsonl", [LINE2], ME)
        with pytest.raises(ReadOnlyError):
            store.append("short-term/s.jsonl", [LINE2], ME)
    with Store.open(root, key=KEY) as store:
        assert files(store)["short-term/s.jsonl"] in (LINE, LINE + LINE2)


def test_other_files_beside_a_log_are_left(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    (root / "short-term/notes.md").write_bytes(b"no newline")
    with (root / ".kimi/journal/2020-01-01.jsonl").open("wb") as file:
        file.write(b"[1]\n")
    with Store.open(root, key=KEY) as store:
        assert store.read("short-term/notes.md") == b"no newline"
        assert next(store.journal.records())["op"] == "genesis"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("a small file system needs root")
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=64", "tmpfs", str(mount)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting is refused here: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=False)


@pytest.mark.parametrize("size", [0, 60_000], ids=["inodes", "bytes"])
def test_a_full_file_system_keeps_what_was_acknowledged(size: int, small: Path) -> None:
    root = small / "m"
    prepare(root)
    acked = dict(BEFORE)
    with Store.open(root, key=KEY) as store:
        for n in range(200):
            try:
                store.apply([Create(f"f{n}.md", b"x" * size + b"%d" % n)], ME)
            except DiskError as error:
                assert "Free some space" in str(error)
                break
            acked[f"f{n}.md"] = b"x" * size + b"%d" % n
        with pytest.raises(DiskError):
            store.apply([Update("semantic/a.md", digest(OLD), b"y" * (1 << 20))], ME)
        assert files(store) == acked
        for n in range(3):
            (root / f"f{n}.md").unlink()
            del acked[f"f{n}.md"]
        store.apply([Create("after.md", NEW)], ME)
        assert files(store) == acked | {"after.md": NEW}
        assert store.journal.verify() == []


def _limited(root: Path) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Store.open(root, key=KEY) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        long = seal({"text": "长" * 4000})
        for act in (
            lambda: store.append("short-term/s.jsonl", [long], ME),
            lambda: store.apply([Create("long.md", long)], ME),
        ):
            try:
                act()
            except DiskError as error:
                assert "ulimit -f" in str(error)
            else:
                raise AssertionError("a file grew past its limit")
        assert files(store) == BEFORE
        store.append("short-term/s.jsonl", [LINE2], ME)


def test_a_size_limit_cuts_nothing_short(swift: Path) -> None:
    root = swift / "m"
    prepare(root)
    assert run_all([lambda: _limited(root)]) == [0]
    with Store.open(root, key=KEY) as store:
        assert files(store) == BEFORE | {"short-term/s.jsonl": LINE + LINE2}
    assert leftovers(root) == []


def test_a_locked_file_is_told_apart(tmp_path: Path) -> None:
    root = tmp_path / "m"
    prepare(root)
    if os.geteuid() != 0 or shutil.which("chattr") is None:
        pytest.skip("locking a file needs root and chattr")
    page = root / "semantic/a.md"
    done = subprocess.run(["chattr", "+i", str(page)], check=False, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"chattr is refused here: {done.stderr.strip()}")
    try:
        with Store.open(root, key=KEY) as store:
            with pytest.raises(DiskError, match="lsattr"):
                store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
            assert files(store) == BEFORE
    finally:
        subprocess.run(["chattr", "-i", str(page)], check=True)
    with Store.open(root, key=KEY) as store:
        store.apply([Update("semantic/a.md", digest(OLD), NEW)], ME)
        assert store.reconcile() == []


def test_a_folder_we_may_not_write_is_read(tmp_path: Path) -> None:
    root = tmp_path / "m"
    prepare(root)
    if os.geteuid() != 0:
        pytest.skip("becoming somebody else needs root")

    def work() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        with Store.open(root, key=KEY) as store:
            assert store.read_only
            assert store.read("semantic/a.md") == OLD

    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for path in tmp_path.parents:
        if any(part.startswith("pytest-of-") for part in path.parts):
            path.chmod(0o755)
    tmp_path.chmod(0o755)
    assert run_all([work]) == [0]


def test_a_read_only_memory_whose_commit_waits_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "memory"
    assert run(["init", str(root)]) == 0
    monkeypatch.chdir(root)
    with monkeypatch.context() as without_git:
        without_git.setenv("PATH", str(tmp_path))
        assert run(["remember", "The production port is 7654."]) == 0
    mount = ["mount", "--bind", "-o", "ro", str(root), str(root)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("this user may mount no disk")
    try:
        monkeypatch.chdir(root)  # into the mount
        capsys.readouterr()
        for asked in (["recall", "production port"], ["context", "production port"], ["status"]):
            assert run(asked) == 0
        shown = capsys.readouterr()
    finally:
        monkeypatch.chdir(tmp_path)
        subprocess.run(["umount", "-l", str(root)], check=True)
    assert "7654" in shown.out and "history is behind" in shown.out + shown.err

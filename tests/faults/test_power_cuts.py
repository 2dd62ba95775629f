"""Real power cuts: the kernel drops what was not flushed, and the file system comes back."""

from __future__ import annotations

import ctypes
import fcntl
import os
import random
import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kimi_memory.store.store import Store
from tests.faults.acts import KEY, prepare
from tests.faults.test_kills import _child, _verify, _write

pytestmark = pytest.mark.power
_SHUTDOWN = 0x8004587D  # FS_IOC_SHUTDOWN
_NOLOGFLUSH = 2
_NEWNS = 0x00020000  # CLONE_NEWNS


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def apart() -> Iterator[None]:
    """Mount where no sandbox or network of another program takes a copy, which outlives a cut."""
    if os.geteuid() != 0 or not Path("/dev/loop-control").exists():
        pytest.skip("power cuts need root and loop devices")
    libc, folder = ctypes.CDLL(None, use_errno=True), Path.cwd()
    with Path("/proc/self/ns/mnt").open("rb") as outside:
        assert libc.unshare(_NEWNS) == 0, os.strerror(ctypes.get_errno())
        _run("mount", "--make-rprivate", "/")
        yield
        assert libc.setns(outside.fileno(), _NEWNS) == 0, os.strerror(ctypes.get_errno())
    os.chdir(folder)


@pytest.fixture(params=["ext4", "xfs"])
def volume(
    request: pytest.FixtureRequest, tmp_path: Path, apart: None
) -> Iterator[tuple[Path, Path]]:
    make = shutil.which(f"mkfs.{request.param}")
    if make is None:
        pytest.skip(f"mkfs.{request.param} is not installed")
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(320 << 20)
    _run(make, "-q", str(image))
    try:
        _run("mount", "-o", "loop", str(image), str(mount))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"loop mounts are refused here: {error.stderr.decode().strip()}")
    yield image, mount
    subprocess.run(["umount", "-l", str(mount)], check=False, capture_output=True)


def _cut(image: Path, mount: Path) -> None:
    fd = os.open(mount, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, _SHUTDOWN, struct.pack("I", _NOLOGFLUSH))
    finally:
        os.close(fd)


def test_what_other_programs_mount_outlives_no_cut(volume: tuple[Path, Path]) -> None:
    image, mount = volume
    outside = ["nsenter", f"--mount=/proc/{os.getppid()}/ns/mnt"]
    with subprocess.Popen([*outside, "unshare", "--mount", "sleep", "60"]) as other:
        deadline = time.monotonic() + 30
        while Path(f"/proc/{other.pid}/comm").read_text() != "sleep\n":
            assert time.monotonic() < deadline
        _cut(image, mount)
        _run("umount", str(mount))
        _run("mount", "-o", "loop", str(image), str(mount))
        (mount / "later").write_text("it comes back")
        other.kill()


def test_forty_cuts_lose_nothing(volume: tuple[Path, Path]) -> None:
    image, mount = volume
    root = mount / "m"
    prepare(root)
    chance = random.Random(7)
    turns: set[str] = set()
    cards: set[str] = set()
    many = 0
    for _ in range(40):
        reading, writing = os.pipe()
        pid = _child(lambda writing=writing: _write(root, writing))
        os.close(writing)
        acks = os.read(reading, 1 << 16)
        time.sleep(chance.uniform(0, 0.05))
        _cut(image, mount)
        os.waitpid(pid, 0)
        with os.fdopen(reading, "rb") as pipe:
            acks += pipe.read()
        _run("umount", str(mount))
        _run("mount", "-o", "loop", str(image), str(mount))
        for ack in acks.decode().splitlines():
            kind, _, what = ack.partition(" ")
            if kind == "many":
                many = max(many, int(what))
            else:
                (turns if kind == "turn" else cards).add(what)
        with Store.open(root, key=KEY) as store:
            _verify(store, turns, cards, many)
    assert turns
    assert many

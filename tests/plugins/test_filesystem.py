"""The file-system check."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kimi_memory.plugins import filesystem

from kimi_memory.domain.health import Severity
from kimi_memory.hooks.host import Host


def test_hook_check_health(tmp_path: Path) -> None:
    [findings] = Host(entry_points=False).gather("check_health", root=tmp_path)
    assert [finding.severity for finding in findings] == [Severity.OK]


def room(free: int, files: int = 1000, left: int = 10) -> os.statvfs_result:
    """Return the state of a disk: bytes that are free, files it may hold and how many more."""
    return os.statvfs_result((4096, 1, free * 2, free, free, files, left, left, 0, 255))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (room(1 << 40), ""),
        (room(1 << 40, files=0, left=0), ""),
        (room(100 << 20), "warning nearly full: 100 MiB are left"),
        (room(1 << 20), "error full: 1 MiB are left"),
        (room(0), "error full: 0 MiB are left"),
        (room(1 << 40, left=0), "error full: no file can be made"),
    ],
)
def test_a_full_disk_is_told(state: os.statvfs_result, said: str, tmp_path: Path) -> None:
    found = [
        f"{one.severity} {one.message.partition(' is ')[2]}"
        for one in filesystem._check_room(state, tmp_path)
    ]
    assert found == ([said] if said else [])


@pytest.mark.parametrize("name", ["Dropbox", "坚果云"])
def test_a_cloud_folder_is_warned_about(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "memory"
    folder.mkdir(parents=True)
    [finding] = filesystem.check_health(folder)
    assert finding.severity is Severity.WARNING
    assert name in finding.message


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="needs Linux")
def test_the_mount_that_holds_a_path_is_found() -> None:
    assert filesystem.filesystem_of(Path("/proc/self")) == "proc"

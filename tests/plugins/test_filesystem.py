"""The file-system check."""

from __future__ import annotations

from pathlib import Path

import pytest
from kimi_memory.plugins import filesystem

from kimi_memory.host import Host
from kimi_memory.model.health import Severity


def test_hook_check_health(tmp_path: Path) -> None:
    [findings] = Host(entry_points=False).gather("check_health", root=tmp_path)
    assert [finding.severity for finding in findings] == [Severity.OK]


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

"""Sizes: every byte is counted once, in the part it belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.operations.doctor import status
from kimi_memory.operations.sizes import shown_size, sizes


def test_every_byte_is_in_one_part(tmp_path: Path) -> None:
    for name, size in {
        "USER.md": 3,
        "notes/deep/a.md": 5,
        "semantic/a/b.md": 7,
        "short-term/s.jsonl": 11,
        ".git/objects/x": 13,
        ".kimi/index/y": 17,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    (tmp_path / "link.md").symlink_to("/etc/services")
    link = (tmp_path / "link.md").lstat().st_size
    assert sizes(tmp_path) == {
        "derived": 17,
        "history": 13,
        "page": 8 + link,
        "semantic": 7,
        "short-term": 11,
    }


def test_status_tells_them(memory: Memory) -> None:
    found = status(memory).sizes
    assert found["history"] > 0 and found["page"] > 0


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (5 << 20, "5.0 MiB"),
        (5 << 40, "5120.0 GiB"),
    ],
)
def test_sizes_are_shown_in_the_fitting_unit(count: int, shown: str) -> None:
    assert shown_size(count) == shown

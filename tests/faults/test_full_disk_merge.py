"""A merge on a disk that has too little space: nothing of it is done until there is more."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.errors import HistoryError
from kimi_memory.operations.merge_copy import merge_copy
from tests.test_copies import errors, git


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount")
    if done.returncode != 0:
        pytest.skip("this user may mount no disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_merge_without_space_changes_nothing_and_works_with_more(
    small: Path, tmp_path: Path, opening: Opening
) -> None:
    own = Home(tmp_path / "config-big", tmp_path / "state-big")
    with Memory.create(small / "memory", opening=opening) as memory:
        memory.remember("Ann likes tea.", key="ann.tea")
        git(tmp_path, "clone", "-q", str(memory.root), "big")
        with Memory.open(tmp_path / "big", replace(opening, home=own)) as big:
            noise = (f"{number * 7919 % 99991:x}{number**7:x}" for number in range(120_000))
            (big.root / "noise.md").write_text("\n".join(noise), encoding="utf-8")
            big.batch.note()
            big.remember("Bob likes rum.", key="bob.rum")
            big.batch.flush()
        head = memory.history.head()
        with pytest.raises(HistoryError, match="Free some space"):
            merge_copy(memory, str(big.root))
        assert memory.history.head() == head
        assert git(memory.root, "rev-parse", "HEAD").strip() == head
        assert "tea" in memory.recall("what does Ann like?").hits[0].unit.text
        subprocess.run(["mount", "-o", "remount,size=40m", str(small)], check=True)
        assert merge_copy(memory, str(big.root)).paths
        assert memory.store.exists("noise.md")
        assert errors(memory) == []

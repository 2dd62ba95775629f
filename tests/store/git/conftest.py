"""A memory with one commit."""

import shutil
from pathlib import Path

import pytest

from kimi_memory.store.git.history import History
from tests.store.git.repositories import make, write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "记忆 memory"


@pytest.fixture(scope="module")
def seed(tmp_path_factory) -> Path:
    """A memory with one commit, to be copied: quicker than making it each time."""
    made = make(tmp_path_factory.mktemp("seed") / "memory")
    assert made.init() == []
    write(made.root, "memory.toml", "[memory]\n")
    made.commit("Start")
    return made.root


@pytest.fixture
def history(seed: Path, root: Path) -> History:
    shutil.copytree(seed, root)
    return make(root)

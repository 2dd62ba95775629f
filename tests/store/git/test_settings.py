"""Settings of a repository: a new one brings them, one that lost some gets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.store.git import attributes, settings
from kimi_memory.store.git.command import Git
from tests.store.git.repositories import git


@pytest.mark.parametrize("driver", ["python %O", 'a "quoted" C:\\path\\; # %P', "路径 '带空格' %A"])
def test_a_new_repository_has_them_as_they_are(
    driver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attributes, "driver", lambda: driver)
    git(tmp_path, "init", "-q")
    ours, config = Git(tmp_path, tmp_path / ".git"), tmp_path / ".git/config"
    settings.write_new(config)
    wanted = {name.lower(): value for name, value in settings.wanted().items()}
    assert wanted.items() <= settings.read(ours).items()
    written = config.read_bytes()
    settings.write(ours)
    assert config.read_bytes() == written
    git(tmp_path, "config", "gc.auto", "5000")
    settings.write(ours)
    assert wanted.items() <= settings.read(ours).items()


@pytest.mark.parametrize(
    ("config", "marked"),
    [
        ('[kimi]\n\tmemory = "true"\n', True),
        ("[kimi]\n\tmemory = true\n[user]\n\tname = Ann\n", True),
        ("[Kimi]\n  memory\n", True),
        ("[kimi]\n\tmemory = true\n[kimi]\n\tmemory = false\n", False),
        ("[kimi]\n\tmemory = true\n\tmemory = false\n", False),
        ('[kimi]\n\tmemory = true\n[KIMI "x"]\n\tmemory = true\n', True),
        ("[kimi]\n\tmemory = false\n", False),
        ("# [kimi]\n#\tmemory = true\n", False),
        ("", False),
    ],
)
def test_the_mark_is_read_as_git_reads_it(config: str, marked: bool, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with (tmp_path / ".git/config").open("a") as file:
        file.write(config)
    said = git(tmp_path, "config", "--get", "--type=bool", "kimi.memory", check=False)
    assert (said.strip() == "true") is marked
    assert settings.is_marked(Git(tmp_path, tmp_path / ".git")) is marked

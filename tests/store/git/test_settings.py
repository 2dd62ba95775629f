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
    with settings.template() as place:
        git(tmp_path, "init", "-q", f"--template={place}")
    ours = Git(tmp_path, tmp_path / ".git")
    present = settings.read(ours)
    wanted = {name.lower(): value for name, value in settings.wanted().items()}
    # git itself asks the file system for this one when it makes a repository
    assert {n: v for n, v in wanted.items() if present.get(n) != v}.keys() <= {"core.filemode"}
    settings.write(ours)
    assert wanted.items() <= settings.read(ours).items()

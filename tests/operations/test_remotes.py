"""Remotes: named by a person, asked, and forgotten again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.errors import NotFoundError, RemoteError, UsageError
from kimi_memory.operations.remotes import (
    add_remote,
    check_remote,
    list_remotes,
    offer_remotes,
    remove_remote,
)
from tests.test_copies import git


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    """A bare repository that copies share."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    return tmp_path / "hub.git"


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_remote_says_how_far_it_is(memory: Memory, hub: Path, form: str) -> None:
    memory.batch.flush()
    add_remote(memory, "hub", form.format(hub))
    assert check_remote(memory, "hub").status == "empty"
    git(memory.root, "push", "-q", str(hub), "main")
    found = check_remote(memory, "hub")
    assert (found.status, found.main) == ("in step", memory.history.head())
    memory.remember("Ann likes tea.", key="ann.tea")
    assert check_remote(memory, "hub").status == "behind"
    git(hub.parent, "clone", "-q", str(hub), "other")
    git(hub.parent / "other", "commit", "-q", "--allow-empty", "-m", "x")
    git(hub.parent / "other", "push", "-q")
    assert check_remote(memory, "hub").status == "ahead"
    memory.sync("hub")
    assert check_remote(memory, "hub").status == "in step"
    git(memory.root, "push", "-q", "--force", str(hub), "HEAD~1:main")
    assert check_remote(memory, "hub").status == "replaced"
    git(memory.root, "push", "-q", "--force", str(hub), "HEAD:main")
    assert not any((memory.root / ".kimi/remote").iterdir())


def test_remotes_are_listed_and_removed(memory: Memory, hub: Path, capsys) -> None:
    root = ["--memory", str(memory.root)]
    assert list_remotes(memory) == []
    add_remote(memory, "hub", str(hub))
    [found] = list_remotes(memory)
    assert (found.status, found.copy, found.seen) == ("new", memory.copy_id, "")
    assert found.unsent == len(memory.history.log(limit=100))
    assert found.memory == memory.settings.memory.id
    assert (found.role, found.lag_ms, found.last_sync_at) == ("replica", None, "")
    assert found.since and found.bytes
    assert remove_remote(memory, "hub").url == str(hub)
    assert hub.exists()
    with pytest.raises(NotFoundError):
        remove_remote(memory, "hub")
    assert run(["remote", "check", "hub", *root]) == NotFoundError.exit_code
    assert "remote list" in capsys.readouterr().err


def test_what_git_knows_is_offered_until_it_is_added(memory: Memory, hub: Path) -> None:
    git(memory.root, "remote", "add", "origin", str(hub))
    [offered] = offer_remotes(memory)
    assert (offered.name, offered.url) == ("origin", str(hub))
    add_remote(memory, "home", offered.url)
    assert offer_remotes(memory) == []


def test_a_folder_that_is_no_hub_is_refused(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds a secret"):
        add_remote(memory, "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8", str(tmp_path))
    (tmp_path / "empty").mkdir()
    for place, why in {
        tmp_path / "gone": "is no repository",
        tmp_path / "empty": "is no repository",
        memory.root: "lies in the memory itself",
        memory.root / "semantic": "lies in the memory itself",
    }.items():
        with pytest.raises(UsageError, match=why):
            add_remote(memory, "hub", str(place))
    git(tmp_path, "clone", "-q", str(memory.root), "copy")
    with pytest.raises(UsageError, match="is a working copy"):
        add_remote(memory, "hub", f"file://{tmp_path}/copy")
    assert list_remotes(memory) == []


def test_a_remote_out_of_reach_is_said_in_one_line(memory: Memory, hub: Path) -> None:
    add_remote(memory, "hub", str(hub))
    (hub / "HEAD").unlink()
    with pytest.raises(RemoteError, match=r"^hub: .*does not appear to be a git repository"):
        check_remote(memory, "hub")


def test_the_commands(memory: Memory, hub: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ["--memory", str(memory.root)]
    git(memory.root, "remote", "add", "origin", "https://example.org/mem.git")
    memory.batch.flush()
    assert run(["remote", "list", *root]) == 0
    assert "remote add origin https://example.org/mem.git" in capsys.readouterr().out
    assert run(["remote", "add", "hub", str(hub), *root]) == 0
    assert "kimi-memory sync hub" in capsys.readouterr().out
    assert run(["remote", "add", "evil", "ext::sh -c x", *root]) == UsageError.exit_code
    assert run(["remote", "check", "hub", *root]) == 0
    assert capsys.readouterr().out == "hub  empty\n"
    assert run(["remote", "list", "--json", *root]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed["remotes"]] == ["hub"]
    assert [one["name"] for one in listed["offered"]] == ["origin"]
    assert run(["remote", "remove", "hub", *root]) == 0
    assert "stays" in capsys.readouterr().out

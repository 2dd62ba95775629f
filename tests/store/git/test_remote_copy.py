"""The repository that speaks with a remote: it holds nothing when all is done."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kimi_memory.errors import RemoteError
from kimi_memory.store.git.history import History
from kimi_memory.store.git.network import Deadline
from kimi_memory.store.git.remotes import Remote
from tests.store.git.repositories import git, write

COPY = "abcdefgh"


@pytest.fixture
def hub(tmp_path: Path) -> Remote:
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "hub.git")
    return Remote("hub", str(tmp_path / "hub.git"))


def test_what_was_sent_is_there_under_both_names(history: History, hub: Remote) -> None:
    head = history.head()
    with history.merger().reach(hub, Deadline(20)) as there:
        assert there.send(head, COPY).main is False
        assert there.list_heads(COPY) == ("", head)
        assert there.send(head, COPY, "") == (True, "")
        assert there.list_heads(COPY) == (head, head)


def test_a_lease_that_is_over_sends_nothing(history: History, hub: Remote) -> None:
    first = history.head()
    with history.merger().reach(hub, Deadline(20)) as there:
        there.send(first, COPY, "")
    write(history.root, "USER.md", "# Ann\n")
    second = history.commit("Second")
    with history.merger().reach(hub, Deadline(20)) as there:
        assert there.send(second, COPY, "").main is False
        assert there.list_heads(COPY) == (first, second)
        assert there.send(second, COPY, first).main is True


def test_a_remote_that_went_between_two_calls_is_named(history: History, hub: Remote) -> None:
    with history.merger().reach(hub, Deadline(20)) as there:
        there.list_heads(COPY)
        shutil.rmtree(hub.url)
        with pytest.raises(RemoteError, match=r"^hub: "):
            there.send(history.head(), COPY, "")
        with pytest.raises(RemoteError, match=r"^hub: "):
            there.fetch()


def test_what_is_fetched_lies_apart_until_it_is_let_in(
    history: History, hub: Remote, tmp_path: Path
) -> None:
    git(history.root, "push", "-q", hub.url, "main")
    git(tmp_path, "clone", "-q", hub.url, "other")
    write(tmp_path / "other", "USER.md", "# Bob\n")
    git(tmp_path / "other", "add", "-A")
    git(tmp_path / "other", "commit", "-qm", "There")
    git(tmp_path / "other", "push", "-q")
    merger = history.merger()
    with merger.reach(hub, Deadline(20)) as there:
        main = there.fetch()
        assert there.read_content(main, "USER.md") == b"# Bob\n"
        assert there.descends(main, history.head())
        assert there.shares_history(main)
        assert not merger.knows(main)
        there.admit()
    assert merger.knows(main)
    assert not any((history.root / ".kimi/remote").iterdir())
    lost = merger.reach(hub, Deadline(20))
    with lost as there:
        found = there.measure_losses(main, history.head())
        assert (found.versions, found.deleted, found.changed) == (1, ("USER.md",), ())
        assert git(history.root, "rev-parse", there.keep_rescued(main)) == main


def test_what_a_remote_had_is_known_however_git_keeps_its_refs(history: History) -> None:
    merger, head = history.merger(), history.head()
    assert merger.find_seen("hub") == ""
    merger.note_seen("hub", head)
    assert merger.find_seen("hub") == head
    git(history.root, "pack-refs", "--all")
    assert merger.find_seen("hub") == head
    git(history.root, "symbolic-ref", "refs/kimi/seen/hub/main", "refs/heads/main")
    assert merger.find_seen("hub") == head
    merger.forget_seen("hub")
    assert merger.find_seen("hub") == ""

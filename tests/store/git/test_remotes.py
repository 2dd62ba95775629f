"""Names and URLs of remotes, and where they are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory.errors import NotFoundError, UsageError
from kimi_memory.store.git.history import History
from kimi_memory.store.git.remotes import (
    Remote,
    Remotes,
    check_name,
    check_url,
    find_configured,
)
from tests.store.git.repositories import git


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/mem.git",
        "https://li@example.org:8443/mem.git",
        "ssh://git@nas/mem.git",
        "ssh://git@nas:2222/~/mem.git",
        "git@nas:mem.git",
        "nas:记忆.git",
        "[::1]:mem.git",
        "file:///srv/mem.git",
    ],
)
def test_a_url_that_git_may_be_given_stays_as_it_is(url: str) -> None:
    assert check_url(url) == url


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "is no URL"),
        ("--upload-pack=touch /tmp/x", "is no URL"),
        ("https://example.org/a\nb", "is no URL"),
        ("ext::sh -c 'touch x'", "names a program"),
        ("ssh::nas", "names a program"),
        ("http://example.org/mem.git", "not reached by http"),
        ("git://example.org/mem.git", "not reached by git"),
        ("git+ssh://example.org/mem.git", "not reached by"),
        ("https://li:secret@example.org/mem.git", "holds a password"),
        ("ssh://-oProxyCommand=x/mem.git", "names no server"),
        ("ssh://-o@nas/mem.git", "names no server"),
        ("https:///mem.git", "names no server"),
        ("file://nas/mem.git", "names no server"),
        ("https://[::1/mem.git", "is no URL"),
        ("-oProxyCommand=x:mem.git", "is no URL"),
        ("git@-oProxyCommand=x:mem.git", "is no URL"),
        ("nas:-u", "is no URL"),
        ("a b:mem.git", "is no URL"),
    ],
)
def test_a_url_that_may_run_something_or_is_none_is_refused(url: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as raised:
        check_url(url)
    assert "secret" not in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_is_kept_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert check_url("hub.git") == str(tmp_path / "hub.git")
    assert check_url("./a:b.git") == str(tmp_path / "a:b.git")


@pytest.mark.parametrize("name", ["", "-x", "a/b", "a b", "..", "a.lock", "x" * 41])
def test_a_name_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be a remote's name"):
        check_name(name)


def test_remotes_are_kept_by_memory(tmp_path: Path) -> None:
    hub, nas = Remote("hub", "/srv/hub.git"), Remote("家", "ssh://nas/mem.git")
    mine, other = Remotes(tmp_path, "memory-a"), Remotes(tmp_path, "memory-b")
    assert mine.read() == []
    mine.add(nas)
    mine.add(hub)
    assert mine.read() == [hub, nas]
    assert other.read() == []
    assert mine.find("家") == nas
    for taken in (Remote("hub", "/srv/x.git"), Remote("second", "/srv/hub.git")):
        with pytest.raises(UsageError, match=r"hub is /srv/hub\.git already"):
            mine.add(taken)
    assert mine.remove("hub") == hub
    assert mine.read() == [nas]
    with pytest.raises(NotFoundError, match="remote list"):
        mine.remove("hub")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"remotes": 7}',
        '{"remotes": [{"name": "a"}]}',
        '{"remotes": [{"name": "a", "url": "ext::sh x", "drop": false}]}',
    ],
)
def test_a_damaged_list_is_named_and_stays(tmp_path: Path, content: str) -> None:
    remotes = Remotes(tmp_path, "memory-a")
    remotes.add(Remote("hub", "/srv/hub.git"))
    [place] = (tmp_path / "remotes").iterdir()
    place.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        remotes.add(Remote("nas", "ssh://nas/mem.git"))
    assert place.read_text("utf-8") == content


def test_a_list_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "remotes").symlink_to(tmp_path / "nowhere" / "there")
    with pytest.raises(UsageError, match="could not be written"):
        Remotes(tmp_path, "memory-a").add(Remote("hub", "/srv/hub.git"))


def test_a_list_whose_folder_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("x", encoding="utf-8")
    remotes = Remotes(tmp_path / "config", "memory-a")
    with pytest.raises(UsageError, match=r"cannot be read|could not be written"):
        remotes.add(Remote("hub", "/srv/hub.git"))


def test_what_git_knows_is_found_where_we_would_use_it(history: History) -> None:
    assert find_configured(history.root) == []
    for name, url in {
        "origin": "https://example.org/mem.git",
        "evil": "ext::sh -c 'touch x'",
        "a.b": "https://example.org/other.git",
    }.items():
        git(history.root, "config", f"remote.{name}.url", url)
    git(history.root, "config", "--add", "remote.origin.url", "https://example.org/second.git")
    assert find_configured(history.root) == [Remote("origin", "https://example.org/mem.git")]
    (history.root / ".git").rename(history.root / "elsewhere")
    assert find_configured(history.root) == []

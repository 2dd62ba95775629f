"""Objects streamed into git: any path and content arrives, and a git that fails is told of."""

from __future__ import annotations

import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import command
from kimi_memory.store.git.command import Entry, Git, encode
from kimi_memory.store.git.commit import Import, ident, quoted
from kimi_memory.store.git.tree import Difference, blob_name, list_tree

WHO = ident(datetime(2026, 3, 1, tzinfo=UTC))
PARTS = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
).filter(lambda part: part.strip(". ").casefold() not in {"", "git", "git~1"} and "\\" not in part)
ODD = ('a"b.md', "笔 记/一\n二.md", " lead", "tab\there", "\udcff.md", "-n", "“引号”")


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Git:
    root = tmp_path_factory.mktemp("objects")
    made = Git(root, root / ".git")
    made.run("init", "--quiet", "--template=", "--initial-branch=main")
    return made


def made_of(git: Git, head: str, files: dict[str, bytes | None]) -> str:
    """Return a commit in which these files have this content, or are gone."""
    differences = []
    with Import(git) as objects:
        for path, content in files.items():
            new = None
            if content is not None:
                objects.add(content)
                new = Entry("100644", blob_name(content))
            differences.append(Difference(path, None, new))
        return objects.commit(head, differences, b"Some\n\nJob: x\n", WHO)


def contents(git: Git, commit: str) -> dict[str, bytes]:
    entries = list_tree(git, commit)
    return {path: git.run("cat-file", "blob", entry.blob) for path, entry in entries.items()}


@given(st.dictionaries(PARTS, st.binary(max_size=60), max_size=4))
def test_any_path_and_content_arrives(git, files):
    first = made_of(git, "", {f"d/{path}": content for path, content in files.items()})
    assert contents(git, first) == {f"d/{path}": content for path, content in files.items()}
    gone = made_of(git, first, {f"d/{path}": None for path in files})
    assert contents(git, gone) == {}


def test_odd_names_arrive_and_no_ref_is_left(git):
    commit = made_of(git, "", dict.fromkeys(ODD, b"x"))
    assert list_tree(git, commit).keys() == set(ODD)
    assert git.run("for-each-ref") == b""
    assert not list((git.root / ".git" / "refs").glob("kimi*"))


def test_a_file_takes_the_place_of_a_folder_and_back(git):
    folder = made_of(git, "", {"a/b.md": b"1", "a/c.md": b"2"})
    file = made_of(git, folder, {"a": b"3", "a/b.md": None, "a/c.md": None})
    assert contents(git, file) == {"a": b"3"}
    back = made_of(git, file, {"a/b.md": b"1", "a": None})
    assert contents(git, back) == {"a/b.md": b"1"}


def test_a_commit_says_who_when_and_why(git):
    first = made_of(git, "", {"a.md": b"1"})
    second = made_of(git, first, {"a.md": b"2"})
    told = git.run("log", "-1", "--format=%P%n%an%n%cn%n%aI%n%B", second).decode().splitlines()
    assert told[:4] == [first, "kimi_memory", "kimi_memory", "2026-03-01T00:00:00+00:00"]
    assert told[4:7] == ["Some", "", "Job: x"]


def test_quotes_are_those_of_git():
    assert quoted('a"b\\c\nd') == b'"a\\"b\\\\c\\nd"'
    assert quoted("笔\udcff") == b'"' + encode("笔\udcff") + b'"'


def instead(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have a script run where git should."""

    def stream(self, *arguments):
        pipe = subprocess.PIPE
        argv = ["sh", "-c", script]
        return subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=self.root)

    monkeypatch.setattr(Git, "stream", stream)


@pytest.mark.parametrize(
    ("script", "content"),
    [
        ("exec 0<&-; echo 'fatal: No space left on device' >&2; exit 3", b"x" * 10_000_000),
        ("head -c 9 > /dev/null", b"x"),
        ("head -c 9 > /dev/null; echo 'fatal: No space left on device' >&2; exit 3", b"x"),
    ],
)
def test_a_git_that_fails_is_told_of(git, monkeypatch, script, content):
    instead(monkeypatch, script)
    with pytest.raises(HistoryError, match="fast-import failed"), Import(git) as objects:
        objects.add(content)
        change = Difference("a.md", None, Entry("100644", blob_name(content)))
        assert objects.commit("", [change], b"x", WHO) == ""
        objects.add(content)


@pytest.mark.parametrize("script", ["exec sleep 60", "exec head -c 5000000 /dev/zero >&2"])
def test_a_git_that_hangs_is_given_up(git, monkeypatch, script):
    monkeypatch.setattr(command, "_TIMEOUT_SECONDS", 0.3)
    instead(monkeypatch, script)
    content = b"x" * 1_000_000
    change = Difference("a.md", None, Entry("100644", blob_name(content)))
    started = time.monotonic()
    with pytest.raises(HistoryError, match=r"did not end within 0\.3 sec"), Import(git) as objects:
        objects.add(content)
        assert objects.commit("", [change], b"x", WHO) == ""
    assert time.monotonic() - started < 30
    monkeypatch.setattr(git, "_rests_until", 0.0)


def test_an_answer_that_is_no_text_is_no_name(git, monkeypatch):
    instead(monkeypatch, "printf '\\377\\376\\n'; cat > /dev/null")
    with Import(git) as objects:
        assert objects.commit("", [], b"x", WHO) == "\ufffd\ufffd"


def test_a_git_that_goes_before_it_is_asked_is_told_of(git, monkeypatch, tmp_path: Path):
    instead(monkeypatch, f"exec 0<&-; touch '{tmp_path}/gone'; exit 3")
    with pytest.raises(HistoryError, match="fast-import failed"), Import(git) as objects:
        objects.add(b"x")
        assert objects._process is not None
        objects._process.wait()
        assert objects.commit("", [], b"x", WHO) == ""


def test_nothing_runs_for_nothing(git, monkeypatch):
    instead(monkeypatch, "exit 3")
    with Import(git):
        pass

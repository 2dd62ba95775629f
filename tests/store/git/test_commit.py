"""Commits of what differs: races with a person, and files that vanish."""

import subprocess
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kimi_memory.errors import HistoryError
from kimi_memory.store.git import commit as git_commit
from kimi_memory.store.git.commit import (
    EMAIL,
    NAME,
    Committer,
    ident,
    message,
    one_line,
    parse_log,
    trailer_name,
)
from kimi_memory.store.git.tree import Scan
from tests.store.git.repositories import git, write


def test_a_file_that_vanishes_between_look_and_read_waits(history, root, monkeypatch):
    write(root, "a.md")
    real = git_commit.compare

    def late(*arguments):
        (root / "a.md").unlink(missing_ok=True)
        return real(*arguments)

    seen = Scan({"ghost.md": (1, 1, 1, 1)})
    monkeypatch.setattr("kimi_memory.store.git.tree.scan", lambda root: seen)
    monkeypatch.setattr(git_commit, "compare", late)
    assert history.commit("x") == ""


def test_a_race_with_the_persons_commit_is_run_again(history, root, monkeypatch):
    write(root, "a.md", "ours\n")
    real, raced = Committer._move_branch, []

    def slow(self, *arguments):
        if not raced:
            raced.append(git(root, "commit", "-q", "--allow-empty", "-m", "person"))
        return real(self, *arguments)

    monkeypatch.setattr(Committer, "_move_branch", slow)
    commit = history.commit("ours")
    assert [c.subject for c in history.log(limit=3)] == ["ours", "person", "Start"]
    assert history.changed(commit) == [("A", "a.md")]
    assert git(root, "status", "--porcelain") == ""


def test_a_race_without_end_is_given_up(history, root, monkeypatch):
    write(root, "a.md", "ours\n")
    real = Committer._move_branch

    def slow(self, *arguments):
        git(root, "commit", "-q", "--allow-empty", "-m", "person")
        return real(self, *arguments)

    monkeypatch.setattr(Committer, "_move_branch", slow)
    with pytest.raises(HistoryError, match="keeps committing"):
        history.commit("ours")


def test_a_message_is_what_git_understands_as_trailers():
    text = message("记住", {"Job": "job-1", "Prompt-Sha": "ab", "Ops": "ADD=1 LINK=2"})
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"], input=text, capture_output=True, check=True
    )
    assert done.stdout.decode() == "Job: job-1\nPrompt-Sha: ab\nOps: ADD=1 LINK=2\n"


@given(st.text(), st.dictionaries(st.text(max_size=20), st.text(max_size=60), max_size=4))
def test_any_text_makes_a_sound_message(subject, trailers):
    lines = message(subject, trailers).decode("utf-8").split("\n")
    assert lines[0].strip()
    assert len(lines[0]) <= 300
    assert "\0" not in "".join(lines)
    assert lines[-1] == ""
    assert all(": " in line for line in lines[2:-1])


def test_lone_surrogates_and_controls_become_plain():
    assert one_line("a\ud800\x00b\u2028c\n\td") == "a? b c d"


@pytest.mark.parametrize(
    ("name", "made"), [("Prompt Sha", "Prompt-Sha"), ("键", "Note"), ("-a:b-", "a-b")]
)
def test_names_of_trailers_are_plain(name, made):
    assert trailer_name(name) == made


def test_our_commits_have_our_name_and_the_zone_of_the_moment():
    assert ident(datetime(2026, 1, 1, tzinfo=UTC)) == f"{NAME} <{EMAIL}> 1767225600 +0000".encode()
    zone = timezone(timedelta(hours=-3, minutes=-30))
    assert ident(datetime(2026, 1, 1, tzinfo=zone)).endswith(b"> 1767238200 -0330")


def test_a_moment_git_knows_not_is_one_it_knows():
    early = datetime(1901, 1, 1, tzinfo=timezone(timedelta(hours=8, minutes=5, seconds=43)))
    assert ident(early).endswith(b"> 0 +0805")


def test_a_date_out_of_this_world_is_read_as_the_epoch():
    fields = ["abc", "12026-01-01T00:00:00+00:00", "x", "s", "Job: 1\n"]
    (commit,) = parse_log("\0".join([*fields, ""]).encode())
    assert commit.at == datetime(1970, 1, 1, tzinfo=UTC)
    assert commit.trailers == {"Job": "1"}
    assert parse_log(b"") == []

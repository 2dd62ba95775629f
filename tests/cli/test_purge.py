"""``purge``: preview by default, destruction by request, plain words about both."""

from __future__ import annotations

import io
import re
import subprocess

import pytest

from kimi_memory.cli import run
from tests.cli.answers import answer

TEXT = "蓝鲸七号码头"


@pytest.fixture
def told(folder, capsys):
    run(["remember", f"开会的地方是{TEXT}。", "--key", "meeting.place"])
    capsys.readouterr()
    return folder


def test_without_yes_it_only_shows(told, capsys) -> None:
    assert run(["purge", "--text", TEXT]) == 0
    shown = capsys.readouterr().out
    assert "Would be destroyed" in shown
    assert "add --yes" in shown
    assert answer(capsys, "recall", TEXT)["hits"]


def test_a_dry_run_is_what_it_does_without_leave(told, capsys) -> None:
    assert run(["purge", "--text", TEXT]) == 0
    shown = capsys.readouterr().out
    assert run(["purge", "--text", TEXT, "--dry-run"]) == 0
    assert capsys.readouterr().out == shown
    assert run(["purge", "--text", TEXT, "--dry-run", "--yes"]) == 2
    assert "not allowed with" in capsys.readouterr().err
    assert run(["purge", "--prove"]) == 2
    assert "--everywhere --prove" in capsys.readouterr().err


def test_with_yes_it_is_gone(told, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TEXT}\n"))
    subprocess.run(["git", "-C", told, "remote", "add", "origin", "/nowhere"], check=True)
    report = answer(capsys, "purge", "--text", "-", "--yes")
    assert report["done"]
    assert report["notes"]
    shown = run(["purge", "--text", TEXT, "--yes"])
    printed = capsys.readouterr()
    assert (shown, printed.out[:9]) == (0, "Not found")
    objects = subprocess.run(
        ["git", "-C", told, "cat-file", "--batch-all-objects", "--batch"],
        capture_output=True,
        check=True,
    )
    assert TEXT.encode() not in objects.stdout
    assert answer(capsys, "log")[0]["trailers"]["Job"] == report["id"]


def test_remotes_are_warned_of(told, capsys) -> None:
    subprocess.run(["git", "-C", told, "remote", "add", "origin", "/nowhere"], check=True)
    assert run(["purge", "--text", TEXT, "--yes"]) == 0
    printed = capsys.readouterr()
    assert "proven" in printed.out
    assert "'origin'" in printed.err


def test_too_little_is_refused(told, capsys) -> None:
    assert run(["purge", "--text", "的", "--yes"]) == 2
    assert "too short" in capsys.readouterr().err
    assert run(["purge", "--yes"]) == 2
    assert run(["purge", "--session", "none"]) == 11


def test_a_repository_around_the_memory_is_warned_of(told, capsys) -> None:
    (told / ".git").rename(told.parent / "own")
    person = ["-c", "user.name=Li", "-c", "user.email=li@example.org"]
    for step in (["init", "-q"], ["add", told.name], ["commit", "-qm", "All"]):
        subprocess.run(["git", "-C", told.parent, *person, *step], check=True)
    (told.parent / "own").rename(told / ".git")
    assert run(["purge", "--text", TEXT, "--yes"]) == 0
    assert f"the repository {told.parent}, which holds files" in capsys.readouterr().err


def test_a_preview_shows_the_lines_that_hold_the_words(folder, capsys) -> None:
    run(["remember", "The payload1 test sends payload10 as well, to Biscuit."])
    capsys.readouterr()
    assert run(["purge", "--text", "payload1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    shown = [line for line in lines if re.match(r"      \d+: ", line)]
    # Whole lines, so that a person sees words that nobody meant; and what was made of the words.
    assert any("payload10 as well" in line for line in shown)
    assert any("key: note.the-payload1-test" in line for line in shown)
    # Records of a session change as they hold its hashes; only what is said is shown.
    assert not any('"kind":"session"' in line for line in shown)


def test_follow_alone_does_what_any_known_copy_purged(told, tmp_path, capsys) -> None:
    other = tmp_path / "laptop"
    subprocess.run(["git", "clone", "-q", told, other], check=True)
    where = ["--memory", str(other)]
    # From the first command on, the copy is known on this machine.
    assert run(["remember", "Bob likes coffee.", "--key", "bob.drink", *where]) == 0
    assert run(["purge", "--text", TEXT, "--yes"]) == 0
    capsys.readouterr()
    assert run(["purge", "--follow", "--identity", "key", *where]) == 2
    assert run(["purge", "--follow", *where]) == 0
    shown = capsys.readouterr().out
    assert f"{told} purged 1 text" in shown
    assert "Would be destroyed" in shown
    [done] = answer(capsys, "purge", "--follow", "--yes", *where)
    assert done["report"]["done"]
    assert run(["purge", "--follow", *where]) == 0
    assert f"Nothing to follow: {told}" in capsys.readouterr().out


@pytest.mark.parametrize(("text", "left"), [("anna", "Annabelle"), ("annabelle", "")])
def test_a_word_is_no_part_of_a_longer_one(told, capsys, text: str, left: str) -> None:
    run(["remember", "Anna met Annabelle.", "--key", "met"])
    capsys.readouterr()
    assert run(["purge", "--text", text]) == 0
    shown = capsys.readouterr().out
    assert left in shown
    assert ("Longer words that hold it stay" in shown) == bool(left)

"""Blame: fields, lines of pages, lines of files, through renames, edits and merges."""

from __future__ import annotations

import json

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import HistoryError, NotFoundError, UsageError
from kimi_memory.operations.forget import forget
from kimi_memory.past.note_states import read_note
from tests.conftest import Clock
from tests.past.conftest import Past, git


def line_with(memory: Memory, path: str, word: str) -> int:
    lines = (memory.root / path).read_text("utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if word in line)


def test_a_key_says_since_when_why_and_from_which_turn(memory: Memory, past: Past) -> None:
    [found] = memory.blame("deploy.port")
    assert (found.text, found.field) == ("The deploy port is 8443 now.", "value")
    assert found.cause is not None and found.cause.job == past.second
    assert (found.cause.op, found.cause.model) == ("ADD", "rules")
    assert found.cause.merged is False
    assert [(turn.text, turn.verified) for turn in found.turns] == [
        ("The deploy port is 8443 now.", True)
    ]
    assert [(one.says, one.cause.job) for one in found.before] == [
        ("The deploy port is 8080.", past.first)
    ]


def test_a_line_of_a_generated_page_is_the_card_it_shows(memory: Memory, past: Past) -> None:
    number = line_with(memory, "MEMORY.md", "blue")
    [found] = memory.blame(f"MEMORY.md:{number}")
    assert found.cause is not None and found.cause.job == past.other
    assert found.field == "value" and "blue" in found.text
    assert memory.blame(f"MEMORY.md#L{number}") == [found]


def test_an_edit_on_a_page_is_the_edit_of_a_person(
    memory: Memory, past: Past, clock: Clock
) -> None:
    page = memory.root / "MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("is blue", "is green"), "utf-8")
    job = memory.take_edits().id
    [found] = memory.blame(f"MEMORY.md:{line_with(memory, 'MEMORY.md', 'green')}")
    assert found.cause is not None and found.cause.job == job
    assert "a person edited" in found.cause.why
    assert [turn.rel for turn in found.turns] == ["contradicts", "updates"]
    assert [one.says for one in found.before] == ["The sign of the shop is blue."]
    assert memory.blame("sign.colour", field="confidence")[0].text == "1.0"


def test_the_commit_is_the_newest_whose_parent_lacks_the_value(
    memory: Memory, past: Past, clock: Clock
) -> None:
    path = memory.timeline("sign.colour")[0].path
    card = memory.root / path
    for colour in ("green", "blue", "red", "blue"):
        text = card.read_text("utf-8")
        for old in ("blue", "green", "red"):
            text = text.replace(f"is {old}", f"is {colour}")
        card.write_text(text, "utf-8")
        clock.move(hours=1)
        memory.history.commit(f"Painted {colour}")
        card.write_text(card.read_text("utf-8") + "\nSeen again.\n", "utf-8")
        memory.history.commit(f"Looked at {colour}")
    [found] = memory.blame("sign.colour")
    assert found.cause is not None

    def value_at(commit: str) -> str:
        note = read_note(path, memory.history.content(commit, path) or b"")
        return note.value if isinstance(note, Card) else ""

    assert value_at(found.cause.commit) == found.text == value_at("HEAD")
    assert value_at(f"{found.cause.commit}^") != found.text
    graph = memory.points.graph()
    since = graph.rows[graph.index[found.cause.commit] :]
    assert len(since) > 1
    # The colour of the first day came back: the value holds since the last time it came.
    assert {value_at(row.commit) for row in since} == {found.text}
    assert [one.says.split()[-1] for one in found.before] == ["red.", "blue.", "green.", "blue."]


def test_lines_of_a_card_are_followed_through_renames(memory: Memory, past: Past) -> None:
    path = memory.timeline("sign.colour")[0].path
    git(memory, "mv", path, "semantic/general/sign.md")
    git(memory, "commit", "-qm", "Rename")
    there = "semantic/general/sign.md"
    [found] = memory.blame(f"{there}:{line_with(memory, there, 'status:')}")
    assert found.cause is not None and found.cause.job == past.other
    whole = memory.blame(f"{there}#L1-L4")
    assert [one.line for one in whole] == [1, 2, 3, 4]


def test_other_files_are_blamed_line_by_line(memory: Memory, past: Past) -> None:
    user = memory.root / "USER.md"
    user.write_text(user.read_text("utf-8") + "I like tea.\n", "utf-8")
    git(memory, "commit", "-qam", "Tea")
    found = memory.blame("USER.md")
    assert found[-1].text == "I like tea." and found[-1].cause is not None
    assert found[-1].cause.author == "Li"
    assert found[0].cause is not None and found[0].cause.version == 1
    memory.session("s1").turn("user", "部署端口是 9090。")
    memory.end("s1")
    [turn] = memory.blame("episodic/sessions/2026-03/session_s1.jsonl:2")
    assert [one.text for one in turn.turns] == ["部署端口是 9090。"]
    assert memory.blame("episodic/sessions/2026-03/session_s1.jsonl:1")[0].turns == ()


def test_a_point_blames_what_was_there_then(memory: Memory, past: Past) -> None:
    [found] = memory.blame("deploy.port", at=past.first)
    assert found.text == "The deploy port is 8080."
    assert "8080" in memory.blame(f"MEMORY.md:{11}", at=past.first)[0].text


def test_what_was_forgotten_has_no_origin_at_any_point(memory: Memory, past: Past) -> None:
    number = line_with(memory, "MEMORY.md", "blue")
    path, note = memory.timeline("sign.colour")[0].path, memory.timeline("sign.colour")[0].note
    forget(memory, Wanted(key="sign.colour"))
    for what in ("sign.colour", note, f"MEMORY.md:{number}", path, f"{path}:3"):
        with pytest.raises(NotFoundError):
            memory.blame(what, at=past.other)
    shown = memory.blame("MEMORY.md", at=past.other)
    assert shown and not any("blue" in one.text for one in shown)


@pytest.mark.parametrize(
    ("what", "error", "said"),
    [
        ("deploy.port size", UsageError, "no field 'size'. Known are"),
        ("USER.md value", UsageError, "is no note"),
        ("USER.md:999", UsageError, r"has \d+ lines\. Name one"),
        ("nowhere.md:3", NotFoundError, "nowhere.md"),
        ("nothing", NotFoundError, "nothing"),
        ("../secret", NotFoundError, "secret"),
    ],
)
def test_what_is_not_there_is_named(
    memory: Memory, past: Past, what: str, error: type[Exception], said: str
) -> None:
    what, _, field = what.partition(" ")
    with pytest.raises(error, match=said):
        memory.blame(what, field=field)


def test_a_point_on_another_branch_is_refused(memory: Memory, past: Past) -> None:
    aside = git(memory, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "aside")
    with pytest.raises(HistoryError, match="on another branch"):
        memory.blame("deploy.port", at=aside)


def test_a_detached_head_is_blamed_as_any(memory: Memory, past: Past) -> None:
    git(memory, "checkout", "-q", "--detach", memory.points.find(past.first).commit)
    assert memory.blame("deploy.port")[0].text == "The deploy port is 8080."


def test_the_command_shows_it(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["blame", "deploy.port", *at]) == 0
    out = capsys.readouterr().out
    assert f"job     {past.second}  ADD" in out and "verified" in out
    assert 'before  "The deploy port is 8080."' in out
    assert run(["blame", "USER.md:1", *at]) == 0
    assert "by      " in capsys.readouterr().out
    assert run(["blame", "deploy.port", "--json", "--as-of", past.first, "--all", *at]) == 0
    assert json.loads(capsys.readouterr().out)[0]["text"] == "The deploy port is 8080."
    assert run(["blame", "deploy.port", "--json", *at]) == 0
    [found] = json.loads(capsys.readouterr().out)
    assert found.keys() >= {"line", "text", "note", "field", "commit", "version", "at", "copy"}
    assert found["job"].keys() == {"id", "kind", "model", "prompt", "op", "why"}
    assert (found["job"]["id"], found["job"]["op"]) == (past.second, "ADD")
    assert found["commit"] == memory.points.find(past.second).commit
    [turn] = found["turns"]
    assert turn.keys() >= {"source", "speaker", "at", "text", "path", "line", "verified"}
    [earlier] = found["before"]
    assert (earlier["says"], earlier["job"]["id"]) == ("The deploy port is 8080.", past.first)

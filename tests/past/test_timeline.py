"""The timeline: what it lists is what the trees of its commits hold, and nothing forgotten."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.errors import NotFoundError
from kimi_memory.jobs.purge import Doomed
from kimi_memory.operations.forget import forget, purge
from kimi_memory.past.note_states import read_note
from tests.conftest import Clock
from tests.past.conftest import Past, git


def test_a_key_lists_every_state_of_its_cards_with_both_clocks_and_why(
    memory: Memory, past: Past
) -> None:
    learned, let_go, replaced = memory.timeline("deploy.port")
    assert [one.change for one in (learned, let_go, replaced)] == ["learned", "let go", "learned"]
    assert (learned.says, replaced.says) == (
        "The deploy port is 8080.", "The deploy port is 8443 now.",
    )  # fmt: skip
    assert learned.cause.job == past.first
    assert (let_go.cause.job, let_go.cause.op, let_go.status) == (
        past.second, "SUPERSEDE", "superseded",
    )  # fmt: skip
    assert learned.cause.at == datetime(2026, 2, 27, 9, tzinfo=UTC)
    assert let_go.valid_to is not None and let_go.valid_to.date() == datetime(2026, 2, 28).date()
    assert learned.sources and learned.sources[0].startswith("session:remembered-")
    assert memory.timeline("deploy") == memory.timeline("deploy.port")
    assert memory.timeline(learned.note)[0] == learned
    assert memory.timeline(learned.note[:-2])[0] == learned


def test_what_it_says_is_what_the_tree_of_the_commit_says(memory: Memory, past: Past) -> None:
    for key in ("deploy.port", "sign.colour"):
        for one in memory.timeline(key):
            content = memory.history.content(one.cause.commit, one.path)
            assert content is not None
            note = read_note(one.path, content)
            assert isinstance(note, Card)
            assert (note.value, str(note.status), note.confidence) == (
                one.says, one.status, one.confidence,
            )  # fmt: skip


def test_a_window_of_points_bounds_it(memory: Memory, past: Past) -> None:
    assert [one.change for one in memory.timeline("deploy.port", since=past.second)] == [
        "let go", "learned",
    ]  # fmt: skip
    assert [one.change for one in memory.timeline("deploy.port", until=past.first)] == ["learned"]


def test_a_note_that_was_renamed_and_edited_by_hand_is_one_note(memory: Memory, past: Past) -> None:
    path = memory.timeline("sign.colour")[0].path
    git(memory, "mv", path, "semantic/general/shop-sign.md")
    git(memory, "commit", "-qm", "A better name")
    there = memory.root / "semantic/general/shop-sign.md"
    there.write_text(there.read_text("utf-8").replace("is blue", "is green"), "utf-8")
    git(memory, "commit", "-qam", "It was painted")
    learned, moved, changed = memory.timeline("sign.colour")
    assert (moved.change, moved.path) == ("moved", "semantic/general/shop-sign.md")
    assert (changed.change, changed.says) == ("changed", "The sign of the shop is green.")
    assert (changed.cause.job, changed.cause.author) == ("", "Li")
    assert learned.note == changed.note
    git(memory, "rm", "-q", "semantic/general/shop-sign.md")
    git(memory, "commit", "-qm", "Gone")
    assert memory.timeline("sign.colour")[-1].change == "removed"


def test_what_was_forgotten_is_not_listed_and_leaves_no_word_in_the_table(
    memory: Memory, past: Past
) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    assert memory.timeline("health.dentist")
    note = memory.timeline("health.dentist")[0].note
    forget(memory, Wanted(key="health.dentist"))
    for what in ("health.dentist", note, "health"):
        with pytest.raises(NotFoundError):
            memory.timeline(what)
    table = (memory.root / ".kimi/past/past.db").read_bytes()
    assert b"dentist" not in table and b"deploy.port" in table
    assert memory.timeline("deploy.port")


def test_after_a_purge_it_tells_of_the_history_there_is(memory: Memory, past: Past) -> None:
    memory.remember("My dentist is Doctor Abernathy.", key="health.dentist")
    before = memory.timeline("deploy.port")
    assert memory.timeline("health.dentist")
    purge(memory, Doomed(texts=("Abernathy",)), yes=True)
    assert not (memory.root / ".kimi/past/past.db").exists()
    after = memory.timeline("deploy.port")
    assert [(one.says, one.cause.version, one.cause.at) for one in after] == [
        (one.says, one.cause.version, one.cause.at) for one in before
    ]
    assert b"Abernathy" not in (memory.root / ".kimi/past/past.db").read_bytes()


@pytest.mark.parametrize("nothing", ["", " "])
def test_nothing_names_no_note(memory: Memory, past: Past, nothing: str) -> None:
    for ask in (memory.timeline, memory.blame, memory.at("HEAD").get):
        with pytest.raises(NotFoundError):
            ask(nothing)


def test_a_caller_sees_no_state_that_is_not_theirs(memory: Memory, past: Past) -> None:
    with pytest.raises(NotFoundError):
        memory.timeline("deploy.port", sees=lambda note: False)
    shown = memory.timeline("deploy.port", sees=lambda note: "8443" in getattr(note, "value", ""))
    assert [one.says for one in shown] == ["The deploy port is 8443 now."]


def test_the_command_shows_it(memory: Memory, past: Past, clock: Clock, capsys) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["timeline", "deploy.port", "--turns", *at]) == 0
    out = capsys.readouterr().out
    assert "learned    The deploy port is 8080." in out
    assert f"{past.second}  SUPERSEDE" in out and "turns  session:remembered-" in out
    assert run(["timeline", "deploy.port", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)[0]["cause"]["job"] == past.first
    assert run(["timeline", "nothing", *at]) == 11
    assert "No note or key 'nothing'" in capsys.readouterr().err

"""What was so at a moment, as far as is known now: cards that counted then, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.note import Card, Status
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.formats.codec import read_note
from kimi_memory.jobs.forget import Forget
from kimi_memory.operations.new_copies import open_past
from tests.cli.answers import answer
from tests.cli.conftest import folder
from tests.conftest import Clock
from tests.jobs.notes import card, put

__all__ = ["folder"]


def cards_of(memory: Memory) -> dict[str, Status]:
    heads = memory.store.files("semantic")
    notes = (read_note(memory.store.read(path), path) for path in heads)
    return {one.id: one.status for one in notes if isinstance(one, Card)}


def test_only_what_was_so_then_is_there_and_counts(memory: Memory, clock: Clock) -> None:
    early, late = clock.now, clock.move(days=10)
    old, gone = Status.SUPERSEDED, Status.ARCHIVED
    put(memory, card("a1", "The port is 8080.", status=old, valid_from=early))
    put(memory, card("a2", "The port is 8443.", valid_from=late, supersedes=("card-a1",)))
    put(memory, card("b1", "The sale runs.", status=gone, valid_from=early, valid_to=late))
    put(memory, card("c1", "Put away.", status=gone, valid_from=early))
    put(memory, card("d1", "部署在周五。", valid_from=early))
    memory.batch.flush()
    clock.move(days=1)
    for moment, there in (
        (early, {"card-a1", "card-b1", "card-d1"}),
        (late, {"card-a2", "card-d1"}),
        (early.replace(year=2020), set[str]()),
    ):
        with open_past(memory, "now", moment) as (_, past):
            found = cards_of(past)
            assert found.keys() == there, moment
            assert set(found.values()) <= {Status.ACTIVE}
            assert past.now() == moment


def test_what_was_forgotten_is_not_so_at_any_moment(memory: Memory, clock: Clock) -> None:
    memory.remember("The dentist is Dr Abernathy.", key="health.dentist")
    then = clock.move(hours=1)
    memory.run(Forget(memory, Wanted(key="health.dentist")))
    with open_past(memory, "now", then) as (_, past):
        assert cards_of(past) == {}
        assert past.recall("Abernathy").hits == ()


def test_commands_take_the_moment_of_a_date_a_version_and_a_name(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(["remember", "The deploy port is 8080.", "--key", "deploy.port"])
    run(["name", "before"])
    capsys.readouterr()
    version = answer(capsys, "log")[0]["hash"]
    run(["remember", "The deploy port is 8443 now.", "--key", "deploy.port"])
    capsys.readouterr()
    assert "8443" in answer(capsys, "get", "deploy.port")["text"]
    for command in (["status"], ["conflicts"], ["list"], ["recall", "deploy port"]):
        assert run([*command, "--valid-at", "before"]) == 0
        assert run([*command, "--valid-at", version]) == 0
        assert run([*command, "--valid-at", "no such day"]) == 2
    capsys.readouterr()
    page = tmp_path / "cards.json"
    for when in ("2020-01-01", "today"):
        assert run(["status", "--valid-at", when]) == 0
        shown = capsys.readouterr()
        assert "what was so at" in shown.err
        assert ("Card " in shown.out) == (when == "today")
        assert run(["export", "json", str(page), "--force", "--valid-at", when]) == 0
        assert ("8443" in page.read_text(encoding="utf-8")) == (when == "today")
    assert run(["get", "deploy.port", "--valid-at", "2020-01-01"]) == 11
    assert run(["conflicts", "deploy.port", "--both", "--valid-at", "today"]) == 2
    assert run(["export", "bundle", str(tmp_path / "b"), "--valid-at", "today"]) == 2

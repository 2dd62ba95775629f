"""What changed between two points, as beliefs."""

from __future__ import annotations

import json

import pytest

from kimi_memory import Memory
from kimi_memory.cli import run
from kimi_memory.domain.note import Card
from kimi_memory.domain.operation_types import Wanted
from kimi_memory.domain.past import BeliefDiff
from kimi_memory.operations.forget import forget
from kimi_memory.store.notes.notes import Shelf
from tests.conftest import Clock
from tests.past.conftest import Past


def brief(found: BeliefDiff) -> list[tuple[str, str, str, str]]:
    return [(one.change, one.key, one.old, one.new) for one in found.changes]


def test_a_value_in_the_place_of_another_is_one_change(memory: Memory, past: Past) -> None:
    found = memory.beliefs(past.first, past.other, why=True)
    assert brief(found) == [
        ("learned", "sign.colour", "", "The sign of the shop is blue."),
        ("changed", "deploy.port", "The deploy port is 8080.", "The deploy port is 8443 now."),
    ]
    assert (found.total, found.forgotten) == (2, 0)
    changed = found.changes[1]
    assert changed.cause is not None and changed.cause.job == past.second
    assert len(changed.replaces) == 1
    assert brief(memory.beliefs(past.other, past.first)) == [
        ("taken up", "deploy.port", "", "The deploy port is 8080."),
        ("removed", "deploy.port", "The deploy port is 8443 now.", ""),
        ("removed", "sign.colour", "The sign of the shop is blue.", ""),
    ]


def test_the_cause_of_a_belief_is_the_job_that_made_it_say_so(
    memory: Memory, past: Past, clock: Clock
) -> None:
    clock.move(days=1)
    again = memory.remember("The sign of the shop is blue.", key="sign.colour").id
    memory.batch.flush()

    def causes(old: str, new: str) -> dict[tuple[str, str], str]:
        changes = memory.beliefs(old, new, why=True).changes
        return {(one.change, one.key): one.cause.job for one in changes if one.cause}

    # What was said again since is proven better, and was learned when it was said first.
    assert causes("v1", "HEAD") == {
        ("learned", "sign.colour"): past.other,
        ("learned", "deploy.port"): past.second,
    }
    assert causes(past.other, "HEAD") == {("surer", "sign.colour"): again}
    path = memory.root / memory.timeline("sign.colour")[0].path
    path.write_text(path.read_text("utf-8").replace("is blue", "is green"), "utf-8")
    # No commit has it yet, so none is named.
    assert causes(past.other, "") == {}


def test_differences_add_up(memory: Memory, past: Past, clock: Clock) -> None:
    memory.remember("The deploy port is 9090 from now on.", key="deploy.port")
    points = [f"{past.first}^", past.first, past.second, past.other, "HEAD"]

    def held(diff: BeliefDiff, state: dict[str, str]) -> dict[str, str]:
        """Return what is held after a difference."""
        gone = {note for one in diff.changes for note in (one.note, *one.replaces)}
        kept = {note: said for note, said in state.items() if note not in gone}
        return kept | {one.note: one.new for one in diff.changes if one.new}

    for a, b in ((one, two) for n, one in enumerate(points) for two in points[n:]):
        for c in points[points.index(b) :]:
            start = held(memory.beliefs("v1", a), {})
            one_step = held(memory.beliefs(a, c), start)
            assert held(memory.beliefs(b, c), held(memory.beliefs(a, b), start)) == one_step


def test_the_files_now_are_the_later_point_where_none_is_named(memory: Memory, past: Past) -> None:
    assert brief(memory.beliefs("HEAD")) == []
    path = memory.timeline("sign.colour")[0].path
    card = memory.root / path
    card.write_text(card.read_text("utf-8").replace("is blue", "is green"), "utf-8")
    assert brief(memory.beliefs("HEAD")) == [
        ("changed", "sign.colour", "The sign of the shop is blue.",
         "The sign of the shop is green."),
    ]  # fmt: skip


def test_what_was_forgotten_is_counted_and_not_said(memory: Memory, past: Past) -> None:
    forget(memory, Wanted(key="deploy.port"))
    found = memory.beliefs(past.second, "HEAD")
    assert found.forgotten == 1
    assert "8443" not in str(found) and "deploy.port" not in str(found)
    assert brief(memory.beliefs(f"{past.first}^", past.second)) == []


def test_keys_and_projects_choose(memory: Memory, past: Past) -> None:
    memory.remember("The mast is 20 m high.", key="mast.height", project="apollo")
    every = memory.beliefs("v1", "HEAD")
    assert len(every.changes) == 3
    assert [one.key for one in memory.beliefs("v1", "HEAD", keys=("sign",)).changes] == [
        "sign.colour"
    ]
    assert [one.key for one in memory.beliefs("v1", "HEAD", project="apollo").changes] == [
        "mast.height"
    ]


@pytest.mark.parametrize(
    ("edits", "change"),
    [
        ({"confidence: 0.9": "confidence: 0.95"}, "surer"),
        ({"confidence: 0.9": "confidence: 0.4"}, "less sure"),
        ({"status: active": "status: conflicted"}, "disputed"),
        ({"status: active": "status: stale"}, "stale"),
        ({"status: active": "status: archived"}, "let go"),
        ({"is blue": "is red"}, "changed"),
    ],
)
def test_what_became_of_a_belief_is_named(
    memory: Memory, past: Past, edits: dict[str, str], change: str
) -> None:
    [card] = [one for one in Shelf(memory.store).notes(Card.kind) if "blue" in one.text]
    text = card.text
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    (memory.root / card.path).write_text(text, encoding="utf-8")
    memory.history.commit("By hand")
    assert [one.change for one in memory.beliefs(past.other, "HEAD").changes] == [change]


def test_the_command_shows_it(
    memory: Memory, past: Past, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ["--memory", str(memory.root)]
    assert run(["diff", past.first, "HEAD", "--beliefs", "--why", *at]) == 0
    out = capsys.readouterr().out
    assert "~ changed   deploy.port" in out and "8080. → The deploy port is 8443 now." in out
    assert past.second in out and "2 of 2 beliefs differ" in out
    assert run(["diff", past.first, "--beliefs", "--json", *at]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == 2
    assert run(["diff", past.first, "--why", *at]) == 2
    memory.undo(past.second)
    assert run(["diff", past.other, "HEAD", "--beliefs", "--why", *at]) == 0
    head = memory.history.head()[:10]
    assert f"  {head}  undo\n" in capsys.readouterr().out
    assert run(["timeline", "deploy.port", *at]) == 0
    assert f"  {head}  undo" in capsys.readouterr().out
    forget(memory, Wanted(key="deploy.port"))
    assert run(["diff", past.first, "HEAD", "--beliefs", *at]) == 0
    assert "x forgotten 1 belief, on request" in capsys.readouterr().out

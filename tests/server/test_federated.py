"""Recall over the memories of a space: nobody sees more than at the door of each."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")

from kimi_memory import Memory, Opening
from kimi_memory.api.options import Home
from kimi_memory.cli import run
from kimi_memory.server.federated import recall_space
from kimi_memory.spaces.space_folder import SpaceFolder

NOTES = {
    "tea": ("The harbour opens at nine.", "The mast of the tea ship is 21 m high."),
    "rum": ("The harbour of the rum ship is in Bergen, beside the old mill.", "Rum is brown."),
    "ink": ("The harbour master writes with blue ink.", "The old mill is closed."),
}


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpaceFolder:
    """Three memories: lin reads all of them, but for what is forbidden in one."""
    for name in ("config", "state"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    home = Home.of_user()
    made = SpaceFolder.create(home, "shop", tmp_path / "space")
    for sub, role in (("lin", "reader"), ("bo", "reader")):
        made.add(sub, [role])
    for name, texts in NOTES.items():
        with Memory.create(tmp_path / name, opening=Opening(home=home)) as memory:
            for n, text in enumerate(texts):
                memory.remember(text, key=f"{name}.{n}", type="fact")
            own = f"The harbour pilot of {name} is bribed."
            memory.remember(own, key=f"{name}.pilot", type="fact", user="bo", area="user")
            made.share(memory.settings.memory.id, name, memory.root)
            if name == "ink":
                where = f'resource in Memory::"{memory.settings.memory.id}"'
                rule = f'forbid(principal == User::"lin", action, {where});\n'
                (made.root / "policies" / "ink.cedar").write_text(rule)
    return made


def test_all_memories_answer_at_once_and_the_best_stands_first(space: SpaceFolder) -> None:
    found = recall_space(space, "harbour rum old mill", member="lin")
    assert found.hits[0].memory == "rum" and "Bergen" in found.hits[0].hit.unit.text
    assert {one.memory for one in found.hits} == {"tea", "rum"}
    scores = [one.score for one in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert len(recall_space(space, "harbour", member="lin", limit=1).hits) == 1


def test_nobody_sees_more_than_at_the_door_of_each_memory(space: SpaceFolder) -> None:
    before = len([*space.log.records()])
    found = recall_space(space, "harbour pilot bribed ink", member="lin")
    assert "ink" in found.refused and not found.failed
    assert not any("bribed" in one.hit.unit.text for one in found.hits)
    lines = [*space.log.records()][before:]
    assert [(one.decision, one.sub) for one in lines].count(("deny", "lin")) == 1
    assert sum(one.count for one in lines) == len(found.hits)
    assert space.log.verify().faults == ()
    theirs = recall_space(space, "harbour pilot bribed", member="bo").hits
    assert {one.memory for one in theirs if "bribed" in one.hit.unit.text} == {*NOTES}
    assert not recall_space(space, "harbour", member="nobody").hits


def test_a_memory_that_is_gone_is_named_and_the_others_answer(
    space: SpaceFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(tmp_path / "tea")
    found = recall_space(space, "harbour", member="")
    assert [*found.failed] == ["tea"]
    assert {one.memory for one in found.hits} == {"rum", "ink"}
    assert run(["space", "recall", "harbour", "old", "mill", "--member", "lin"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("rum  ") and "Bergen" in shown and "ink: " in shown and "tea: " in shown
    assert run(["space", "recall", "harbour", "--member", "lin", "--json"]) == 1
    body = json.loads(capsys.readouterr().out)
    assert body["hits"][0]["memory"] == "rum" and [*body["refused"]] == ["ink"]


def test_the_log_has_the_words_of_questions_where_the_space_says_so(space: SpaceFolder) -> None:
    recall_space(space, "harbour master", member="bo")
    assert not any("harbour" in one.query for one in space.log.records())
    about = space.root / "space.toml"
    about.write_text(about.read_text() + '\n[audit]\nqueries = "text"\n')
    recall_space(space, "harbour sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD", member="bo")
    words = [one.query for one in space.log.records() if "harbour" in one.query]
    assert len(words) == 3 and not any("abcdefghij" in one for one in words)
    space.add("mei", ["reader"])  # What a person wrote there stays.
    space.share("memory-01other", "other", space.root.parent / "other")
    assert space.about.queries == "text" and 'queries = "text"' in about.read_text()
    assert space.log.verify().faults == ()

"""Where tasks over a memory of a space may run: its policies, and a line for each answer."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("cedarpy", reason="needs the library of kimi-memory[team]")

from kimi_memory.api.options import Home
from kimi_memory.domain.agent_run import Task
from kimi_memory.domain.placement_types import NodeProfile
from kimi_memory.errors import NoPlaceError
from kimi_memory.runs.placing import Surroundings, place_task
from kimi_memory.spaces.placing import PlacePolicies, decide_place
from kimi_memory.spaces.space_files import MEMBERS
from kimi_memory.spaces.space_folder import SpaceFolder
from tests.spaces.conftest import MEMORY
from tests.spaces.test_people import install

EDGE = NodeProfile("edge-1", region="eu")
RACK = NodeProfile("rack-2", region="us", zone="b")
NODES = (EDGE, RACK)
BATCH = Task("task-1", MEMORY)
AT_HOME = """\
// What is said here stays in the Union; what is delicate runs on machines that are members.
forbid(principal is Node, action == Action::"place", resource in Memory::"MEM")
  unless { principal.region == "eu" };
forbid(principal is Node, action == Action::"place", resource)
  when { context.security == "high" } unless { principal in Role::"keeper" };
"""


def refuse(home: Home, task: Task = BATCH, *, memory: str = MEMORY) -> dict[str, str]:
    return PlacePolicies(home, memory, Path("/nowhere")).refuse(NODES, task)


def test_policies_say_where_a_task_may_run(space: SpaceFolder, home: Home) -> None:
    assert refuse(home) == {}
    (space.root / "policies/places.cedar").write_text(AT_HOME.replace("MEM", MEMORY))
    refused = refuse(home)
    assert refused == {
        "rack-2": "rack-2 (no role) may not place here: policies/places.cedar:2 forbids it"
    }
    placed = place_task(BATCH, Surroundings(NODES, forbidden=refused))
    assert placed.execution == "edge-1" and refused["rack-2"] in placed.refused[0].why
    high = Task("task-1", MEMORY, security="high")
    assert set(refuse(home, high)) == {"edge-1", "rack-2"}
    space.add("edge-1", ["keeper"], "node")
    assert set(refuse(home, high)) == {"rack-2"}
    with pytest.raises(NoPlaceError, match=r"rack-2: .*places\.cedar:2 forbids it"):
        place_task(BATCH, Surroundings((RACK,), forbidden=refused))
    # A memory of no space goes anywhere.
    assert refuse(home, memory="memory-01other") == refuse(home, memory="") == {}


def test_what_cannot_be_understood_lets_a_task_run_nowhere(space: SpaceFolder, home: Home) -> None:
    (space.root / "policies/roles.cedar").write_text("")
    assert refuse(home)["edge-1"].endswith("no policy allows it")
    (space.root / "policies/roles.cedar").write_text("permit(")
    assert "which denies: " in refuse(home)["edge-1"]


def test_members_and_plugins_that_fail_or_are_none_let_a_task_run_nowhere(
    space: SpaceFolder, home: Home
) -> None:
    (space.root / MEMBERS).write_text("no record\n")
    denied = decide_place(space, MEMORY, EDGE, BATCH)
    assert not denied
    assert denied.why.startswith("A file of the space cannot be understood, which denies: ")
    (space.root / MEMBERS).unlink()
    install(home, "broken", "from kimi_memory import hookimpl\n\n@hookimpl(tryfirst=True)\n"
            "def permit(question):\n    raise ValueError('no')\n")  # fmt: skip
    denied = decide_place(SpaceFolder.open(home, "shop"), MEMORY, EDGE, BATCH)
    assert not denied
    assert denied.why.startswith("A plugin failed, which denies: ")
    (home.config / "config.toml").write_text('disabled = ["policies_cedar", "broken"]\n')
    denied = decide_place(SpaceFolder.open(home, "shop"), MEMORY, EDGE, BATCH)
    assert not denied
    assert denied.why == "no plugin decides what is permitted"


def test_each_answer_is_in_the_log(space: SpaceFolder, home: Home) -> None:
    (space.root / "policies/places.cedar").write_text(AT_HOME.replace("MEM", MEMORY))
    refuse(home)
    lines = [one for one in space.log.records() if one.action == "place"]
    assert [(one.sub, one.decision, one.resource) for one in lines] == [
        ("edge-1", "allow", "batch"), ("rack-2", "deny", "batch"),
    ]  # fmt: skip
    assert not space.log.verify().faults


def test_a_space_of_before_whose_schema_has_no_places_is_not_asked(
    space: SpaceFolder, home: Home
) -> None:
    schema = space.root / "schema.cedarschema"
    old = [line for line in schema.read_text().splitlines() if "Node" not in line]
    schema.write_text("\n".join(old))
    roles = space.root / "policies/roles.cedar"
    roles.write_text(roles.read_text().partition("// Tasks may run")[0])
    assert refuse(home) == {} and space.decide("reader@shop", "recall", MEMORY)

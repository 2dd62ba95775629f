"""The tools of ``server-memory``, asked for over the bare protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kimi_memory import Memory, Opening

pytest.importorskip("mcp", reason="needs the library mcp")

from tests.mcp.wire import Wire, ours, user

READS = {"read_graph", "search_nodes", "open_nodes"}
DELETES = {"delete_entities", "delete_observations", "delete_relations"}
MAKES = {"create_entities", "create_relations", "add_observations"}
LI = {"name": "小李", "entityType": "person", "observations": ["喝绿茶", "writes Go"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "小李", "to": "Acme", "relationType": "works_at"}


@pytest.fixture
def server(tmp_path: Path, opening: Opening) -> Iterator[Wire]:
    with Memory.create(tmp_path / "记忆", opening=opening) as memory:
        memory.remember("The staging database listens on port 6543.", key="staging.port")
    with Wire(ours(tmp_path / "记忆", "--compat", "server-memory"), user(tmp_path)) as wire:
        yield wire


def value(result: dict[str, Any]) -> Any:
    assert not result.get("isError"), result
    return result["structuredContent"]


def test_the_tools_are_those_of_the_other_server(server: Wire) -> None:
    tools = {tool["name"]: tool for tool in server.ask("tools/list")["tools"]}
    assert set(tools) == READS | DELETES | MAKES
    for name, tool in tools.items():
        assert tool["description"] and tool["outputSchema"]["properties"]
        assert tool["annotations"]["readOnlyHint"] is (name in READS)
        assert tool["annotations"]["destructiveHint"] is (name in DELETES)
    assert tools["create_entities"]["inputSchema"]["required"] == ["entities"]
    relation = tools["create_relations"]["inputSchema"]["$defs"]["Relation"]
    assert set(relation["required"]) == {"from", "to", "relationType"}


def test_a_graph_is_made_read_and_taken_apart(server: Wire) -> None:
    made = server.call("create_entities", entities=[LI, ACME])
    assert value(made) == {"entities": [LI, ACME]}
    assert json.loads(made["content"][0]["text"]) == [LI, ACME]
    assert value(server.call("create_relations", relations=[WORKS])) == {"relations": [WORKS]}
    more = [{"entityName": "Acme", "contents": ["founded 2019", "in Oslo"]}]
    assert value(server.call("add_observations", observations=more)) == {
        "results": [{"entityName": "Acme", "addedObservations": ["founded 2019", "in Oslo"]}]
    }
    found = server.call("search_nodes", query="oslo")
    assert value(found)["relations"] == [WORKS]
    assert json.loads(found["content"][0]["text"]) == value(found)
    less = [{"entityName": "Acme", "observations": ["in Oslo"]}]
    told = server.call("delete_observations", deletions=less)
    assert value(told) == {"success": True, "message": "Observations deleted successfully"}
    assert told["content"][0]["text"] == "Observations deleted successfully"
    server.call("delete_relations", relations=[WORKS])
    server.call("delete_entities", entityNames=["小李"])
    assert value(server.call("open_nodes", names=["小李", "Acme"])) == {
        "entities": [{**ACME, "observations": ["founded 2019"]}],
        "relations": [],
    }


def test_what_the_memory_knows_is_part_of_the_graph(server: Wire) -> None:
    text = "The staging database listens on port 6543."
    known = {"name": "staging.port", "entityType": "fact", "observations": [text]}
    assert value(server.call("read_graph"))["entities"] == [known]
    assert value(server.call("search_nodes", query="Which port is staging on?"))["entities"] == [
        known
    ]
    page = server.ask("resources/read", {"uri": "memory://knowledge-graph"})["contents"][0]
    assert json.loads(page["text"])["entities"] == [known]


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("delete_entities", {"entityNames": ["staging.port"]}, "not yours to delete"),
        (
            "add_observations",
            {"observations": [{"entityName": "nobody", "contents": ["x"]}]},
            "no entity 'nobody'",
        ),
        ("create_entities", {"entities": [{"name": "x"}]}, "entityType"),
    ],
)
def test_a_mistake_is_told_in_words(server: Wire, tool: str, given: dict, told: str) -> None:
    result = server.call(tool, **given)
    assert result["isError"]
    assert told in result["content"][0]["text"]
    assert "Traceback" not in result["content"][0]["text"]
